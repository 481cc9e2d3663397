//! What a schema cannot say: names, dependencies, cycles, patterns, paths, and tasks that say the same twice.

use std::collections::{HashMap, HashSet};

use domain::TaskId;
use engine::tasks::similar::Gist;
use engine::tasks::{criteria, graph};
use protocol::Criterion;

use super::near::hint;
use super::{Entry, Fault, Found};

/// How many tasks a hub takes at once.
const MOST: usize = 10_000;
/// Every task is compared with every other up to this many.
const COMPARED: usize = 1_000;

/// Adds what is wrong with tasks that have the right shape, and what is worth knowing about them.
pub(super) fn check(found: &mut Found) {
    let (names, mut faults) = names(&found.entries);
    for entry in &found.entries {
        faults.extend(deps(entry, &names, &found.done));
        faults.extend(texts(entry));
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
    // What is done already needs nobody's waiting, and to wait twice is to wait once.
    for entry in &mut found.entries {
        let mut seen = HashSet::new();
        let needed = |dep: &String| names.contains_key(dep) || !found.done.contains(dep);
        entry.task.deps.retain(|dep| needed(dep) && seen.insert(dep.clone()));
    }
    if found.entries.len() > MOST {
        let reason = format!("it has {} tasks; a hub takes at most {MOST} at once: split it", found.entries.len());
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
        if !names.contains_key(dep) && !done.contains(dep) && dep.parse::<TaskId>().is_err() {
            let meant = hint(dep, names.keys().map(String::as_str));
            let reason = format!("no task in this file has the name `{dep}`, and it is no id (tsk_…){meant}");
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
    let reason = format!("these tasks wait for each other, so none could ever start: {}", round.join(" → "));
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
            faults.extend(wrong.map(|why| ("json_schema", format!("is not a JSON Schema that can be used: {why}"))));
            let says =
                [regex.is_some(), not_regex.is_some(), min_words.is_some(), json_schema.is_some(), parses.is_some()];
            if !says.contains(&true) {
                let reason = "says nothing about the file: give regex, not_regex, min_words, json_schema or parses";
                faults.push(("", reason.to_owned()));
            }
        }
        Criterion::Command { argv, .. } => {
            let nothing = argv.first().is_some_and(|program| program.trim().is_empty());
            faults.extend(nothing.then(|| ("argv", "names no program".to_owned())));
        }
        Criterion::OnlyTouches { globs } => {
            let wrong = globs.iter().filter_map(|glob| criteria::patterns(std::slice::from_ref(glob)).err());
            faults.extend(wrong.map(|why| ("globs", format!("is not a pattern: {why}"))));
        }
        Criterion::Text { text } => {
            faults.extend(text.trim().is_empty().then(|| ("text", "is empty".to_owned())));
        }
        Criterion::NoConflictWithBase {} | Criterion::Committed {} => {}
    }
    faults
}

fn outside(path: &str) -> Option<String> {
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return Some(format!("`{path}` leads out of the workspace: give a path inside it"));
    }
    None
}

/// What it means that so many tasks have no acceptance; nothing when all have.
pub fn no_acceptance(count: usize) -> Option<String> {
    let (tasks, have) = if count == 1 { ("task", "has") } else { ("tasks", "have") };
    (count > 0).then(|| format!("{count} {tasks} {have} no acceptance: whatever is reported counts"))
}

fn similar(entries: &[Entry]) -> Vec<String> {
    if entries.len() > COMPARED {
        return Vec::new();
    }
    let gists: Vec<Gist> = entries.iter().map(|entry| Gist::of(&entry.task.description, &entry.task.files)).collect();
    let mut notes = Vec::new();
    for (at, gist) in gists.iter().enumerate() {
        // One that says nothing is wrong, and like no other.
        if entries[at].task.description.trim().is_empty() {
            continue;
        }
        if let Some(before) = gists[..at].iter().position(|before| before.is_near(gist)) {
            notes.push(format!("{} says nearly the same as {}", shown(&entries[at]), shown(&entries[before])));
        }
    }
    notes
}
