//! Ways in: tokens, logins, invitations, observer links.

use domain::{InviteId, LoginId, ObserverId, ProjectId, Timestamp, TokenId, TokenKind};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::UserRef;
use crate::shapes::{inputs, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! credentials {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* credentials {
        changes {
        }
        answers {
            Tokens(Vec<Token>),
            NewToken(NewToken),
            Logins(Vec<Login>),
            LoginLink(crate::LoginLink),
            Invites(Vec<Invite>),
            NewInvite(NewInvite),
            Observers(Vec<Observer>),
            NewObserver(NewObserver),
        }
        verbs {
            /// The caller's tokens.
            TokenList "token.list" GET "/api/tokens" {} -> 200 Vec<Token>, Person;
            /// Creates a token; the secret is shown once.
            TokenCreate "token.create" POST "/api/tokens" { body input: crate::TokenCreate } -> 201 NewToken, Person;
            /// Revokes a token and closes its connections.
            TokenRevoke "token.revoke" DELETE "/api/tokens/{token}" { path token: TokenId } -> 204 (), Mine;
            /// The caller's browsers that are logged in.
            LoginList "login.list" GET "/api/logins" {} -> 200 Vec<Login>, Person;
            /// Creates a one-time link that logs a browser in as the caller.
            LoginLink "login.link" POST "/api/login-links" {} -> 201 crate::LoginLink, Person;
            /// Logs one of the caller's browsers out.
            LoginRevoke "login.revoke" DELETE "/api/logins/{login}" { path login: LoginId } -> 204 (), Mine;
            /// Logs all of the caller's browsers out.
            LoginRevokeAll "login.revoke_all" DELETE "/api/logins" {} -> 204 (), Person;
            /// The caller's invitations.
            InviteList "invite.list" GET "/api/invites" {} -> 200 Vec<Invite>, Person;
            /// Creates an invitation; the link is shown once.
            InviteCreate "invite.create" POST "/api/invites"
                { body input: crate::InviteCreate } -> 201 NewInvite, Person;
            /// Revokes an invitation.
            InviteRevoke "invite.revoke" DELETE "/api/invites/{invite}" { path invite: InviteId } -> 204 (), Mine;
            /// A project's observer links.
            ObserverList "observer.list" GET "/api/projects/{project}/observers"
                { path project: ProjectId } -> 200 Vec<Observer>, Owner;
            /// Creates an observer link; it is shown once.
            ObserverCreate "observer.create" POST "/api/projects/{project}/observers"
                { path project: ProjectId, body input: crate::ObserverCreate } -> 201 NewObserver, Owner;
            /// Revokes an observer link, at once.
            ObserverRevoke "observer.revoke" DELETE "/api/observers/{observer}"
                { path observer: ObserverId } -> 204 (), Owner;
        }
    } } };
}

pub(crate) use credentials;

inputs! {
    /// A new token.
    TokenCreate {
        /// Its name.
        name: String,
        /// When it expires; default: never.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    }

    /// A new invitation.
    InviteCreate {
        /// The recipient's name.
        name: String,
        /// When it expires; default: in 7 days.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    }

    /// A new observer link.
    ObserverCreate {
        /// The recipient's name.
        name: String,
        /// When it expires; default: never.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
    }

    /// The secret of a one-time login link or observer link.
    LinkSecret {
        /// The part of the link after `#`.
        secret: String,
    }

    /// An invitation's secret and the name to join with.
    InviteAccept {
        /// The part of the link after `#`.
        secret: String,
        /// The new person's name.
        name: String,
    }
}

views! {
    /// A credential; the secret itself is shown only once.
    Token {
        /// The token's id.
        id: TokenId,
        /// Its name.
        name: String,
        /// What its bearer is.
        kind: TokenKind,
        /// When it was created.
        created_at: Timestamp,
        /// When it expires.
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
        /// When it expires.
        expires_at: Timestamp,
    }

    /// A link that lets one new person in.
    Invite {
        /// The invitation's id.
        id: InviteId,
        /// Its name.
        name: String,
        /// Who made it.
        created_by: UserRef,
        /// When it was created.
        created_at: Timestamp,
        /// When it expires.
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
        /// Its name.
        name: String,
        /// The project that it shows.
        project: ProjectId,
        /// Who made it.
        created_by: UserRef,
        /// When it was created.
        created_at: Timestamp,
        /// When it expires.
        expires_at: Option<Timestamp>,
    }

    /// A fresh observer link, never shown again.
    NewObserver {
        /// The observer link.
        observer: Observer,
        /// What to send to the person.
        link: String,
    }
}
