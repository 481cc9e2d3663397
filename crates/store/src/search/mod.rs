//! The search index: an entry for each thing that a search finds, written in the transaction that changes the thing.
//!
//! `engine::search` decides what a thing is indexed under. The index is derived: it is not exported, and it is built
//! again after an import and for a new version of its format.

mod build;
mod entry;
mod terms;

pub(crate) use build::{prepare, rebuild};
pub(crate) use entry::Entry;
pub(crate) use terms::{matches, of_kind, of_project, query};

use std::collections::{BTreeMap, BTreeSet, HashMap};

use domain::ProjectId;
use protocol::Change;

use crate::EventBody;
use crate::batch::PendingEvent;
use crate::bulk::{Delete, Part};
use crate::sql::args;

const INSERT: &str =
    "INSERT INTO search_entries (id, kind, project, owner, open, at, digest, title, name, body, terms)";
const OR_CHANGE: &str = " ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, owner = excluded.owner, \
    open = excluded.open, at = excluded.at, digest = excluded.digest, title = excluded.title, name = excluded.name, \
    body = excluded.body, terms = excluded.terms WHERE search_entries.digest <> excluded.digest";

const BY_ID: Delete = Delete { table: "search_entries", keys: &["id"] };
const BY_PROJECT: Delete = Delete { table: "search_entries", keys: &["project"] };

/// The maximum number of entries whose digests are remembered between transactions.
const REMEMBERED: usize = 16 * 1024;

/// The digests of entries that the index has.
#[derive(Debug, Default)]
pub(crate) struct Indexed(HashMap<String, i64>);

/// Changes of the index that a transaction still has to write.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    entries: BTreeMap<String, Entry>,
    gone: BTreeSet<String>,
    projects: BTreeSet<ProjectId>,
}

impl Pending {
    /// Adds or replaces an entry.
    pub(crate) fn put(&mut self, entry: Entry) {
        self.gone.remove(&entry.id);
        self.entries.insert(entry.id.clone(), entry);
    }

    /// Drops the entries of a project that is being deleted.
    pub(crate) fn forget(&mut self, project: ProjectId) {
        self.entries.retain(|_, entry| entry.project != project);
    }

    /// Adds what an event changes. Tasks come from their rows: their events do not have the whole text.
    pub(crate) fn note(&mut self, event: &PendingEvent) {
        let EventBody::Change { change } = &event.body else { return };
        match change {
            Change::Project { project } => self.put(Entry::project(project)),
            Change::Activity { activity } => self.put(Entry::activity(activity)),
            Change::Session { session } => self.put(Entry::session(session)),
            Change::Message { message, .. } if message.deleted_at.is_none() => self.put(Entry::message(message)),
            Change::Message { message, .. } => {
                let id = message.id.to_string();
                self.entries.remove(&id);
                self.gone.insert(id);
            }
            Change::ProjectGone { project } if event.audience.is_none() => {
                self.forget(*project);
                self.projects.insert(*project);
            }
            _ => {}
        }
    }

    /// The rows to write, without entries that the index has already.
    pub(crate) fn parts(self, indexed: &mut Indexed) -> [Part; 3] {
        let Indexed(known) = indexed;
        if known.len() + self.entries.len() > REMEMBERED {
            known.clear();
        }
        self.gone.iter().for_each(|id| {
            known.remove(id);
        });
        let mut rows = Vec::new();
        for entry in self.entries.into_values() {
            let digest = entry.digest();
            if known.insert(entry.id.clone(), digest) != Some(digest) {
                rows.push(entry.row(digest));
            }
        }
        let gone = self.gone.into_iter().map(|id| args![id]).collect();
        let projects = self.projects.into_iter().map(|id| args![id.to_string()]).collect();
        [Part::insert_or(INSERT, OR_CHANGE, rows), Part::delete(BY_ID, gone), Part::delete(BY_PROJECT, projects)]
    }
}
