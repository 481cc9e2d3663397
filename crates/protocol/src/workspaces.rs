//! Workspaces: clones on runners, with what was changed in them and their saves.

use domain::{ActivityId, ProjectId, RunnerId, Timestamp, WorkspaceId, WorkspaceStatus};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::shapes::{inputs, views};
use crate::{PortRange, UserRef};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! workspaces {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* workspaces {
        changes {
            /// A workspace appeared or changed.
            Workspace { workspace: Workspace },
        }
        answers {
            Workspaces(Vec<Workspace>),
            Workspace(Workspace),
            WorkspaceDiff(crate::WorkspaceDiff),
            Saves(Vec<Save>),
        }
        verbs {
            /// The workspaces that the caller may see.
            WorkspaceList "workspace.list" GET "/api/workspaces"
                { query filter: ExecutionFilter } -> 200 Vec<Workspace>, Anyone;
            /// One workspace.
            WorkspaceShow "workspace.show" GET "/api/workspaces/{workspace}"
                { path workspace: WorkspaceId } -> 200 Workspace, Look;
            /// What was changed in a workspace.
            WorkspaceDiff "workspace.diff" GET "/api/workspaces/{workspace}/diff"
                { path workspace: WorkspaceId } -> 200 crate::WorkspaceDiff, LookOnRunner;
            /// The saves of a workspace, newest first.
            WorkspaceSaves "workspace.saves" GET "/api/workspaces/{workspace}/saves"
                { path workspace: WorkspaceId } -> 200 Vec<Save>, LookOnRunner;
            /// Brings a save of one of the caller's workspaces back.
            WorkspaceRestore "workspace.restore" POST "/api/workspaces/{workspace}/restore"
                { path workspace: WorkspaceId, body input: crate::WorkspaceRestore } -> 204 (), DriveOnRunner;
            /// Deletes one of the caller's workspaces with its uncommitted and unpushed work; its saves stay.
            WorkspaceDiscard "workspace.discard" POST "/api/workspaces/{workspace}/discard"
                { path workspace: WorkspaceId } -> 204 (), DriveOnRunner;
            /// Deletes one of the caller's workspaces, unless work would be lost.
            WorkspaceClean "workspace.clean" POST "/api/workspaces/{workspace}/clean"
                { path workspace: WorkspaceId } -> 204 (), DriveOnRunner;
        }
    } } };
}

pub(crate) use workspaces;

inputs! {
    /// Which save to restore.
    WorkspaceRestore {
        /// The save's id; default: the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        save: Option<String>,
    }
}

views! {
    /// A clone of a repository on a runner, on its own branch.
    Workspace {
        /// The workspace's id.
        id: WorkspaceId,
        /// The project that it is in.
        project: ProjectId,
        /// Its activity.
        activity: ActivityId,
        /// The runner that has it.
        runner: RunnerId,
        /// Whose it is.
        owner: UserRef,
        /// The repository's location; absent when the project has none.
        repository: Option<String>,
        /// Its own branch.
        branch: Option<String>,
        /// The branch that it started from.
        base: Option<String>,
        /// The folder on the runner's machine.
        path: Option<String>,
        /// Its status.
        status: WorkspaceStatus,
        /// Why, when it failed.
        detail: Option<String>,
        /// The ports that it may listen on.
        ports: Option<PortRange>,
        /// What differs from the base.
        stats: Option<GitStats>,
        /// What it takes on the disk.
        #[ts(type = "number | null")]
        disk_bytes: Option<u64>,
        /// When its uncommitted work was last saved.
        saved_at: Option<Timestamp>,
        /// When it was asked for.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
    }

    /// What differs between a workspace and the branch that it started from.
    #[derive(Default)]
    GitStats {
        /// What is checked out; absent when its runner does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        checked_out: Option<CheckedOut>,
        /// The commit that is checked out; absent before the first one, and when its runner does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        head: Option<String>,
        /// Commits that the base does not have.
        ahead: u32,
        /// Commits of the base that the branch does not have.
        behind: u32,
        /// Changed files, those that are not committed included.
        files: u32,
        /// Lines that came.
        insertions: u32,
        /// Lines that went.
        deletions: u32,
        /// Files that git does not know yet.
        untracked: u32,
        /// Whether anything is not committed.
        uncommitted: bool,
        /// Commits that no remote branch has.
        unpushed: u32,
        /// The files that would conflict with the base.
        conflicts: Vec<String>,
    }

    /// What was changed in a workspace, against the commit that it started from.
    WorkspaceDiff {
        /// The files, in order of their paths.
        files: Vec<FileDiff>,
        /// A hash of all that was compared, uncommitted work included; absent when its runner does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        tree: Option<String>,
        /// Whether files or lines were left out because there are too many.
        truncated: bool,
    }

    /// What was changed in one file.
    FileDiff {
        /// Its path now.
        path: String,
        /// Its path before, when it was renamed.
        old_path: Option<String>,
        /// `added`, `modified`, `deleted`, `renamed` or `type_changed`.
        change: String,
        /// Its mode before, as git writes it; absent when it is new.
        old_mode: Option<String>,
        /// Its mode now; absent when it is gone.
        mode: Option<String>,
        /// Whether it is not text.
        binary: bool,
        /// Lines that came.
        insertions: u32,
        /// Lines that went.
        deletions: u32,
        /// What changed, with the lines around it.
        hunks: Vec<Hunk>,
        /// Whether the lines are all of it, byte by byte: none was cut or left out, and all are text.
        #[serde(default)]
        exact: bool,
    }

    /// Lines of a file that changed together, with those around them.
    Hunk {
        /// The first line's number before; 0 in a new file.
        old_start: u32,
        /// The first line's number now; 0 in a deleted file.
        new_start: u32,
        /// The lines.
        lines: Vec<crate::DiffLine>,
        /// Whether its last line before has no line break.
        #[serde(default)]
        old_open: bool,
        /// Whether its last line now has no line break.
        #[serde(default)]
        new_open: bool,
    }

    /// A file that a save does not have.
    LeftOut {
        /// Its path.
        path: String,
        /// Why it could not be saved.
        why: String,
    }

    /// One save of a workspace's uncommitted work.
    Save {
        /// Names it for `restore`: the commit that holds it.
        id: String,
        /// The time.
        at: Timestamp,
        /// How many files differ from the save before it.
        files: u32,
        /// The files that it does not have, because they could not be saved: such as those that are too large.
        #[serde(default)]
        left_out: Vec<LeftOut>,
        /// The save that was brought back, when that is what this one has.
        restored: Option<String>,
    }
}

/// What is checked out in a workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum CheckedOut {
    /// A branch.
    Branch {
        /// Its name.
        name: String,
    },
    /// A commit, on no branch.
    Commit {},
}
