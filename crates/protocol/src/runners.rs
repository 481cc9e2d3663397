//! Runners: machines that run sessions, and the agents found on them.

use domain::{RunnerId, RunnerPolicy, SessionMode, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{inputs, queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! runners {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* runners {
        changes {
            /// A runner appeared or changed.
            Runner { runner: Runner },
            /// A runner was removed.
            RunnerGone { runner: RunnerId },
        }
        answers {
            Runners(Vec<Runner>),
            NewRunner(NewRunner),
            Runner(Runner),
            PathSeen(PathSeen),
        }
        verbs {
            /// The runners of this hub.
            RunnerList "runner.list" GET "/api/runners" {} -> 200 Vec<Runner>, Person;
            /// Registers a runner; the secret is shown once.
            RunnerCreate "runner.create" POST "/api/runners"
                { body input: crate::RunnerCreate } -> 201 NewRunner, Person;
            /// Changes what one of the caller's runners runs for others.
            RunnerUpdate "runner.update" PATCH "/api/runners/{runner}"
                { path runner: RunnerId, body input: crate::RunnerUpdate } -> 200 Runner, MyRunner;
            /// What is at a path on the machine of one of the caller's runners, and which folders begin like it.
            RunnerLook "runner.look" GET "/api/runners/{runner}/look"
                { path runner: RunnerId, query at: LookAt } -> 200 PathSeen, MyRunner;
            /// Removes one of the caller's runners.
            RunnerRemove "runner.remove" DELETE "/api/runners/{runner}" { path runner: RunnerId } -> 204 (), MyRunner;
        }
    } } };
}

pub(crate) use runners;

inputs! {
    /// A new runner.
    RunnerCreate {
        /// Unique among its owner's runners.
        name: String,
    }

    /// Changes to one of the caller's runners; absent fields stay unchanged.
    RunnerUpdate {
        /// Its policy: what it runs of other people's text without asking.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy: Option<RunnerPolicy>,
        /// Whether work that other people request runs in a sandbox.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox_others: Option<bool>,
    }
}

queries! {
    /// Where to look on a runner's machine.
    LookAt {
        /// An absolute path, or one that begins with `~`. With a final `/`, the folders in it are listed.
        path: String,
    }
}

views! {
    /// What is at a path on a runner's machine.
    PathSeen {
        /// The absolute path.
        path: String,
        /// Whether a folder is there.
        exists: bool,
        /// The repository that it is in.
        repository: Option<RepositorySeen>,
        /// Folders whose paths begin like it, at most 50.
        folders: Vec<FolderSeen>,
        /// Whether there are more such folders.
        more: bool,
        /// Why the repository could not be read.
        problem: Option<String>,
    }

    /// A repository on a runner's machine.
    RepositorySeen {
        /// Its folder.
        root: String,
        /// Its branches, at most 100.
        branches: Vec<String>,
        /// Its default branch; absent in an empty repository.
        default_branch: Option<String>,
    }

    /// A folder on a runner's machine.
    FolderSeen {
        /// The absolute path.
        path: String,
        /// Whether it is a repository.
        repository: bool,
    }

    /// A runner lets Shopfloor start agents on a machine.
    Runner {
        /// The runner's id.
        id: RunnerId,
        /// Unique among its owner's runners.
        name: String,
        /// Whose machine and credentials it uses.
        owner: UserRef,
        /// Whether it is connected now.
        connected: bool,
        /// When it last sent something.
        last_seen_at: Option<Timestamp>,
        /// When it was registered.
        created_at: Timestamp,
        /// Its report about itself; absent before its first connection.
        about: Option<crate::RunnerAbout>,
        /// Its policy: what it runs of other people's text without asking its owner.
        #[serde(default = "ask")]
        policy: RunnerPolicy,
        /// Whether work that other people request runs in a sandbox.
        #[serde(default)]
        sandbox_others: bool,
        /// Why it cannot record facts, such as a full disk; absent if it can.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trouble: Option<String>,
    }

    /// A fresh runner with the secret that is never shown again.
    NewRunner {
        /// The runner.
        runner: Runner,
        /// What the runner sends as `Authorization: Bearer …`.
        secret: String,
    }

    /// A runner's report about itself.
    RunnerAbout {
        /// The machine's name.
        machine: String,
        /// The runner's version.
        version: String,
        /// Labels for choosing it.
        labels: Vec<String>,
        /// How many sessions it runs at once.
        capacity: u32,
        /// Its agents, installed or not.
        agents: Vec<FoundAgent>,
    }

    /// A coding agent on a runner, installed or not.
    FoundAgent {
        /// Its name in `session.spawn`.
        name: String,
        /// Its label for people.
        label: String,
        /// Its version; absent if it is not installed.
        version: Option<String>,
        /// The command that installs it.
        install: Option<String>,
        /// Whether it can run one prompt without interaction.
        headless: bool,
        /// How it can be started; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        modes: Option<Vec<AgentMode>>,
    }

    /// One way to start an agent.
    AgentMode {
        /// With its own screen, or without.
        mode: SessionMode,
        /// Whether it takes a prompt.
        prompt: bool,
        /// Whether it can resume a conversation.
        resumes: bool,
        /// Whether its sessions report token usage; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        counts: Option<bool>,
        /// Whether its cost is known: its sessions report it, or its owner set token prices; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        costs: Option<bool>,
        /// Whether it runs a given program; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        argv: Option<bool>,
        /// Whether its ended sessions can be asked about their work; absent if unknown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        asked: Option<bool>,
    }
}

/// The defaults of earlier releases.
fn ask() -> RunnerPolicy {
    RunnerPolicy::Ask
}
