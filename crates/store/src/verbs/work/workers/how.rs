//! How a task's session ended: a fixed phrase for everybody, and the runner's detail for those who may see the session.
//!
//! The detail can name folders and workspaces of the runner's machine, lines of a setup, and the agent's output.

use domain::WorkspaceStatus;
use domain::text::plain;
use engine::tasks::life::Why;
use protocol::Session;

use crate::StoreError;
use crate::sql::text;
use crate::tx::Tx;
use crate::verbs::workspaces;

/// A lost session, whose end is unknown.
pub(super) fn lost(session: &Session) -> Why {
    Why::with_detail("its session was lost", session.state.detail.clone())
}

/// A session that exited or never started.
pub(super) async fn ended(tx: &mut Tx<'_>, session: &Session) -> Result<Why, StoreError> {
    let state = &session.state;
    let detail = state.detail.clone();
    Ok(match (state.code, state.signal) {
        // The shell's codes for a program that cannot be run or found; our session host uses them, too.
        (Some(code @ (126 | 127)), _) => {
            let what = if code == 127 { "was not found" } else { "could not be run" };
            let named = named(tx, session).await?;
            let whose = if named.is_some() { "its program".to_owned() } else { format!("`{}`", session.agent) };
            let more: Vec<String> =
                named.map(|program| format!("it ran `{program}`")).into_iter().chain(detail).collect();
            let open = format!("its session exited with {code}: {whose}, or something that it runs, {what}");
            Why::with_detail(open, (!more.is_empty()).then(|| more.join("\n")))
        }
        (Some(code), _) => Why::with_detail(format!("its session exited with {code}"), detail),
        (None, Some(signal)) => Why::with_detail(format!("its session exited by signal {signal}"), detail),
        (None, None) if detail.is_none() => Why::with_detail("its session exited", None),
        (None, None) => {
            let place = workspaces::get(tx.read(), session.workspace).await?;
            let unmade = place.is_some_and(|place| place.status == WorkspaceStatus::Failed);
            let open = if unmade { "its workspace could not be made" } else { "its session could not be started" };
            Why::with_detail(open, detail)
        }
    })
}

/// The program that was given for a session; `None` if it runs its agent's own.
async fn named(tx: &mut Tx<'_>, session: &Session) -> Result<Option<String>, StoreError> {
    let row = tx.read().first("SELECT argv FROM sessions WHERE id = $1", vec![text(session.id)]).await?;
    let argv: Vec<String> = row.map_or(Ok(Vec::new()), |row| row.json("argv"))?;
    Ok(argv.first().map(|program| plain(program, 200)))
}
