//! Webhooks of projects.

use domain::HookId;
use protocol::{Hook, NewHook};
use store::{AddHook, RotateHook};

use super::{handle, stored};
use crate::AppError;
use crate::hooks::{place, secret};
use crate::hub::Hub;

stored! { HookRemove }

handle! {
    HookList(verb, asked) {
        let hooks = asked.hub.store.hooks(asked.caller, verb.project).await?;
        Ok(hooks.into_iter().map(|hook| at(asked.hub, hook)).collect())
    }

    HookDeliveries(verb, asked) { Ok(asked.hub.store.hook_deliveries(asked.caller, verb.hook).await?) }

    HookAdd(verb, asked) {
        // Refuse first: the hub's key is made only for those who may add a webhook.
        asked.hub.store.may_change_hooks(asked.caller, verb.project).await?;
        let (hub, id, secret) = (asked.hub, HookId::generate(), secret(verb.input.kind));
        let sealed = seal(hub, id, &secret)?;
        let hook = asked.commit(AddHook { verb, id, sealed }).await?;
        Ok(NewHook { hook: at(hub, hook), secret })
    }

    HookRotate(verb, asked) {
        let hub = asked.hub;
        let Some(kind) = hub.store.hook_secrets(verb.hook).await?.map(|secrets| secrets.kind) else {
            return Err(store::StoreError::NotFound("webhook").into());
        };
        let secret = secret(kind);
        let sealed = seal(hub, verb.hook, &secret)?;
        let hook = asked.commit(RotateHook { verb, sealed }).await?;
        Ok(NewHook { hook: at(hub, hook), secret })
    }
}

fn seal(hub: &Hub, id: HookId, secret: &str) -> Result<String, AppError> {
    hub.notify.key()?.seal(&place(id), secret).map_err(|error| AppError::Internal(error.into()))
}

/// With the address as other services reach it.
fn at(hub: &Hub, mut hook: Hook) -> Hook {
    hook.url = format!("{}{}", hub.doors.url(), hook.url);
    hook
}
