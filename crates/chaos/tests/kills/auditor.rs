//! Looks into the database behind the hub's back, and holds it against what was acknowledged.

use std::collections::HashMap;

use domain::{Seq, Timestamp};
use store::{Event, Store};
use testkit::Raw;

use crate::book::Book;

/// An independent reader of the database.
pub(crate) struct Auditor {
    database: String,
    /// Which edit of a thing was found the last time.
    found: HashMap<String, u32>,
}

/// Each gives 0 in a database where nothing is half-written.
const WHOLE: [(&str, &str); 8] = [
    ("events are dense", "SELECT (SELECT COUNT(*) FROM events) - seq FROM ledger"),
    ("the newest event is the ledger's", "SELECT (SELECT MAX(seq) FROM events) - seq FROM ledger"),
    ("the trail is dense", "SELECT (SELECT COUNT(*) FROM audit) - audit FROM ledger"),
    (
        "chats are dense",
        "SELECT COUNT(*) FROM projects p WHERE p.last_message <> (SELECT COUNT(*) FROM messages m WHERE m.project = p.id)",
    ),
    (
        "each message is in the trail once",
        "SELECT (SELECT COUNT(*) FROM audit WHERE verb = 'chat.send') - (SELECT COUNT(*) FROM messages)",
    ),
    (
        "each activity is in the trail once",
        "SELECT (SELECT COUNT(*) FROM audit WHERE verb = 'activity.create') - (SELECT COUNT(*) FROM activities)",
    ),
    (
        "each text of an activity is a version",
        "SELECT COUNT(*) FROM activities a WHERE a.version <> (SELECT COUNT(*) FROM versions v WHERE v.subject = a.id)",
    ),
    (
        "the newest version is the text",
        "SELECT COUNT(*) FROM activities a JOIN versions v ON v.subject = a.id AND v.version = a.version \
         WHERE v.content <> a.content",
    ),
];

impl Auditor {
    pub(crate) fn new(database: &str) -> Self {
        Self { database: database.to_owned(), found: HashMap::new() }
    }

    /// Everything acknowledged is there, and nothing is half-written; the hub may be at work.
    pub(crate) async fn look(&mut self, book: &Book) {
        let before = book.copy();
        let mut raw = Raw::connect(&self.database).await;
        raw.hold_still().await;
        for (what, sql) in WHOLE {
            assert_eq!(raw.number(sql).await, 0, "{what}");
        }
        if let Raw::Sqlite(_) = raw {
            assert_eq!(raw.column("PRAGMA integrity_check").await, ["ok"]);
        }
        let mut news = Vec::new();
        for (name, thing) in &before {
            let new = self.found.get(name).is_none_or(|edit| *edit < thing.acknowledged);
            if let (true, Some(id)) = (new, &thing.id) {
                news.push((name, id, thing.acknowledged));
            }
        }
        for page in news.chunks(200) {
            let ids: Vec<String> = page.iter().map(|(_, id, _)| format!("'{id}'")).collect();
            let texts = texts(&mut raw, &format!("WHERE id IN ({})", ids.join(", "))).await;
            let after = book.copy();
            for (name, id, acknowledged) in page {
                let (found, edit) = texts.get(*id).unwrap_or_else(|| panic!("{name} was acknowledged and is lost"));
                assert_eq!(&found, name);
                assert!((*acknowledged..=after[*name].tried).contains(edit), "{name} is at edit {edit}");
                self.found.insert((*name).clone(), *edit);
            }
        }
    }

    /// With every writer answered: what is there is what was acknowledged, each once, and nothing else.
    pub(crate) async fn settle(&mut self, book: &Book) {
        let mut raw = Raw::connect(&self.database).await;
        raw.hold_still().await;
        let mut things = book.copy();
        for (id, (name, edit)) in texts(&mut raw, "").await {
            let thing = things.remove(&name).unwrap_or_else(|| panic!("{name} was made twice, or by nobody"));
            assert_eq!((thing.id, thing.acknowledged), (Some(id), edit), "{name}");
        }
        assert!(things.is_empty(), "lost: {things:?}");
        let keys = "SELECT COUNT(*) - COUNT(DISTINCT actor || fingerprint) FROM requests";
        assert_eq!(raw.number(keys).await, 0, "each key acted once");
    }

    /// The trail's hashes fit together; the hub is dead.
    pub(crate) async fn follow_the_chain(&self) {
        let store = self.open().await;
        assert!(store.verify_audit().await.unwrap().is_ok());
        store.close().await;
    }

    /// Every event there ever was; the hub is dead.
    pub(crate) async fn events(&self) -> Vec<Event> {
        let store = self.open().await;
        let mut events: Vec<Event> = Vec::new();
        loop {
            let since = Seq(events.len() as u64);
            let page = store.events_after(since, 1000).await.unwrap();
            if page.is_empty() {
                break;
            }
            assert_eq!(page[0].seq.0, since.0 + 1);
            events.extend(page);
        }
        store.close().await;
        events
    }

    async fn open(&self) -> Store {
        Store::open(&self.database, || Timestamp::from_millis(0), |_| {}).await.unwrap()
    }
}

/// The name and edit of every message and activity, by id.
async fn texts(raw: &mut Raw, filter: &str) -> HashMap<String, (String, u32)> {
    let sql =
        format!("SELECT id, content FROM messages {filter} UNION ALL SELECT id, content FROM activities {filter}");
    let read = |row: Vec<String>| {
        let (name, edit) = row[1].split_once(' ').unwrap();
        (row[0].clone(), (name.to_owned(), edit.parse().unwrap()))
    };
    raw.rows(&sql).await.into_iter().map(read).collect()
}
