//! Checks all criteria of one report.

use std::path::Path;
use std::sync::Arc;

use protocol::{Criterion, CriterionResult};
use tokio::time::Instant;
use worktree::{Examined, Root};

use crate::command::{self, Commands};
use crate::judge::{About, Wanted};
use crate::judged::Judge;
use crate::verdict::{Verdict, plain};
use crate::{file, git, touches};

/// A workspace and what is known of it.
#[derive(Debug)]
pub struct Site<'a> {
    /// The workspace's folder.
    pub tree: &'a Path,
    /// Whether the workspace has a repository.
    pub repository: bool,
    /// Git's facts, collected before anything runs here.
    pub facts: Arc<Examined>,
    /// Reads files, with limits.
    pub judge: Judge,
    /// Whether and how commands may run.
    pub commands: Commands,
}

/// The result of each criterion, in order. If work must be committed, so must the files that the report names. Commands
/// run last, because they may change files.
pub async fn check(criteria: &[Criterion], files: &[String], site: &Site<'_>) -> Vec<CriterionResult> {
    let required = criteria.iter().filter_map(required).chain(files).cloned().collect::<Vec<_>>();
    let mut results: Vec<(usize, Verdict)> = Vec::new();
    let deadline = Instant::now() + site.judge.patience;
    let is_command = |criterion: &Criterion| matches!(criterion, Criterion::Command { .. });
    for late in [false, true] {
        for (index, criterion) in criteria.iter().enumerate().filter(|(_, criterion)| is_command(criterion) == late) {
            results.push((index, one(criterion, &required, site, deadline).await));
        }
    }
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(index, verdict)| verdict.told(index)).collect()
}

/// The file that a criterion requires.
fn required(criterion: &Criterion) -> Option<&String> {
    match criterion {
        Criterion::FileExists { path } | Criterion::FileMatches { path, .. } => Some(path),
        _ => None,
    }
}

async fn one(criterion: &Criterion, required: &[String], site: &Site<'_>, deadline: Instant) -> Verdict {
    let facts = site.facts.clone();
    match criterion.clone() {
        Criterion::FileExists { path } => look(site, deadline, move |root| file::exists(root, &path)).await,
        Criterion::FileMatches { path, regex, not_regex, min_words, json_schema, parses } => {
            let wanted = Wanted { regex, not_regex, min_words, json_schema, parses };
            site.judge.asked(site.tree, About::File { path, wanted }, deadline).await
        }
        Criterion::Command { argv, exit_code, timeout_seconds } => {
            command::run(site.tree, &site.commands, &argv, exit_code, timeout_seconds).await
        }
        Criterion::OnlyTouches { globs } => {
            let names = match touches::changed(&facts) {
                Ok(names) => names,
                Err(verdict) => return verdict,
            };
            match site.judge.asked(site.tree, About::Names { globs, names }, deadline).await {
                met @ Verdict::Met(_) => look(site, deadline, move |root| touches::inside(root, &facts, met)).await,
                other => other,
            }
        }
        Criterion::NoConflictWithBase {} => git::mergeable(site.repository, &facts),
        Criterion::Committed {} => match git::committed(site.repository, &facts) {
            Verdict::Met(met) => {
                let required = required.to_vec();
                look(site, deadline, move |root| git::kept(root, &required, &facts, met)).await
            }
            other => other,
        },
        Criterion::Approved {} => Verdict::Unclear("a person must approve the changes".to_owned()),
        Criterion::Merged {} => Verdict::Unclear("the merge queue decides, once everything else is met".to_owned()),
        Criterion::Text { text } => Verdict::Unclear(format!("a person must judge: {}", plain(&text, 2000))),
    }
}

/// Checks files on a blocking thread: a few system calls per path, no parsing.
async fn look(site: &Site<'_>, deadline: Instant, work: impl FnOnce(&Root) -> Verdict + Send + 'static) -> Verdict {
    let tree = site.tree.to_owned();
    let looked = tokio::task::spawn_blocking(move || match Root::open(&tree) {
        Ok(root) => work(&root),
        Err(error) => Verdict::Not(format!("could not open the workspace: {error}")),
    });
    match tokio::time::timeout_at(deadline, looked).await {
        Ok(Ok(verdict)) => verdict,
        Ok(Err(_)) => Verdict::Unclear("the check failed at this file; a person must look".to_owned()),
        Err(_) => site.judge.late(),
    }
}
