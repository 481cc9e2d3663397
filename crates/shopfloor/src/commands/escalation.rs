//! `shopfloor escalation`: questions to people.

use clap::{Args, Subcommand};
use client::Client;
use domain::{AnswerAct, EscalationId, EscalationKind};
use protocol::{AttemptLine, Call, Escalation, EscalationAnswer, EscalationFilter, Project, TaskDetail};

use super::words;
use crate::output::clean;
use crate::pick::{pick, pick_if};
use crate::table::{Cell, Style, Table, fields};
use crate::text_arg::TextArg;
use crate::{Context, Failure, Output, when};

/// Subcommands for requests for a person.
#[derive(Debug, Subcommand)]
pub(crate) enum EscalationCommand {
    /// List the questions that need an answer
    List {
        /// Only in this project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        /// Include answered questions
        #[arg(long)]
        all: bool,
    },
    /// Show one question with its context: attempts, last screen, changes, options
    Show {
        /// The escalation's id, or the beginning of its question
        escalation: String,
    },
    /// Answer a question; the answer is added to the task, and the work continues
    Answer(AnswerArgs),
}

/// An answer.
#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The escalation's id, or the beginning of its question
    escalation: String,
    #[command(flatten)]
    text: TextArg,
    /// Choose one of the offered options, by its label or number
    #[arg(long, value_name = "OPTION", conflicts_with = "act")]
    option: Option<String>,
    /// What to do with the task, if none of the options fits
    #[arg(long, value_parser = words::act())]
    act: Option<AnswerAct>,
}

/// Runs the subcommand.
pub(crate) async fn run(command: EscalationCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        EscalationCommand::List { project, all } => {
            let project = pick_if::<Project>(client, project.as_deref()).await?;
            let filter = EscalationFilter { project, answered: all.then_some(true) };
            let list: Vec<Escalation> = client.ask(Call::EscalationList { filter }).await?;
            out.show(&list, |out| table(&list, out))
        }
        EscalationCommand::Show { escalation } => {
            let escalation = id(client, &escalation).await?;
            let escalation: Escalation = client.ask(Call::EscalationShow { escalation }).await?;
            out.show(&escalation, |out| render(&escalation, out))
        }
        EscalationCommand::Answer(args) => answer(args, client, out).await,
    }
}

async fn answer(args: AnswerArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let text = args.text.read()?;
    if text.is_none() && args.option.is_none() && args.act.is_none() {
        return Err(Failure::usage("give an answer")
            .advise("pass a text, --option or --act; `shopfloor escalation show` lists the options"));
    }
    let escalation = id(client, &args.escalation).await?;
    let option = match &args.option {
        Some(option) => Some(label(option, &client.ask(Call::EscalationShow { escalation }).await?)?),
        None => None,
    };
    let input = EscalationAnswer { option, act: args.act, text };
    let escalation: Escalation = client.ask(Call::EscalationAnswer { escalation, input }).await?;
    let task = match out.json {
        true => None,
        // The answer is stored, even if the task cannot be read.
        false => client.ask::<TaskDetail>(Call::TaskShow { task: escalation.task }).await.ok(),
    };
    out.show(&escalation, |_| {
        let act = escalation.act.map(|act| format!(" ({act})")).unwrap_or_default();
        let now = task.map(|detail| format!("; `{}` is {}", escalation.title, detail.task.status)).unwrap_or_default();
        clean(&format!("{}  answered{act}{now}", escalation.id)).replace('\n', " ")
    })
}

/// The option that a person means: by its label or its number.
fn label(text: &str, escalation: &Escalation) -> Result<String, Failure> {
    let options = &escalation.options;
    let same = options.iter().find(|option| option.label.eq_ignore_ascii_case(text.trim()));
    let numbered = || text.trim().parse::<usize>().ok().and_then(|number| options.get(number.wrapping_sub(1)));
    match same.or_else(numbered) {
        Some(option) => Ok(option.label.clone()),
        None => {
            let all: Vec<String> =
                options.iter().enumerate().map(|(at, option)| format!("{}. {}", at + 1, option.label)).collect();
            let all = if all.is_empty() {
                "there are no options: answer with a text or --act".to_owned()
            } else {
                all.join(", ")
            };
            Err(Failure::usage(format!("`{text}` is not an option")).advise(all))
        }
    }
}

async fn id(client: &Client, text: &str) -> Result<EscalationId, Failure> {
    pick::<Escalation>(client, text).await
}

fn table(list: &[Escalation], out: &Output) -> String {
    let titles = &["ID", "KIND", "QUESTION…", "TASK…", "ASKED", "ANSWER…"];
    let mut table = Table::new(titles, "no open questions");
    for one in list {
        let answer = one.answer.as_deref().unwrap_or("-");
        let answer = match (one.answered_at, &one.answered_by) {
            (Some(_), Some(by)) => Cell::styled(format!("{}: {answer}", by.name), Style::Dim),
            (Some(_), None) => Cell::styled(answer, Style::Dim),
            (None, _) => Cell::styled("needs you", Style::Yellow),
        };
        table.row([
            one.id.into(),
            kind(one.kind).into(),
            (&one.question).into(),
            (&one.title).into(),
            when::relative(one.created_at, out.now).into(),
            answer,
        ]);
    }
    table.render(out)
}

fn render(escalation: &Escalation, out: &Output) -> String {
    let Escalation { context, options, .. } = escalation;
    let mut pairs = vec![
        ("id", escalation.id.into()),
        ("kind", format!("{}: {}", kind(escalation.kind), escalation.kind.meaning()).into()),
        ("task", format!("{} ({})", escalation.title, escalation.task).into()),
        ("asked", when::relative(escalation.created_at, out.now).into()),
    ];
    let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value.into())));
    add("session", escalation.session.map(|session| format!("`shopfloor session log {session}`")));
    add("other task", context.other_task.map(|task| task.to_string()));
    add("conflict in", (!context.places.is_empty()).then(|| context.places.join(", ")));
    let by = escalation.answered_by.as_ref().map(|by| format!("by {}, ", by.name)).unwrap_or_default();
    add("answered", escalation.answered_at.map(|at| format!("{by}{}", when::relative(at, out.now))));
    add("answer", escalation.answer.clone());
    let mut parts = vec![fields(out, &pairs), clean(&escalation.question)];
    let mut part = |title: &str, text: &str| {
        if !text.trim().is_empty() {
            parts.push(format!("{}\n{}", Style::Bold.paint(title, out.color), clean(text)));
        }
    };
    part("Context", &context.text);
    let attempts: Vec<String> = context.attempts.iter().map(|attempt| line(attempt, out)).collect();
    part("Attempts", &attempts.join("\n"));
    part("Last screen", context.screen.as_deref().unwrap_or_default());
    part("Missing", context.missing.as_deref().unwrap_or_default());
    part("Changes", context.diff.as_deref().unwrap_or_default());
    part("Changes of the other task", context.other_diff.as_deref().unwrap_or_default());
    let option =
        |(at, option): (usize, &protocol::EscalationOption)| format!("  {}. {} ({})", at + 1, option.label, option.act);
    part("Options", &options.iter().enumerate().map(option).collect::<Vec<_>>().join("\n"));
    parts.join("\n\n")
}

/// Why a person is asked, in the words of the page.
fn kind(kind: EscalationKind) -> &'static str {
    match kind {
        EscalationKind::Question => "question",
        EscalationKind::GaveUp => "agent is stuck",
        EscalationKind::Refused => "rejected",
        EscalationKind::Stuck => "no progress",
        EscalationKind::Judgement | EscalationKind::Review => "needs review",
        EscalationKind::SameLines => "conflict",
        EscalationKind::Contradiction => "contradiction",
        EscalationKind::Uncheckable => "cannot check",
        EscalationKind::Outage => "agent outage",
    }
}

/// One attempt: worker, outcome and reason.
fn line(attempt: &AttemptLine, out: &Output) -> String {
    let AttemptLine { number, worker_name, agent, outcome, .. } = attempt;
    let at = when::relative(attempt.ended_at.unwrap_or(attempt.started_at), out.now);
    let why = attempt.reason.as_deref().map(|reason| format!(": {}", reason.replace('\n', " "))).unwrap_or_default();
    let outcome = outcome.word().replace('_', " ");
    format!("  {number}. {worker_name} ({agent}), {outcome}, {at}{why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{ProjectId, TaskId, Timestamp};
    use protocol::{EscalationContext, EscalationOption};

    fn sample() -> Escalation {
        let option = |label: &str, act| EscalationOption { label: label.into(), act };
        Escalation {
            id: EscalationId::generate(),
            project: ProjectId::generate(),
            task: TaskId::generate(),
            title: "Keep comments".into(),
            kind: EscalationKind::SameLines,
            worker: None,
            session: None,
            question: "Which one?\u{1b}[2J".into(),
            options: vec![option("Accept it", AnswerAct::Accept), option("Try again", AnswerAct::Retry)],
            context: EscalationContext { diff: Some("+a".into()), other_diff: Some("+b".into()), ..Default::default() },
            created_at: Timestamp::from_millis(0),
            answered_by: None,
            answered_at: None,
            answer: None,
            act: None,
        }
    }

    #[test]
    fn an_option_is_chosen_by_label_or_number() {
        let escalation = sample();
        assert_eq!(label("try again", &escalation).unwrap(), "Try again");
        assert_eq!(label("1", &escalation).unwrap(), "Accept it");
        for bad in ["0", "3", "accept"] {
            let said = label(bad, &escalation).unwrap_err().render(false);
            assert!(said.contains("1. Accept it, 2. Try again"), "{said}");
        }
    }

    #[test]
    fn a_question_is_shown_with_its_context() {
        let out = Output { json: false, color: false, width: None, now: Timestamp::from_millis(90_000) };
        let mut asked = sample();
        let attempt = |number, outcome, reason: Option<&str>| AttemptLine {
            number,
            worker_name: "anvil".into(),
            agent: "codex".into(),
            outcome,
            reason: reason.map(str::to_owned),
            started_at: Timestamp::from_millis(0),
            ended_at: reason.map(|_| Timestamp::from_millis(30_000)),
        };
        let (refused, open) = (domain::AttemptOutcome::Refused, domain::AttemptOutcome::Open);
        asked.context.attempts = vec![attempt(1, refused, Some("`a.md`\nis\u{1b}[2J empty")), attempt(2, open, None)];
        let text = render(&asked, &out);
        for part in [
            "conflict: Two outputs change the same lines.",
            "Which one?\u{FFFD}[2J",
            "Attempts\n  1. anvil (codex), refused, 1 min ago: `a.md` is\u{FFFD}[2J empty\n  2. anvil (codex), open, 1 min ago\n",
            "Changes\n+a",
            "Changes of the other task\n+b",
            "Options\n  1. Accept it (accept)\n  2. Try again (retry)",
        ] {
            assert!(text.contains(part), "`{part}` is not in:\n{text}");
        }
    }

    #[test]
    fn a_settled_question_needs_no_answer() {
        let out = Output { json: false, color: false, width: None, now: Timestamp::from_millis(90_000) };
        let mut settled = sample();
        settled.answered_at = Some(Timestamp::from_millis(60_000));
        settled.answer = Some("the runner `box` came back and checked it".into());
        let (list, shown) = (table(&[settled.clone()], &out), render(&settled, &out));
        assert!(list.contains("came back") && !list.contains("needs you"), "{list}");
        assert!(shown.contains("30 s ago") && shown.contains("came back") && !shown.contains("by "), "{shown}");
    }
}
