//! How the domain's words are read from the command line, with their values in help and completions.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use domain::{ActivityStatus, LinkKind, Visibility};
use protocol::{Link, Repository};

use crate::table::{Cell, Style};

/// Reads a visibility.
pub(crate) fn visibility() -> impl TypedValueParser<Value = Visibility> {
    PossibleValuesParser::new(Visibility::ALL.iter().map(|value| value.word())).try_map(|text| text.parse())
}

/// Reads a status.
pub(crate) fn status() -> impl TypedValueParser<Value = ActivityStatus> {
    PossibleValuesParser::new(ActivityStatus::ALL.iter().map(|value| value.word())).try_map(|text| text.parse())
}

/// Reads a link, as `branch=fix-parser`.
pub(crate) fn link(text: &str) -> Result<Link, String> {
    let (kind, target) = text.split_once('=').ok_or("expected KIND=TARGET, as branch=fix-parser")?;
    Ok(Link { kind: kind.parse::<LinkKind>()?, target: target.to_owned() })
}

/// Reads a repository, as `https://example.org/app.git` or with `#BRANCH` behind it.
pub(crate) fn repository(text: &str) -> Result<Repository, String> {
    let (location, branch) = match text.rsplit_once('#') {
        Some((location, branch)) => (location, Some(branch.to_owned())),
        None => (text, None),
    };
    if location.is_empty() || branch.as_deref() == Some("") {
        return Err("expected LOCATION or LOCATION#BRANCH".to_owned());
    }
    Ok(Repository { location: location.to_owned(), base_branch: branch, ..Repository::default() })
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
        let expected = Repository { location: "git@h:a.git".into(), base_branch: Some("main".into()), ..Repository::default() };
        assert_eq!(repository("git@h:a.git#main").unwrap(), expected);
        assert!(repository("#main").is_err() && repository("x#").is_err());
    }
}
