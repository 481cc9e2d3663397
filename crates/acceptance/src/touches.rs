//! Whether nothing else was touched than what patterns name.

use engine::tasks::criteria::patterns;
use worktree::{Examined, Root};

use crate::place::leads_out;
use crate::verdict::{Verdict, names};

/// Why nobody can say which paths differ; the names of all of them, otherwise.
pub(crate) fn changed(facts: &Examined) -> Result<Vec<String>, Verdict> {
    if let Some(problem) = &facts.problem {
        return Err(Verdict::Not(format!("what was committed cannot be found out: {problem}")));
    }
    if facts.more {
        return Err(Verdict::Not("more files were changed than can be looked at".to_owned()));
    }
    // A pattern is text: what is not stands for one character that no pattern names.
    Ok(facts.paths.iter().map(|path| path.to_string_lossy().into_owned()).collect())
}

/// Whether every path that differs, committed or not, is one that the patterns name.
pub(crate) fn only(globs: &[String], changed: &[String]) -> Verdict {
    let set = match patterns(globs) {
        Ok(set) => set,
        Err(why) => return Verdict::Unclear(format!("the criterion's patterns cannot be used: {why}")),
    };
    let other: Vec<&String> = changed.iter().filter(|path| !set.is_match(path)).collect();
    if !other.is_empty() {
        let allowed = if globs.is_empty() { "nothing".to_owned() } else { globs.join(", ") };
        return Verdict::Not(format!(
            "only {allowed} may be changed, but these were too: {}; undo that",
            names(&other)
        ));
    }
    Verdict::Met(format!("all {} changed paths are allowed", changed.len()))
}

/// The verdict on what was changed, unless a link among it leads out of the workspace.
pub(crate) fn inside(root: &Root, facts: &Examined, met: Verdict) -> Verdict {
    let out: Vec<String> = facts.paths.iter().filter_map(|path| leads_out(root, path)).take(5).collect();
    if out.is_empty() {
        return met;
    }
    Verdict::Not(format!("links must not lead out of the workspace: {}", out.join("; ")))
}
