//! Whether an agent supports a session's parameters, according to its runner.

use domain::{RunnerId, SessionId, SessionMode};
use protocol::{AgentMode, RunnerAbout, SessionSpawn};

use crate::StoreError;
use crate::sql::text;
use crate::tx::Tx;
use crate::verbs::workspaces;

/// Refuses parameters that the runner would refuse or ignore.
pub(super) async fn check(tx: &mut Tx<'_>, runner: RunnerId, input: &SessionSpawn) -> Result<(), StoreError> {
    let Some(modes) = modes(tx, runner, &input.agent).await? else { return Ok(()) };
    let (agent, mode) = (&input.agent, input.mode.unwrap_or(SessionMode::Interactive));
    let Some(found) = modes.iter().find(|found| found.mode == mode) else {
        let message = match mode {
            SessionMode::Interactive => format!("`{agent}` has no interactive mode: start it headless"),
            SessionMode::Headless => format!("`{agent}` has no headless mode: start it interactively"),
        };
        return Err(StoreError::invalid("mode", message));
    };
    if !found.prompt && input.prompt.as_deref().is_some_and(|prompt| !prompt.trim().is_empty()) {
        let message = format!("`{agent}` takes no prompt: leave it out, or choose an agent that does");
        return Err(StoreError::invalid("prompt", message));
    }
    if found.argv == Some(false) && !input.argv.is_empty() {
        let message = format!("`{agent}` takes no program: leave it out, or use the agent `command`");
        return Err(StoreError::invalid("argv", message));
    }
    let unsaid = input.prompt.as_deref().is_none_or(|prompt| prompt.trim().is_empty());
    if found.argv == Some(false) && found.prompt && mode == SessionMode::Headless && unsaid {
        let message = format!("`{agent}` needs a prompt to run headless");
        return Err(StoreError::invalid("prompt", message));
    }
    Ok(())
}

/// The mode for resuming a conversation: interactive if the agent supports it.
pub(super) async fn resumes(tx: &mut Tx<'_>, runner: RunnerId, agent: &str) -> Result<SessionMode, StoreError> {
    let Some(modes) = modes(tx, runner, agent).await? else { return Ok(SessionMode::Interactive) };
    let can = |mode: &SessionMode| modes.iter().any(|found| found.mode == *mode && found.resumes);
    [SessionMode::Interactive, SessionMode::Headless]
        .into_iter()
        .find(can)
        .ok_or_else(|| StoreError::Conflict(format!("`{agent}` cannot resume conversations: spawn a new session")))
}

/// Refuses a question to an agent that cannot be resumed without a right to write.
pub(super) async fn can_be_asked(tx: &mut Tx<'_>, runner: RunnerId, agent: &str) -> Result<(), StoreError> {
    let Some(modes) = modes(tx, runner, agent).await? else { return Ok(()) };
    // A runner of an earlier release says nothing, and refuses the question itself.
    match modes.iter().any(|mode| mode.asked != Some(false)) {
        true => Ok(()),
        false => Err(StoreError::Conflict(format!("`{agent}` cannot be asked: it has no way to resume and only read"))),
    }
}

/// Whether a session reports its model usage; assumed unless the runner says that its agent does not.
pub(crate) async fn counts(tx: &mut Tx<'_>, session: SessionId) -> Result<bool, StoreError> {
    let sql = "SELECT runner, agent, mode FROM sessions WHERE id = $1";
    let Some(row) = tx.read().first(sql, vec![text(session)]).await? else { return Ok(false) };
    let (runner, mode): (RunnerId, SessionMode) = (row.parsed("runner")?, row.parsed("mode")?);
    let modes = modes(tx, runner, &row.text("agent")?).await?.unwrap_or_default();
    Ok(modes.iter().find(|found| found.mode == mode).and_then(|found| found.counts).unwrap_or(true))
}

/// The modes of an agent on a runner; `None` if the runner did not report them.
async fn modes(tx: &mut Tx<'_>, runner: RunnerId, agent: &str) -> Result<Option<Vec<AgentMode>>, StoreError> {
    let row = tx.read().first("SELECT about FROM runners WHERE id = $1", vec![text(runner)]).await?;
    let about: Option<RunnerAbout> = row.map(|row| workspaces::json_or_none(&row, "about")).transpose()?.flatten();
    let found = about.into_iter().flat_map(|about| about.agents).find(|found| found.name == agent);
    Ok(found.and_then(|found| found.modes))
}
