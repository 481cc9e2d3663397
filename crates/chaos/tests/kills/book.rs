//! What the writers tried and what was acknowledged: the truth that the database is held against.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

/// One message or activity; its text is `{name} {edits}`.
#[derive(Debug, Clone)]
pub(crate) struct Thing {
    /// Its id, once its making was acknowledged.
    pub(crate) id: Option<String>,
    /// Which edit was acknowledged last; 0 is the making.
    pub(crate) acknowledged: u32,
    /// Which edit was tried last.
    pub(crate) tried: u32,
}

/// What was tried and what was acknowledged, by name.
#[derive(Default)]
pub(crate) struct Book {
    things: Mutex<HashMap<String, Thing>>,
}

impl Book {
    /// Notes that a thing will be made; before the first try.
    pub(crate) fn make(&self, name: &str) {
        let thing = Thing { id: None, acknowledged: 0, tried: 0 };
        assert!(self.things().insert(name.to_owned(), thing).is_none(), "{name} is new");
    }

    /// Notes that the making was acknowledged.
    pub(crate) fn made(&self, name: &str, id: String) {
        self.things().get_mut(name).unwrap().id = Some(id);
    }

    /// Notes that a thing will be edited.
    pub(crate) fn edit(&self, name: &str) -> u32 {
        let mut things = self.things();
        let thing = things.get_mut(name).unwrap();
        thing.tried += 1;
        thing.tried
    }

    /// Notes that the last edit was acknowledged.
    pub(crate) fn edited(&self, name: &str) {
        let mut things = self.things();
        let thing = things.get_mut(name).unwrap();
        thing.acknowledged = thing.tried;
    }

    /// Everything, as of now.
    pub(crate) fn copy(&self) -> HashMap<String, Thing> {
        self.things().clone()
    }

    /// How much was acknowledged, in words.
    pub(crate) fn summary(&self) -> String {
        let things = self.things();
        let made = things.values().filter(|thing| thing.id.is_some()).count();
        let edits: u32 = things.values().map(|thing| thing.acknowledged).sum();
        format!("{made} made and {edits} edits acknowledged")
    }

    fn things(&self) -> MutexGuard<'_, HashMap<String, Thing>> {
        self.things.lock().unwrap()
    }
}
