//! The symbols that differ between two versions of a file.

use std::collections::BTreeMap;

use crate::extract::Symbols;

/// A symbol that differs between two versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Its qualified name.
    pub name: String,
    /// The hash of its code before; absent if it is new.
    pub before: Option<[u8; 32]>,
    /// The hash of its code now; absent if it is gone.
    pub after: Option<[u8; 32]>,
}

/// Versions of a symbol, or of several with the same name, in order.
type Codes = Vec<[u8; 32]>;

/// The symbols that differ, in order of their names. A symbol that only moved does not differ.
pub fn changed(before: &Symbols, after: &Symbols) -> Vec<Changed> {
    let mut by_name: BTreeMap<&str, (Codes, Codes)> = BTreeMap::new();
    for symbol in &before.all {
        by_name.entry(&symbol.name).or_default().0.push(symbol.code);
    }
    for symbol in &after.all {
        by_name.entry(&symbol.name).or_default().1.push(symbol.code);
    }
    let mut found = Vec::new();
    for (name, (old, new)) in by_name {
        let (mut old, mut new) = (without(&old, &new).into_iter(), without(&new, &old).into_iter());
        loop {
            let (one, other) = (old.next(), new.next());
            // A syntax error hides symbols: they are not gone.
            let hidden = (one.is_none() && before.broken) || (other.is_none() && after.broken);
            match (one, other) {
                (None, None) => break,
                _ if hidden => {}
                (before, after) => found.push(Changed { name: name.to_owned(), before, after }),
            }
        }
    }
    found
}

/// The codes that have no equal one on the other side.
fn without(codes: &Codes, other: &Codes) -> Codes {
    let mut left: BTreeMap<[u8; 32], usize> = BTreeMap::new();
    for code in other {
        *left.entry(*code).or_default() += 1;
    }
    let alone = |code: &&[u8; 32]| match left.get_mut(*code) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    codes.iter().filter(alone).copied().collect()
}
