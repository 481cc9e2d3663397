//! People, presence and the audit trail.

use super::{handle, stored};

stored! { MeRename UserDisable UserEnable UserRemove }

handle! {
    Me(_, asked) { asked.hub.me(asked.credential, asked.caller).await }

    UserList(_, asked) {
        let mut users = asked.hub.store.users(asked.caller).await?;
        users.iter_mut().for_each(|user| user.connected = asked.hub.live.presence.is_connected(user.id));
        Ok(users)
    }

    UserShow(verb, asked) {
        let mut user = asked.hub.store.user(asked.caller, verb.user).await?;
        user.connected = asked.hub.live.presence.is_connected(user.id);
        Ok(user)
    }

    PresenceList(_, asked) {
        asked.caller.person()?;
        Ok(asked.hub.live.presence.everybody(&asked.hub.live, &asked.credential.actor))
    }

    AuditList(verb, asked) { Ok(asked.hub.store.audit(asked.caller, verb.page).await?) }
}
