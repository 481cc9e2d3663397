//! Webhooks of a project: where other services tell it what happened, signed.

use domain::{HookId, HookKind, ProjectId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::UserRef;
use crate::shapes::{inputs, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! hooks {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* hooks {
        changes {
        }
        answers {
            Hooks(Vec<Hook>),
            NewHook(NewHook),
            HookDeliveries(Vec<HookDelivery>),
        }
        verbs {
            /// The webhooks of a project, by name.
            HookList "hook.list" GET "/api/projects/{project}/hooks"
                { path project: ProjectId } -> 200 Vec<Hook>, See;
            /// Adds a webhook; its secret is shown once.
            HookAdd "hook.add" POST "/api/projects/{project}/hooks"
                { path project: ProjectId, body input: HookText } -> 201 NewHook, Decide;
            /// Gives a webhook another secret, shown once; the one before stays valid for a while.
            HookRotate "hook.rotate" POST "/api/hooks/{hook}/rotate"
                { path hook: HookId, body input: crate::HookRotate } -> 200 NewHook, Decide;
            /// What a webhook received in the last 7 days, newest first.
            HookDeliveries "hook.deliveries" GET "/api/hooks/{hook}/deliveries"
                { path hook: HookId } -> 200 Vec<HookDelivery>, See;
            /// Removes a webhook.
            HookRemove "hook.remove" DELETE "/api/hooks/{hook}"
                { path hook: HookId } -> 204 (), Decide;
        }
    } } };
}

pub(crate) use hooks;

/// A new webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HookText {
    /// Its name, unique in the project.
    pub name: String,
    /// How the service signs.
    pub kind: HookKind,
}

inputs! {
    /// Another secret for a webhook.
    HookRotate {
        /// How many hours the secret before stays valid, up to 168; default: 24.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        keep_hours: Option<u32>,
    }
}

views! {
    /// An address where another service tells a project what happened.
    Hook {
        /// Its id.
        id: HookId,
        /// The project.
        project: ProjectId,
        /// Its name, unique in the project.
        name: String,
        /// How the service signs.
        kind: HookKind,
        /// The address that the service sends to.
        url: String,
        /// Until when the secret before the last rotation is valid, too.
        old_secret_until: Option<Timestamp>,
        /// When it last received something.
        received_at: Option<Timestamp>,
        /// Who added it.
        added_by: UserRef,
        /// When it was added.
        created_at: Timestamp,
    }

    /// A webhook with the secret that the service signs with.
    NewHook {
        /// The webhook.
        hook: Hook,
        /// The secret. It is not shown again.
        secret: String,
    }

    /// Something that a webhook received.
    HookDelivery {
        /// The service's id of it; it counts once.
        delivery: String,
        /// What happened, in the service's words.
        event: Option<String>,
        /// How many schedules it made due, and how many waiting steps it ended.
        woke: u32,
        /// When it was received.
        at: Timestamp,
    }
}
