//! Names of projects: unique among the projects of one owner, without regard to case.

use domain::text::title;
use domain::{Action, ProjectId, Resource, UserId};

use super::{projects, users};
use crate::StoreError;
use crate::sql::args;
use crate::tx::Tx;

/// The form in which names are compared, from a project's content.
pub(super) fn key(content: &str) -> String {
    title(content).trim().to_lowercase()
}

/// Refuses a name that another project of the owner has. Of projects that the caller may not see, nothing is revealed.
pub(super) async fn unused(
    tx: &mut Tx<'_>,
    owner: UserId,
    except: Option<ProjectId>,
    content: &str,
) -> Result<(), StoreError> {
    let caller = tx.caller;
    let sql = "SELECT p.id, p.owner, u.name AS owner_name, p.visibility, p.share_execution, p.content FROM projects p \
               JOIN users u ON u.id = p.owner WHERE p.owner = $1 AND p.name_key = $2 ORDER BY p.created_at, p.id";
    for row in tx.read().all(sql, args![owner.to_string(), key(content)]).await? {
        let facts = projects::facts(&row)?;
        if Some(facts.id) == except || caller.may(Action::See, Resource::Project(&facts), "project").is_err() {
            continue;
        }
        let (name, owner) = (title(&row.text("content")?), users::reference(&row, "owner")?);
        let own = caller.person().is_ok_and(|person| person.id == owner.id);
        let who = if own { "you already have".to_owned() } else { format!("{} already has", owner.name) };
        let message = format!("{who} a project `{name}` ({}): choose another name", facts.id);
        return Err(StoreError::taken("content", message));
    }
    Ok(())
}
