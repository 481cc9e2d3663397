//! Checks beyond the schema: names, dependencies, cycles, patterns, paths, and similar tasks.

use std::collections::{HashMap, HashSet};

use domain::{Short, TaskId, labels};
use engine::tasks::similar::Gist;
use engine::tasks::{criteria, graph};
use protocol::Criterion;

use super::{Entry, Fault, Found};
use domain::near::hint;

/// How many tasks a hub accepts at once.
const MOST: usize = 10_000;
/// Up to this many tasks, every task is compared with every other.
const COMPARED: usize = 1_000;

/// Adds errors and notes about tasks of the right shape.
pub(super) fn check(found: &mut Found) {
    let (names, mut faults) = names(&found.entries);
    for entry in &found.entries {
        faults.extend(deps(entry, &names, &found.done));
        faults.extend(texts(entry));
        // Too many labels in JSON were reported with its shape.
        let known = |fault: &Fault| found.faults.iter().any(|known| known.path == fault.path);
        faults.extend(labels(entry).into_iter().filter(|fault| !known(fault)));
        for (at, criterion) in entry.task.acceptance.iter().enumerate() {
            let place = entry.item("acceptance", at);
            faults.extend(
                criterion_faults(criterion)
                    .into_iter()
                    .map(|(field, reason)| entry.fault(&super::join(&place, field), reason)),
            );
        }
    }
    faults.extend(cycle(&found.entries, &names));
    found.faults.extend(faults);
    found.similar.extend(similar(&found.entries));
    let unchecked = found.entries.iter().filter(|entry| entry.task.acceptance.is_empty()).count();
    found.notes.extend(no_acceptance(unchecked));
    // Finished dependencies and repeated ones are dropped.
    for entry in &mut found.entries {
        let mut seen = HashSet::new();
        let needed = |dep: &String| names.contains_key(dep) || !found.done.contains(dep);
        entry.task.deps.retain(|dep| needed(dep) && seen.insert(dep.clone()));
    }
    if found.entries.len() > MOST {
        let reason =
            format!("the file has {} tasks; a hub accepts at most {MOST} at once: split it", found.entries.len());
        found.faults.push(Fault { line: None, path: String::new(), reason });
    }
}

type Names = HashMap<String, usize>;

fn names(entries: &[Entry]) -> (Names, Vec<Fault>) {
    let (mut names, mut faults) = (Names::new(), Vec::new());
    for (at, entry) in entries.iter().enumerate() {
        let Some(name) = &entry.task.id else { continue };
        if name.trim().is_empty() {
            faults.push(entry.fault("id", "is empty: leave it out, or give the task a name"));
        } else if name.parse::<TaskId>().is_ok() {
            faults.push(entry.fault("id", "looks like the id of a task that exists; choose a name"));
        } else if let Some(before) = names.get(name).map(|before: &usize| &entries[*before]) {
            let line = before.lines.of("id").map(|line| format!(" on line {line}")).unwrap_or_default();
            faults.push(entry.fault("id", format!("`{name}` is already the name of {}{line}", shown(before))));
        } else {
            names.insert(name.clone(), at);
        }
    }
    (names, faults)
}

fn shown(entry: &Entry) -> &str {
    if entry.path.is_empty() { "the task" } else { &entry.path }
}

fn deps(entry: &Entry, names: &Names, done: &[String]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (at, dep) in entry.task.deps.iter().enumerate() {
        let place = entry.item("deps", at);
        let exists = dep.parse::<TaskId>().is_ok() || dep.parse::<Short>().is_ok_and(|short| short.to_string() == *dep);
        if !names.contains_key(dep) && !done.contains(dep) && !exists {
            let meant = hint(dep, names.keys().map(String::as_str));
            let reason = format!(
                "`{dep}` is neither the name of a task in this file nor an existing task (CALC-12, tsk_…){meant}"
            );
            faults.push(entry.fault(&place, reason));
        }
    }
    faults
}

fn cycle(entries: &[Entry], names: &Names) -> Option<Fault> {
    let name = |at: usize| entries[at].task.id.as_deref().unwrap_or(&entries[at].path);
    let tasks: Vec<(usize, Vec<usize>)> = entries
        .iter()
        .enumerate()
        .map(|(at, entry)| (at, entry.task.deps.iter().filter_map(|dep| names.get(dep).copied()).collect()))
        .collect();
    let graph::Cycle(cycle) = graph::sort(&tasks).err()?;
    let round: Vec<&str> = cycle.iter().chain(cycle.first()).map(|at| name(*at)).collect();
    let reason = format!("these tasks depend on each other in a cycle: {}", round.join(" → "));
    cycle.first().map(|first| entries[*first].fault("deps", reason))
}

fn texts(entry: &Entry) -> Vec<Fault> {
    let task = &entry.task;
    let mut faults = Vec::new();
    for (field, list) in [("files", &task.files), ("needs", &task.needs)] {
        for (at, _) in list.iter().enumerate().filter(|(_, text)| text.trim().is_empty()) {
            faults.push(entry.fault(&entry.item(field, at), "is empty"));
        }
    }
    for (at, file) in task.files.iter().enumerate() {
        faults.extend(outside(file).map(|reason| entry.fault(&entry.item("files", at), reason)));
    }
    faults
}

fn labels(entry: &Entry) -> Option<Fault> {
    let (at, why) = labels::check(&entry.task.labels).err()?;
    let place = at.map_or_else(|| "labels".to_owned(), |at| entry.item("labels", at));
    Some(entry.fault(&place, why.to_string()))
}

fn criterion_faults(criterion: &Criterion) -> Vec<(&'static str, String)> {
    let mut faults = Vec::new();
    match criterion {
        Criterion::FileExists { path } => faults.extend(outside(path).map(|reason| ("path", reason))),
        Criterion::FileMatches { path, regex, not_regex, min_words, json_schema, parses } => {
            faults.extend(outside(path).map(|reason| ("path", reason)));
            for (field, regex) in [("regex", regex), ("not_regex", not_regex)] {
                let wrong = regex.as_ref().and_then(|regex| criteria::regex(regex).err());
                faults.extend(wrong.map(|why| (field, format!("is not a regular expression: {why}"))));
            }
            let wrong = json_schema.as_ref().and_then(criteria::json_schema_fault);
            faults.extend(wrong.map(|why| ("json_schema", format!("is not a usable JSON Schema: {why}"))));
            let says =
                [regex.is_some(), not_regex.is_some(), min_words.is_some(), json_schema.is_some(), parses.is_some()];
            if !says.contains(&true) {
                let reason = "has no condition: add regex, not_regex, min_words, json_schema or parses";
                faults.push(("", reason.to_owned()));
            }
        }
        Criterion::Command { argv, .. } => {
            let nothing = argv.first().is_some_and(|program| program.trim().is_empty());
            faults.extend(nothing.then(|| ("argv", "has no program".to_owned())));
        }
        Criterion::OnlyTouches { globs } => {
            let wrong = globs.iter().filter_map(|glob| criteria::patterns(std::slice::from_ref(glob)).err());
            faults.extend(wrong.map(|why| ("globs", format!("is not a pattern: {why}"))));
        }
        Criterion::Text { text } => {
            faults.extend(text.trim().is_empty().then(|| ("text", "is empty".to_owned())));
        }
        Criterion::NoConflictWithBase {} | Criterion::Committed {} | Criterion::Approved {} | Criterion::Merged {} => {}
    }
    faults
}

fn outside(path: &str) -> Option<String> {
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return Some(format!("`{path}` is outside the workspace: use a path inside it"));
    }
    None
}

/// A note about tasks without acceptance criteria; `None` if all have some.
pub fn no_acceptance(count: usize) -> Option<String> {
    let tasks = domain::text::counted(count, "task has", "tasks have");
    (count > 0).then(|| format!("{tasks} no acceptance criteria: any report is accepted"))
}

fn similar(entries: &[Entry]) -> Vec<String> {
    if entries.len() > COMPARED {
        return Vec::new();
    }
    let gists: Vec<Gist> = entries.iter().map(|entry| Gist::of(&entry.task.description, &entry.task.files)).collect();
    let mut notes = Vec::new();
    for (at, gist) in gists.iter().enumerate() {
        // An empty task is an error anyway, and similar to none.
        if entries[at].task.description.trim().is_empty() {
            continue;
        }
        if let Some(before) = gists[..at].iter().position(|before| before.is_near(gist)) {
            notes.push(format!("{} is similar to {}", shown(&entries[at]), shown(&entries[before])));
        }
    }
    notes
}
