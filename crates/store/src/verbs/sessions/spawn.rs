//! Spawning a session: its activity, workspace, row and links in one transaction.

use domain::placement::{Candidate, Needs, place};
use domain::text::{AGENT, Field, MAX_ARGV, MAX_LINKS, MODEL, NAME, PROMPT, TextError, plain, title};
use domain::{
    Action, Actor, LinkKind, Resource, RunnerId, SessionId, SessionMode, SessionStatus, TaskId, UserId, Visibility,
    WorkspaceId, WorkspaceStatus, branch, can,
};
use protocol::link::{AskedFor, StartFrom};
use protocol::{
    Activity, ActivityCreate, ActivityUpdate, FoundAgent, Keyboard, Link, Project, Recording, Repository, RunnerAbout,
    Sandbox, Session, SessionSpawn, SessionState, SessionWorker, Usage, UserRef, Verb, Workspace, WrittenBy, verbs,
};

use super::{announce, branches, find, fits, refuse_beside_uncontained, sandbox_of};
use crate::sql::{Row, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::verbs::approvals::{others_in_sandbox, unless_own};
use crate::verbs::{activities, projects, users, workspaces};
use crate::{Command, Placed, StoreError};

/// Agents that every runner has.
const EVERYWHERE: [&str; 2] = ["command", "shell"];
/// The prompt for resuming a headless agent's conversation.
const GO_ON: &str = "Continue where you stopped.";
/// The maximum number of one person's requests that wait for a runner's owner.
const MAX_REQUESTS: u32 = 10;
/// The maximum number of labels in a request.
const MAX_LABELS: usize = 20;

impl Command for Placed<verbs::SessionSpawn> {
    type Output = Session;
    const VERB: &'static str = verbs::SessionSpawn::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Session, StoreError> {
        check_input(&self.verb.input)?;
        let asker = tx.caller.person()?;
        let host = self.host(tx, &asker).await?;
        let owner = host.clone().unwrap_or_else(|| asker.clone());
        let place = self.place(tx, owner.id).await?;
        let asked_by = if host.is_some() || tx.caller.by_agent { Some(tx.caller.writer()?) } else { None };
        let contained = others_in_sandbox(tx, place.runner, place.project.id, asked_by.as_ref()).await?;
        if let Some(workspace) =
            place.workspace.as_ref().filter(|_| self.verb.input.sandbox.is_some() || contained.is_some())
        {
            refuse_beside_uncontained(tx.read(), workspace.id).await?;
        }
        // No refusals below this line.
        let activity = match place.activity {
            Some(activity) => activity,
            None => self.start_activity(tx, &place.project).await?,
        };
        let workspace = match place.workspace {
            Some(workspace) => workspace,
            None => {
                let start = self.start(asked_by.as_ref());
                make_workspace(tx, &activity, &owner, place.runner, place.repository, start).await?
            }
        };
        let input = &self.verb.input;
        let plan = Plan {
            agent: input.agent.clone(),
            mode: input.mode.unwrap_or(SessionMode::Interactive),
            model: input.model.clone(),
            title: session_title(input),
            prompt: input.prompt.clone().unwrap_or_default(),
            argv: input.argv.clone(),
            // The machine's owner chooses; anybody else can only restrict the sandbox further.
            sandbox: match &asked_by {
                None => input.sandbox.clone().or(contained),
                Some(_) => Sandbox::both(input.sandbox.as_ref(), contained.as_ref()),
            },
            asked_for: asked_by.as_ref().map(|_| AskedFor { branch: input.branch.clone(), workspace: input.workspace }),
            asked_by,
            record_input: input.record_input.unwrap_or(false),
            cols: input.cols.unwrap_or(120),
            rows: input.rows.unwrap_or(32),
            conversation: None,
            resumes: None,
            task: None,
            worker: None,
        };
        let made = add(tx, plan, &activity, &workspace).await?;
        audit(tx, Self::VERB, &made, &activity);
        Ok(made)
    }
}

/// Where a session will work; parts may not exist yet.
struct Place {
    runner: RunnerId,
    project: Project,
    activity: Option<Activity>,
    workspace: Option<Workspace>,
    repository: Option<Repository>,
}

impl Placed<verbs::SessionSpawn> {
    /// The owner of the named runner, if it is not the caller: they share the activity, and must approve.
    async fn host(&self, tx: &mut Tx<'_>, asker: &UserRef) -> Result<Option<UserRef>, StoreError> {
        let Some(runner) = self.verb.input.runner else { return Ok(None) };
        let sql = "SELECT r.owner, u.name AS owner_name, u.disabled FROM runners r JOIN users u ON u.id = r.owner \
                   WHERE r.id = $1";
        let Some(row) = tx.read().first(sql, vec![text(runner)]).await? else { return Ok(None) };
        let host = users::reference(&row, "owner")?;
        if host.id == asker.id {
            return Ok(None);
        }
        let refused = || StoreError::Forbidden("that runner is not yours: name an activity that its owner works on");
        let activity = self.verb.input.activity.ok_or_else(refused)?;
        let caller = tx.caller;
        let activity = activities::find(tx.read(), caller, activity, Action::Write).await?;
        let there = "SELECT 1 FROM workspaces WHERE activity = $1 AND owner = $2 AND status <> 'cleaned'";
        let works = tx.read().first(there, vec![text(activity.id), text(host.id)]).await?.is_some();
        let facts = projects::facts_of(tx.read(), activity.project).await?.ok_or(StoreError::NotFound("project"))?;
        let actor = Actor::User { id: host.id, hub_owner: false };
        let writes = can(&actor, Action::Write, Resource::Project(&facts)).is_allowed();
        if !(works || activity.owner.id == host.id) || !writes || row.flag("disabled")? {
            return Err(refused());
        }
        let open = "SELECT COUNT(*) AS open FROM approvals WHERE runner = $1 AND author = $2 AND kind = 'session' AND \
                    answer IS NULL";
        let open = tx.read().first(open, vec![text(runner), text(asker.id)]).await?;
        if open.map_or(Ok(0), |row| row.count("open"))? >= MAX_REQUESTS {
            let message = format!("{} has {MAX_REQUESTS} requests of yours to answer first", host.name);
            return Err(StoreError::Conflict(message));
        }
        Ok(Some(host))
    }

    /// The start of a new workspace. A person who names a branch on another person's runner answers for its content.
    fn start(&self, asked_by: Option<&WrittenBy>) -> Start {
        let (branch, base) = (self.verb.input.branch.clone(), self.verb.input.base.clone());
        let named = branch.is_some() || base.is_some();
        Start { code_by: asked_by.filter(|_| named).map(|by| by.user.id), branch, base, ..Start::default() }
    }

    /// Looks up everything that the input names, and refuses what does not fit together.
    async fn place(&self, tx: &mut Tx<'_>, owner: UserId) -> Result<Place, StoreError> {
        let (caller, input) = (tx.caller, &self.verb.input);
        let activity = match input.activity {
            Some(id) => Some(activities::find(tx.read(), caller, id, Action::Write).await?),
            None => None,
        };
        let project = match (&activity, input.project) {
            (Some(activity), Some(project)) if activity.project != project => {
                return Err(StoreError::invalid("project", "the activity is in another project"));
            }
            (Some(activity), _) => activity.project,
            (None, Some(project)) => project,
            (None, None) => {
                let message = "name the activity that the session is for, or a project to start one in";
                return Err(StoreError::invalid("activity", message));
            }
        };
        let project = projects::find(tx.read(), caller, project, Action::Write).await?;
        let workspace = match input.workspace {
            Some(id) => {
                let found = workspaces::find(tx.read(), caller, id, Action::SeeExecution).await?;
                // On another person's runner, the workspace is theirs and needs their approval.
                if found.owner.id != owner {
                    workspaces::find(tx.read(), caller, id, Action::Drive).await?;
                }
                workspaces::usable(&found)?;
                let there = input.runner.is_none_or(|runner| runner == found.runner);
                if Some(found.activity) != input.activity || !there {
                    let message = "that workspace belongs to another activity, or is on another runner";
                    return Err(StoreError::invalid("workspace", message));
                }
                Some(found)
            }
            None => None,
        };
        let repository = match &input.repository {
            Some(location) => {
                let known = project.repositories.iter().find(|repository| repository.location == *location).cloned();
                Some(known.ok_or_else(|| StoreError::invalid("repository", "the project does not name it"))?)
            }
            None => project.repositories.first().cloned(),
        };
        if let (None, Some(repository), Some(wanted)) = (&workspace, &repository, &input.branch) {
            branches::refuse_taken(tx, owner, &project, repository, wanted, input.base.as_deref()).await?;
        }
        let runner = workspace.as_ref().map(|workspace| workspace.runner).or(input.runner);
        let runner = self.choose(tx, owner, runner).await?;
        fits::check(tx, runner, input).await?;
        Ok(Place { runner, project, activity, workspace, repository })
    }

    /// The caller's runner for the session. Chosen in the transaction, so that two requests cannot both get the last
    /// slot, and a retry with the same key is not refused because of the first try.
    async fn choose(&self, tx: &mut Tx<'_>, owner: UserId, wanted: Option<RunnerId>) -> Result<RunnerId, StoreError> {
        let candidates = candidates(tx, owner, &self.connected).await?;
        let needs = Needs { runner: wanted, agent: &self.verb.input.agent, labels: &self.verb.input.labels };
        place(needs, &candidates).map_err(StoreError::Conflict)
    }

    /// Starts an activity, because every session needs one. Everybody who sees the project sees its activities, so the
    /// text leaves out the prompt and command where execution is not shared.
    async fn start_activity(&self, tx: &mut Tx<'_>, project: &Project) -> Result<Activity, StoreError> {
        let hidden = project.visibility != Visibility::Private && !project.share_execution;
        let content = match self.verb.input.prompt.as_deref().map(str::trim) {
            _ if hidden => format!("Session of {}", self.verb.input.agent),
            Some(prompt) if !prompt.is_empty() => prompt.to_owned(),
            _ => session_title(&self.verb.input),
        };
        let project = project.id;
        let input = ActivityCreate { content, ..Default::default() };
        let made = verbs::ActivityCreate { project, input }.run(tx).await?;
        Ok(made)
    }
}

/// A person's runners, with the facts for placing a session.
pub(crate) async fn candidates(
    tx: &mut Tx<'_>,
    owner: UserId,
    connected: &[RunnerId],
) -> Result<Vec<Candidate>, StoreError> {
    let sql = "SELECT r.id, r.name, r.about, r.trouble, (SELECT COUNT(*) FROM sessions s WHERE s.runner = r.id AND \
               s.ended_at IS NULL) AS live FROM runners r WHERE r.owner = $1";
    let rows = tx.read().all(sql, vec![text(owner)]).await?;
    rows.iter().map(|row| candidate(row, connected)).collect()
}

fn candidate(row: &Row, connected: &[RunnerId]) -> Result<Candidate, StoreError> {
    let about: Option<RunnerAbout> = workspaces::json_or_none(row, "about")?;
    let about = about.as_ref();
    let runner = row.parsed("id")?;
    let installed = about.into_iter().flat_map(|about| &about.agents).filter(|agent| agent.version.is_some());
    let everywhere = about.into_iter().flat_map(|_| EVERYWHERE).map(str::to_owned);
    Ok(Candidate {
        runner,
        name: row.text("name")?,
        connected: connected.contains(&runner),
        trouble: row.text_or_none("trouble")?,
        labels: about.map(|about| about.labels.clone()).unwrap_or_default(),
        agents: installed.map(|agent| agent.name.clone()).chain(everywhere).collect(),
        capacity: about.map_or(0, |about| about.capacity),
        installs: about.into_iter().flat_map(|about| &about.agents).filter_map(install).collect(),
        sessions: row.count("live")?,
    })
}

/// Why a session of this agent cannot be resumed.
fn not_resumable(agent: &str) -> String {
    match agent {
        "shell" => "shells cannot be resumed; start a new session".to_owned(),
        "command" => "commands cannot be resumed; start a new session".to_owned(),
        agent => format!("`{agent}` did not name a conversation to resume; start a new session"),
    }
}

/// A missing agent, with the command that installs it, if one is known.
fn install(agent: &FoundAgent) -> Option<(String, String)> {
    let command = agent.install.clone().unwrap_or_default();
    agent.version.is_none().then(|| (agent.name.clone(), command))
}

/// The start of a new workspace.
#[derive(Debug, Default)]
pub(crate) struct Start {
    /// Its own branch; generated if absent.
    pub(crate) branch: Option<String>,
    /// What a generated branch is named after; the activity's name if absent.
    pub(crate) after: Option<String>,
    /// The branch to start from; the repository's base branch if absent.
    pub(crate) base: Option<String>,
    /// Existing work to start from.
    pub(crate) from: Option<StartFrom>,
    /// The author of that work, if it is not the owner.
    pub(crate) code_by: Option<UserId>,
}

/// Adds a new workspace on its own branch.
pub(crate) async fn make_workspace(
    tx: &mut Tx<'_>,
    activity: &Activity,
    owner: &UserRef,
    runner: RunnerId,
    repository: Option<Repository>,
    start: Start,
) -> Result<Workspace, StoreError> {
    let id = WorkspaceId::generate();
    let branch = start.branch.unwrap_or_else(|| {
        let after = start.after.as_deref().unwrap_or(&activity.name);
        branch::of_workspace(after, id)
    });
    let base = start.base.or_else(|| repository.as_ref().and_then(|r| r.base_branch.clone()));
    let made = Workspace {
        id,
        project: activity.project,
        activity: activity.id,
        runner,
        owner: owner.clone(),
        repository: repository.as_ref().map(|repository| repository.location.clone()),
        branch: repository.as_ref().map(|_| branch.clone()),
        base,
        path: None,
        status: WorkspaceStatus::Preparing,
        detail: None,
        ports: None,
        stats: None,
        disk_bytes: None,
        saved_at: None,
        created_at: tx.now,
        updated_at: tx.now,
    };
    workspaces::add(tx, &made, repository.as_ref(), &branch).await?;
    if start.from.is_some() || start.code_by.is_some() {
        let sql = "UPDATE workspaces SET start_from = $1, code_by = $2 WHERE id = $3";
        let by = start.code_by.map(|by| by.to_string());
        tx.run(sql, args![start.from.as_ref().map(to_json), by, id.to_string()]).await?;
    }
    Ok(made)
}

impl Command for Placed<verbs::SessionResume> {
    type Output = Session;
    const VERB: &'static str = verbs::SessionResume::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Session, StoreError> {
        let caller = tx.caller;
        let (before, row) = find(tx.read(), caller, self.verb.session, Action::Drive).await?;
        if !before.state.ended() {
            return Err(StoreError::Conflict("that session is still running: attach to it".into()));
        }
        let Some(conversation) = row.text_or_none("conversation")? else {
            return Err(StoreError::Conflict(not_resumable(&before.agent)));
        };
        own_runner(tx, before.runner, before.owner.id).await?;
        let workspace = workspaces::get(tx.read(), before.workspace).await?.ok_or(StoreError::NotFound("workspace"))?;
        workspaces::usable(&workspace)?;
        let activity = activities::find(tx.read(), caller, before.activity, Action::Write).await?;
        let candidates = candidates(tx, before.owner.id, &self.connected).await?;
        let needs = Needs { runner: Some(before.runner), agent: &before.agent, labels: &[] };
        place(needs, &candidates).map_err(StoreError::Conflict)?;
        let mode = fits::resumes(tx, before.runner, &before.agent).await?;
        if before.sandbox {
            refuse_beside_uncontained(tx.read(), workspace.id).await?;
        }
        // A headless agent needs a prompt to resume.
        let prompt = if mode == SessionMode::Headless { GO_ON.to_owned() } else { String::new() };
        let plan = Plan {
            agent: before.agent,
            mode,
            model: before.model,
            title: before.title,
            prompt,
            argv: row.json("argv")?,
            sandbox: workspaces::json_or_none(&row, "sandbox")?,
            asked_by: None,
            asked_for: None,
            record_input: row.flag("record_input")?,
            cols: u16::try_from(row.count("cols")?).unwrap_or(120),
            rows: u16::try_from(row.count("rows_high")?).unwrap_or(32),
            conversation: Some(conversation),
            resumes: Some(before.id),
            task: None,
            worker: None,
        };
        let made = add(tx, plan, &activity, &workspace).await?;
        audit(tx, Self::VERB, &made, &activity);
        Ok(made)
    }
}

/// Parameters of a session.
pub(crate) struct Plan {
    pub(crate) agent: String,
    pub(crate) mode: SessionMode,
    pub(crate) model: Option<String>,
    pub(crate) title: String,
    pub(crate) prompt: String,
    pub(crate) argv: Vec<String>,
    pub(crate) sandbox: Option<Sandbox>,
    /// The person who requested the session, if it is not its owner.
    pub(crate) asked_by: Option<WrittenBy>,
    /// The place of that request.
    pub(crate) asked_for: Option<AskedFor>,
    pub(crate) record_input: bool,
    pub(crate) cols: u16,
    pub(crate) rows: u16,
    pub(crate) conversation: Option<String>,
    pub(crate) resumes: Option<SessionId>,
    /// The task, and the fence of its lease.
    pub(crate) task: Option<(TaskId, u64)>,
    /// The worker.
    pub(crate) worker: Option<SessionWorker>,
}

/// Adds a session's row, links it in its activity, and announces the runner's desired state.
pub(crate) async fn add(
    tx: &mut Tx<'_>,
    plan: Plan,
    activity: &Activity,
    workspace: &Workspace,
) -> Result<Session, StoreError> {
    let asked_by = unless_own(plan.asked_by, workspace.owner.id);
    let kept = sandbox_of(tx.read(), workspace.id).await?;
    let sandbox = Sandbox::both(plan.sandbox.as_ref(), kept.as_ref());
    let made = Session {
        id: SessionId::generate(),
        project: activity.project,
        activity: activity.id,
        workspace: workspace.id,
        runner: workspace.runner,
        owner: workspace.owner.clone(),
        asked_by,
        agent: plan.agent,
        mode: plan.mode,
        model: plan.model,
        title: plan.title,
        state: SessionState { status: SessionStatus::Starting, detail: None, code: None, signal: None, since: tx.now },
        stopping: false,
        worker: plan.worker,
        task: plan.task.map(|(task, _)| task),
        usage: Usage { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_micros: None },
        resumable: plan.conversation.is_some(),
        resumes: plan.resumes,
        sandbox: sandbox.is_some(),
        keyboard: Keyboard::default(),
        recording: Recording { output_bytes: 0, disk_bytes: 0, duration_ms: 0, keep: false },
        created_at: tx.now,
    };
    let sql = "INSERT INTO sessions (id, project, activity, workspace, runner, owner, agent, mode, model, title, \
               prompt, argv, sandbox, record_input, cols, rows_high, status, since, usage, conversation, resumes, \
               output_bytes, disk_bytes, duration_ms, keep, created_at, task, fence, asked_by, asked_session, \
               asked_for, asked_by_agent) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, \
               $19, $20, $21, 0, 0, 0, 0, $22, $23, $24, $25, $26, $27, $28)";
    let values = args![
        made.id.to_string(),
        made.project.to_string(),
        made.activity.to_string(),
        made.workspace.to_string(),
        made.runner.to_string(),
        made.owner.id.to_string(),
        &made.agent,
        made.mode.word(),
        made.model.clone(),
        &made.title,
        &plan.prompt,
        to_json(&plan.argv),
        sandbox.as_ref().map(to_json),
        plan.record_input,
        u32::from(plan.cols),
        u32::from(plan.rows),
        made.state.status.word(),
        tx.now,
        to_json(&made.usage),
        plan.conversation,
        made.resumes.map(|id| id.to_string()),
        tx.now,
        plan.task.map(|(task, _)| task.to_string()),
        plan.task.map(|(_, fence)| fence.cast_signed()),
        made.asked_by.as_ref().map(|by| by.user.id.to_string()),
        made.asked_by.as_ref().and_then(|by| by.agent).map(|id| id.to_string()),
        plan.asked_for.as_ref().map(to_json),
        made.asked_by.as_ref().is_some_and(|by| by.by_agent),
    ];
    tx.run(sql, values).await?;
    tx.desire(made.runner).await?;
    announce(tx, made.clone());
    link(tx, activity, &made, workspace).await?;
    Ok(made)
}

/// Records in the audit trail who started a session.
fn audit(tx: &mut Tx<'_>, verb: &'static str, made: &Session, activity: &Activity) {
    let detail = format!("`{}` by {} for `{}`", made.title, made.agent, activity.name);
    tx.audit(verb, made.id, AuditScope::Project(made.project), detail);
}

/// Links session, workspace and branch in the activity; the oldest session links are dropped if there are too many.
async fn link(
    tx: &mut Tx<'_>,
    activity: &Activity,
    session: &Session,
    workspace: &Workspace,
) -> Result<(), StoreError> {
    let mut links = activity.links.clone();
    let fresh = [
        Some(Link { kind: LinkKind::Workspace, target: workspace.id.to_string() }),
        workspace.branch.clone().map(|target| Link { kind: LinkKind::Branch, target }),
        Some(Link { kind: LinkKind::Session, target: session.id.to_string() }),
    ];
    for link in fresh.into_iter().flatten() {
        if !links.contains(&link) {
            links.push(link);
        }
    }
    while links.len() > MAX_LINKS {
        let oldest = links.iter().position(|link| link.kind == LinkKind::Session).unwrap_or(0);
        links.remove(oldest);
    }
    let input = ActivityUpdate { links: Some(links), ..Default::default() };
    verbs::ActivityUpdate { activity: activity.id, input }.run(tx).await.map(|_| ())
}

async fn own_runner(tx: &mut Tx<'_>, runner: RunnerId, owner: UserId) -> Result<(), StoreError> {
    let sql = "SELECT id FROM runners WHERE id = $1 AND owner = $2";
    match tx.read().first(sql, vec![text(runner), text(owner)]).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::Conflict("its runner is no longer yours: spawn a new session".into())),
    }
}

/// The title of a session: the first line of its prompt, or its command.
fn session_title(input: &SessionSpawn) -> String {
    match input.prompt.as_deref().map(str::trim) {
        Some(prompt) if !prompt.is_empty() => title(prompt),
        _ if !input.argv.is_empty() => title(&plain(&input.argv.join(" "), 1000)),
        _ => input.agent.clone(),
    }
}

fn check_input(input: &SessionSpawn) -> Result<(), StoreError> {
    AGENT.check(&input.agent)?;
    let word = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if !input.agent.chars().all(word) || input.agent.starts_with(['-', '.']) {
        return Err(StoreError::invalid("agent", "an agent's name has letters, digits and `._-` only"));
    }
    if input.labels.len() > MAX_LABELS {
        return Err(StoreError::invalid("labels", format!("at most {MAX_LABELS} labels can be asked for")));
    }
    for label in &input.labels {
        Field { name: "labels", ..NAME }.check(label)?;
    }
    if let Some(prompt) = &input.prompt {
        PROMPT.check(prompt)?;
    }
    if let Some(model) = &input.model {
        MODEL.check(model)?;
        if model.starts_with('-') {
            return Err(StoreError::invalid("model", "a model's name does not start with `-`"));
        }
    }
    for (field, name) in [("branch", &input.branch), ("base", &input.base)] {
        if let Some(name) = name {
            branch::check(name).map_err(|error| StoreError::invalid(field, error.to_string()))?;
        }
    }
    let (count, length) = MAX_ARGV;
    let total: usize = input.argv.iter().map(String::len).sum();
    if input.argv.len() > count || total > length {
        let message = format!("a command has at most {count} arguments with {length} bytes in all");
        return Err(StoreError::invalid("argv", message));
    }
    if input.argv.iter().any(|arg| arg.contains('\0')) {
        return Err(TextError::Control { field: "argv", code: 0, position: 0 }.into());
    }
    if input.argv.first().is_some_and(String::is_empty) || (input.agent == "command" && input.argv.is_empty()) {
        return Err(StoreError::invalid("argv", "name the program to run, such as `-- make test`"));
    }
    let size = |value: Option<u16>, most: u16| value.is_none_or(|value| (2..=most).contains(&value));
    if !size(input.cols, 500) || !size(input.rows, 300) {
        return Err(StoreError::invalid("cols", "a terminal has 2 to 500 columns and 2 to 300 rows"));
    }
    Ok(())
}

/// The repository in a workspace's column.
pub(super) fn repository(column: Option<String>) -> Result<Option<Repository>, StoreError> {
    let parse = |text: String| serde_json::from_str(&text).map_err(|e| StoreError::Corrupt(format!("repository: {e}")));
    column.map(parse).transpose()
}
