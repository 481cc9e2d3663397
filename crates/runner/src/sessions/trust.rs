//! What a stranger's project would run on this machine is run only when the runner's owner has allowed it.

use std::sync::Arc;
use std::time::Duration;

use domain::SessionStatus;
use sha2::{Digest, Sha256};

use super::progress::tell;
use super::state::At;
use crate::floor::Floor;
use crate::journal::SessionRow;

/// How often it is looked whether the owner has allowed it: they do that with another process.
const LOOK: Duration = Duration::from_secs(1);
/// How many files are named.
const NAMED: usize = 10;

/// Waits until what the workspace would run is allowed; whether its settings may be trusted.
pub(super) async fn settle(floor: &Arc<Floor>, row: &mut SessionRow) -> Result<bool, String> {
    let wanted = &row.desired.workspace;
    if wanted.trusted {
        return Ok(true);
    }
    let workspace = wanted.workspace;
    let repository = wanted.repository.clone();
    let lines = repository.iter().flat_map(|repository| [repository.setup.as_deref(), repository.teardown.as_deref()]);
    let lines: Vec<Option<String>> = lines.map(|line| line.map(str::to_owned)).collect();
    loop {
        let found = floor.workspaces.worktrees.executable_config(workspace).await.map_err(|error| error.to_string())?;
        let mut what: Vec<String> = lines.iter().flatten().map(|line| format!("`{}`", printable(line))).collect();
        what.extend(found.files.iter().map(|file| printable(&file.path)));
        if what.is_empty() && !found.truncated {
            return Ok(false);
        }
        let named = what.len().min(NAMED);
        let more = if what.len() > named { format!(" and {} more", what.len() - named) } else { String::new() };
        let list = format!("{}{more}", what[..named].join(", "));
        if found.truncated {
            return Err(format!(
                "the project is not this runner's owner's, and what it would run here cannot be listed whole: {list}"
            ));
        }
        let hash = hash(&found.sha256, &lines);
        if floor.journal.approved(&hash).await.map_err(|error| error.to_string())? {
            return Ok(true);
        }
        let detail = format!(
            "the project is not this runner's owner's, and would run here: {list}; \
             allow it with `shopfloor runner approve {hash}`"
        );
        let at = At { status: SessionStatus::Waiting, detail: Some(detail) };
        if row.memory.state.as_ref().is_none_or(|state| !at.is(state)) {
            tracing::warn!(session = %row.session, detail = at.detail, "the session waits for an approval");
            tell(floor, row, at).await;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// One hash for all that would run: it changes when any of it does.
pub(crate) fn hash(files: &str, lines: &[Option<String>]) -> String {
    let mut hash = Sha256::new();
    hash.update(files.as_bytes());
    for line in lines {
        hash.update([u8::from(line.is_some())]);
        let line = line.as_deref().unwrap_or_default();
        hash.update(line.len().to_be_bytes());
        hash.update(line.as_bytes());
    }
    hex::encode(&hash.finalize()[..16])
}

/// A stranger's text, short and without control characters.
pub(crate) fn printable(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_change_is_another_hash() {
        let line = |text: &str| Some(text.to_owned());
        let all = [
            hash("a", &[line("make"), None]),
            hash("b", &[line("make"), None]),
            hash("a", &[None, line("make")]),
            hash("a", &[line("make "), None]),
            hash("a", &[line("make"), line("")]),
            hash("a", &[]),
        ];
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), all.len());
        assert_eq!(hash("a", &[line("make"), None]), all[0]);
    }
}
