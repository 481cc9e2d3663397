//! Whether nothing else was touched than what patterns name.

use std::path::PathBuf;

use engine::criteria::patterns;
use worktree::{Examined, Root};

use crate::place::leads_out;
use crate::verdict::{Verdict, names};

/// Whether every path that differs, committed or not, is one that the patterns name.
pub(crate) fn only(root: &Root, globs: &[String], facts: &Examined) -> Verdict {
    let set = match patterns(globs) {
        Ok(set) => set,
        Err(why) => return Verdict::Unclear(format!("the criterion's patterns cannot be used: {why}")),
    };
    if let Some(problem) = &facts.problem {
        return Verdict::Not(format!("what was committed cannot be found out: {problem}"));
    }
    if facts.more {
        return Verdict::Not("more files were changed than can be looked at".to_owned());
    }
    let other: Vec<&PathBuf> = facts.paths.iter().filter(|path| !set.is_match(path)).collect();
    if !other.is_empty() {
        let allowed = if globs.is_empty() { "nothing".to_owned() } else { globs.join(", ") };
        return Verdict::Not(format!(
            "only {allowed} may be changed, but these were too: {}; undo that",
            names(&other)
        ));
    }
    let out: Vec<String> = facts.paths.iter().filter_map(|path| leads_out(root, path)).take(5).collect();
    if !out.is_empty() {
        return Verdict::Not(format!("links must not lead out of the workspace: {}", out.join("; ")));
    }
    Verdict::Met(format!("all {} changed paths are allowed", facts.paths.len()))
}
