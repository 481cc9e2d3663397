//! Work that conflicts with what has come to its base branch.

use std::collections::BTreeSet;

use super::{Meeting, MeetingKind};

/// Where work conflicts with its base branch: in these files, as a merge in memory found. Work that is over conflicts with
/// nothing: nobody will merge it.
pub fn with_base(over: bool, files: &[String]) -> Vec<Meeting> {
    if over {
        return vec![];
    }
    let paths: BTreeSet<&String> = files.iter().filter(|path| !path.is_empty()).collect();
    let meeting = |path: &String| Meeting {
        path: path.clone(),
        kind: MeetingKind::Base,
        lines: None,
        symbol: None,
        why: "the base branch has changes that git cannot merge with these",
    };
    paths.into_iter().map(meeting).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_is_named_once_and_in_order_while_the_work_goes_on() {
        let files: Vec<String> = ["b", "a", "b", ""].map(str::to_owned).to_vec();
        let found = with_base(false, &files);
        assert_eq!(found.iter().map(|meeting| meeting.path.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(found.iter().all(|meeting| meeting.kind == MeetingKind::Base && meeting.kind.conflicts()));
        assert_eq!(with_base(true, &files), []);
        assert_eq!(with_base(false, &[]), []);
    }
}
