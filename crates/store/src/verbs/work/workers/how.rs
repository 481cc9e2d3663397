//! How the session of a task ended: in fixed words for everybody, with what its runner says of it for those who may
//! look.
//!
//! What a runner says can name folders and workspaces of its machine, lines of a setup, and the agent's own output.

use domain::WorkspaceStatus;
use domain::text::plain;
use engine::tasks::life::Why;
use protocol::Session;

use crate::StoreError;
use crate::sql::text;
use crate::tx::Tx;
use crate::verbs::workspaces;

/// It is gone, and nobody knows how it ended.
pub(super) fn lost(session: &Session) -> Why {
    Why::with_detail("its session was lost", session.state.detail.clone())
}

/// It ended, or never began.
pub(super) async fn ended(tx: &mut Tx<'_>, session: &Session) -> Result<Why, StoreError> {
    let state = &session.state;
    let detail = state.detail.clone();
    Ok(match (state.code, state.signal) {
        // As shells and we ourselves say it.
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

/// The program that somebody named for a session; `None`: its agent's own.
async fn named(tx: &mut Tx<'_>, session: &Session) -> Result<Option<String>, StoreError> {
    let row = tx.read().first("SELECT argv FROM sessions WHERE id = $1", vec![text(session.id)]).await?;
    let argv: Vec<String> = row.map_or(Ok(Vec::new()), |row| row.json("argv"))?;
    Ok(argv.first().map(|program| plain(program, 200)))
}
