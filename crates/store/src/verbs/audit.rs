//! Reading the audit trail.

use domain::{Action, Actor, Resource};
use protocol::{AuditEntry, AuditPage, UserRef};

use super::chat::page_size;
use super::projects;
use crate::batch::chain;
use crate::sql::{Row, Value, args, text, to_json};
use crate::{Caller, Store, StoreError};

/// How many entries a page has when nothing is said, and at most.
const PAGE: (u32, u32) = (100, 500);

fn entry(row: &Row) -> Result<AuditEntry, StoreError> {
    let actor = match (row.text_or_none("actor")?, row.text_or_none("actor_name")?) {
        (Some(_), Some(name)) => Some(UserRef { id: row.parsed("actor")?, name }),
        _ => None,
    };
    let project = row.text_or_none("project")?;
    Ok(AuditEntry {
        number: row.integer("number")?.cast_unsigned(),
        at: row.time("at")?,
        actor,
        origin: row.text("origin")?,
        verb: row.text("verb")?,
        subject: row.text("subject")?,
        project: project.and_then(|id| id.parse().ok()),
        detail: row.text("detail")?,
        hash: row.text("hash")?,
    })
}

impl Store {
    /// A page of the audit trail, newest first, as far as the caller may see.
    pub async fn audit(&self, caller: &Caller, page: AuditPage) -> Result<Vec<AuditEntry>, StoreError> {
        // Entries say where people came from: that is for people, not for links.
        caller.may(Action::TakePart, Resource::Hub, "audit entry")?;
        let limit = page_size(page.limit, PAGE)?;
        let before = page.before.map_or(i64::MAX, |number| i64::try_from(number).unwrap_or(i64::MAX));
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let projects = match page.project {
            Some(id) => vec![projects::check(&mut c, caller, id, Action::See, "project").await?.id],
            None => projects::visible(&mut c, caller).await?.into_iter().map(|project| project.id).collect(),
        };
        let mut values: Vec<Value> = args![before, limit];
        let mut places = Vec::new();
        for id in projects {
            values.push(text(id));
            places.push(format!("${}", values.len()));
        }
        let mut readable = vec![match places.is_empty() {
            true => "1 = 0".to_owned(),
            false => format!("project IN ({})", places.join(", ")),
        }];
        if let (None, Some(Actor::User { id, .. })) = (page.project, caller.actor()) {
            values.push(text(id));
            readable.push("(project IS NULL AND private_to IS NULL)".to_owned());
            readable.push(format!("private_to = ${0} OR actor = ${0}", values.len()));
        }
        let sql = format!(
            "SELECT number, at, actor, actor_name, origin, verb, subject, project, detail, hash FROM audit \
             WHERE number < $1 AND ({}) ORDER BY number DESC LIMIT $2",
            readable.join(" OR ")
        );
        c.all(&sql, values).await?.iter().map(entry).collect()
    }

    /// Checks the chain of hashes over the whole trail; `Err` names the first entry that was changed or is missing.
    pub async fn verify_audit(&self) -> Result<Result<u64, u64>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let ledger = c.first("SELECT audit, audit_hash FROM ledger WHERE one = 1", args![]).await?;
        let ledger = ledger.ok_or_else(|| StoreError::Corrupt("the ledger has no row".into()))?;
        let total = ledger.integer("audit")?.cast_unsigned();
        let (mut hash, mut number) = (String::new(), 0_u64);
        loop {
            let sql = "SELECT number, at, actor, actor_name, origin, verb, subject, project, private_to, detail, hash \
                       FROM audit WHERE number > $1 ORDER BY number LIMIT 1000";
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
    Ok(to_json(&(
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
    )))
}
