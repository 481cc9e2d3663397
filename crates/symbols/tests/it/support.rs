//! Symbols in words.

use std::path::Path;

use symbols::{Language, Limits, Symbols, changed, symbols};

pub(crate) fn parsed(file: &str, text: &str) -> Symbols {
    symbols(Language::of(Path::new(file)).unwrap(), text.as_bytes(), Limits::default()).unwrap()
}

/// The names of all symbols, in order.
pub(crate) fn names(file: &str, text: &str) -> Vec<String> {
    let found = parsed(file, text);
    assert!(!found.broken, "{file} has a syntax error");
    let mut names: Vec<String> = found.all.into_iter().map(|symbol| symbol.name).collect();
    names.sort();
    names
}

/// What changed: `~changed -gone +new`.
pub(crate) fn changes(file: &str, before: &str, after: &str) -> String {
    let found = changed(&parsed(file, before), &parsed(file, after));
    let told = found.into_iter().map(|changed| {
        let sign = match (changed.before, changed.after) {
            (Some(_), None) => '-',
            (None, Some(_)) => '+',
            _ => '~',
        };
        format!("{sign}{}", changed.name)
    });
    told.collect::<Vec<_>>().join(" ")
}
