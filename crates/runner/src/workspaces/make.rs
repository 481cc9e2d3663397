//! Creates a workspace and sets it up, once, however many sessions want it and however often the runner is killed.

use std::path::Path;

use domain::{ActivityId, ProjectId, WorkspaceId};
use protocol::link::{CheckTrouble, DesiredCheck, DesiredSession, DesiredWorkspace, FactBody, StartFrom, StartWork};
use worktree::{Plan, Progress, Script, Start, Work};

use super::printed::last_lines;
use super::{Place, Workspaces, ports, text};
use crate::clock::now;
use crate::journal::{Change, WorkspaceRow};
use crate::machine::Machine;

/// How long an abandoned setup may take to exit.
const LEFT: std::time::Duration = std::time::Duration::from_secs(2);
/// How much of a failed setup's output to report.
const TAIL: usize = 2000;

/// The purpose of a workspace.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Purpose<'a> {
    pub(crate) project: ProjectId,
    pub(crate) activity: Option<ActivityId>,
    pub(crate) wanted: &'a DesiredWorkspace,
}

impl<'a> From<&'a DesiredSession> for Purpose<'a> {
    fn from(desired: &'a DesiredSession) -> Self {
        Self { project: desired.project, activity: Some(desired.activity), wanted: &desired.workspace }
    }
}

impl<'a> From<&'a DesiredCheck> for Purpose<'a> {
    fn from(desired: &'a DesiredCheck) -> Self {
        Self { project: desired.project, activity: desired.activity, wanted: &desired.workspace }
    }
}

/// Why a workspace could not be created, and who can fix it.
#[derive(Debug)]
pub(crate) struct Unmade {
    pub(crate) why: String,
    pub(crate) cause: CheckTrouble,
}

impl From<String> for Unmade {
    fn from(why: String) -> Self {
        Self { why, cause: CheckTrouble::Other }
    }
}

impl Workspaces {
    /// The folder with the code; none of the code has run.
    pub(crate) async fn make(&self, purpose: Purpose<'_>, progress: &Progress) -> Result<Place, String> {
        self.try_make(purpose, progress).await.map_err(|unmade| unmade.why)
    }

    /// The same, with an error for the person who can fix it.
    pub(crate) async fn try_make(&self, purpose: Purpose<'_>, progress: &Progress) -> Result<Place, Unmade> {
        let workspace = purpose.wanted.workspace;
        let busy = self.busy(workspace);
        let _alone = busy.lock().await;
        let known = self.row(workspace).await?;
        if known.as_ref().is_some_and(|row| row.cleaned) {
            return Err("its workspace was deleted; its branch and its saves are kept".to_owned().into());
        }
        match self.create(purpose, known, progress).await {
            Ok(place) => Ok(place),
            Err(Unmade { why, cause }) => Err(Unmade { why: self.failed(workspace, why).await, cause }),
        }
    }

    /// Runs the setup of a new workspace, and reports that it is ready.
    pub(crate) async fn set_up(&self, workspace: WorkspaceId, place: Place) -> Result<Place, String> {
        let busy = self.busy(workspace);
        let _alone = busy.lock().await;
        let Some(mut row) = self.row(workspace).await?.filter(|row| !row.ready) else {
            self.used(workspace).await;
            self.follow(workspace);
            return Ok(place);
        };
        let setup = row.desired.repository.as_ref().and_then(|repository| repository.setup.clone());
        if let Some(line) = setup.filter(|line| !line.trim().is_empty()) {
            let script = match self.script(&row, &place, line) {
                Ok(script) => script,
                Err(why) => return Err(self.failed(workspace, format!("its setup did not run: {why}")).await),
            };
            if !self.worktrees.is_set_up(workspace, &script) {
                // A killed runner leaves its setup running.
                let (name, value) = worktree::script_variable(workspace);
                terminal::host::end_left(&format!("{name}={value}"), LEFT).await;
            }
            if let Err(error) = self.worktrees.setup(workspace, &script).await {
                let said = said(&self.machine, &self.worktrees.setup_log(workspace));
                return Err(self.failed(workspace, format!("{error}{said}")).await);
            }
        }
        let _counted = self.counting.lock().await;
        // Meanwhile something sandboxed may have started to work here.
        row = self.row(workspace).await?.unwrap_or(row);
        row.ready = true;
        row.used_at = now();
        let ready = ready(workspace, &row, &place);
        self.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[ready]).await;
        self.follow(workspace);
        Ok(place)
    }

    /// Whether something must still run before a workspace is ready.
    pub(crate) async fn needs_setup(&self, workspace: WorkspaceId) -> Result<bool, String> {
        let row = self.row(workspace).await?.filter(|row| !row.ready);
        let setup = row.and_then(|row| row.desired.repository).and_then(|repository| repository.setup);
        Ok(setup.is_some_and(|line| !line.trim().is_empty()))
    }

    /// The stored state of a workspace.
    pub(crate) async fn row(&self, workspace: WorkspaceId) -> Result<Option<WorkspaceRow>, String> {
        self.journal.workspace(workspace).await.map_err(|error| error.to_string())
    }

    pub(super) async fn create(
        &self,
        purpose: Purpose<'_>,
        known: Option<WorkspaceRow>,
        progress: &Progress,
    ) -> Result<Place, Unmade> {
        let wanted = purpose.wanted;
        // An existing one already has it.
        let from = match &wanted.from {
            Some(StartFrom::Branch { branch }) => Some(Start::Branch(branch.parse().map_err(text)?)),
            Some(StartFrom::Bundle { bundle, .. }) if known.is_none() => {
                Some(Start::Bundle(self.bundles.taken(bundle).map_err(|problem| problem.detail)?))
            }
            Some(StartFrom::Works { works }) if known.is_none() => Some(Start::Work(self.works(works)?)),
            _ => None,
        };
        let plan = Plan { from, ..plan(&self.machine, wanted)? };
        let made = self.worktrees.create(wanted.workspace, &plan, progress).await;
        if let Err(worktree::Error::Conflict { first, second, paths }) = &made {
            let (workspace, first, second, paths) = (wanted.workspace, first.clone(), second.clone(), paths.clone());
            // Before the failure of the session that waits for it.
            self.journal.tell(FactBody::WorksConflict { workspace, first, second, paths }).await;
        }
        let made = made.map_err(|error| unmade(error, wanted.from.as_ref()))?;
        failpoint::pass("runner.unpacked");
        for (path, why) in &made.copied.left_out {
            tracing::warn!(workspace = %wanted.workspace, path = %path.display(), why, "could not copy a file into the workspace");
        }
        if known.is_none() {
            let base = made.facts.base.as_ref().map(ToString::to_string);
            let row = WorkspaceRow { base, path: Some(made.path.clone()), ..fresh(purpose) };
            self.journal.write(&[Change::Workspace(wanted.workspace, Box::new(row))], &[]).await;
        }
        let among = wanted.repository.as_ref().and_then(|repository| repository.ports.as_ref());
        let ports = match among {
            Some(among) => Some(self.share_out(wanted.workspace, among).await?),
            None => None,
        };
        let borrows = self.worktrees.borrows(&made);
        Ok(Place { path: made.path, ports, borrows })
    }

    /// The accepted works that a workspace starts from.
    fn works(&self, works: &[StartWork]) -> Result<Vec<Work>, String> {
        let work = |work: &StartWork| {
            let bundle = work.bundle.as_deref().map(|name| self.bundles.taken(name)).transpose();
            Ok(Work {
                name: work.report.to_string(),
                title: work.title.clone(),
                commit: work.commit.parse().map_err(text)?,
                landed: work.landed.as_deref().map(str::parse).transpose().map_err(text)?,
                bundle: bundle.map_err(|problem| problem.detail)?,
            })
        };
        works.iter().map(work).collect()
    }

    /// Reports that a workspace is not usable; returns the reason.
    async fn failed(&self, workspace: WorkspaceId, why: String) -> String {
        tracing::warn!(%workspace, why, "could not prepare the workspace");
        self.journal.tell(FactBody::WorkspaceFailed { workspace, detail: why.clone() }).await;
        why
    }
}

/// What a workspace is created from.
pub(super) fn plan(machine: &Machine, wanted: &DesiredWorkspace) -> Result<Plan, String> {
    let mut plan = Plan::default();
    if let Some(repository) = &wanted.repository {
        plan.location = Some(machine.location(&repository.location).parse().map_err(text)?);
        let base = wanted.base.as_ref().or(repository.base_branch.as_ref());
        plan.base = base.map(|base| base.parse()).transpose().map_err(text)?;
        plan.branch = Some(wanted.branch.parse().map_err(text)?);
        plan.copy = repository.copy.clone();
    }
    Ok(plan)
}

/// The report of a ready workspace.
pub(super) fn ready(workspace: WorkspaceId, row: &WorkspaceRow, place: &Place) -> FactBody {
    FactBody::WorkspaceReady {
        workspace,
        path: place.path.to_string_lossy().into_owned(),
        branch: row.desired.repository.is_some().then(|| row.desired.branch.clone()),
        base: row.base.clone(),
        ports: place.ports.clone(),
    }
}

/// Distinguishes an unpushed branch from an unreachable repository.
fn unmade(error: worktree::Error, from: Option<&StartFrom>) -> Unmade {
    use worktree::Error;
    let pushed = match from {
        Some(StartFrom::Branch { branch }) => Some(branch),
        _ => None,
    };
    match error {
        Error::NoSuchBranch { location, branch, near } if pushed == Some(&branch) => {
            let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
            let meant = if near.is_empty() { String::new() } else { format!(" (did you mean {}?)", near.join(", ")) };
            let why = format!("there is no branch `{branch}` at {location}{meant}; push it, then report again");
            Unmade { why, cause: CheckTrouble::Missing }
        }
        Error::Host { .. } | Error::Access { .. } | Error::NoRepository { .. } | Error::TimedOut { .. } => {
            Unmade { why: error.to_string(), cause: CheckTrouble::Unreachable }
        }
        error => text(error).into(),
    }
}

/// A project's shell command with its environment.
pub(super) fn script(row: &WorkspaceRow, place: &Place, line: String) -> Script {
    let mut script = Script::new(line);
    script.ports = place.ports.as_ref().map(ports::ours);
    script.env = vec![("SHOPFLOOR_PROJECT".to_owned(), row.project.to_string())];
    script.env.extend(row.activity.map(|activity| ("SHOPFLOOR_ACTIVITY".to_owned(), activity.to_string())));
    script
}

/// The end of the output of a failed command, to append to the error.
pub(super) fn said(machine: &Machine, log: &Path) -> String {
    let text = match last_lines(log, TAIL, &mut machine.secrets()) {
        Ok(printed) => printed.text(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return String::new(),
        Err(error) => return format!(" (could not read its output: {error})"),
    };
    let start = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
    match text[start..].trim() {
        "" => String::new(),
        text => format!(":\n{text}"),
    }
}

fn fresh(purpose: Purpose<'_>) -> WorkspaceRow {
    let sandbox = match &purpose.wanted.from {
        Some(StartFrom::Bundle { contained, .. }) => contained.clone(),
        _ => None,
    };
    WorkspaceRow {
        project: purpose.project,
        activity: purpose.activity,
        desired: purpose.wanted.clone(),
        ready: false,
        path: None,
        base: None,
        ports: None,
        stats: None,
        head: None,
        disk_bytes: None,
        saved_at: None,
        used_at: now(),
        cleaned: false,
        sandbox,
    }
}
