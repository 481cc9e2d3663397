//! Whether only files that match the patterns were touched.

use domain::text::counted;
use engine::tasks::criteria::patterns;
use worktree::{Examined, Root};

use crate::place::leads_out;
use crate::verdict::{Verdict, names};

/// The names of all changed paths; an error if they cannot be determined.
pub(crate) fn changed(facts: &Examined) -> Result<Vec<String>, Verdict> {
    if let Some(problem) = &facts.problem {
        return Err(Verdict::Not(format!("could not determine the committed files: {problem}")));
    }
    if facts.more {
        return Err(Verdict::Not("too many files were changed to check".to_owned()));
    }
    // A pattern is text: a byte that is not UTF-8 becomes a character that no pattern matches.
    Ok(facts.paths.iter().map(|path| path.to_string_lossy().into_owned()).collect())
}

/// Whether every changed path, committed or not, matches the patterns.
pub(crate) fn only(globs: &[String], changed: &[String]) -> Verdict {
    let set = match patterns(globs) {
        Ok(set) => set,
        Err(why) => return Verdict::Unclear(format!("the criterion's patterns are invalid: {why}")),
    };
    let other: Vec<&String> = changed.iter().filter(|path| !set.is_match(path)).collect();
    if !other.is_empty() {
        let allowed = if globs.is_empty() { "nothing".to_owned() } else { globs.join(", ") };
        return Verdict::Not(format!("only {allowed} may be changed; undo the changes in {}", names(&other)));
    }
    Verdict::Met(format!("{} allowed", counted(changed.len(), "changed path, which is", "changed paths, all")))
}

/// The verdict on the changes, unless one of them is a link out of the workspace.
pub(crate) fn inside(root: &Root, facts: &Examined, met: Verdict) -> Verdict {
    let out: Vec<String> = facts.paths.iter().filter_map(|path| leads_out(root, path)).take(5).collect();
    if out.is_empty() {
        return met;
    }
    Verdict::Not(format!("links must not lead out of the workspace: {}", out.join("; ")))
}
