//! Questions about reports, with enough context to answer them.

use domain::EscalationKind;
use protocol::{Criterion, CriterionResult, EscalationContext};

use super::ask::Ask;
use crate::verbs::work::tasks::row::TaskRow;
use engine::tasks::life::WHAT_NOW;

/// Summary of the report of an agent that ended without a message.
pub(super) const SILENT: &str = "The agent ended and said nothing.";

/// Whether only a person can judge this acceptance.
pub(super) fn words_only(acceptance: &[Criterion]) -> bool {
    acceptance.iter().all(|criterion| matches!(criterion, Criterion::Text { .. }))
}

/// Asks whether a report meets the criteria that only a person can judge; `results` are those of the other criteria.
pub(super) fn judgement(row: &TaskRow, results: &[CriterionResult], summary: &str) -> Ask {
    let open =
        |at: usize| results.iter().find(|result| result.criterion as usize == at).is_none_or(|r| r.passed.is_none());
    // The merge queue decides about the merge, afterwards.
    let asked = |(at, criterion): &(usize, &Criterion)| open(*at) && !matches!(criterion, Criterion::Merged {});
    let left = row.acceptance.iter().enumerate().filter(asked).map(|(_, criterion)| match criterion {
        Criterion::Text { text } => format!("- {}", text.trim()),
        Criterion::Approved {} => "- the changes are as they should be".to_owned(),
        other => format!("- {}", crate::verbs::work::tasks::brief::words(other)),
    });
    let left: Vec<String> = left.collect();
    let approval = row.acceptance.contains(&Criterion::Approved {});
    let question = match (approval, left.len()) {
        (true, 0 | 1) => format!("Review the changes of `{}`.", row.title),
        (true, _) => format!("Review the changes of `{}`. Do they meet the following?\n{}", row.title, left.join("\n")),
        (false, _) => format!("Please review: does this report meet the following?\n{}", left.join("\n")),
    };
    let met = results.iter().any(|result| result.passed == Some(true));
    let met = if met { "All checkable criteria are met.\n\n" } else { "" };
    let context = EscalationContext { text: format!("{met}{summary}"), ..Default::default() };
    Ask::new(if approval { EscalationKind::Review } else { EscalationKind::Judgement }, question, context)
}

/// Asks whether a silent agent did anything, because no runner could look.
pub(crate) fn silence(why: &str) -> Ask {
    let context = EscalationContext { text: why.to_owned(), ..Default::default() };
    let question = "The agent said nothing, and no runner could see whether it changed anything. Is the task done?";
    Ask::new(EscalationKind::Judgement, question, context)
}

/// Asks whether to accept work that no runner can check.
pub(super) fn uncheckable(why: &str, summary: &str) -> Ask {
    let question = format!("The acceptance needs files, and {why}. Is the work accepted?");
    let context = EscalationContext { text: summary.to_owned(), ..Default::default() };
    Ask::new(EscalationKind::Uncheckable, question, context)
}

/// Why a task failed, as an escalation says; `None` for other kinds.
pub(super) fn known_reason(kind: EscalationKind, question: &str) -> Option<&str> {
    let told = matches!(kind, EscalationKind::GaveUp | EscalationKind::Refused | EscalationKind::Stuck);
    told.then(|| question.trim_end_matches(WHAT_NOW))
}
