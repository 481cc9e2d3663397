//! What clients are shown.

use domain::{
    ActivityId, ActivityStatus, AuthorKind, InviteId, LinkKind, LoginId, MessageId, ObserverId, ProjectFacts,
    ProjectId, RunnerId, RunnerPolicy, SessionId, Timestamp, TokenId, TokenKind, UserId, Visibility,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

macro_rules! views {
    ($($(#[$doc:meta])* $name:ident { $($(#[$fdoc:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
        pub struct $name {
            $($(#[$fdoc])* pub $field: $type,)*
        }
    )*};
}

pub(crate) use views;

/// What runners of earlier releases did, as events of theirs are read.
fn ask() -> RunnerPolicy {
    RunnerPolicy::Ask
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
        /// A disabled person cannot come in.
        disabled: bool,
        /// Whether a page, CLI or runner of theirs is connected now.
        connected: bool,
        /// When they were last here.
        last_seen_at: Option<Timestamp>,
        /// When they joined.
        created_at: Timestamp,
    }

    /// Where a project's code is.
    #[derive(Default)]
    Repository {
        /// A URL, or a path on a runner.
        location: String,
        /// The branch that work starts from; the repository's own default when absent.
        base_branch: Option<String>,
        /// The shell line that makes a fresh workspace ready.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        setup: Option<String>,
        /// The shell line that runs before a workspace is deleted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        teardown: Option<String>,
        /// Ignored files that are copied into a fresh workspace, as patterns such as `.env`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(optional, as = "Option<Vec<String>>")]
        copy: Vec<String>,
        /// Ports that its workspaces share out among themselves.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        ports: Option<crate::PortRange>,
    }

    /// What people align on.
    Project {
        /// The project's id.
        id: ProjectId,
        /// The first line of its content.
        name: String,
        /// Who owns it.
        owner: UserRef,
        /// What others may do in it.
        visibility: Visibility,
        /// Whether others may look into its sessions, terminals and recordings.
        share_execution: bool,
        /// Whether completed activities' recordings are kept by the hub.
        archive_recordings: bool,
        /// Recordings expire after this many days; never when absent.
        retention_days: Option<u32>,
        /// Whether work that others ask for runs in a sandbox.
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

    /// Something outside the hub that an activity is about.
    Link {
        /// What kind of thing.
        kind: LinkKind,
        /// Its id or name.
        target: String,
    }

    /// One line of work in a project.
    Activity {
        /// The activity's id.
        id: ActivityId,
        /// The project that it is in.
        project: ProjectId,
        /// The first line of its content.
        name: String,
        /// Who started it.
        owner: UserRef,
        /// Where it stands.
        status: ActivityStatus,
        /// Free text: intent, plan, blockers.
        content: String,
        /// Counts the versions of the content, from 1.
        version: u32,
        /// Workspaces, sessions and branches.
        links: Vec<Link>,
        /// When it was created.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
    }

    /// A line in a project's chat.
    Message {
        /// The message's id.
        id: MessageId,
        /// The project whose chat it is in.
        project: ProjectId,
        /// Its place in that chat, from 1, without gaps.
        number: u32,
        /// The person whose credential wrote it.
        author: UserRef,
        /// Whether the person, their floor manager or an agent wrote it.
        author_kind: AuthorKind,
        /// The session whose agent wrote it, for those who may look into it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        author_session: Option<SessionId>,
        /// Markdown; empty when deleted.
        content: String,
        /// The ids it refers to as `#act_…`.
        references: Vec<String>,
        /// The people it mentions as `@name`.
        mentions: Vec<UserId>,
        /// When it was sent.
        created_at: Timestamp,
        /// When it was last edited.
        edited_at: Option<Timestamp>,
        /// When it was deleted; the place in the chat remains.
        deleted_at: Option<Timestamp>,
    }

    /// How far the caller has read a project's chat.
    Unread {
        /// The project.
        project: ProjectId,
        /// The number of the last message that was read.
        read: u32,
        /// How many messages of others came after it.
        count: u32,
        /// How many of those mention the caller.
        mentions: u32,
    }

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

    /// A credential; the secret itself is shown only once.
    Token {
        /// The token's id.
        id: TokenId,
        /// What its owner calls it.
        name: String,
        /// What its bearer is.
        kind: TokenKind,
        /// When it was made.
        created_at: Timestamp,
        /// When it stops working.
        expires_at: Option<Timestamp>,
        /// When it was last used, to the minute.
        last_used_at: Option<Timestamp>,
    }

    /// A fresh token with the secret that is never shown again.
    NewToken {
        /// The token.
        token: Token,
        /// What to send as `Authorization: Bearer …`.
        secret: String,
    }

    /// A fresh runner with the secret that is never shown again.
    NewRunner {
        /// The runner.
        runner: Runner,
        /// What the runner sends as `Authorization: Bearer …`.
        secret: String,
    }

    /// A link that lets one new person in.
    Invite {
        /// The invitation's id.
        id: InviteId,
        /// What its maker calls it.
        name: String,
        /// Who made it.
        created_by: UserRef,
        /// When it was made.
        created_at: Timestamp,
        /// When it stops working.
        expires_at: Timestamp,
        /// Who came in by it.
        accepted_by: Option<UserRef>,
    }

    /// A fresh invitation with the link that is never shown again.
    NewInvite {
        /// The invitation.
        invite: Invite,
        /// What to send to the person.
        link: String,
    }

    /// A link to a read-only page of one project, without an account.
    Observer {
        /// The link's id.
        id: ObserverId,
        /// What its maker calls it.
        name: String,
        /// The project that it shows.
        project: ProjectId,
        /// Who made it.
        created_by: UserRef,
        /// When it was made.
        created_at: Timestamp,
        /// When it stops working.
        expires_at: Option<Timestamp>,
    }

    /// A fresh observer link, never shown again.
    NewObserver {
        /// The observer link.
        observer: Observer,
        /// What to send to the person.
        link: String,
    }

    /// A browser that is logged in.
    Login {
        /// The login's id.
        id: LoginId,
        /// What the browser said it is, shortened.
        client: String,
        /// The address it came from.
        address: String,
        /// When it logged in.
        created_at: Timestamp,
        /// When it was last used, to the minute.
        last_used_at: Timestamp,
        /// Whether it is the one that asks.
        current: bool,
    }

    /// A one-time link that logs a browser in as its maker.
    LoginLink {
        /// Open it in a browser.
        link: String,
        /// When it stops working.
        expires_at: Timestamp,
    }

    /// One earlier or current text of a project or activity.
    Version {
        /// Counts from 1.
        version: u32,
        /// Who wrote it.
        author: UserRef,
        /// When.
        at: Timestamp,
        /// The whole text.
        content: String,
        /// Whether the person or an agent of theirs wrote it.
        #[serde(default = "by_hand")]
        author_kind: AuthorKind,
        /// The session whose agent wrote it, for those who may look into it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        author_session: Option<SessionId>,
    }

    /// What changed between two versions, line by line.
    Diff {
        /// The older version; 0 is the empty text before the first.
        from: u32,
        /// The newer version.
        to: u32,
        /// The lines in order.
        lines: Vec<DiffLine>,
    }

    /// One line of a diff.
    DiffLine {
        /// Whether it stayed, came or went.
        kind: DiffKind,
        /// The line without its line break.
        text: String,
    }

    /// One entry of the audit trail.
    AuditEntry {
        /// Its place in the trail, from 1, without gaps.
        #[ts(type = "number")]
        number: u64,
        /// When.
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

    /// Whether the hub is well.
    Health {
        /// `ok`, `degraded` while a connected runner cannot record its work, `read_only` while changes are refused, or
        /// `unavailable` while the database cannot be reached.
        status: String,
        /// Why, when it is not `ok`.
        reason: Option<String>,
        /// The hub's version.
        version: String,
        /// How many connected runners cannot record their work, as on a full disk; absent: none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runners_in_trouble: Option<u32>,
    }
}

/// Who wrote what an older hub shows.
fn by_hand() -> AuthorKind {
    AuthorKind::User
}

/// What acted for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ActedBy {
    /// An agent, with the token of its session.
    Agent {
        /// The session, for those who may look into it.
        session: Option<SessionId>,
    },
    /// A runner.
    Runner {
        /// The runner.
        runner: RunnerId,
    },
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

/// What happened to a line between two versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DiffKind {
    /// In both.
    Same,
    /// Only in the newer.
    Added,
    /// Only in the older.
    Removed,
}
