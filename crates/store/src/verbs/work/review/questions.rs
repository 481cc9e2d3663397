//! What a person is asked about a report: enough to answer without looking for it.

use domain::EscalationKind;
use protocol::{Criterion, CriterionResult, EscalationContext};

use super::ask::Ask;
use crate::verbs::work::tasks::row::TaskRow;
use engine::tasks::life::WHAT_NOW;

/// What a report says of an agent that ended without a word.
pub(super) const SILENT: &str = "The agent ended and said nothing.";

/// Whether nothing of this acceptance can be checked without a person.
pub(super) fn words_only(acceptance: &[Criterion]) -> bool {
    acceptance.iter().all(|criterion| matches!(criterion, Criterion::Text { .. }))
}

/// Whether a report meets what only a person can judge; `results`: how what could be checked was met.
pub(super) fn judgement(row: &TaskRow, results: &[CriterionResult], summary: &str) -> Ask {
    let open =
        |at: usize| results.iter().find(|result| result.criterion as usize == at).is_none_or(|r| r.passed.is_none());
    let left = row.acceptance.iter().enumerate().filter(|(at, _)| open(*at)).map(|(_, criterion)| match criterion {
        Criterion::Text { text } => format!("- {}", text.trim()),
        other => format!("- {}", crate::verbs::work::tasks::brief::words(other)),
    });
    let question =
        format!("Please review: does this report meet the following?\n{}", left.collect::<Vec<_>>().join("\n"));
    let met = results.iter().any(|result| result.passed == Some(true));
    let met = if met { "All that can be checked is met.\n\n" } else { "" };
    let context = EscalationContext { text: format!("{met}{summary}"), ..Default::default() };
    Ask::new(EscalationKind::Judgement, question, context)
}

/// Whether an agent that said nothing did anything: nobody could look.
pub(crate) fn silence(why: &str) -> Ask {
    let context = EscalationContext { text: why.to_owned(), ..Default::default() };
    let question = "The agent said nothing, and no runner could see whether it changed anything. Is the task done?";
    Ask::new(EscalationKind::Judgement, question, context)
}

/// Whether work is accepted whose acceptance nobody can check.
pub(super) fn uncheckable(why: &str, summary: &str) -> Ask {
    let question = format!("The acceptance needs files, and {why}. Is the work accepted?");
    let context = EscalationContext { text: summary.to_owned(), ..Default::default() };
    Ask::new(EscalationKind::Uncheckable, question, context)
}

/// What is known of why nobody got a task done, from what was asked; nothing when that was not the question.
pub(super) fn known_reason(kind: EscalationKind, question: &str) -> Option<&str> {
    let told = matches!(kind, EscalationKind::GaveUp | EscalationKind::Refused | EscalationKind::Stuck);
    told.then(|| question.trim_end_matches(WHAT_NOW))
}
