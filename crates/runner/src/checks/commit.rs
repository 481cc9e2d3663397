//! Commits the work of an agent that cannot commit, before its report is checked.

use agents::Mode;
use domain::SessionMode;
use protocol::link::DesiredCheck;
use worktree::Examined;

use super::Checker;
use crate::sessions::autonomy;

/// Maximum length of a message's first line.
const SUBJECT: usize = 72;

/// Commits the work of a report's agent if necessary; whether it did.
pub(super) async fn for_agent(checker: &Checker, check: &DesiredCheck, facts: &Examined) -> bool {
    let workspace = check.workspace.workspace;
    if !acceptance::commits_for_agent(&check.criteria, facts, false) {
        return false;
    }
    let can = can_commit(checker, check).await;
    if !can.is_some_and(|can| acceptance::commits_for_agent(&check.criteria, facts, can)) {
        return false;
    }
    match checker.workspaces.worktrees.commit(workspace, &message(check.summary.as_deref())).await {
        Ok(commit) => {
            tracing::info!(%workspace, ?commit, "committed the agent's work");
            commit.is_some()
        }
        Err(error) => {
            tracing::warn!(%workspace, %error, "could not commit the agent's work");
            false
        }
    }
}

/// Whether the task's agent could commit here; `None` if there was none, or if a person's own command ran.
async fn can_commit(checker: &Checker, check: &DesiredCheck) -> Option<bool> {
    let mut sessions = checker.journal.sessions(false).await.ok()?;
    sessions.extend(checker.journal.sessions(true).await.ok()?);
    let here = |desired: &protocol::link::DesiredSession| {
        let task = desired.task.as_ref().is_some_and(|task| task.task == check.task);
        task && desired.workspace.workspace == check.workspace.workspace
    };
    let last = sessions.into_iter().filter(|row| here(&row.desired)).max_by_key(|row| row.session)?;
    let adapter = checker.machine.adapters.get(&last.desired.agent)?;
    let mode = match last.desired.mode {
        SessionMode::Interactive => Mode::Interactive,
        SessionMode::Headless => Mode::Headless,
    };
    let autonomy = autonomy(last.desired.asks, last.desired.sandbox.is_some());
    (!adapter.takes_argv(mode)).then(|| adapter.commits(autonomy))
}

/// The agent's summary as a message: a short first line, and the whole text below it if there is more.
pub(super) fn message(summary: Option<&str>) -> String {
    let summary = summary.unwrap_or_default().trim();
    let (first, rest) = summary.split_once('\n').unwrap_or((summary, ""));
    let subject: String = first.chars().take(SUBJECT).collect();
    let rest = if subject == first { rest } else { summary };
    match (subject.trim(), rest.trim()) {
        ("", _) => "Work of an agent".to_owned(),
        (subject, "") => subject.to_owned(),
        (subject, rest) => format!("{subject}\n\n{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn a_summary_is_the_message() {
        assert_eq!(message(Some("Fixed it.\n")), "Fixed it.");
        assert_eq!(message(Some("Fixed it.\nAnd more.")), "Fixed it.\n\nAnd more.");
        assert_eq!(message(Some(&"x".repeat(100))), format!("{}\n\n{}", "x".repeat(72), "x".repeat(100)));
        assert_eq!(message(None), "Work of an agent");
    }
}
