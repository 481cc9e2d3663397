//! Branch names of new workspaces: never the base branch, never another workspace's branch.

use domain::{UserId, branch};
use protocol::{Project, Repository};

use crate::StoreError;
use crate::sql::text;
use crate::tx::Tx;
use crate::verbs::workspaces::json_or_none;

/// The prefix of generated names, before a slash.
const MADE: &str = "shopfloor";

/// Refuses a chosen branch whose pushes would overwrite, or conflict with, another branch.
pub(super) async fn refuse_taken(
    tx: &mut Tx<'_>,
    owner: UserId,
    project: &Project,
    repository: &Repository,
    wanted: &str,
    base: Option<&str>,
) -> Result<(), StoreError> {
    // A taken name is a conflict, not an invalid input: it may be free later.
    let taken = |why: String| Err(StoreError::Conflict(why));
    if wanted == MADE {
        let why = format!(
            "`{MADE}` is a prefix of generated branches (`{MADE}/…`), which git cannot have beside it: choose another"
        );
        return Err(StoreError::invalid("branch", why));
    }
    if let Some(why) = base.and_then(|base| beside_base(base, wanted)) {
        return Err(StoreError::invalid("branch", why));
    }
    if let Some(why) = repository.base_branch.as_deref().and_then(|base| beside_base(base, wanted)) {
        return taken(why);
    }
    // Workspaces in other people's projects are not revealed here; a push finds their branches at the remote.
    let sql = "SELECT id, branch, repository, owner FROM workspaces WHERE repository IS NOT NULL AND \
               status IN ('preparing', 'ready') AND (project = $1 OR owner = $2) ORDER BY created_at, id";
    for row in tx.read().all(sql, vec![text(project.id), text(owner)]).await? {
        let found: Option<Repository> = json_or_none(&row, "repository")?;
        let (id, theirs) = (row.text("id")?, row.text("branch")?);
        if found.is_none_or(|found| found.location != repository.location) || !branch::clash(&theirs, wanted) {
            continue;
        }
        if theirs != wanted {
            return taken(format!(
                "git cannot have `{wanted}` beside `{theirs}`, the branch of workspace {id}: choose another name"
            ));
        }
        let join = match row.parsed::<UserId>("owner")? == owner {
            true => format!(", or work in that one with its activity and `--workspace {id}`"),
            false => String::new(),
        };
        return taken(format!("workspace {id} has the branch `{theirs}` already: choose another name{join}"));
    }
    Ok(())
}

/// Why a branch name conflicts with the base branch.
fn beside_base(base: &str, wanted: &str) -> Option<String> {
    if base == wanted {
        return Some(format!(
            "`{base}` is the branch that the work starts from, and what the agent pushes would land on it: choose another \
             name, or name none and one is made"
        ));
    }
    let clash = branch::clash(base, wanted);
    clash.then(|| format!("git cannot have `{wanted}` beside the base branch `{base}`: choose another name"))
}
