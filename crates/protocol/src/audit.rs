//! The audit trail.

use domain::{ProjectId, RunnerId, SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! audit {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* audit {
        changes {
        }
        answers {
            Audit(Vec<AuditEntry>),
        }
        verbs {
            /// A page of the audit trail, newest first, as far as the caller may see.
            AuditList "audit.list" GET "/api/audit" { query page: AuditPage } -> 200 Vec<AuditEntry>, Person;
        }
    } } };
}

pub(crate) use audit;

queries! {
    /// Which part of the audit trail to show.
    #[derive(Copy)]
    AuditPage {
        /// Only entries of this project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
        /// Only entries with a lower number; default: the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(as = "Option<f64>")]
        before: Option<u64>,
        /// Maximum number, at most 500; default: 100.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

views! {
    /// One entry of the audit trail.
    AuditEntry {
        /// Its place in the trail, from 1, without gaps.
        #[ts(type = "number")]
        number: u64,
        /// The time.
        at: Timestamp,
        /// Who, if a person; absent for the hub itself and for links.
        actor: Option<UserRef>,
        /// What acted for the person; absent when they did it by their own hand.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        via: Option<ActedBy>,
        /// From where: address and kind of client. Empty for those to whom it is not shown: only the actor and the
        /// project's owner see it, and of entries that belong to no project the actor and the hub's owner.
        origin: String,
        /// What was done, as the protocol's verb.
        verb: String,
        /// The id of what it was done to.
        subject: String,
        /// The project that it happened in.
        project: Option<ProjectId>,
        /// What changed, in words.
        detail: String,
        /// Chains this entry to the one before it.
        hash: String,
    }
}

/// What acted for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ActedBy {
    /// An agent, with the token of its session.
    Agent {
        /// The session, for people who may see it.
        session: Option<SessionId>,
    },
    /// A runner.
    Runner {
        /// The runner.
        runner: RunnerId,
    },
}
