//! When a person is notified.

use domain::{Action, Resource, Timestamp, UserId};
use engine::notify::{Prefs, Quiet};
use protocol::{NotifySettings, QuietHours, Verb, verbs};

use crate::sql::{Connection, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::{Caller, Command, Store, StoreError};

const MAX_GATHER: u32 = 3_600;
const MAX_WAIT: u32 = 86_400;

fn standard() -> NotifySettings {
    NotifySettings { quiet: None, zone: "UTC".to_owned(), gather_seconds: 15, at_most_seconds: 120 }
}

/// A person's settings, and until when they count as looking at the page.
pub(super) async fn of(
    c: &mut Connection<'_>,
    user: UserId,
) -> Result<(NotifySettings, Option<Timestamp>), StoreError> {
    let sql = "SELECT settings, looking_until FROM notify_settings WHERE user_id = $1";
    let Some(row) = c.first(sql, vec![text(user)]).await? else { return Ok((standard(), None)) };
    let settings = match row.text_or_none("settings")? {
        Some(_) => row.json("settings")?,
        None => standard(),
    };
    Ok((settings, row.time_or_none("looking_until")?))
}

/// The settings as the engine reads them. A time zone that this system no longer knows means no quiet hours.
pub(super) fn prefs(settings: &NotifySettings) -> Prefs {
    let quiet = settings.quiet.as_ref();
    let quiet = quiet.and_then(|hours| Quiet::parse(&hours.from, &hours.until, &settings.zone).ok());
    Prefs { quiet, gather_seconds: settings.gather_seconds, at_most_seconds: settings.at_most_seconds }
}

fn check(settings: &NotifySettings) -> Result<(), StoreError> {
    Quiet::zone(&settings.zone).map_err(|error| StoreError::invalid("zone", error.to_string()))?;
    if let Some(QuietHours { from, until }) = &settings.quiet {
        Quiet::parse(from, until, &settings.zone).map_err(|error| StoreError::invalid("quiet", error.to_string()))?;
    }
    if settings.gather_seconds > MAX_GATHER {
        return Err(StoreError::invalid("gather_seconds", format!("`gather_seconds` is at most {MAX_GATHER}")));
    }
    if settings.at_most_seconds > MAX_WAIT || settings.at_most_seconds < settings.gather_seconds {
        let message = format!("`at_most_seconds` is at least `gather_seconds` and at most {MAX_WAIT}");
        return Err(StoreError::invalid("at_most_seconds", message));
    }
    Ok(())
}

impl Command for verbs::NotifyConfigure {
    type Output = NotifySettings;
    const VERB: &'static str = verbs::NotifyConfigure::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<NotifySettings, StoreError> {
        let caller = tx.caller;
        caller.may(Action::TakePart, Resource::Hub, "settings")?;
        let me = caller.person()?;
        let (mut settings, _) = of(tx.read(), me.id).await?;
        let input = &self.input;
        if input.quiet.is_some() && input.no_quiet {
            return Err(StoreError::invalid("no_quiet", "give quiet hours or remove them, not both"));
        }
        if input.quiet.is_some() || input.no_quiet {
            settings.quiet = input.quiet.clone();
        }
        if let Some(zone) = &input.zone {
            settings.zone = zone.clone();
        }
        settings.gather_seconds = input.gather_seconds.unwrap_or(settings.gather_seconds);
        settings.at_most_seconds = input.at_most_seconds.unwrap_or(settings.at_most_seconds);
        if input.at_most_seconds.is_none() {
            settings.at_most_seconds = settings.at_most_seconds.max(settings.gather_seconds);
        }
        check(&settings)?;
        let sql = "INSERT INTO notify_settings (user_id, settings) VALUES ($1, $2) \
                   ON CONFLICT (user_id) DO UPDATE SET settings = excluded.settings";
        tx.run(sql, args![me.id.to_string(), to_json(&settings)]).await?;
        // What is on hold is decided about again.
        tx.run("UPDATE notify_channels SET hold_until = NULL WHERE user_id = $1", vec![text(me.id)]).await?;
        tx.audit(Self::VERB, me.id, AuditScope::Private(me.id), "changed when they are notified");
        Ok(settings)
    }
}

impl Store {
    /// When the caller is notified.
    pub async fn notify_settings(&self, caller: &Caller) -> Result<NotifySettings, StoreError> {
        caller.may(Action::TakePart, Resource::Hub, "settings")?;
        let me = caller.person()?;
        Ok(of(&mut self.readers.get().await?.borrow(), me.id).await?.0)
    }
}
