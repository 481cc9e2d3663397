//! Runners: identity, owner and presence.

use domain::limits::{MAX_LISTED, MAX_RUNNERS};
use domain::text::{NAME, plain};
use domain::{Action, Resource, RunnerId, RunnerPolicy, Timestamp, TokenKind, UserId};
use protocol::link::RunnerNamed;
use protocol::{Change, FoundAgent, NewRunner, Runner, RunnerAbout, Verb, verbs};
use serde::Serialize;

use super::fitting::Fitting;
use super::room::room;
use super::work::workers::outage;
use super::{approvals, credentials, users};
use crate::batch::PendingEvent;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::{Caller, Command, EventBody, Store, StoreError};

const COLUMNS: &str = "SELECT r.id, r.name, r.owner, u.name AS owner_name, r.last_seen_at, r.created_at, \
    r.about, r.link, r.policy, r.sandbox_others, r.trouble \
    FROM runners r JOIN users u ON u.id = r.owner";

/// A link is stale if its hub has not refreshed it for this long; hubs refresh every minute.
const STALE: i64 = 150_000;

fn runner(row: &Row, now: Timestamp) -> Result<Runner, StoreError> {
    let seen = row.time_or_none("last_seen_at")?;
    let lately = seen.is_some_and(|seen| seen > now.plus_millis(-STALE));
    Ok(Runner {
        id: row.parsed("id")?,
        name: row.text("name")?,
        owner: users::reference(row, "owner")?,
        connected: lately && row.text_or_none("link")?.is_some(),
        last_seen_at: seen,
        created_at: row.time("created_at")?,
        about: row.text_or_none("about")?.map(|_| row.json("about")).transpose()?,
        policy: row.parsed("policy")?,
        sandbox_others: row.flag("sandbox_others")?,
        trouble: row.text_or_none("trouble")?,
    })
}

/// Every runner of this hub, by owner and name.
pub(crate) async fn all(c: &mut Connection<'_>, now: Timestamp) -> Result<Vec<Runner>, StoreError> {
    let rows = c.all(&format!("{COLUMNS} ORDER BY u.name_key, r.name"), args![]).await?;
    rows.iter().map(|row| runner(row, now)).collect()
}

fn announce(tx: &mut Tx<'_>, change: Change) {
    let body = EventBody::Change { change };
    tx.announce(PendingEvent { project: None, audience: None, facts_before: None, execution_of: None, body });
}

impl Command for verbs::RunnerCreate {
    type Output = NewRunner;
    const VERB: &'static str = verbs::RunnerCreate::SPEC.name;
    const SECRET: bool = true;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<NewRunner, StoreError> {
        tx.caller.may(Action::TakePart, Resource::Hub, "runner")?;
        let owner = tx.caller.person()?;
        let name = NAME.name(&self.input.name)?;
        if is_taken(tx, owner.id, &name).await? {
            return Err(StoreError::Conflict(format!("you have a runner `{name}` already: choose another name")));
        }
        let sql = "SELECT COUNT(*) AS total FROM runners WHERE owner = $1";
        let full = || format!("you have {MAX_RUNNERS} runners: remove unused ones (`shopfloor runner remove`)");
        room(tx, sql, args![owner.id.to_string()], MAX_RUNNERS, full).await?;
        let id = RunnerId::generate();
        let sql = "INSERT INTO runners (id, owner, name, created_at) VALUES ($1, $2, $3, $4)";
        tx.run(sql, args![id.to_string(), owner.id.to_string(), &name, tx.now]).await?;
        let (_, secret) = credentials::add_token(tx, owner.id, TokenKind::Runner, Some(id), &name, None).await?;
        let made = Runner {
            id,
            name,
            owner,
            connected: false,
            last_seen_at: None,
            created_at: tx.now,
            about: None,
            policy: RunnerPolicy::Ask,
            sandbox_others: false,
            trouble: None,
        };
        announce(tx, Change::Runner { runner: made.clone() });
        tx.audit(Self::VERB, id, AuditScope::Hub, format!("registered runner `{}`", made.name));
        Ok(NewRunner { runner: made, secret: secret.reveal().to_owned() })
    }
}

impl Command for verbs::RunnerUpdate {
    type Output = Runner;
    const VERB: &'static str = verbs::RunnerUpdate::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Runner, StoreError> {
        tx.caller.may(Action::TakePart, Resource::Hub, "runner")?;
        let row = tx.read().first(&format!("{COLUMNS} WHERE r.id = $1"), vec![text(self.runner)]).await?;
        let before = runner(&row.ok_or(StoreError::NotFound("runner"))?, tx.now)?;
        if tx.caller.may(Action::ManageOwn, Resource::Belongings(before.owner.id), "runner").is_err() {
            return Err(StoreError::Forbidden("only the runner's owner may change what it runs"));
        }
        let after = Runner {
            policy: self.input.policy.unwrap_or(before.policy),
            sandbox_others: self.input.sandbox_others.unwrap_or(before.sandbox_others),
            ..before.clone()
        };
        if after == before {
            return Ok(before);
        }
        let sql = "UPDATE runners SET policy = $1, sandbox_others = $2 WHERE id = $3";
        tx.run(sql, args![after.policy.word(), after.sandbox_others, self.runner.to_string()]).await?;
        announce(tx, Change::Runner { runner: after.clone() });
        approvals::settle(tx, self.runner).await?;
        let detail = format!(
            "runner `{}`: policy {} → {}, others' work in a sandbox {} → {}",
            after.name, before.policy, after.policy, before.sandbox_others, after.sandbox_others
        );
        tx.audit(Self::VERB, self.runner, AuditScope::Private(after.owner.id), detail);
        Ok(after)
    }
}

impl Command for verbs::RunnerRemove {
    type Output = ();
    const VERB: &'static str = verbs::RunnerRemove::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.caller.may(Action::TakePart, Resource::Hub, "runner")?;
        let row = tx.read().first(&format!("{COLUMNS} WHERE r.id = $1"), vec![text(self.runner)]).await?;
        let found = runner(&row.ok_or(StoreError::NotFound("runner"))?, tx.now)?;
        if tx.caller.may(Action::ManageOwn, Resource::Belongings(found.owner.id), "runner").is_err() {
            return Err(StoreError::Forbidden("only the runner's owner may remove it"));
        }
        let live = "SELECT id FROM sessions WHERE runner = $1 AND ended_at IS NULL";
        if tx.read().first(live, vec![text(self.runner)]).await?.is_some() {
            let message = format!("`{}` still has sessions: stop them first", found.name);
            return Err(StoreError::Conflict(message));
        }
        let tokens = tx.read().all("SELECT id FROM tokens WHERE runner = $1", vec![text(self.runner)]).await?;
        let tokens = tokens.iter().map(|row| row.text("id")).collect::<Result<_, _>>()?;
        approvals::forget(tx, self.runner).await?;
        outage::runner_removed(tx, self.runner).await?;
        tx.run("DELETE FROM tokens WHERE runner = $1", vec![text(self.runner)]).await?;
        tx.run("DELETE FROM runners WHERE id = $1", vec![text(self.runner)]).await?;
        tx.revoke(tokens);
        announce(tx, Change::RunnerGone { runner: self.runner });
        tx.audit(Self::VERB, self.runner, AuditScope::Hub, format!("removed runner `{}`", found.name));
        Ok(())
    }
}

/// Renames a runner to the name that its owner started it with.
#[derive(Debug, Serialize)]
pub struct NameRunner {
    /// The runner.
    pub runner: RunnerId,
    /// The new name.
    pub name: String,
}

impl Command for NameRunner {
    type Output = Option<RunnerNamed>;
    const VERB: &'static str = "runner.name";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Option<RunnerNamed>, StoreError> {
        let row = tx.read().first(&format!("{COLUMNS} WHERE r.id = $1"), vec![text(self.runner)]).await?;
        let Some(row) = row else { return Ok(None) };
        let before = runner(&row, tx.now)?;
        let name = match NAME.name(&self.name) {
            Ok(name) => name,
            // A name that an earlier release accepted stays valid.
            Err(_) if self.name.trim() == before.name => before.name.clone(),
            Err(error) => {
                let refused = Some(error.to_string());
                return Ok(Some(RunnerNamed { name: before.name, before: None, refused }));
            }
        };
        if name == before.name {
            return Ok(Some(RunnerNamed { name, before: None, refused: None }));
        }
        let refused = |why: String| Some(RunnerNamed { name: before.name.clone(), before: None, refused: Some(why) });
        if is_taken(tx, before.owner.id, &name).await? {
            return Ok(refused(format!("its owner has another runner `{name}`")));
        }
        let named = Runner { name: name.clone(), ..before.clone() };
        tx.run("UPDATE runners SET name = $1 WHERE id = $2", args![&name, self.runner.to_string()]).await?;
        announce(tx, Change::Runner { runner: named });
        let detail = format!("runner `{}` is called `{name}`, as it was started", before.name);
        tx.audit(Self::VERB, self.runner, AuditScope::Hub, detail);
        Ok(Some(RunnerNamed { name, before: Some(before.name), refused: None }))
    }
}

async fn is_taken(tx: &mut Tx<'_>, owner: UserId, name: &str) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM runners WHERE owner = $1 AND name = $2";
    Ok(tx.read().first(sql, args![owner.to_string(), name]).await?.is_some())
}

/// Stores that a runner connected or disconnected, and announces it. `Touch` stores when a disconnected one was last
/// heard from.
#[derive(Debug, Serialize)]
pub struct SeeRunner {
    /// The runner.
    pub runner: RunnerId,
    /// Identifies the link, so that the end of an older link, perhaps at another hub, changes nothing.
    pub link: String,
    /// The runner's description of itself; absent when it disconnects.
    pub about: Option<RunnerAbout>,
}

impl Command for SeeRunner {
    type Output = ();
    const VERB: &'static str = "runner.seen";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let row = tx.read().first(&format!("{COLUMNS} WHERE r.id = $1"), vec![text(self.runner)]).await?;
        // The runner may have been removed while it was connected.
        let Some(row) = row else { return Ok(()) };
        let comes = self.about.is_some();
        if !comes && row.text_or_none("link")?.as_deref() != Some(&self.link) {
            return Ok(());
        }
        let before = runner(&row, tx.now)?;
        let about = self.about.clone().map(harmless).or_else(|| before.about.clone());
        let heard = before.last_seen_at.filter(|_| !comes).unwrap_or(tx.now);
        // A new link starts without trouble; the runner's first heartbeat says whether it can write.
        let seen = Runner { connected: comes, last_seen_at: Some(heard), about, trouble: None, ..before };
        let sql = "UPDATE runners SET last_seen_at = $1, about = $2, link = $3, trouble = NULL WHERE id = $4";
        let (about, link) = (seen.about.as_ref().map(to_json), comes.then(|| self.link.clone()));
        tx.run(sql, args![heard, about, link, self.runner.to_string()]).await?;
        announce(tx, Change::Runner { runner: seen });
        Ok(())
    }
}

/// Stores a connected runner's newer description of itself, and announces it.
#[derive(Debug, Serialize)]
pub struct DescribeRunner {
    /// The runner.
    pub runner: RunnerId,
    /// The description.
    pub about: RunnerAbout,
}

impl Command for DescribeRunner {
    type Output = ();
    const VERB: &'static str = "runner.about";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let row = tx.read().first(&format!("{COLUMNS} WHERE r.id = $1"), vec![text(self.runner)]).await?;
        let Some(row) = row else { return Ok(()) };
        let before = runner(&row, tx.now)?;
        let about = Some(harmless(self.about.clone()));
        if before.about == about {
            return Ok(());
        }
        let sql = "UPDATE runners SET about = $1 WHERE id = $2";
        tx.run(sql, args![about.as_ref().map(to_json), self.runner.to_string()]).await?;
        announce(tx, Change::Runner { runner: Runner { about, ..before } });
        Ok(())
    }
}

/// Stores whether a runner can write its journal, and announces it.
#[derive(Debug, Serialize)]
pub struct TroubleRunner {
    /// The runner.
    pub runner: RunnerId,
    /// Why it cannot; absent if it can.
    pub trouble: Option<String>,
}

impl Command for TroubleRunner {
    type Output = ();
    const VERB: &'static str = "runner.trouble";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let row = tx.read().first(&format!("{COLUMNS} WHERE r.id = $1"), vec![text(self.runner)]).await?;
        let Some(row) = row else { return Ok(()) };
        let before = runner(&row, tx.now)?;
        let trouble = self.trouble.as_deref().map(|why| plain(&why.replace('\n', " "), 200));
        if before.trouble == trouble {
            return Ok(());
        }
        tx.run("UPDATE runners SET trouble = $1 WHERE id = $2", args![trouble.clone(), self.runner.to_string()])
            .await?;
        announce(tx, Change::Runner { runner: Runner { trouble, ..before } });
        Ok(())
    }
}

/// Cleans a runner's description of itself, which everybody can see.
fn harmless(about: RunnerAbout) -> RunnerAbout {
    let word = |text: &str| plain(&text.replace('\n', " "), 200);
    let maybe = |text: &Option<String>| text.as_deref().map(word);
    let agents = about.agents.iter().take(100).map(|agent| FoundAgent {
        name: word(&agent.name),
        label: word(&agent.label),
        version: maybe(&agent.version),
        install: maybe(&agent.install),
        headless: agent.headless,
        modes: agent.modes.as_ref().map(|modes| modes.iter().take(2).cloned().collect()),
    });
    RunnerAbout {
        machine: word(&about.machine),
        version: word(&about.version),
        labels: about.labels.iter().take(100).map(|label| word(label)).collect(),
        capacity: about.capacity,
        agents: agents.collect(),
    }
}

impl Store {
    /// The newest runners of this hub, as many as fit into one answer.
    pub async fn runners(&self, caller: &Caller) -> Result<Vec<Runner>, StoreError> {
        caller.may(Action::TakePart, Resource::Hub, "runner")?;
        let size = "LENGTH(name) + COALESCE(LENGTH(about), 0)";
        let listed = Fitting { table: "runners", size, newest: "created_at", among: "1 = 1", most: MAX_LISTED };
        let sql = format!("{COLUMNS} WHERE r.id IN ({}) ORDER BY u.name_key, r.name", listed.ids());
        let rows = self.readers.get().await?.borrow().all(&sql, args![]).await?;
        rows.iter().map(|row| runner(row, self.now())).collect()
    }
}
