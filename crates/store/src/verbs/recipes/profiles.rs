//! Agent profiles: named and versioned, per project.

use domain::text::{AGENT, Field, MODEL, NAME, PROMPT};
use domain::{Action, ProjectId};
use protocol::{AgentProfile, AgentProfileText, Change, Verb, verbs};

use super::agents;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::verbs::approvals::written_by;
use crate::verbs::projects;
use crate::verbs::work::workers::rows::tell;
use crate::{Caller, Command, Store, StoreError};

/// The maximum number of profiles of a project.
const MAX_PROFILES: usize = 100;
/// The maximum number of labels of a profile.
const MAX_LABELS: usize = 20;

/// The most versions of a profile that are listed.
const MAX_VERSIONS: u32 = 100;

const ALL: &str = "SELECT p.name, p.number, p.content, p.author, u.name AS author_name, p.author_session, \
    p.by_agent AS author_agent, p.saved_at FROM agent_profiles p JOIN users u ON u.id = p.author";
const COLUMNS: &str = "SELECT p.name, p.number, p.content, p.author, u.name AS author_name, p.author_session, \
    p.by_agent AS author_agent, p.saved_at FROM agent_profile_names n JOIN agent_profiles p ON p.project = n.project \
    AND p.name = n.name AND p.number = n.number JOIN users u ON u.id = p.author WHERE n.removed = 0";

fn read(row: &Row) -> Result<AgentProfile, StoreError> {
    let content: AgentProfileText = row.json("content")?;
    let author = written_by(row, "author", "author_session")?;
    Ok(AgentProfile {
        name: content.name,
        number: row.count("number")?,
        description: content.description,
        agent: content.agent,
        model: content.model,
        prompt: content.prompt,
        sandbox: content.sandbox,
        budget_micros: content.budget_micros,
        asks: content.asks,
        labels: content.labels,
        saved_by: author.ok_or_else(|| StoreError::Corrupt("a profile has no author".into()))?,
        saved_at: row.time("saved_at")?,
    })
}

async fn of(c: &mut Connection<'_>, project: ProjectId) -> Result<Vec<AgentProfile>, StoreError> {
    let sql = format!("{COLUMNS} AND n.project = $1 ORDER BY n.name");
    c.all(&sql, vec![text(project)]).await?.iter().map(read).collect()
}

/// The newest version of a profile, without an access check.
pub(crate) async fn profile(
    c: &mut Connection<'_>,
    project: ProjectId,
    name: &str,
) -> Result<Option<AgentProfile>, StoreError> {
    let sql = format!("{COLUMNS} AND n.project = $1 AND n.name = $2");
    c.first(&sql, vec![text(project), text(name)]).await?.as_ref().map(read).transpose()
}

/// The newest version of a profile that a worker or a step follows; refuses if there is none.
pub(crate) async fn followed(
    c: &mut Connection<'_>,
    project: ProjectId,
    name: &str,
) -> Result<AgentProfile, StoreError> {
    profile(c, project, name).await?.ok_or_else(|| {
        let shown: String = name.chars().take(80).collect();
        StoreError::Conflict(format!("there is no agent profile `{shown}` in this project: save one first"))
    })
}

/// What an agent is asked to do, after the instructions of the profile that it follows, and whether it asks before it
/// changes anything. A profile that was removed says neither.
pub(crate) async fn applied(
    c: &mut Connection<'_>,
    project: ProjectId,
    name: Option<&str>,
    prompt: String,
) -> Result<(String, bool), StoreError> {
    let Some(name) = name else { return Ok((prompt, false)) };
    Ok(match profile(c, project, name).await? {
        Some(found) if !found.prompt.trim().is_empty() => (format!("{}\n\n{prompt}", found.prompt.trim()), found.asks),
        found => (prompt, found.is_some_and(|found| found.asks)),
    })
}

fn check(input: &AgentProfileText) -> Result<(), StoreError> {
    NAME.check(&input.name)?;
    let word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if input.name.len() > 60 || !input.name.chars().all(word) || input.name.starts_with('-') {
        return Err(StoreError::invalid("name", "a profile's name has up to 60 letters, digits, `-` and `_`"));
    }
    AGENT.check(&input.agent)?;
    Field { name: "description", ..PROMPT }.check(&input.description)?;
    if !input.prompt.is_empty() {
        PROMPT.check(&input.prompt)?;
    }
    if let Some(model) = &input.model {
        MODEL.check(model)?;
        if model.starts_with('-') {
            return Err(StoreError::invalid("model", "a model's name does not start with `-`"));
        }
    }
    if input.budget_micros.is_some_and(|micros| micros == 0 || i64::try_from(micros).is_err()) {
        let message = "a budget is more than 0; leave it out for no limit";
        return Err(StoreError::invalid("budget_micros", message));
    }
    if input.labels.len() > MAX_LABELS {
        return Err(StoreError::invalid("labels", format!("a profile has at most {MAX_LABELS} labels")));
    }
    input.labels.iter().try_for_each(|label| Field { name: "labels", ..NAME }.check(label)).map_err(StoreError::from)
}

/// The number of the newest version of a name, and whether the name was removed.
async fn last(tx: &mut Tx<'_>, project: ProjectId, name: &str) -> Result<Option<(u32, bool)>, StoreError> {
    let sql = "SELECT number, removed FROM agent_profile_names WHERE project = $1 AND name = $2";
    let row = tx.read().first(sql, vec![text(project), text(name)]).await?;
    row.map(|row| Ok((row.count("number")?, row.flag("removed")?))).transpose()
}

async fn announce(tx: &mut Tx<'_>, project: ProjectId) -> Result<(), StoreError> {
    let profiles = of(tx.read(), project).await?;
    tell(tx, project, Change::Profiles { project, profiles });
    Ok(())
}

impl Command for verbs::ProfileSet {
    type Output = AgentProfile;
    const VERB: &'static str = verbs::ProfileSet::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<AgentProfile, StoreError> {
        tx.check(self.project, Action::Decide, "project").await?;
        let by = tx.caller.writer()?;
        let input = &self.input;
        check(input)?;
        agents::check(tx.read(), &input.agent).await?;
        let before = last(tx, self.project, &input.name).await?;
        if before.is_none() && of(tx.read(), self.project).await?.len() >= MAX_PROFILES {
            return Err(StoreError::Conflict(format!("a project has at most {MAX_PROFILES} agent profiles")));
        }
        let number = before.map_or(1, |(number, _)| number + 1);
        let sql = "INSERT INTO agent_profiles (project, name, number, content, author, author_session, by_agent, saved_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let values = args![
            self.project.to_string(),
            &input.name,
            number,
            to_json(input),
            by.user.id.to_string(),
            by.agent.map(|id| id.to_string()),
            by.by_agent,
            tx.now,
        ];
        tx.run(sql, values).await?;
        let sql = "INSERT INTO agent_profile_names (project, name, number, removed) VALUES ($1, $2, $3, 0) \
                   ON CONFLICT (project, name) DO UPDATE SET number = excluded.number, removed = 0";
        tx.run(sql, args![self.project.to_string(), &input.name, number]).await?;
        let detail = format!("saved version {number} of the agent profile `{}`", input.name);
        tx.audit(Self::VERB, self.project, AuditScope::Project(self.project), detail);
        announce(tx, self.project).await?;
        profile(tx.read(), self.project, &input.name).await?.ok_or(StoreError::NotFound("agent profile"))
    }
}

impl Command for verbs::ProfileRemove {
    type Output = ();
    const VERB: &'static str = verbs::ProfileRemove::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.check(self.project, Action::Decide, "project").await?;
        let name = &self.input.name;
        if last(tx, self.project, name).await?.is_none_or(|(_, removed)| removed) {
            return Err(StoreError::NotFound("agent profile"));
        }
        let sql = "UPDATE agent_profile_names SET removed = 1 WHERE project = $1 AND name = $2";
        tx.run(sql, args![self.project.to_string(), name]).await?;
        let detail = format!("removed the agent profile `{name}`");
        tx.audit(Self::VERB, self.project, AuditScope::Project(self.project), detail);
        announce(tx, self.project).await
    }
}

impl Store {
    /// The versions of an agent profile, newest first; those of a removed one, too.
    pub async fn profile_versions(
        &self,
        caller: &Caller,
        project: ProjectId,
        name: &str,
    ) -> Result<Vec<AgentProfile>, StoreError> {
        let mut reader = self.readers.get().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::See, "project").await?;
        let sql = format!("{ALL} WHERE p.project = $1 AND p.name = $2 ORDER BY p.number DESC LIMIT {MAX_VERSIONS}");
        c.all(&sql, vec![text(project), text(name)]).await?.iter().map(read).collect()
    }

    /// The agent profiles of a project, by name.
    pub async fn profiles(&self, caller: &Caller, project: ProjectId) -> Result<Vec<AgentProfile>, StoreError> {
        let mut reader = self.readers.get().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::See, "project").await?;
        of(&mut c, project).await
    }
}
