//! Keyboards of sessions: requested by people who watch, handed over and taken back by the owner.

use domain::{Action, Keyboard, KeyboardDeed, KeyboardRefusal, ProjectFacts, RunnerId, SessionId, UserId};
use protocol::{Session, UserRef, Verb, verbs};
use serde::Serialize;

use super::{COLUMNS, announce, find, get, session};
use crate::sql::{args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::verbs::projects;
use crate::{Command, Store, StoreError};

const PERSON: &str = "only a person may ask for a keyboard or hand it over, not an agent";

impl Command for verbs::SessionKeyboardRequest {
    type Output = Session;
    const VERB: &'static str = verbs::SessionKeyboardRequest::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Session, StoreError> {
        change(tx, Self::VERB, self.session, KeyboardDeed::Request).await
    }
}

impl Command for verbs::SessionKeyboardGive {
    type Output = Session;
    const VERB: &'static str = verbs::SessionKeyboardGive::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Session, StoreError> {
        if let Some(to) = self.input.to {
            return change(tx, Self::VERB, self.session, KeyboardDeed::Give(to)).await;
        }
        let caller = tx.caller;
        let (found, _) = find(tx.read(), caller, self.session, Action::Drive).await?;
        match found.keyboard.requests.first().map(|one| one.id) {
            Some(to) => change(tx, Self::VERB, self.session, KeyboardDeed::Give(to)).await,
            None => Ok(found),
        }
    }
}

impl Command for verbs::SessionKeyboardTake {
    type Output = Session;
    const VERB: &'static str = verbs::SessionKeyboardTake::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Session, StoreError> {
        change(tx, Self::VERB, self.session, KeyboardDeed::Take).await
    }
}

impl Command for verbs::SessionKeyboardReturn {
    type Output = Session;
    const VERB: &'static str = verbs::SessionKeyboardReturn::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Session, StoreError> {
        change(tx, Self::VERB, self.session, KeyboardDeed::Return).await
    }
}

/// Takes the keyboard from a holder who left the terminal.
#[derive(Debug, Serialize)]
pub struct LeaveKeyboard {
    /// The session.
    pub session: SessionId,
    /// The holder; nothing happens if another person has it meanwhile.
    pub holder: UserId,
}

impl Command for LeaveKeyboard {
    type Output = ();
    const VERB: &'static str = verbs::SessionKeyboardReturn::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let Some((before, _)) = get(tx.read(), self.session).await? else { return Ok(()) };
        let Some(holder) = before.keyboard.holder.clone().filter(|holder| holder.id == self.holder) else {
            return Ok(());
        };
        let after = Keyboard { holder: None, ..ids(&before) };
        let detail = format!("{} left `{}`: its keyboard is its owner's again", holder.name, before.title);
        save(tx, before, &after, None, Self::VERB, detail).await.map(|_| ())
    }
}

/// Takes the keyboards of a project's sessions from people who may no longer watch them.
pub(crate) async fn confine(tx: &mut Tx<'_>, project: &ProjectFacts) -> Result<(), StoreError> {
    let sql = format!("{COLUMNS} WHERE s.project = $1 AND s.keyboard IS NOT NULL");
    for row in tx.read().all(&sql, vec![text(project.id)]).await? {
        let before = session(&row)?;
        let after = ids(&before).within(project, before.owner.id);
        if after != ids(&before) {
            let detail = format!("the project shares `{}` no longer: its keyboard is its owner's", before.title);
            save(tx, before, &after, None, verbs::SessionKeyboardReturn::SPEC.name, detail).await?;
        }
    }
    Ok(())
}

/// Takes every keyboard from a person who was disabled.
pub(crate) async fn forget(tx: &mut Tx<'_>, person: UserId) -> Result<(), StoreError> {
    let sql = format!("{COLUMNS} WHERE s.keyboard LIKE $1");
    for row in tx.read().all(&sql, args![format!("%{person}%")]).await? {
        let before = session(&row)?;
        let after = ids(&before).without(person);
        let detail = format!("the keyboard of `{}` is its owner's", before.title);
        save(tx, before, &after, None, verbs::SessionKeyboardReturn::SPEC.name, detail).await?;
    }
    Ok(())
}

async fn change(tx: &mut Tx<'_>, verb: &'static str, id: SessionId, deed: KeyboardDeed) -> Result<Session, StoreError> {
    let caller = tx.caller;
    let action = match deed {
        KeyboardDeed::Give(_) | KeyboardDeed::Take => Action::Drive,
        KeyboardDeed::Request | KeyboardDeed::Return => Action::SeeExecution,
    };
    let (before, _) = find(tx.read(), caller, id, action).await?;
    let me = caller.person()?;
    if caller.by_agent {
        return Err(StoreError::Forbidden(PERSON));
    }
    let asks = matches!(deed, KeyboardDeed::Request | KeyboardDeed::Give(_));
    if asks && before.state.ended() {
        return Err(StoreError::Conflict("the session has ended".into()));
    }
    let person = match deed {
        KeyboardDeed::Give(to) if to != before.owner.id => watcher(tx, &before, to).await?,
        _ => me.clone(),
    };
    let was = ids(&before);
    let is = was.after(deed, me.id, before.owner.id).map_err(refusal)?;
    if is == was {
        return Ok(before);
    }
    let title = &before.title;
    let detail = match deed {
        KeyboardDeed::Request => format!("asked for the keyboard of `{title}`"),
        KeyboardDeed::Give(to) if to == before.owner.id => format!("took the keyboard of `{title}` back"),
        KeyboardDeed::Give(_) => format!("handed the keyboard of `{title}` to {}", person.name),
        KeyboardDeed::Take => format!("took the keyboard of `{title}` back"),
        KeyboardDeed::Return => format!("returned the keyboard of `{title}`"),
    };
    save(tx, before, &is, Some(&person), verb, detail).await
}

fn refusal(refusal: KeyboardRefusal) -> StoreError {
    match refusal {
        KeyboardRefusal::NotOwner => StoreError::Forbidden("only the session's owner hands its keyboard over"),
        KeyboardRefusal::Full => {
            StoreError::Conflict(format!("{} people wait for this keyboard", domain::keyboard::MAX_REQUESTS))
        }
    }
}

/// The person who is to have the keyboard; refuses those who may not watch the session.
async fn watcher(tx: &mut Tx<'_>, session: &Session, to: UserId) -> Result<UserRef, StoreError> {
    let sql = "SELECT name FROM users WHERE id = $1 AND disabled = 0";
    let row = tx.read().first(sql, vec![text(to)]).await?.ok_or(StoreError::NotFound("user"))?;
    let name = row.text("name")?;
    let facts = projects::facts_of(tx.read(), session.project).await?.ok_or(StoreError::NotFound("session"))?;
    let alone = Keyboard { holder: Some(to), requests: Vec::new() };
    match alone.within(&facts, session.owner.id).holder {
        Some(_) => Ok(UserRef { id: to, name }),
        None => {
            Err(StoreError::Conflict(format!("{name} may not see this session: its project does not share execution")))
        }
    }
}

/// Stores and announces the keyboard; `person` may be new in it.
async fn save(
    tx: &mut Tx<'_>,
    before: Session,
    keyboard: &Keyboard,
    person: Option<&UserRef>,
    verb: &'static str,
    detail: String,
) -> Result<Session, StoreError> {
    let known: Vec<&UserRef> = before.keyboard.holder.iter().chain(&before.keyboard.requests).chain(person).collect();
    let named = |id: &UserId| known.iter().find(|one| one.id == *id).map(|one| (*one).clone());
    let keyboard = protocol::Keyboard {
        holder: keyboard.holder.as_ref().and_then(named),
        requests: keyboard.requests.iter().filter_map(named).collect(),
    };
    let stored = (keyboard != protocol::Keyboard::default()).then(|| to_json(&keyboard));
    tx.run("UPDATE sessions SET keyboard = $1 WHERE id = $2", args![stored, before.id.to_string()]).await?;
    let after = Session { keyboard, ..before };
    announce(tx, after.clone());
    tx.audit(verb, after.id, AuditScope::Project(after.project), detail);
    Ok(after)
}

fn ids(session: &Session) -> Keyboard {
    Keyboard {
        holder: session.keyboard.holder.as_ref().map(|holder| holder.id),
        requests: session.keyboard.requests.iter().map(|one| one.id).collect(),
    }
}

impl Store {
    /// The sessions whose keyboards other people have, with holder and runner.
    pub async fn keyboards(&self) -> Result<Vec<(SessionId, UserId, RunnerId)>, StoreError> {
        let sql = format!("{COLUMNS} WHERE s.keyboard IS NOT NULL AND s.ended_at IS NULL");
        let mut reader = self.readers.get().await?;
        let rows = reader.borrow().all(&sql, args![]).await?;
        let sessions = rows.iter().map(session).collect::<Result<Vec<_>, _>>()?;
        let held = |session: Session| Some((session.id, session.keyboard.holder?.id, session.runner));
        Ok(sessions.into_iter().filter_map(held).collect())
    }
}
