//! Parses the domain's words on the command line, with their values in help and completions.

mod recipes;
mod session;
mod work;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use domain::{ActivityStatus, LandMode, LinkKind, RunnerPolicy, Visibility};
use protocol::{CheckedOut, GitStats, Link, PortRange, Repository, Usage, Workspace};

pub(crate) use domain::text::counted;
pub(crate) use recipes::*;
pub(crate) use session::{exited, state, state_cell};
pub(crate) use work::*;

use crate::table::{Cell, Style};

/// Parses a visibility.
pub(crate) fn visibility() -> impl TypedValueParser<Value = Visibility> {
    PossibleValuesParser::new(Visibility::ALL.iter().map(|value| value.word())).try_map(|text| text.parse())
}

/// Parses a runner's policy.
pub(crate) fn policy() -> impl TypedValueParser<Value = RunnerPolicy> {
    let policy = |policy: &RunnerPolicy| PossibleValue::new(policy.word()).help(policy.meaning());
    PossibleValuesParser::new(RunnerPolicy::ALL.iter().map(policy)).try_map(|text| text.parse())
}

/// Parses what happens to accepted work.
pub(crate) fn land_mode() -> impl TypedValueParser<Value = LandMode> {
    let mode = |mode: &LandMode| PossibleValue::new(mode.word()).help(mode.meaning());
    PossibleValuesParser::new(LandMode::ALL.iter().map(mode)).try_map(|text| text.parse())
}

/// Parses a status.
pub(crate) fn status() -> impl TypedValueParser<Value = ActivityStatus> {
    PossibleValuesParser::new(ActivityStatus::ALL.iter().map(|value| value.word())).try_map(|text| text.parse())
}

/// Parses a link, such as `branch=fix-parser`.
pub(crate) fn link(text: &str) -> Result<Link, String> {
    let (kind, target) = text.split_once('=').ok_or("expected KIND=TARGET, such as branch=fix-parser")?;
    Ok(Link { kind: kind.parse::<LinkKind>()?, target: target.to_owned() })
}

/// Parses a repository, such as `https://example.org/app.git`, optionally with `#BRANCH`.
pub(crate) fn repository(text: &str) -> Result<Repository, String> {
    let (location, branch) = match text.rsplit_once('#') {
        Some((location, branch)) => (location, Some(branch.to_owned())),
        None => (text, None),
    };
    if location.is_empty() || branch.as_deref() == Some("") {
        return Err("expected LOCATION or LOCATION#BRANCH".to_owned());
    }
    if let Some(scheme) = ["http://", "git://"].into_iter().find(|scheme| location.starts_with(scheme)) {
        return Err(format!("`{scheme}` is not encrypted, so runners refuse it: use https:// or ssh://"));
    }
    Ok(Repository { location: absolute(location), base_branch: branch, ..Repository::default() })
}

/// A local folder becomes an absolute path: a runner does not know our working directory.
fn absolute(location: &str) -> String {
    let path = std::path::Path::new(location);
    let found = if location.contains("://") { None } else { std::fs::canonicalize(path).ok() };
    found.filter(|path| path.is_dir()).and_then(|path| path.to_str().map(str::to_owned)).unwrap_or(location.to_owned())
}

/// A status in its colour.
pub(crate) fn status_cell(status: ActivityStatus) -> Cell {
    let style = match status {
        ActivityStatus::Active => Style::Green,
        ActivityStatus::Blocked => Style::Red,
        ActivityStatus::Completed | ActivityStatus::Abandoned => Style::Dim,
    };
    Cell::styled(status.word(), style)
}

/// A workspace's branch, and what is checked out instead.
pub(crate) fn branch(workspace: &Workspace) -> Option<String> {
    let own = workspace.branch.as_ref()?;
    Some(checked_out(own, workspace.stats.as_ref().and_then(|stats| stats.checked_out.as_ref())))
}

fn checked_out(own: &str, found: Option<&CheckedOut>) -> String {
    match found {
        Some(CheckedOut::Branch { name }) if name != own => format!("{own} ({name} is checked out)"),
        Some(CheckedOut::Commit {}) => format!("{own} (a commit is checked out)"),
        _ => own.to_owned(),
    }
}

/// A workspace's changes.
pub(crate) fn stats(stats: &GitStats) -> String {
    let files = counted(stats.files, "file", "files");
    let mut parts = vec![format!("{files} +{} -{}", stats.insertions, stats.deletions)];
    let mut count = |number: u32, what: &str| {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    };
    count(stats.ahead, "ahead");
    count(stats.behind, "behind");
    count(stats.untracked, "untracked");
    count(stats.unpushed, "unpushed");
    if stats.uncommitted {
        parts.push("uncommitted work".to_owned());
    }
    if !stats.conflicts.is_empty() {
        parts.push(format!("conflicts in {}", stats.conflicts.join(", ")));
    }
    parts.join(", ")
}

/// A session's token usage and cost.
pub(crate) fn usage(usage: &Usage) -> String {
    let cost = usage.cost_micros.map(|micros| format!(", ${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100));
    let (sent, cached, came) = (usage.input_tokens, usage.cached_tokens, usage.output_tokens);
    format!("{sent} tokens in ({cached} cached), {came} out{}", cost.unwrap_or_default())
}

/// A size for people.
pub(crate) fn bytes(count: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| count >= *unit) {
        Some((unit, name)) => format!("{}.{} {name}", count / unit, count % unit * 10 / unit),
        None => format!("{count} B"),
    }
}

/// Parses a size: `50G`, `500M` or a number of bytes.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size, such as 50G or 500M");
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        _ => return Err(wrong()),
    };
    digits.parse::<u64>().ok().and_then(|count| count.checked_mul(unit)).ok_or_else(wrong)
}

/// A duration, as `1:02:03` or `2:03`.
pub(crate) fn clock(millis: u64) -> String {
    let seconds = millis / 1000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// Parses a port range, such as `4000-4099`.
pub(crate) fn ports(text: &str) -> Result<PortRange, String> {
    let wrong = || format!("`{text}` is not a range of ports, such as 4000-4099");
    let (first, last) = text.split_once('-').ok_or_else(wrong)?;
    let port = |text: &str| text.trim().parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(wrong);
    let range = PortRange { first: port(first)?, last: port(last)? };
    if range.first <= range.last { Ok(range) } else { Err(wrong()) }
}

/// Yes or no.
pub(crate) fn yes(value: bool) -> &'static str {
    if value { "yes" } else { "no" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_repositories_are_read() {
        assert_eq!(link("branch=a=b").unwrap(), Link { kind: LinkKind::Branch, target: "a=b".into() });
        assert!(link("branch").unwrap_err().contains("KIND=TARGET"));
        assert!(link("tree=x").unwrap_err().contains("workspace"));
        let expected =
            Repository { location: "git@h:a.git".into(), base_branch: Some("main".into()), ..Repository::default() };
        assert_eq!(repository("git@h:a.git#main").unwrap(), expected);
        assert!(repository("#main").is_err() && repository("x#").is_err());
        for plain in ["http://example.org/a.git", "git://example.org/a.git"] {
            assert!(repository(plain).unwrap_err().contains("use https:// or ssh://"), "{plain}");
        }
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(repository(".").unwrap().location, here.to_str().unwrap(), "a runner does not know where we are");
    }

    #[test]
    fn another_checked_out_branch_is_named() {
        let other = CheckedOut::Branch { name: "other".into() };
        assert_eq!(checked_out("own", Some(&other)), "own (other is checked out)");
        assert_eq!(checked_out("own", Some(&CheckedOut::Branch { name: "own".into() })), "own");
        assert_eq!(checked_out("own", Some(&CheckedOut::Commit {})), "own (a commit is checked out)");
        assert_eq!(checked_out("own", None), "own");
    }

    #[test]
    fn sizes_ports_and_times_are_read_and_said() {
        assert_eq!((size("50G"), size("500mb"), size("7")), (Ok(50 << 30), Ok(500 << 20), Ok(7)));
        assert!(size("much").is_err() && size("5X").is_err() && size("99999999999G").is_err() && size("").is_err());
        assert_eq!((bytes(7), bytes(1536), bytes(3 << 30)), ("7 B".into(), "1.5 KiB".into(), "3.0 GiB".into()));
        assert_eq!(ports("4000-4099"), Ok(PortRange { first: 4000, last: 4099 }));
        assert!(ports("4000").is_err() && ports("9-1").is_err() && ports("0-1").is_err());
        assert_eq!((clock(61_000), clock(3_723_000)), ("1:01".into(), "1:02:03".into()));
    }
}
