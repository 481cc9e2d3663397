//! Reading the audit trail.

use std::collections::HashMap;

use domain::{Action, Actor, ProjectFacts, ProjectId, Resource};
use protocol::{ActedBy, AuditEntry, AuditPage, UserRef, Veil};

use super::chat::page_size;
use super::projects;
use super::workspaces::sees;
use crate::batch::{chain, with_via};
use crate::caller::SOME_AGENT;
use crate::sql::{Row, Value, args, text, to_json};
use crate::{Caller, Store, StoreError};

/// The default and maximum page size.
const PAGE: (u32, u32) = (100, 500);

/// Entries about execution contain the first line of a prompt or command, so only those who may see the execution read
/// them.
const EXECUTION: &str = "(a.verb LIKE 'session.%' OR a.verb LIKE 'workspace.%' OR a.verb LIKE 'recording.%')";
/// Only the project's owner reads entries about observer links.
const OBSERVERS: &str = "(a.verb LIKE 'observer.%' OR a.verb = 'observe')";

fn entry(row: &Row) -> Result<AuditEntry, StoreError> {
    let actor = match (row.text_or_none("actor")?, row.text_or_none("actor_name")?) {
        (Some(_), Some(name)) => Some(UserRef { id: row.parsed("actor")?, name }),
        _ => None,
    };
    let project = row.text_or_none("project")?;
    let via = match row.text_or_none("via")? {
        None => None,
        Some(via) if via == SOME_AGENT => Some(ActedBy::Agent { session: None }),
        Some(id) => Some(match id.parse() {
            Ok(session) => ActedBy::Agent { session: Some(session) },
            Err(_) => ActedBy::Runner { runner: row.parsed("via")? },
        }),
    };
    Ok(AuditEntry {
        number: row.integer("number")?.cast_unsigned(),
        at: row.time("at")?,
        actor,
        via,
        origin: row.text("origin")?,
        verb: row.text("verb")?,
        subject: row.text("subject")?,
        project: project.and_then(|id| id.parse().ok()),
        detail: row.text("detail")?,
        hash: row.text("hash")?,
    })
}

impl Store {
    /// A page of the audit trail that the caller may see, newest first.
    pub async fn audit(&self, caller: &Caller, page: AuditPage) -> Result<Vec<AuditEntry>, StoreError> {
        // Entries contain people's addresses, which observers must not see.
        caller.may(Action::TakePart, Resource::Hub, "audit entry")?;
        let limit = page_size(page.limit, PAGE)?;
        let before = page.before.map_or(i64::MAX, |number| i64::try_from(number).unwrap_or(i64::MAX));
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts: HashMap<ProjectId, ProjectFacts> = match page.project {
            Some(id) => [(id, projects::check(&mut c, caller, id, Action::See, "project").await?)].into(),
            None => projects::seen(&mut c, caller).await?,
        };
        let may = |action, facts: &ProjectFacts| caller.may(action, Resource::Project(facts), "project").is_ok();
        let mut values: Vec<Value> = args![before, limit];
        let mut among = |wanted: &dyn Fn(&ProjectFacts) -> bool| {
            let mut places = Vec::new();
            for facts in facts.values().filter(|facts| wanted(facts)) {
                values.push(text(facts.id));
                places.push(format!("${}", values.len()));
            }
            if places.is_empty() { "1 = 0".to_owned() } else { format!("a.project IN ({})", places.join(", ")) }
        };
        let seen = among(&|_| true);
        let shared = among(&|facts| may(Action::SeeExecution, facts));
        let governed = among(&|facts| may(Action::Govern, facts));
        let me = caller.actor().and_then(Actor::acts_for);
        values.push(me.map_or_else(|| text("nobody"), text));
        let own = format!("${}", values.len());
        // The owner of a session in another person's project may read about it, no matter who requested it.
        let runs = "COALESCE((SELECT s.owner FROM sessions s WHERE s.id = a.subject), \
                    (SELECT w.owner FROM workspaces w WHERE w.id = a.subject), '')";
        let mut readable = vec![format!(
            "({seen} AND (NOT {EXECUTION} OR {shared} OR a.actor = {own} OR {runs} = {own}) \
             AND (NOT {OBSERVERS} OR {governed}))"
        )];
        if page.project.is_none() && me.is_some() {
            readable.push("(a.project IS NULL AND a.private_to IS NULL)".to_owned());
            readable.push(format!("a.private_to = {own} OR a.actor = {own}"));
        }
        let sql = format!(
            "SELECT a.number, a.at, a.actor, a.actor_name, a.via, a.origin, a.verb, a.subject, a.project, a.detail, \
             a.hash FROM audit a WHERE a.number < $1 AND ({}) ORDER BY a.number DESC LIMIT $2",
            readable.join(" OR ")
        );
        let mut entries = c.all(&sql, values).await?.iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        for entry in &mut entries {
            let facts = entry.project.and_then(|project| facts.get(&project));
            let actor = entry.actor.as_ref().map(|actor| actor.id);
            if !actor.is_some_and(|actor| sees(caller, facts, actor)) {
                entry.veil();
            }
            let hub_owner = matches!(caller.actor(), Some(Actor::User { hub_owner: true, .. }));
            let manages = match entry.project {
                Some(_) => facts.is_some_and(|facts| may(Action::Govern, facts)),
                None => hub_owner,
            };
            if !manages && (me.is_none() || actor != me) {
                entry.origin.clear();
            }
        }
        Ok(entries)
    }

    /// Verifies the hash chain of the whole trail; `Err` names the first changed or missing entry.
    pub async fn verify_audit(&self) -> Result<Result<u64, u64>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let ledger = c.first("SELECT audit, audit_hash FROM ledger WHERE one = 1", args![]).await?;
        let ledger = ledger.ok_or_else(|| StoreError::Corrupt("the ledger has no row".into()))?;
        let total = ledger.integer("audit")?.cast_unsigned();
        let (mut hash, mut number) = (String::new(), 0_u64);
        loop {
            let sql = "SELECT number, at, actor, actor_name, via, origin, verb, subject, project, private_to, detail, \
                       hash FROM audit WHERE number > $1 ORDER BY number LIMIT 1000";
            let rows = c.all(sql, args![number]).await?;
            if rows.is_empty() {
                break;
            }
            for row in &rows {
                number += 1;
                hash = chain(&hash, &covered(row)?);
                if row.integer("number")?.cast_unsigned() != number || row.text("hash")? != hash {
                    return Ok(Err(number));
                }
            }
        }
        let whole = number == total && hash == ledger.text("audit_hash")?;
        Ok(if whole { Ok(total) } else { Err(number + 1) })
    }
}

/// The text that an entry's hash covers, as the writer made it.
fn covered(row: &Row) -> Result<String, StoreError> {
    let text = to_json(&(
        row.integer("number")?,
        row.integer("at")?,
        row.text_or_none("actor")?,
        row.text_or_none("actor_name")?,
        row.text("origin")?,
        row.text("verb")?,
        row.text("subject")?,
        row.text_or_none("project")?,
        row.text_or_none("private_to")?,
        row.text("detail")?,
    ));
    Ok(with_via(text, row.text_or_none("via")?.as_deref()))
}
