//! People: who they are, who is here.

use domain::{ActivityId, ProjectId, Timestamp, UserId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::shapes::{inputs, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! people {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* people {
        changes {
            /// A person joined or changed.
            User { user: User },
            /// A person was removed.
            UserGone { user: UserId },
        }
        answers {
            Me(crate::Me),
            User(User),
            Users(Vec<User>),
            Presence(Vec<PresenceEntry>),
        }
        verbs {
            /// Who the caller is.
            Me "me" GET "/api/me" {} -> 200 crate::Me, Anyone;
            /// Renames the caller.
            MeRename "me.rename" PATCH "/api/me" { body input: Rename } -> 200 User, Person;
            /// All people of this hub.
            UserList "user.list" GET "/api/users" {} -> 200 Vec<User>, Person;
            /// One person.
            UserShow "user.show" GET "/api/users/{user}" { path user: UserId } -> 200 User, Person;
            /// Disables a person at once.
            UserDisable "user.disable" POST "/api/users/{user}/disable" { path user: UserId } -> 200 User, HubOwner;
            /// Enables a disabled person.
            UserEnable "user.enable" POST "/api/users/{user}/enable" { path user: UserId } -> 200 User, HubOwner;
            /// Removes a disabled person who left nothing on the floor.
            UserRemove "user.remove" DELETE "/api/users/{user}" { path user: UserId } -> 204 (), HubOwner;
            /// Who is connected, and what they look at.
            PresenceList "presence.list" GET "/api/presence" {} -> 200 Vec<PresenceEntry>, Person;
        }
    } } };
}

pub(crate) use people;

inputs! {
    /// A new name for the caller.
    Rename {
        /// Unique on this hub, ignoring case.
        name: String,
    }
}

views! {
    /// A person's id, with the name at the time of writing.
    UserRef {
        /// The person.
        id: UserId,
        /// Their name when this was written; a newer one may be known.
        name: String,
    }

    /// A person.
    User {
        /// The person's id.
        id: UserId,
        /// Unique on this hub, ignoring case.
        name: String,
        /// Whether this person set the hub up, and may disable others.
        hub_owner: bool,
        /// A disabled person cannot log in.
        disabled: bool,
        /// Whether a page, CLI or runner of theirs is connected now.
        connected: bool,
        /// When they were last here.
        last_seen_at: Option<Timestamp>,
        /// When they joined.
        created_at: Timestamp,
    }

    /// Who the caller is.
    Me {
        /// The person, or absent for an observer.
        user: Option<User>,
        /// The project that an observer may see.
        observes: Option<ProjectId>,
        /// The hub's database.
        hub: domain::HubId,
        /// Whether the hub offers to log in with GitHub.
        github: bool,
        /// The hub's version.
        version: String,
    }
}

/// Something that a person can look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The project.
    pub project: ProjectId,
    /// The activity in it, or absent for its chat.
    #[serde(default)]
    pub activity: Option<ActivityId>,
}

/// One person's presence, as far as the receiver may see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
pub struct PresenceEntry {
    /// The person.
    pub user: UserId,
    /// Whether any page, CLI or runner of theirs is connected.
    pub connected: bool,
    /// What their pages show.
    pub places: Vec<Place>,
}
