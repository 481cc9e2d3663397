//! Locations of repositories: which are accepted, in one spelling.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::error::printable;

/// A repository's location, checked: `https://…`, `ssh://…`, `git@host:path`, or an absolute path on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Location(Kind);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Kind {
    Remote { text: String, scheme: Scheme, host: String, port: Option<u16> },
    Path(PathBuf),
}

/// The protocol of a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Scheme {
    Https,
    Ssh,
}

impl Location {
    /// The folder, if it is on this machine.
    pub fn path(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Path(path) => Some(path),
            Kind::Remote { .. } => None,
        }
    }

    pub(crate) fn remote(&self) -> Option<(Scheme, &str, Option<u16>)> {
        match &self.0 {
            Kind::Remote { scheme, host, port, .. } => Some((*scheme, host, *port)),
            Kind::Path(_) => None,
        }
    }

    /// The name of this repository's shared object store.
    pub(crate) fn key(&self) -> String {
        let text = self.to_string();
        let text = text.trim_end_matches('/');
        // On a host both spellings are one repository; on a disk they are two folders.
        let text = if self.path().is_some() { text } else { text.strip_suffix(".git").unwrap_or(text) };
        hex::encode(&Sha256::digest(text.as_bytes())[..12])
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Remote { text, .. } => f.write_str(text),
            Kind::Path(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Serialize for Location {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Location {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for Location {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text).map(Self).map_err(|why| Error::Location { location: without_password(&printable(text)), why })
    }
}

fn parse(text: &str) -> Result<Kind, String> {
    if text.is_empty() {
        return Err("it is empty".into());
    }
    if text.len() > 2048 {
        return Err("it is longer than 2048 characters".into());
    }
    if text.chars().any(|c| c.is_control() || c.is_whitespace() && c != ' ') {
        return Err("it contains control characters".into());
    }
    if text.starts_with('-') {
        return Err("it starts with -, like an option".into());
    }
    if text.starts_with('/') {
        return path(text).map(Kind::Path);
    }
    if text.contains(' ') || text.contains('\\') {
        return Err("a URL has no spaces or backslashes".into());
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        return match scheme.to_ascii_lowercase().as_str() {
            "https" => url(Scheme::Https, rest),
            "ssh" => url(Scheme::Ssh, rest),
            "http" | "git" => Err("it is not encrypted; use https or ssh".into()),
            "file" => Err("give the path itself, without file://".into()),
            _ => Err("only https, ssh and absolute paths are accepted".into()),
        };
    }
    if text.contains("::") {
        return Err("remote helpers (such as ext::) run commands and are not accepted".into());
    }
    scp_like(text)
}

fn path(text: &str) -> Result<PathBuf, String> {
    if text.split('/').any(|part| part == "..") {
        return Err("a path must not contain ..".into());
    }
    // In some places, git reads a colon in a local path as the end of a host name.
    if text.contains("::") {
        return Err("a path must not contain ::".into());
    }
    let path: PathBuf = Path::new(text).components().collect();
    if path.parent().is_none() {
        return Err("the root folder is not a repository".into());
    }
    Ok(path)
}

fn url(scheme: Scheme, rest: &str) -> Result<Kind, String> {
    let (authority, path) = rest.split_once('/').ok_or("it has no path after the host")?;
    let (user, host_port) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    if let Some(user) = user {
        if user.contains(':') {
            return Err("it contains a password; keep it in a credential helper".into());
        }
        check_user(user)?;
    }
    let (host, port) = match host_port.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => {
            (host, Some(port.parse::<u16>().ok().filter(|p| *p != 0).ok_or("its port is not a number")?))
        }
        _ => (host_port, None),
    };
    let host = check_host(host)?;
    check_path(path)?;
    if path.contains('?') || path.contains('#') {
        return Err("it has a query or a fragment".into());
    }
    let name = match scheme {
        Scheme::Https => "https",
        Scheme::Ssh => "ssh",
    };
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    let number = port.map(|port| format!(":{port}")).unwrap_or_default();
    let text = format!("{name}://{user}{host}{number}/{path}");
    Ok(Kind::Remote { text, scheme, host, port })
}

fn scp_like(text: &str) -> Result<Kind, String> {
    let (left, path) = text.split_once(':').ok_or("it is neither a URL, nor user@host:path, nor an absolute path")?;
    let (user, host) = left.split_once('@').ok_or("write user@host:path, or ssh://host/path")?;
    check_user(user)?;
    let host = check_host(host)?;
    check_path(path)?;
    let text = format!("{user}@{host}:{path}");
    Ok(Kind::Remote { text, scheme: Scheme::Ssh, host, port: None })
}

fn check_user(user: &str) -> Result<(), String> {
    let good = !user.is_empty() && !user.starts_with('-') && user.bytes().all(word);
    if good { Ok(()) } else { Err("its user name has characters that are not allowed".into()) }
}

fn check_host(host: &str) -> Result<String, String> {
    let inner = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let good = match inner {
        Some(v6) => v6.parse::<std::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && !host.starts_with(['-', '.']) && host.len() <= 253 && host.bytes().all(word),
    };
    if good { Ok(host.to_ascii_lowercase()) } else { Err("its host has characters that are not allowed".into()) }
}

fn check_path(path: &str) -> Result<(), String> {
    if path.trim_matches('/').is_empty() {
        return Err("it has no repository path".into());
    }
    if path.starts_with('-') {
        return Err("its path starts with -, like an option".into());
    }
    if path.split('/').any(|part| part == "..") {
        return Err("its path contains ..".into());
    }
    // Characters with a meaning for a shell on the remote side.
    if !path.bytes().all(|b| word(b) || matches!(b, b'/' | b'~' | b'%' | b'+' | b'@' | b'=' | b':' | b',')) {
        return Err("its path has characters that are not allowed".into());
    }
    Ok(())
}

fn word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-')
}

fn without_password(text: &str) -> String {
    let Some((before, host)) = text.rsplit_once('@') else { return text.to_owned() };
    match before.rfind("://").map(|at| at + 3).and_then(|at| before[at..].find(':').map(|colon| at + colon)) {
        Some(colon) => format!("{}:…@{host}", &before[..colon]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_locations_are_accepted() {
        for good in [
            "https://github.com/a/b.git",
            "https://ann@host.test:8443/a/b",
            "ssh://git@host.test:2222/~ann/b.git",
            "git@github.com:a/b.git",
            "/srv/git/a b.git",
            "https://[2001:db8::1]/x",
        ] {
            let location: Location = good.parse().unwrap();
            assert_eq!(location.to_string(), good);
        }
    }

    #[test]
    fn all_spellings_of_a_repository_have_one_key() {
        let key = |text: &str| text.parse::<Location>().unwrap().key();
        assert_eq!(key("https://GitHub.com/a/b.git"), key("https://github.com/a/b"));
        assert_eq!(key("/srv/git//a/./b/"), key("/srv/git/a/b"));
        assert_ne!(key("https://github.com/a/b"), key("https://github.com/a/c"));
    }

    #[test]
    fn a_password_is_refused_and_not_repeated() {
        let error = "https://ann:hunter2@host.test/x".parse::<Location>().unwrap_err().to_string();
        assert!(error.contains("password") && !error.contains("hunter2"), "{error}");
    }
}
