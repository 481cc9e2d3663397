//! Projects and the repositories that they work on.

use domain::{ProjectFacts, ProjectId, Timestamp, Visibility};
use serde::{Deserialize, Deserializer, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::UserRef;
use crate::shapes::{inputs, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! projects {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* projects {
        changes {
            /// A project appeared or changed.
            Project { project: Project },
            /// A project was deleted, or the receiver may not see it any more: forget it and all that is in it.
            ProjectGone { project: ProjectId },
            /// The receiver may not see others' sessions and workspaces of this project any more: forget them.
            ExecutionGone { project: ProjectId },
        }
        answers {
            Projects(Vec<Project>),
            Project(Project),
            Versions(Vec<Version>),
            Diff(Diff),
        }
        verbs {
            /// The projects that the caller may see.
            ProjectList "project.list" GET "/api/projects" {} -> 200 Vec<Project>, Anyone;
            /// One project.
            ProjectShow "project.show" GET "/api/projects/{project}" { path project: ProjectId } -> 200 Project, See;
            /// Creates a project that the caller owns.
            ProjectCreate "project.create" POST "/api/projects"
                { body input: crate::ProjectCreate } -> 201 Project, Person;
            /// Changes a project.
            ProjectUpdate "project.update" PATCH "/api/projects/{project}"
                { path project: ProjectId, body input: crate::ProjectUpdate } -> 200 Project, Decide;
            /// Deletes a project and all that is in it.
            ProjectDelete "project.delete" DELETE "/api/projects/{project}"
                { path project: ProjectId } -> 204 (), Owner;
            /// A page of the versions of a project's content, newest first.
            ProjectVersions "project.versions" GET "/api/projects/{project}/versions"
                { path project: ProjectId, #[serde(default)] query page: VersionPage } -> 200 Vec<Version>, See;
            /// What changed between two versions of a project's content.
            ProjectDiff "project.diff" GET "/api/projects/{project}/diff"
                { path project: ProjectId, query range: DiffRange } -> 200 Diff, See;
        }
    } } };
}

pub(crate) use projects;

inputs! {
    /// A new project; its creator owns it.
    ProjectCreate {
        /// Free text: name on the first line, then goals and constraints.
        content: String,
        /// What others may do in it; default: `private`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        visibility: Option<Visibility>,
        /// Whether others may see its sessions, terminals and recordings; default: no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        share_execution: Option<bool>,
        /// Whether the hub keeps recordings; default: no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        archive_recordings: Option<bool>,
        /// Recordings expire after this many days; default: never.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retention_days: Option<u32>,
        /// Whether work that other people request runs in a sandbox; default: no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox_others: Option<bool>,
        /// The repositories it works on.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<Repository>>")]
        repositories: Vec<Repository>,
        /// The key that the short names of its tasks begin with, such as `CALC`; default: made from its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }

    /// Changes to a project; absent fields stay unchanged.
    ProjectUpdate {
        /// The new text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// Refuse with `conflict` unless the content's version is still this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected_version: Option<u32>,
        /// What others may do in it. Only the owner changes this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        visibility: Option<Visibility>,
        /// Whether others may see its sessions, terminals and recordings. Only the owner changes this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        share_execution: Option<bool>,
        /// Whether the hub keeps recordings. Only the owner changes this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        archive_recordings: Option<bool>,
        /// Recordings expire after this many days; `null` is never. Only the owner changes this.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
        #[ts(as = "Option<Option<u32>>")]
        retention_days: Option<Option<u32>>,
        /// Whether work that other people request runs in a sandbox. Only the owner changes this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox_others: Option<bool>,
        /// The repositories it works on. Only the owner changes this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        repositories: Option<Vec<Repository>>,
        /// The key that the short names of its tasks begin with. Only the owner changes this.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    }
}

views! {
    /// Where a project's code is.
    #[derive(Default)]
    Repository {
        /// A URL, or a path on a runner.
        location: String,
        /// The branch that work starts from; default: the repository's own default.
        base_branch: Option<String>,
        /// The shell command that prepares a new workspace.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        setup: Option<String>,
        /// The shell command that runs before a workspace is deleted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        teardown: Option<String>,
        /// Ignored files that are copied into a new workspace, as patterns such as `.env`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<String>>")]
        copy: Vec<String>,
        /// Ports to divide among its workspaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        ports: Option<crate::PortRange>,
    }

    /// Ports that a workspace may listen on.
    PortRange {
        /// The first.
        first: u16,
        /// The last.
        last: u16,
    }

    /// Shared goals and constraints.
    Project {
        /// The project's id.
        id: ProjectId,
        /// The first line of its content.
        name: String,
        /// The key that the short names of its tasks begin with, such as `CALC`.
        key: String,
        /// Who owns it.
        owner: UserRef,
        /// What others may do in it.
        visibility: Visibility,
        /// Whether others may see its sessions, terminals and recordings.
        share_execution: bool,
        /// Whether completed activities' recordings are kept by the hub.
        archive_recordings: bool,
        /// Recordings expire after this many days; default: never.
        retention_days: Option<u32>,
        /// Whether work that other people request runs in a sandbox.
        #[serde(default)]
        sandbox_others: bool,
        /// Free text: name, goals, constraints.
        content: String,
        /// Counts the versions of the content, from 1.
        version: u32,
        /// The repositories it works on.
        repositories: Vec<Repository>,
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
    }
}

impl Project {
    /// What access to it depends on.
    pub fn facts(&self) -> ProjectFacts {
        ProjectFacts {
            id: self.id,
            owner: self.owner.id,
            visibility: self.visibility,
            share_execution: self.share_execution,
        }
    }
}

/// Distinguishes `null` from an absent field.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}
