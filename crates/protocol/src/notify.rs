//! Notifications away from the page: a person's channels, and when they are notified.

use domain::{ChannelId, ChannelKind, NotificationId, NotifyKind, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::shapes::{inputs, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! notify {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* notify {
        changes {
        }
        answers {
            NotifyChannels(Vec<NotifyChannel>),
            NotifyChannel(NotifyChannel),
            NewNotifyChannel(NewNotifyChannel),
            NotifyTried(NotifyTried),
            NotifySettings(crate::NotifySettings),
            NotifyKey(crate::NotifyKey),
        }
        verbs {
            /// The places that the caller's notifications go to.
            NotifyList "notify.list" GET "/api/notify/channels" {} -> 200 Vec<NotifyChannel>, Person;
            /// Adds a place; a webhook's signing secret is shown once.
            NotifyAdd "notify.add" POST "/api/notify/channels"
                { body input: crate::NotifyAdd } -> 201 NewNotifyChannel, Person;
            /// Changes what one of the caller's channels gets.
            NotifyUpdate "notify.update" PATCH "/api/notify/channels/{channel}"
                { path channel: ChannelId, body input: crate::NotifyUpdate } -> 200 NotifyChannel, Mine;
            /// Sends a test message to one of the caller's channels and answers with the outcome.
            NotifyTest "notify.test" POST "/api/notify/channels/{channel}/test"
                { path channel: ChannelId } -> 200 NotifyTried, Mine;
            /// Removes one of the caller's channels, with what was not sent to it yet.
            NotifyRemove "notify.remove" DELETE "/api/notify/channels/{channel}"
                { path channel: ChannelId } -> 204 (), Mine;
            /// When the caller is notified.
            NotifySettings "notify.settings" GET "/api/notify/settings" {} -> 200 crate::NotifySettings, Person;
            /// Changes when the caller is notified.
            NotifyConfigure "notify.configure" PATCH "/api/notify/settings"
                { body input: crate::NotifyConfigure } -> 200 crate::NotifySettings, Person;
            /// The key that a browser needs to subscribe to this hub's notifications.
            NotifyKey "notify.key" GET "/api/notify/key" {} -> 200 crate::NotifyKey, Person;
        }
    } } };
}

pub(crate) use notify;

/// A place for notifications.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct NotifyAdd {
    /// The kind of place.
    pub kind: ChannelKind,
    /// The address: of the ntfy topic, the webhook, or the browser's push endpoint. It is stored encrypted.
    pub url: String,
    /// Its name; default: its kind and host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The access token of an ntfy topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The browser's public key `p256dh`, for `push`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The browser's secret `auth`, for `push`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<String>,
    /// What to send there; default: everything except finished and landed work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<Vec<NotifyKind>>,
}

inputs! {
    /// Changes to a channel; absent fields stay unchanged.
    NotifyUpdate {
        /// Its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// What to send there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kinds: Option<Vec<NotifyKind>>,
        /// Whether anything is sent there; `true` also enables a channel that was disabled because its receiver had gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        enabled: Option<bool>,
    }

    /// Changes to when a person is notified; absent fields stay unchanged.
    NotifyConfigure {
        /// The daily hours in which nothing is sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quiet: Option<QuietHours>,
        /// Removes the quiet hours.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        no_quiet: bool,
        /// The person's time zone, as `Europe/Berlin`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        zone: Option<String>,
        /// How long to wait for further events before sending, in seconds; at most 3,600.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gather_seconds: Option<u32>,
        /// The longest wait after the first event, in seconds; at most 86,400.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_most_seconds: Option<u32>,
    }
}

views! {
    /// Daily hours of local time.
    QuietHours {
        /// When they begin, as `22:00`.
        from: String,
        /// When they end, as `07:00`.
        until: String,
    }

    /// A place that a person's notifications go to; its address is not shown again.
    NotifyChannel {
        /// The channel's id.
        id: ChannelId,
        /// The kind of place.
        kind: ChannelKind,
        /// Its name.
        name: String,
        /// The host that it is at.
        host: String,
        /// What is sent there.
        kinds: Vec<NotifyKind>,
        /// Why nothing is sent there; absent while it is enabled.
        disabled: Option<String>,
        /// When it was added.
        created_at: Timestamp,
        /// When something was last delivered.
        delivered_at: Option<Timestamp>,
        /// Why the last attempt failed; absent if it succeeded.
        failure: Option<String>,
        /// How many notifications wait to be sent or retried.
        waiting: u32,
    }

    /// A channel that was just added.
    NewNotifyChannel {
        /// The channel.
        channel: NotifyChannel,
        /// The secret that a webhook's messages are signed with. It is not shown again.
        secret: Option<String>,
    }

    /// What became of a test message.
    NotifyTried {
        /// The id of the message.
        id: NotificationId,
        /// Whether the receiver accepted it.
        delivered: bool,
        /// The HTTP status of the answer, if there was one.
        status: Option<u16>,
        /// The outcome, in a sentence.
        detail: String,
    }

    /// When a person is notified.
    NotifySettings {
        /// The daily hours in which nothing is sent.
        quiet: Option<QuietHours>,
        /// The person's time zone.
        zone: String,
        /// How long to wait for further events before sending, in seconds.
        gather_seconds: u32,
        /// The longest wait after the first event, in seconds.
        at_most_seconds: u32,
    }

    /// The key that a browser needs to subscribe.
    NotifyKey {
        /// The public key, in base64url.
        key: String,
    }
}
