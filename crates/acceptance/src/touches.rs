//! Whether nothing else was touched than what patterns name.

use std::path::PathBuf;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use worktree::{Examined, Root};

use crate::place::leads_out;
use crate::verdict::{Verdict, name, names};

const MOST_PATTERNS: usize = 500;

/// Whether every path that differs, committed or not, is one that the patterns name.
pub(crate) fn only(root: &Root, globs: &[String], facts: &Examined) -> Verdict {
    let set = match patterns(globs) {
        Ok(set) => set,
        Err(why) => return Verdict::Unclear(why),
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

/// A pattern without a wildcard names a folder with all that is in it, too.
fn patterns(globs: &[String]) -> Result<GlobSet, String> {
    if globs.len() > MOST_PATTERNS {
        return Err(format!("the criterion has more than {MOST_PATTERNS} patterns"));
    }
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let wrong = |why: &str| format!("the criterion's pattern {} cannot be used: {why}", name(glob));
        if glob.starts_with('!') {
            return Err(wrong("it takes something out; name what may be changed"));
        }
        let trimmed = glob.strip_prefix("./").unwrap_or(glob).trim_end_matches('/');
        let below = if trimmed.is_empty() || trimmed == "." { "**".to_owned() } else { format!("{trimmed}/**") };
        for pattern in [trimmed.to_owned(), below] {
            let built = GlobBuilder::new(&pattern).literal_separator(true).build();
            set.add(built.map_err(|error| wrong(&error.to_string()))?);
        }
    }
    set.build().map_err(|error| format!("the criterion's patterns cannot be used: {error}"))
}
