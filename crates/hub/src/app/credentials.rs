//! Credentials: tokens, logins, invitations, observer links. Links get the hub's address here.

use store::CreateLoginLink;

use super::{handle, stored};

stored! { TokenCreate TokenRevoke LoginRevoke LoginRevokeAll InviteRevoke ObserverRevoke }

handle! {
    TokenList(_, asked) { Ok(asked.hub.store.tokens(asked.caller).await?) }

    LoginList(_, asked) { Ok(asked.hub.store.logins(asked.caller, Some(&asked.credential.id)).await?) }

    LoginLink(_, asked) {
        let doors = &asked.hub.doors;
        let mut made = asked.commit(CreateLoginLink { user: None }).await?;
        made.link = doors.link("login", &made.link);
        Ok(made)
    }

    InviteList(_, asked) { Ok(asked.hub.store.invites(asked.caller).await?) }

    InviteCreate(verb, asked) {
        let doors = &asked.hub.doors;
        let mut made = asked.commit(verb).await?;
        made.link = doors.link("join", &made.link);
        Ok(made)
    }

    ObserverList(verb, asked) { Ok(asked.hub.store.observers(asked.caller, verb.project).await?) }

    ObserverCreate(verb, asked) {
        let doors = &asked.hub.doors;
        let mut made = asked.commit(verb).await?;
        made.link = doors.link("observe", &made.link);
        Ok(made)
    }
}
