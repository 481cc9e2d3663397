//! Runners: machines that run sessions, and the agents found on them.

use domain::{RunnerId, RunnerPolicy, SessionMode, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::UserRef;
use crate::shapes::{inputs, views};

/// What this subject adds to the protocol: see `verbs.rs`.
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
            /// Removes one of the caller's runners.
            RunnerRemove "runner.remove" DELETE "/api/runners/{runner}" { path runner: RunnerId } -> 204 (), MyRunner;
        }
    } } };
}

pub(crate) use runners;

inputs! {
    /// A runner to be registered.
    RunnerCreate {
        /// Unique among its owner's runners.
        name: String,
    }

    /// Changes to one of the caller's runners; what is absent stays.
    RunnerUpdate {
        /// What it runs of other people's text without asking.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy: Option<RunnerPolicy>,
        /// Whether work that others ask for runs in a sandbox.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox_others: Option<bool>,
    }
}

views! {
    /// One machine's execution plane.
    Runner {
        /// The runner's id.
        id: RunnerId,
        /// Unique among its owner's runners.
        name: String,
        /// Whose machine and credentials it uses.
        owner: UserRef,
        /// Whether it is connected now.
        connected: bool,
        /// When it was last heard from.
        last_seen_at: Option<Timestamp>,
        /// When it was registered.
        created_at: Timestamp,
        /// What it said about itself; absent before its first connection.
        about: Option<crate::RunnerAbout>,
        /// What it runs of other people's text without asking its owner.
        #[serde(default = "ask")]
        policy: RunnerPolicy,
        /// Whether work that others ask for runs in a sandbox.
        #[serde(default)]
        sandbox_others: bool,
        /// Why it cannot record what happens, as a full disk; absent when all is well.
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

    /// What a runner says about itself when it connects.
    RunnerAbout {
        /// The machine's name.
        machine: String,
        /// The runner's version.
        version: String,
        /// What its owner calls it by, for choosing.
        labels: Vec<String>,
        /// How many sessions it runs at once.
        capacity: u32,
        /// The agents that it knows, installed or not.
        agents: Vec<FoundAgent>,
    }

    /// A coding agent as a runner found it, or did not.
    FoundAgent {
        /// What it is called when a session is spawned.
        name: String,
        /// What people call it.
        label: String,
        /// Its version; absent when it is not installed there.
        version: Option<String>,
        /// The command that installs it.
        install: Option<String>,
        /// Whether one prompt can be worked off without a person.
        headless: bool,
        /// How it can be started; absent when the runner does not say.
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
        /// Whether it takes up an earlier conversation.
        resumes: bool,
        /// Whether its sessions tell what they used of their model; absent when the runner does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        counts: Option<bool>,
        /// Whether that becomes money: its sessions tell what they cost, or its owner wrote down what tokens cost; absent
        /// when the runner does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        costs: Option<bool>,
        /// Whether it runs a program that is named with it; absent when the runner does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        argv: Option<bool>,
    }
}

/// What runners of earlier releases did, as events of theirs are read.
fn ask() -> RunnerPolicy {
    RunnerPolicy::Ask
}
