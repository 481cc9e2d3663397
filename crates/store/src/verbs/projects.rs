//! Projects.

use std::collections::HashMap;

use domain::limits::MAX_LISTED;
use domain::short;
use domain::text::{BRANCH, COPY, MAX_COPIES, MAX_REPOSITORIES, PROJECT_CONTENT, REPOSITORY, SETUP, TEARDOWN, title};
use domain::{Action, ProjectFacts, ProjectId, Resource, Visibility};
use protocol::{Change, Project, Repository, Verb, verbs};

use super::fitting::Fitting;
use super::work::tasks::reach::list;
use super::{project_names, sessions, users, versions, workspaces};
use crate::batch::PendingEvent;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::{Caller, Command, EventBody, Store, StoreError};

const COLUMNS: &str = "SELECT p.id, p.owner, u.name AS owner_name, p.visibility, p.share_execution, \
    p.archive_recordings, p.retention_days, p.sandbox_others, p.content, p.version, p.repositories, p.task_key, \
    p.created_at, p.updated_at \
    FROM projects p JOIN users u ON u.id = p.owner";

/// The maximum retention of recordings: ten years.
const MAX_RETENTION_DAYS: u32 = 3650;

fn project(row: &Row) -> Result<Project, StoreError> {
    let content = row.text("content")?;
    let retention = row.integer_or_none("retention_days")?;
    Ok(Project {
        id: row.parsed("id")?,
        name: title(&content),
        key: row.text("task_key")?,
        owner: users::reference(row, "owner")?,
        visibility: row.parsed("visibility")?,
        share_execution: row.flag("share_execution")?,
        archive_recordings: row.flag("archive_recordings")?,
        retention_days: retention.and_then(|days| u32::try_from(days).ok()),
        sandbox_others: row.flag("sandbox_others")?,
        content,
        version: row.count("version")?,
        repositories: row.json("repositories")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

/// The project, if the caller may do this to it.
pub(crate) async fn find(
    c: &mut Connection<'_>,
    caller: &Caller,
    id: ProjectId,
    action: Action,
) -> Result<Project, StoreError> {
    let row = c.first(&format!("{COLUMNS} WHERE p.id = $1"), vec![text(id)]).await?;
    let found = project(&row.ok_or(StoreError::NotFound("project"))?)?;
    caller.may(action, Resource::Project(&found.facts()), "project")?;
    Ok(found)
}

/// Refuses unless the caller may do this to the project; cheaper than reading all of it.
pub(crate) async fn check(
    c: &mut Connection<'_>,
    caller: &Caller,
    id: ProjectId,
    action: Action,
    noun: &'static str,
) -> Result<ProjectFacts, StoreError> {
    let facts = facts_of(c, id).await?.ok_or(StoreError::NotFound(noun))?;
    caller.may(action, Resource::Project(&facts), noun)?;
    Ok(facts)
}

/// Reads a project's access facts.
pub(crate) fn facts(row: &Row) -> Result<ProjectFacts, StoreError> {
    Ok(ProjectFacts {
        id: row.parsed("id")?,
        owner: row.parsed("owner")?,
        visibility: row.parsed("visibility")?,
        share_execution: row.flag("share_execution")?,
    })
}

/// The access facts of a project, without an access check.
pub(crate) async fn facts_of(c: &mut Connection<'_>, id: ProjectId) -> Result<Option<ProjectFacts>, StoreError> {
    let sql = "SELECT id, owner, visibility, share_execution FROM projects WHERE id = $1";
    c.first(sql, vec![text(id)]).await?.as_ref().map(facts).transpose()
}

/// The access facts of every project.
pub(crate) async fn all_facts(c: &mut Connection<'_>) -> Result<HashMap<ProjectId, ProjectFacts>, StoreError> {
    let sql = "SELECT id, owner, visibility, share_execution FROM projects";
    let rows = c.all(sql, args![]).await?;
    rows.iter().map(|row| facts(row).map(|facts| (facts.id, facts))).collect()
}

/// The access facts of every project that the caller may see.
pub(crate) async fn seen(
    c: &mut Connection<'_>,
    caller: &Caller,
) -> Result<HashMap<ProjectId, ProjectFacts>, StoreError> {
    let mut all = all_facts(c).await?;
    all.retain(|_, facts| caller.may(Action::See, Resource::Project(facts), "project").is_ok());
    Ok(all)
}

/// Every project that the caller may see, oldest first.
pub(crate) async fn visible(c: &mut Connection<'_>, caller: &Caller) -> Result<Vec<Project>, StoreError> {
    let ids: Vec<ProjectId> = seen(c, caller).await?.into_keys().collect();
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (places, values) = list(&ids);
    let sql = format!("{COLUMNS} WHERE p.id IN ({places}) ORDER BY p.created_at, p.id");
    c.all(&sql, values).await?.iter().map(project).collect()
}

fn announce(tx: &mut Tx<'_>, project: Project, facts_before: Option<ProjectFacts>) {
    let id = Some(project.id);
    let body = EventBody::Change { change: Change::Project { project } };
    tx.announce(PendingEvent { project: id, audience: None, facts_before, execution_of: None, body });
}

fn check_settings(retention_days: Option<u32>, repositories: &[Repository]) -> Result<(), StoreError> {
    if retention_days.is_some_and(|days| days == 0 || days > MAX_RETENTION_DAYS) {
        return Err(StoreError::invalid("retention_days", format!("`retention_days` is 1 to {MAX_RETENTION_DAYS}")));
    }
    if repositories.len() > MAX_REPOSITORIES {
        let message = format!("a project has at most {MAX_REPOSITORIES} repositories");
        return Err(StoreError::invalid("repositories", message));
    }
    for repository in repositories {
        REPOSITORY.check(&repository.location)?;
        if repository.location.starts_with('-') {
            return Err(StoreError::invalid("repositories.location", "a repository's location cannot start with `-`"));
        }
        if ["http://", "git://"].iter().any(|scheme| repository.location.starts_with(scheme)) {
            let message = "this address is not encrypted, and runners refuse it: use https:// or ssh://";
            return Err(StoreError::invalid("repositories.location", message));
        }
        check_location(&repository.location)?;
        // `helper::address` makes git run the program `git-remote-helper`.
        let scheme = repository.location.split("::").next().filter(|scheme| scheme.len() < repository.location.len());
        if scheme.is_some_and(|scheme| scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-_".contains(c))) {
            let message = "a repository's location is a path or an address, not `helper::address`";
            return Err(StoreError::invalid("repositories.location", message));
        }
        if let Some(branch) = &repository.base_branch {
            BRANCH.check(branch)?;
            domain::branch::check(branch)
                .map_err(|error| StoreError::invalid("repositories.base_branch", error.to_string()))?;
        }
        for (field, line) in [(SETUP, &repository.setup), (TEARDOWN, &repository.teardown)] {
            line.as_ref().map_or(Ok(()), |line| field.check(line))?;
        }
        if repository.copy.len() > MAX_COPIES {
            let message = format!("a repository copies at most {MAX_COPIES} patterns");
            return Err(StoreError::invalid("repositories.copy", message));
        }
        for pattern in &repository.copy {
            COPY.check(pattern)?;
            if pattern.starts_with('/') || pattern.split('/').any(|part| part == "..") {
                let message = "a pattern stays inside the repository: no leading `/`, no `..`";
                return Err(StoreError::invalid("repositories.copy", message));
            }
        }
        if repository.ports.as_ref().is_some_and(|ports| ports.first < 1024 || ports.last < ports.first) {
            let message = "ports are a range from 1024 on, such as 4000 to 4099";
            return Err(StoreError::invalid("repositories.ports", message));
        }
    }
    Ok(())
}

/// Refuses locations that every runner would refuse.
fn check_location(location: &str) -> Result<(), StoreError> {
    let file = location.split_once("://").is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("file"));
    match file {
        true => Err(StoreError::invalid("repositories.location", "give the path itself, without `file://`")),
        false => Ok(()),
    }
}

/// Refuses addresses with a password or token, which everybody who sees the project could read.
fn check_credentials<'a>(repositories: impl IntoIterator<Item = &'a Repository>) -> Result<(), StoreError> {
    match repositories.into_iter().any(|repository| domain::address::has_credentials(&repository.location)) {
        true => Err(StoreError::invalid(
            "repositories.location",
            "it has a password, token or user name in it, which everybody who sees the project would read: write \
             https://HOST/PATH or git@HOST:PATH, and let git on the runner know the rest by a credential helper or an \
             ssh key",
        )),
        false => Ok(()),
    }
}

/// Refuses copies from a remote repository: a fetch contains no ignored files.
fn check_copies<'a>(repositories: impl IntoIterator<Item = &'a Repository>) -> Result<(), StoreError> {
    let remote = |repository: &&Repository| !repository.copy.is_empty() && !repository.location.starts_with(['/', '~']);
    let Some(repository) = repositories.into_iter().find(remote) else { return Ok(()) };
    let message = format!(
        "only a repository at a path on a runner (`/…`) has ignored files to copy from, and `{}` is not one: name the \
         folder, or leave out `copy` and let `setup` create the files",
        repository.location
    );
    Err(StoreError::invalid("repositories.copy", message))
}

impl Command for verbs::ProjectCreate {
    type Output = Project;
    const VERB: &'static str = verbs::ProjectCreate::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Project, StoreError> {
        tx.caller.may(Action::TakePart, Resource::Hub, "project")?;
        let owner = tx.caller.person()?;
        let input = &self.input;
        PROJECT_CONTENT.check_title(&input.content)?;
        check_settings(input.retention_days, &input.repositories)?;
        check_copies(&input.repositories)?;
        check_credentials(&input.repositories)?;
        project_names::unused(tx, owner.id, None, &input.content).await?;
        let keys = keys(tx, None).await?;
        let name = title(&input.content);
        let key = match &input.key {
            Some(key) => own_key(key, &keys)?,
            None => short::free_key(&name, |key| keys.iter().any(|taken| taken == key)),
        };
        let created = Project {
            id: ProjectId::generate(),
            name,
            key,
            owner,
            visibility: input.visibility.unwrap_or(Visibility::Private),
            share_execution: input.share_execution.unwrap_or(false),
            archive_recordings: input.archive_recordings.unwrap_or(false),
            retention_days: input.retention_days,
            sandbox_others: input.sandbox_others.unwrap_or(false),
            content: input.content.clone(),
            version: 1,
            repositories: input.repositories.clone(),
            created_at: tx.now,
            updated_at: tx.now,
        };
        let sql = "INSERT INTO projects (id, owner, visibility, share_execution, archive_recordings, retention_days, \
                   content, version, repositories, last_message, created_at, updated_at, sandbox_others, task_key, \
                   name_key) VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, 0, $9, $9, $10, $11, $12)";
        let values = args![
            created.id.to_string(),
            created.owner.id.to_string(),
            created.visibility.word(),
            created.share_execution,
            created.archive_recordings,
            created.retention_days,
            &created.content,
            to_json(&created.repositories),
            tx.now,
            created.sandbox_others,
            &created.key,
            project_names::key(&created.content),
        ];
        tx.run(sql, values).await?;
        let by = tx.caller.writer()?;
        versions::add(tx, &created.id.to_string(), 1, &by, &created.content);
        announce(tx, created.clone(), None);
        let detail = format!("created `{}`, {}", created.name, created.visibility);
        tx.audit(Self::VERB, created.id, AuditScope::Project(created.id), detail);
        Ok(created)
    }
}

/// The keys of the other projects that the caller may see: a key must not reveal that a hidden project exists.
async fn keys(tx: &mut Tx<'_>, except: Option<ProjectId>) -> Result<Vec<String>, StoreError> {
    let caller = tx.caller;
    let seen = seen(tx.read(), caller).await?;
    let rows = tx.read().all("SELECT id, task_key FROM projects", args![]).await?;
    let keys = rows.iter().map(|row| Ok::<_, StoreError>((row.parsed("id")?, row.text("task_key")?)));
    let keys = keys.collect::<Result<Vec<(ProjectId, String)>, _>>()?.into_iter();
    Ok(keys.filter(|(id, _)| seen.contains_key(id) && Some(*id) != except).map(|(_, key)| key).collect())
}

/// A key that a person chose; refuses one that another project has.
fn own_key(key: &str, taken: &[String]) -> Result<String, StoreError> {
    let key = short::key_from(key).map_err(|error| StoreError::invalid("key", error.to_string()))?;
    match taken.contains(&key) {
        true => {
            Err(StoreError::invalid("key", format!("`{key}` is the key of another project: choose a different one")))
        }
        false => Ok(key),
    }
}

fn governs(verb: &verbs::ProjectUpdate) -> bool {
    let input = &verb.input;
    input.visibility.is_some()
        || input.share_execution.is_some()
        || input.archive_recordings.is_some()
        || input.retention_days.is_some()
        || input.sandbox_others.is_some()
        || input.repositories.is_some()
        || input.key.is_some()
}

impl Command for verbs::ProjectUpdate {
    type Output = Project;
    const VERB: &'static str = verbs::ProjectUpdate::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Project, StoreError> {
        let author = tx.caller.person();
        let action = if governs(self) { Action::Govern } else { Action::Write };
        let caller = tx.caller;
        let before = find(tx.read(), caller, self.project, action).await?;
        author?;
        let input = &self.input;
        versions::expect(input.expected_version, before.version)?;
        if let Some(content) = &input.content {
            // A name that an earlier release accepted stays valid.
            match title(content) == before.name {
                true => PROJECT_CONTENT.check(content)?,
                false => {
                    PROJECT_CONTENT.check_title(content)?;
                    project_names::unused(tx, before.owner.id, Some(before.id), content).await?;
                }
            }
        }
        let key = match &input.key {
            Some(key) if !key.eq_ignore_ascii_case(&before.key) => own_key(key, &keys(tx, Some(before.id)).await?)?,
            _ => before.key.clone(),
        };
        let content = input.content.clone().unwrap_or_else(|| before.content.clone());
        let edited = content != before.content;
        let after = Project {
            name: title(&content),
            key,
            visibility: input.visibility.unwrap_or(before.visibility),
            share_execution: input.share_execution.unwrap_or(before.share_execution),
            archive_recordings: input.archive_recordings.unwrap_or(before.archive_recordings),
            retention_days: input.retention_days.unwrap_or(before.retention_days),
            sandbox_others: input.sandbox_others.unwrap_or(before.sandbox_others),
            repositories: input.repositories.clone().unwrap_or_else(|| before.repositories.clone()),
            version: before.version + u32::from(edited),
            content,
            updated_at: tx.now,
            ..before.clone()
        };
        check_settings(after.retention_days, &after.repositories)?;
        // A repository that an earlier release accepted stays valid.
        let fresh = || after.repositories.iter().filter(|repository| !before.repositories.contains(repository));
        check_copies(fresh())?;
        check_credentials(fresh())?;
        let changes = differences(&before, &after);
        if changes.is_empty() {
            return Ok(before);
        }
        let sql = "UPDATE projects SET visibility = $1, share_execution = $2, archive_recordings = $3, \
                   retention_days = $4, content = $5, version = $6, repositories = $7, sandbox_others = $8, \
                   task_key = $9, updated_at = $10, name_key = $11 WHERE id = $12";
        let values = args![
            after.visibility.word(),
            after.share_execution,
            after.archive_recordings,
            after.retention_days,
            &after.content,
            after.version,
            to_json(&after.repositories),
            after.sandbox_others,
            &after.key,
            tx.now,
            project_names::key(&after.content),
            after.id.to_string(),
        ];
        tx.run(sql, values).await?;
        if edited {
            let by = tx.caller.writer()?;
            versions::add(tx, &after.id.to_string(), after.version, &by, &after.content);
        }
        if after.retention_days != before.retention_days {
            let sql = "SELECT DISTINCT runner FROM sessions WHERE project = $1";
            for row in tx.read().all(sql, args![after.id.to_string()]).await? {
                tx.desire(row.parsed("runner")?).await?;
            }
        }
        let (was, is) = (before.facts(), after.facts());
        announce(tx, after.clone(), (was != is).then_some(was));
        if was != is {
            sessions::keyboard::confine(tx, &is).await?;
        }
        tx.audit(Self::VERB, after.id, AuditScope::Project(after.id), changes.join("; "));
        Ok(after)
    }
}

/// The changed fields, for the audit trail.
fn differences(before: &Project, after: &Project) -> Vec<String> {
    let mut changes = Vec::new();
    if before.content != after.content {
        changes.push(format!("wrote version {} of the content", after.version));
    }
    if before.visibility != after.visibility {
        changes.push(format!("visibility {} → {}", before.visibility, after.visibility));
    }
    if before.share_execution != after.share_execution {
        changes.push(format!("share_execution {} → {}", before.share_execution, after.share_execution));
    }
    if before.archive_recordings != after.archive_recordings {
        changes.push(format!("archive_recordings {} → {}", before.archive_recordings, after.archive_recordings));
    }
    if before.retention_days != after.retention_days {
        let word = |days: Option<u32>| days.map_or("never".to_owned(), |days| days.to_string());
        changes.push(format!("retention_days {} → {}", word(before.retention_days), word(after.retention_days)));
    }
    if before.sandbox_others != after.sandbox_others {
        changes.push(format!("sandbox_others {} → {}", before.sandbox_others, after.sandbox_others));
    }
    if before.key != after.key {
        changes.push(format!("key {} → {}", before.key, after.key));
    }
    if before.repositories != after.repositories {
        changes.push("changed the repositories".to_owned());
    }
    changes
}

impl Command for verbs::ProjectDelete {
    type Output = ();
    const VERB: &'static str = verbs::ProjectDelete::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let caller = tx.caller;
        let before = find(tx.read(), caller, self.project, Action::Govern).await?;
        let live = "SELECT id FROM sessions WHERE project = $1 AND ended_at IS NULL";
        if tx.read().first(live, vec![text(before.id)]).await?.is_some() {
            return Err(StoreError::Conflict("sessions still run in this project: stop them first".into()));
        }
        workspaces::nothing_unfinished(tx.read(), before.id).await?;
        let links = tx.read().all("SELECT id FROM observers WHERE project = $1", vec![text(before.id)]).await?;
        let mut links: Vec<String> = links.iter().map(|row| row.text("id")).collect::<Result<_, _>>()?;
        for sql in [
            "DELETE FROM logins WHERE observer IN (SELECT id FROM observers WHERE project = $1)",
            "DELETE FROM observers WHERE project = $1",
            "DELETE FROM reads WHERE project = $1",
            "DELETE FROM messages WHERE project = $1",
            "DELETE FROM versions WHERE subject = $1 OR subject IN (SELECT id FROM activities WHERE project = $1)",
            "DELETE FROM approvals WHERE project = $1",
            "DELETE FROM grants WHERE project = $1",
            "DELETE FROM review_comments WHERE thread IN (SELECT id FROM review_threads WHERE project = $1)",
            "DELETE FROM review_threads WHERE project = $1",
            "DELETE FROM review_approvals WHERE project = $1",
            "DELETE FROM escalations WHERE project = $1",
            "DELETE FROM reports WHERE task IN (SELECT id FROM tasks WHERE project = $1)",
            "DELETE FROM attempts WHERE project = $1",
            "DELETE FROM task_gists WHERE project = $1",
            "DELETE FROM task_deps WHERE dep IN (SELECT id FROM tasks WHERE project = $1)",
            "DELETE FROM task_queue WHERE project = $1",
            "DELETE FROM tasks WHERE project = $1",
            "DELETE FROM workers WHERE project = $1",
            "DELETE FROM handoffs WHERE project = $1",
            "DELETE FROM handoff_settings WHERE project = $1",
            "DELETE FROM session_questions WHERE project = $1",
            "DELETE FROM landings WHERE project = $1",
            "DELETE FROM landing_settings WHERE project = $1",
            "DELETE FROM work_settings WHERE project = $1",
            "DELETE FROM work_log WHERE project = $1",
            "DELETE FROM freezes WHERE project = $1",
            // Content that nothing else uses goes with the next clean-up.
            "DELETE FROM artifacts WHERE project = $1",
            "DELETE FROM artifact_uploads WHERE project = $1",
            "DELETE FROM artifact_settings WHERE project = $1",
            "DELETE FROM schedule_ticks WHERE schedule IN (SELECT id FROM schedules WHERE project = $1)",
            "DELETE FROM schedules WHERE project = $1",
            "DELETE FROM hook_deliveries WHERE hook IN (SELECT id FROM hooks WHERE project = $1)",
            "DELETE FROM hooks WHERE project = $1",
            "DELETE FROM branch_tips WHERE project = $1",
            "DELETE FROM branch_looks WHERE project = $1",
            "DELETE FROM execution_timers WHERE execution IN (SELECT id FROM executions WHERE project = $1)",
            "DELETE FROM execution_tasks WHERE execution IN (SELECT id FROM executions WHERE project = $1)",
            "DELETE FROM execution_work WHERE project = $1",
            "DELETE FROM execution_events WHERE execution IN (SELECT id FROM executions WHERE project = $1)",
            "DELETE FROM executions WHERE project = $1",
            "DELETE FROM recipe_versions WHERE recipe IN (SELECT id FROM recipes WHERE project = $1)",
            "DELETE FROM recipes WHERE project = $1",
            "DELETE FROM agent_profile_names WHERE project = $1",
            "DELETE FROM agent_profiles WHERE project = $1",
            "DELETE FROM merge_members WHERE run IN (SELECT id FROM merge_runs WHERE project = $1)",
            "DELETE FROM merge_runs WHERE project = $1",
            "DELETE FROM merge_candidates WHERE project = $1",
            "DELETE FROM merge_queues WHERE project = $1",
            "DELETE FROM merge_settings WHERE project = $1",
            "DELETE FROM tokens WHERE session IN (SELECT id FROM sessions WHERE project = $1)",
            "DELETE FROM sessions WHERE project = $1",
            "DELETE FROM work_overlaps WHERE project = $1",
            "DELETE FROM reservations WHERE project = $1",
            "DELETE FROM work_names WHERE project = $1",
            "DELETE FROM workspace_work WHERE project = $1",
            "DELETE FROM workspaces WHERE project = $1",
            "DELETE FROM activities WHERE project = $1",
            "DELETE FROM projects WHERE id = $1",
        ] {
            tx.run(sql, vec![text(before.id)]).await?;
        }
        // The project's data must not survive in the event log and in stored answers.
        let body = EventBody::gone(before.id);
        tx.run("UPDATE events SET body = $2 WHERE project = $1", args![before.id.to_string(), to_json(&body)]).await?;
        tx.run("DELETE FROM requests WHERE answer LIKE $1", args![format!("%{}%", before.id)]).await?;
        tx.forget(before.id);
        let facts_before = Some(before.facts());
        tx.announce(PendingEvent { project: Some(before.id), audience: None, facts_before, execution_of: None, body });
        if !links.is_empty() {
            links.sort();
            tx.revoke(links);
        }
        tx.audit(Self::VERB, before.id, AuditScope::Project(before.id), format!("deleted `{}`", before.name));
        Ok(())
    }
}

impl Store {
    /// The last changed projects that the caller may see, oldest first, as many as fit into one answer.
    pub async fn projects(&self, caller: &Caller) -> Result<Vec<Project>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let ids: Vec<ProjectId> = seen(&mut c, caller).await?.into_keys().collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let (places, values) = list(&ids);
        let (size, among) = ("LENGTH(content) + LENGTH(repositories)", format!("id IN ({places})"));
        let listed = Fitting { table: "projects", size, newest: "updated_at", among: &among, most: MAX_LISTED };
        let sql = format!("{COLUMNS} WHERE p.id IN ({}) ORDER BY p.created_at, p.id", listed.ids());
        c.all(&sql, values).await?.iter().map(project).collect()
    }

    /// One project.
    pub async fn project(&self, caller: &Caller, id: ProjectId) -> Result<Project, StoreError> {
        find(&mut self.readers.get().await?.borrow(), caller, id, Action::See).await
    }

    /// The access facts of every project, for routing events.
    pub async fn project_facts(&self) -> Result<Vec<ProjectFacts>, StoreError> {
        let mut reader = self.readers.get().await?;
        Ok(all_facts(&mut reader.borrow()).await?.into_values().collect())
    }
}
