//! Questions about reports, with enough context to answer them.

use domain::EscalationKind;
use protocol::{Criterion, CriterionResult, EscalationContext};

use super::ask::Ask;
use crate::verbs::work::tasks::row::TaskRow;

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
    // The merge queue decides about the merge, afterwards; an approval is about the changes as a whole.
    let asked = |(at, criterion): &(usize, &Criterion)| {
        open(*at) && !matches!(criterion, Criterion::Merged {} | Criterion::Approved {})
    };
    let left = row.acceptance.iter().enumerate().filter(asked).map(|(_, criterion)| match criterion {
        Criterion::Text { text } => text.trim().to_owned(),
        other => crate::verbs::work::tasks::brief::words(other),
    });
    let left: Vec<String> = left.collect();
    let approval = row.acceptance.contains(&Criterion::Approved {});
    let question = match (approval, all_of(&left)) {
        (true, None) => format!("Review the changes of `{}`.", row.title),
        (true, Some(all)) => format!("Review the changes of `{}`: do they meet {all}", row.title),
        (false, Some(all)) => format!("Please review: does this meet {all}"),
        (false, None) => "Please review: is the task done?".to_owned(),
    };
    let met = results.iter().any(|result| result.passed == Some(true));
    let met = if met { "All checkable criteria are met.\n\n" } else { "" };
    let context = EscalationContext { text: format!("{met}{summary}"), ..Default::default() };
    Ask::new(if approval { EscalationKind::Review } else { EscalationKind::Judgement }, question, context)
}

/// The end of a question about these criteria; `None` without any.
fn all_of(criteria: &[String]) -> Option<String> {
    match criteria {
        [] => None,
        [one] if !one.contains('\n') => Some(format!("\"{one}\"?")),
        several => Some(format!("the following?\n- {}", several.join("\n- "))),
    }
}

/// Asks whether a silent agent did anything, because no runner could look.
pub(crate) fn silence(why: &str) -> Ask {
    let context = EscalationContext { text: why.to_owned(), ..Default::default() };
    let question = "The agent said nothing, and no runner could see whether it changed anything. Is the task done?";
    Ask::new(EscalationKind::Judgement, question, context)
}

/// Asks whether to accept work that no runner can check.
pub(super) fn uncheckable(why: &str, summary: &str) -> Ask {
    let question = format!("The acceptance criteria need files, and {why}. Accept the work?");
    let context = EscalationContext { text: summary.to_owned(), ..Default::default() };
    Ask::new(EscalationKind::Uncheckable, question, context)
}
