//! The levels of stacks that were built before. The search for a culprit tests the same levels again and again, and a
//! level costs a dozen git processes.

use std::collections::HashMap;
use std::path::PathBuf;

use parking_lot::Mutex;

use crate::bare::Oid;
use crate::stack::{Candidate, Method, Stacked};
use crate::store::Store;

/// Levels that are kept before all are forgotten.
const MOST: usize = 10_000;

/// What a level follows from: store, base, the level below, and the candidate's head, title and method.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Sources(PathBuf, Oid, Oid, Oid, String, Method);

/// The levels that were built in this process.
#[derive(Debug, Default)]
pub(crate) struct BuiltLevels(Mutex<HashMap<Sources, Stacked>>);

impl BuiltLevels {
    pub(crate) fn find(&self, store: &Store, base: &Oid, top: &Oid, candidate: &Candidate) -> Option<Stacked> {
        self.0.lock().get(&sources(store, base, top, candidate)).cloned()
    }

    pub(crate) fn remember(&self, store: &Store, base: &Oid, top: &Oid, candidate: &Candidate, built: &Stacked) {
        let mut levels = self.0.lock();
        if levels.len() >= MOST {
            levels.clear();
        }
        levels.insert(sources(store, base, top, candidate), built.clone());
    }
}

fn sources(store: &Store, base: &Oid, top: &Oid, candidate: &Candidate) -> Sources {
    let Candidate { head, title, method, .. } = candidate;
    Sources(store.0.clone(), base.clone(), top.clone(), head.clone(), title.clone(), *method)
}
