//! Handoffs: one session's work continues in a fresh session.

use store::Placed;

use super::{diff, handle, stored};

stored! { HandoffWrite HandoffEdit HandoffRetry HandoffSkip HandoffCancel HandoffAck HandoffConfigure }

handle! {
    HandoffList(verb, asked) { Ok(asked.hub.store.handoffs(asked.caller, verb.filter).await?) }

    HandoffShow(verb, asked) { Ok(asked.hub.store.handoff(asked.caller, verb.handoff).await?) }

    HandoffSettings(verb, asked) { Ok(asked.hub.store.handoff_settings(asked.caller, verb.project).await?) }

    HandoffCompare(verb, asked) {
        let older = asked.hub.store.handoff(asked.caller, verb.handoff).await?;
        let newer = match verb.with.to.filter(|to| *to != verb.handoff) {
            Some(to) => Some(asked.hub.store.handoff(asked.caller, to).await?),
            None => None,
        };
        Ok(diff::handoffs(older, newer))
    }

    HandoffBegin(verb, asked) {
        asked.hub.store.session(asked.caller, verb.session, domain::Action::Drive).await?;
        let connected = asked.connected().await?;
        asked.commit(Placed { verb, connected }).await
    }
}
