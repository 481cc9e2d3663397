//! `pending/`: turns files into tasks.

use std::fs;
use std::path::Path;

use client::ClientError;
use plan::Plan;
use protocol::{AddedTasks, Call, TaskAdd, TasksAdd};
use serde_json::Value;

use super::arrivals::beside;
use super::door::Found;
use super::paper::{Paper, plain_name};
use super::settle::Looks;
use super::tree::{Folder, is_there};
use super::{Desk, Trouble, passes};
use crate::task_file;

impl Desk<'_> {
    /// Adds the files in `pending/`, and finishes what a killed process began.
    pub(super) async fn take_in(&mut self) -> Result<(), Trouble> {
        for path in self.tree.files(&self.tree.own("incoming"))? {
            self.add(&path).await?;
        }
        let paths = self.tree.files(&self.tree.pending())?;
        self.keep_only(&self.tree.pending(), &paths)?;
        for path in paths {
            self.arrival(&path).await?;
        }
        Ok(())
    }

    /// A new file: claimed by a rename as soon as it is readable, so that it cannot change any more.
    async fn arrival(&mut self, path: &Path) -> Result<(), Trouble> {
        if self.is_ours(path)? {
            return Ok(());
        }
        let Some(bytes) = self.arrived(path)? else { return Ok(()) };
        if serde_json::from_slice::<Paper>(&bytes).is_ok() {
            self.complain(path, "this is one of Shopfloor's own files: remove `shopfloor` from it to add a new task")?;
            return Ok(());
        }
        let file = self.read(path, &bytes);
        if !file.faults.is_empty() {
            let faults: Vec<String> = file.faults.iter().map(ToString::to_string).collect();
            self.complain(path, &faults.join("\n"))?;
            return Ok(());
        }
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Ok(()) };
        let key = self.state.next_key();
        self.state.save(&self.tree)?;
        let claimed = self.tree.own("incoming").join(format!("{key}~{name}"));
        if let Err(failure) = self.tree.rename(path, &claimed) {
            return Ok(self.complain(path, &failure.render(false))?);
        }
        self.taken_in(path)?;
        self.add(&claimed).await
    }

    /// Whether a file is the one that we wrote; another file of the same name is a new one.
    fn is_ours(&mut self, path: &Path) -> Result<bool, Trouble> {
        let Some(name) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json")) else {
            return Ok(false);
        };
        let Some((Folder::Pending, paper)) = self.papers.get(name) else { return Ok(false) };
        let looks = fs::symlink_metadata(path).ok().map(|looks| Looks::of(&looks));
        if looks.is_some() && self.ours.get(name) == looks.as_ref() {
            return Ok(true);
        }
        let Found::File(bytes, looks) = self.tree.read(path) else { return Ok(false) };
        let same = bytes == paper.text().as_bytes()
            || serde_json::from_slice::<Paper>(&bytes).is_ok_and(|written| written == *paper);
        if same {
            self.ours.insert(name.to_owned(), Looks::of(&looks));
            self.taken_in(path)?;
        }
        Ok(same)
    }

    /// Adds a claimed file exactly once, by its idempotency key.
    async fn add(&mut self, claimed: &Path) -> Result<(), Trouble> {
        let full = claimed.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some((key, name)) = full.split_once('~') else { return Ok(()) };
        let bytes = match self.tree.read(claimed) {
            Found::File(bytes, _) => bytes,
            Found::Nothing => return Ok(()),
            // Somebody replaced the file that was read.
            Found::Odd(why) => return self.refuse(claimed, name, &why),
        };
        let Plan { tasks, faults, .. } = self.read(Path::new(name), &bytes);
        if !faults.is_empty() {
            // It was readable when it was claimed; a newer program may disagree.
            return self.refuse(claimed, name, &faults[0].to_string());
        }
        let call = Call::TaskAdd { project: self.project, input: TasksAdd { tasks: tasks.clone() } };
        let answer = match self.client.call_with_key(call, Some(key)).await {
            Err(ClientError::Problem(problem)) if !passes_for_add(&problem) => {
                let fields: Vec<String> =
                    problem.errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect();
                return self.refuse(claimed, name, &format!("{}\n{}", problem.detail, fields.join("\n")));
            }
            other => other?,
        };
        let Some(added) = <AddedTasks as client::View>::from_answer(answer) else {
            return Err(ClientError::Protocol("unexpected answer to task.add".to_owned()).into());
        };
        let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for (index, (line, task)) in added.tasks.iter().zip(&tasks).enumerate() {
            if self.name_of(line.id).is_none() {
                let wanted = wanted(&stem, tasks.len(), index, task);
                let mut paper = Paper::added(line);
                paper.set("description", Some(task.description.clone().into()));
                let name = self.free_name(&wanted);
                self.place(&name, Folder::Pending, paper)?;
            }
            self.news.look_at(line.id);
        }
        self.tree.remove(claimed)?;
        Ok(())
    }

    /// Moves a file that the hub refused back, with a note beside it.
    fn refuse(&mut self, claimed: &Path, name: &str, why: &str) -> Result<(), Trouble> {
        let back = self.tree.give_back_as(claimed, name)?;
        let text = format!("{name} was refused.\n\n{}\n\nFix it; it is read again when it changes.\n", why.trim());
        self.tree.write(&beside(&back, "error"), &text)?;
        self.out.note(&format!("{}: {}", back.display(), why.lines().next().unwrap_or_default()));
        // Not retried until it changes: the note explains what is wrong.
        if let Ok(looks) = fs::symlink_metadata(&back) {
            self.settling.unchanged_for(&back, &looks);
            self.settling.set_told(&back);
        }
        Ok(())
    }

    /// Reads a file as the CLI does; a dependency may also be the name of another file.
    fn read(&self, path: &Path, bytes: &[u8]) -> Plan {
        let name = path.display().to_string();
        let known = |dep: &str| self.papers.get(dep).map(|(_, paper)| paper.mark.task.to_string());
        let values = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>().collect::<Result<Vec<_>, _>>();
        if let Ok(mut values) = values
            && name_deps(&mut values, &known)
        {
            let lines: Vec<String> = values.iter().map(Value::to_string).collect();
            return task_file::read(lines.join("\n").as_bytes(), &name, None);
        }
        task_file::read(bytes, &name, None)
    }

    /// An unused file name.
    pub(super) fn free_name(&self, wanted: &str) -> String {
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let taken = |name: &String| self.papers.contains_key(name) || !self.tree.is_free(name);
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        names.find(|name| !taken(name)).unwrap_or_else(|| wanted.to_owned())
    }

    /// Writes a task's file into its folder, and remembers it.
    pub(super) fn place(&mut self, name: &str, folder: Folder, paper: Paper) -> Result<(), Trouble> {
        let folder = self.tree.file(folder, name, &paper)?;
        self.papers.insert(name.to_owned(), (folder, paper));
        Ok(())
    }

    /// Finishes moves that a killed process began, and restores deleted files of open tasks.
    pub(super) fn straighten(&mut self) -> Result<(), Trouble> {
        for (name, (folder, paper)) in &mut self.papers {
            if *folder == Folder::Pending && self.tree.is_moving(name) {
                *folder = self.tree.arrive(name, paper)?;
                continue;
            }
            let open = matches!(folder, Folder::Pending | Folder::Assigned) && !paper.mark.status.is_over();
            if paper.place() != *folder || (open && !is_there(&self.tree.path(*folder, name))) {
                *folder = self.tree.file(*folder, name, paper)?;
            }
        }
        Ok(())
    }

    /// Writes a note for files that somebody put into `assigned/`.
    pub(super) fn look_over(&mut self) -> Result<(), Trouble> {
        let folder = self.tree.assigned();
        let paths = self.tree.files(&folder)?;
        self.keep_only(&folder, &paths)?;
        for path in paths {
            let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json"));
            let known = name.and_then(|name| self.papers.get(name));
            if known.is_none_or(|(folder, _)| *folder != Folder::Assigned) && self.arrived(&path)?.is_some() {
                let why = "only Shopfloor writes into assigned/: put new tasks into pending/ and reports into reports/";
                self.complain(&path, why)?;
            }
        }
        Ok(())
    }
}

/// Whether the hub may accept the same file later.
fn passes_for_add(problem: &protocol::Problem) -> bool {
    use protocol::ProblemKind::{Conflict, Invalid, TooLarge};
    !matches!(problem.kind, Invalid | TooLarge | Conflict) && passes(&ClientError::Problem(problem.clone()))
}

fn wanted(stem: &str, many: usize, index: usize, task: &TaskAdd) -> String {
    match (many, &task.id) {
        (1, _) => plain_name(stem),
        (_, Some(id)) => plain_name(&format!("{stem}-{id}")),
        (_, None) => plain_name(&format!("{stem}-{}", index + 1)),
    }
}

/// Replaces names of other files in `deps` with ids; whether there were any.
fn name_deps(values: &mut [Value], known: &dyn Fn(&str) -> Option<String>) -> bool {
    let tasks: Vec<&mut Value> = values.iter_mut().flat_map(tasks_of).collect();
    let own: Vec<String> =
        tasks.iter().filter_map(|task| task.get("id").and_then(Value::as_str).map(str::to_owned)).collect();
    let mut named = false;
    for task in tasks {
        for dep in task.get_mut("deps").and_then(Value::as_array_mut).into_iter().flatten() {
            let Some(name) = dep.as_str().filter(|name| !own.iter().any(|id| id == name)) else { continue };
            if let Some(id) = known(name.strip_suffix(".json").unwrap_or(name)) {
                *dep = Value::String(id);
                named = true;
            }
        }
    }
    named
}

/// The tasks of one value: itself, a list, or an object with a list.
fn tasks_of(value: &mut Value) -> Vec<&mut Value> {
    if value.get("tasks").is_some() {
        return value.get_mut("tasks").and_then(Value::as_array_mut).into_iter().flatten().collect();
    }
    match value {
        Value::Array(list) => list.iter_mut().collect(),
        other => vec![other],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn another_files_name_can_be_depended_on() {
        let known = |name: &str| (name == "parser").then(|| "tsk_1".to_owned());
        let mut one = [json!({ "description": "a", "deps": ["parser.json", "other"] })];
        assert!(name_deps(&mut one, &known));
        assert_eq!(one[0]["deps"], json!(["tsk_1", "other"]));
        let mut own = [json!([{ "id": "parser", "description": "a" }, { "description": "b", "deps": ["parser"] }])];
        assert!(!name_deps(&mut own, &known), "a name in the same file comes first");
    }
}
