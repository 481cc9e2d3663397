//! The person's variables that an agent gets: those listed here or by its adapter, and no others.

use std::collections::BTreeMap;

use crate::adapter::Adapter;

const ALWAYS: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "SHELL",
    "TMPDIR",
    "TZ",
    "XDG_*",
    "SSH_AUTH_SOCK",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
];

/// The variables of `person` that an agent of this adapter may have, and the terminal's own.
pub fn environment(adapter: &Adapter, person: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let credentials = adapter.credentials.iter().map(String::as_str);
    let allowed: Vec<&str> = ALWAYS.iter().copied().chain(credentials).collect();
    let may = |name: &str| allowed.iter().any(|pattern| covers(pattern, name));
    let kept = person.iter().filter(|(name, _)| may(name)).map(|(name, value)| (name.clone(), value.clone()));
    let terminal = [("TERM", "xterm-256color"), ("COLORTERM", "truecolor")];
    let terminal = terminal.map(|(name, value)| (name.to_owned(), value.to_owned()));
    merge(kept.collect(), terminal)
}

/// `base` with `more`; for each name the last value counts.
pub fn merge(base: Vec<(String, String)>, more: impl IntoIterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut all: BTreeMap<_, _> = base.into_iter().collect();
    all.extend(more);
    all.into_iter().collect()
}

fn covers(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}
