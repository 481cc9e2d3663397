//! Notifications away from the page.

use domain::text::NAME;
use domain::{ChannelId, NotificationId, NotifyKind};
use engine::notify::Outcome;
use protocol::{NewNotifyChannel, NotifyKey, NotifyTried};
use store::{AddChannel, TestedChannel};

use super::{handle, stored};
use crate::notify::{Letterhead, Message, Sent, Target, place};

stored! { NotifyUpdate NotifyRemove NotifyConfigure }

handle! {
    NotifyList(_, asked) { Ok(asked.hub.store.notify_channels(asked.caller).await?) }

    NotifySettings(_, asked) { Ok(asked.hub.store.notify_settings(asked.caller).await?) }

    NotifyKey(_, asked) {
        asked.caller.person()?;
        Ok(NotifyKey { key: asked.hub.notify.push_key()?.public() })
    }

    NotifyAdd(verb, asked) {
        let me = asked.caller.person()?;
        let input = verb.input;
        let (target, host) = Target::new(&asked.hub.notify, &input)?;
        let name = match input.name {
            Some(name) => NAME.name(&name).map_err(store::StoreError::from)?,
            None => format!("{} at {host}", input.kind).chars().take(80).collect(),
        };
        let id = ChannelId::generate();
        let text = serde_json::to_string(&target).map_err(|error| crate::AppError::Internal(error.into()))?;
        let sealed = asked.hub.notify.key()?.seal(&place(id, me.id), &text);
        let sealed = sealed.map_err(|error| crate::AppError::Internal(error.into()))?;
        let kinds = input.kinds.unwrap_or_else(NotifyKind::by_default);
        let secret = target.secret();
        let channel = asked.commit(AddChannel { id, kind: input.kind, name, host, kinds, sealed }).await?;
        Ok(NewNotifyChannel { channel, secret })
    }

    NotifyTest(verb, asked) {
        let hub = asked.hub;
        let found = hub.store.notify_channel(asked.caller, verb.channel).await?;
        let id = NotificationId::generate();
        let head = Letterhead { id, now: hub.store.now(), base: hub.doors.url() };
        let opened = hub.notify.key()?.open(&place(found.channel.id, found.owner), &found.sealed);
        let sent = match opened.ok().and_then(|text| serde_json::from_str::<Target>(&text).ok()) {
            Some(target) => {
                hub.notify.send(found.channel.kind, &target, &Message::test(hub.doors.url()), head).await
            }
            None => Sent::refused("the hub's key does not open the address: remove the channel and add it again"),
        };
        let delivered = sent.outcome == Outcome::Delivered;
        let detail = sent.why.clone().unwrap_or_else(|| format!("{} accepted the message", found.channel.host));
        asked.commit(TestedChannel { channel: verb.channel, failure: sent.why }).await?;
        Ok(NotifyTried { id, delivered, status: sent.status, detail })
    }
}
