//! Grants: lasting approvals by runners' owners.

use domain::trust::Grant as Allowed;
use domain::{Action, Answered, Author, GrantId, ProjectId, Resource, RunnerId};
use protocol::{Approval, Grant, Sandbox, Verb, verbs};

use super::facts::author;
use crate::sql::{Row, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::verbs::users;
use crate::verbs::work::tasks::row::id_or_none;
use crate::verbs::workspaces::json_or_none;
use crate::{Caller, Command, Store, StoreError};

/// The maximum number of grants of one runner.
const MOST: u32 = 2_000;

const COLUMNS: &str = "SELECT g.id, g.runner, r.owner AS runner_owner, g.project, g.kind, g.text, g.sha256, g.author, \
    u.name AS author_name, g.agents, g.reach, g.created_at FROM grants g JOIN runners r ON r.id = g.runner \
    JOIN users u ON u.id = g.author";

fn grant(row: &Row) -> Result<Grant, StoreError> {
    Ok(Grant {
        id: row.parsed("id")?,
        runner: row.parsed("runner")?,
        project: row.parsed("project")?,
        kind: id_or_none(row, "kind")?,
        text: row.text_or_none("text")?,
        sha256: row.text_or_none("sha256")?,
        author: users::reference(row, "author")?,
        agents: row.flag("agents")?,
        reach: json_or_none(row, "reach")?,
        created_at: row.time("created_at")?,
    })
}

/// The grants of a runner in a project, for the approval rule.
pub(super) async fn of(tx: &mut Tx<'_>, runner: RunnerId, project: ProjectId) -> Result<Vec<Allowed>, StoreError> {
    let sql = format!("{COLUMNS} WHERE g.runner = $1 AND g.project = $2");
    let rows = tx.read().all(&sql, vec![text(runner), text(project)]).await?;
    let read = |row: &Row| {
        let found = grant(row)?;
        let reach = Sandbox::reach(found.reach.as_ref());
        Ok(match (found.kind, found.sha256) {
            (Some(kind), Some(sha256)) => Allowed::Text { project, kind, sha256, reach },
            _ => {
                let author = Author { user: found.author.id, agent: found.agents };
                Allowed::Author { project, author, reach }
            }
        })
    };
    rows.iter().map(read).collect()
}

/// Stores the grant of an answer, unless the answer holds only once.
pub(super) async fn keep(tx: &mut Tx<'_>, open: &Approval, answer: Answered) -> Result<(), StoreError> {
    let one_text = match answer {
        Answered::Text => true,
        Answered::Author => false,
        _ => return Ok(()),
    };
    let sql = "INSERT INTO grants (id, runner, project, kind, text, sha256, author, agents, reach, created_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let some = |value: &str| one_text.then(|| value.to_owned());
    let values = args![
        GrantId::generate().to_string(),
        open.runner.to_string(),
        open.project.to_string(),
        some(open.kind.word()),
        some(&open.text),
        some(&open.sha256),
        open.author.user.id.to_string(),
        author(&open.author).agent,
        open.reach.as_ref().map(to_json),
        tx.now,
    ];
    tx.run(sql, values).await.map(|_| ())
}

/// Refuses to exceed the maximum, before anything is written.
pub(super) async fn room(tx: &mut Tx<'_>, runner: RunnerId) -> Result<(), StoreError> {
    let sql = "SELECT COUNT(*) AS total FROM grants WHERE runner = $1";
    let total = tx.read().first(sql, vec![text(runner)]).await?.map_or(Ok(0), |row| row.count("total"))?;
    match total < MOST {
        true => Ok(()),
        false => Err(StoreError::Conflict(format!(
            "this runner has {MOST} permissions already: revoke some (`shopfloor approval grants`), or allow it once"
        ))),
    }
}

impl Command for verbs::GrantRevoke {
    type Output = ();
    const VERB: &'static str = verbs::GrantRevoke::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let caller = tx.caller;
        let row = tx.read().first(&format!("{COLUMNS} WHERE g.id = $1"), vec![text(self.grant)]).await?;
        let row = row.ok_or(StoreError::NotFound("grant"))?;
        let owner = row.parsed("runner_owner")?;
        caller.may(Action::ManageOwn, Resource::Belongings(owner), "grant")?;
        let found = grant(&row)?;
        tx.run("DELETE FROM grants WHERE id = $1", vec![text(self.grant)]).await?;
        let what = match &found.text {
            Some(text) => format!("`{}` by {}", domain::text::title(text), found.author.name),
            None => format!("everything by {}{}", found.author.name, if found.agents { "'s agents" } else { "" }),
        };
        tx.audit(Self::VERB, self.grant, AuditScope::Private(owner), format!("no longer allows {what}"));
        Ok(())
    }
}

impl Store {
    /// The caller's grants, newest first.
    pub async fn grants(&self, caller: &Caller) -> Result<Vec<Grant>, StoreError> {
        let me = caller.person()?;
        let sql = format!("{COLUMNS} WHERE r.owner = $1 ORDER BY g.created_at DESC, g.id DESC LIMIT {MOST}");
        let mut reader = self.readers.get().await?;
        reader.borrow().all(&sql, args![me.id.to_string()]).await?.iter().map(grant).collect()
    }
}
