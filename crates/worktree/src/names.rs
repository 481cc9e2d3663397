//! Branch names: our own allow-list.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Error;
use crate::error::printable;

const LONGEST: usize = 200;

/// A branch name that is safe as an argument, as a file and in a page.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BranchName(String);

impl BranchName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for BranchName {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        match wrong(name) {
            Some(why) => Err(Error::Branch { name: printable(name), why }),
            None => Ok(Self(name.to_owned())),
        }
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for BranchName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for BranchName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Stricter than `git check-ref-format --branch`, which accepts `$(id)` and `a;id`.
fn wrong(name: &str) -> Option<&'static str> {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'/' | b'-');
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.len() > LONGEST {
        return Some("it is longer than 200 characters");
    }
    if !name.bytes().all(allowed) {
        return Some("only letters, digits and . _ / - are allowed");
    }
    if name.starts_with('-') {
        return Some("it starts with -, like an option");
    }
    if name == "HEAD" || name.starts_with("refs/") {
        return Some("git gives this name another meaning");
    }
    if name.contains("..") {
        return Some("it contains ..");
    }
    for part in name.split('/') {
        if part.is_empty() {
            return Some("a part between / is empty");
        }
        if part.starts_with('.') || part.starts_with('-') {
            return Some("a part starts with . or -");
        }
        if part.ends_with('.') || part.to_ascii_lowercase().ends_with(".lock") {
            return Some("a part ends with . or .lock");
        }
    }
    None
}

/// Up to five similar names.
pub(crate) fn near(wanted: &str, known: &[String]) -> Vec<String> {
    let mut scored: Vec<(usize, &String)> = known.iter().map(|name| (distance(wanted, name), name)).collect();
    scored.sort();
    let limit = wanted.len().div_ceil(2).max(3);
    let mut near: Vec<String> = scored.iter().filter(|(d, _)| *d <= limit).map(|(_, n)| (*n).clone()).take(5).collect();
    if near.is_empty() {
        near = known.iter().take(5).cloned().collect();
    }
    near
}

fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (corner + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], next);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use domain::WorkspaceId;

    use super::*;

    #[test]
    fn the_hubs_branch_name_is_valid_for_every_title() {
        for title in ["", "-", "..", "$(id)", "日本語", "a.lock", "--upload-pack=x", "\0\n", &"x".repeat(999), "HEAD"]
        {
            let name = domain::branch::of_workspace(title, WorkspaceId::generate());
            assert!(name.parse::<BranchName>().is_ok(), "{name}");
        }
    }

    #[test]
    fn similar_names_are_pointed_out() {
        let known = ["main", "develop", "release/1.0", "maint"].map(str::to_owned);
        assert_eq!(near("mian", &known)[0], "main");
        assert!(near("master-of-all-branches", &[]).is_empty());
    }
}
