//! Handoffs as text.

use domain::{HandoffOutcome, HandoffStatus, HandoffStep};
use protocol::{Handoff, HandoffDetail, HandoffSettings, HandoffStepTaken};

use crate::output::clean;
use crate::table::{Cell, Style, Table, fields};
use crate::{Output, when};

/// A handoff in one line.
pub(super) fn line(handoff: &Handoff) -> String {
    let successor = handoff.successor.map(|session| format!(", continued by {session}")).unwrap_or_default();
    format!("{} of `{}`: {}{successor}", handoff.id, clean(&handoff.title), state(handoff))
}

fn state(handoff: &Handoff) -> String {
    let detail = handoff.detail.as_ref().map(|detail| format!(": {}", clean(detail))).unwrap_or_default();
    match handoff.status {
        HandoffStatus::Done | HandoffStatus::Cancelled => handoff.status.to_string(),
        HandoffStatus::Editing => "waits for you to edit the document".to_owned(),
        HandoffStatus::Failed => format!("{} failed{detail}", handoff.step),
        HandoffStatus::Running => format!("{}{detail}", doing(handoff.step)),
    }
}

/// What happens in a step.
fn doing(step: HandoffStep) -> &'static str {
    match step {
        HandoffStep::Write => "writing the document",
        HandoffStep::Save => "saving the work",
        HandoffStep::Publish => "pushing or keeping the work",
        HandoffStep::Stop => "stopping the session",
        HandoffStep::Start => "starting the fresh session",
        HandoffStep::Acknowledge => "waiting for the fresh session to acknowledge",
    }
}

/// A step that has ended.
pub(super) fn step(step: &HandoffStepTaken) -> String {
    let detail = step.detail.as_ref().map(|detail| format!(": {}", clean(detail))).unwrap_or_default();
    let mark = match step.outcome {
        HandoffOutcome::Done => "done",
        HandoffOutcome::Failed => "failed",
        HandoffOutcome::Skipped => "skipped",
    };
    format!("{:<12} {mark}{detail}", step.step)
}

/// What a person does where no agent acknowledges.
pub(super) fn needs_reader(handoff: &Handoff) -> String {
    let (id, hash) = (handoff.id, handoff.hash.as_deref().unwrap_or("HASH"));
    format!(
        "the fresh session runs no agent: read the document with `shopfloor handoff show {id}`, then run \
         `shopfloor handoff ack {id} {hash}`"
    )
}

/// A table of handoffs.
pub(super) fn table(handoffs: &[Handoff], out: &Output) -> String {
    let titles = &["ID", "SESSION…", "STATE…", "TO…", "UPDATED"];
    let mut table = Table::new(titles, "no handoffs; hand a session off with `shopfloor handoff SESSION`");
    for handoff in handoffs {
        let style = match handoff.status {
            HandoffStatus::Done => Style::Green,
            HandoffStatus::Failed => Style::Red,
            _ => Style::Plain,
        };
        table.row([
            handoff.id.into(),
            (&handoff.title).into(),
            Cell::styled(state(handoff), style),
            (&handoff.to.name).into(),
            when::relative(handoff.updated_at, out.now).into(),
        ]);
    }
    table.render(out)
}

/// How a project's handoffs are written and kept.
pub(super) fn settings(settings: &HandoffSettings, out: &Output) -> String {
    let files = match settings.keep_files {
        true => "kept in `.shopfloor/handoffs/`, saved with the work",
        false => "not kept as files",
    };
    let sections = match settings.templates.trim() {
        "" => "the standard sections: done, remaining, tried and failed, open questions, next step".to_owned(),
        text => format!("\n{}", clean(text)),
    };
    format!("{}\nsections: {sections}", fields(out, &[("documents", files.into())]))
}

/// A handoff with its steps and its document.
pub(super) fn detail(detail: &HandoffDetail, out: &Output) -> String {
    let handoff = &detail.handoff;
    let mut pairs: Vec<(&str, Cell)> = vec![
        ("handoff", handoff.id.into()),
        ("session", format!("{} ({})", handoff.title, handoff.session).into()),
        ("state", state(handoff).into()),
        ("to", (&handoff.to.name).into()),
    ];
    let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value.into())));
    add("began by itself", handoff.by_itself.clone());
    add("goal", Some(handoff.goal.clone()).filter(|goal| !goal.is_empty()));
    add("written by", detail.written_by.map(|by| by.to_string()));
    add("saved as", handoff.saved.clone());
    add("branch", handoff.branch.clone());
    add("continued by", handoff.successor.map(|session| session.to_string()));
    let steps: String = handoff.steps.iter().map(|taken| format!("  {}\n", step(taken))).collect();
    let text = detail.document.as_ref().or(detail.body.as_ref()).map(|text| clean(text)).unwrap_or_default();
    format!("{}\n\n{steps}\n{text}", fields(out, &pairs))
}
