//! A task as a file.

use std::collections::BTreeMap;

use domain::{TaskId, TaskStatus, Timestamp};
use protocol::{Report, TakenTask, Task, TaskLine};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::tree::Folder;

/// The content of a task's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Paper {
    /// Shopfloor's own notes; files without them come from others.
    #[serde(rename = "shopfloor")]
    pub(super) mark: Mark,
    /// The brief for the worker.
    #[serde(flatten)]
    pub(super) content: BTreeMap<String, Value>,
}

/// What the folder knows about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) task: TaskId,
    pub(super) status: TaskStatus,
    /// Whether the task is only shown: neither added here nor ever assigned to this folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) shown: bool,
    /// The hold, while the task is assigned to this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hold: Option<Hold>,
}

/// A hold on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hold {
    pub(super) fence: u64,
    pub(super) worker: String,
    pub(super) heartbeat_seconds: u32,
    pub(super) given_at: Timestamp,
    /// The number of reports sent under it.
    #[serde(default)]
    pub(super) reports: u32,
}

impl Paper {
    /// A task that was just added.
    pub(super) fn added(line: &TaskLine) -> Self {
        let mark = Mark { task: line.id, status: line.status, shown: false, hold: None };
        let mut paper = Self { mark, content: BTreeMap::new() };
        paper.set("title", Some(json!(line.title)));
        paper.set("reason", line.reason.as_ref().map(|reason| json!(reason)));
        paper
    }

    /// A task that others added.
    pub(super) fn shown(task: &Task) -> Self {
        let mark = Mark { task: task.id, status: task.status, shown: true, hold: None };
        let mut paper = Self { mark, content: BTreeMap::new() };
        paper.describe(task);
        paper
    }

    /// The folder that its file belongs into.
    pub(super) fn place(&self) -> Folder {
        match self.mark.status {
            TaskStatus::Done => Folder::Completed,
            TaskStatus::Failed | TaskStatus::Cancelled => Folder::Failed,
            _ if self.mark.hold.is_some() => Folder::Assigned,
            _ => Folder::Pending,
        }
    }

    /// Stores the task's current state.
    pub(super) fn describe(&mut self, task: &Task) {
        self.mark.status = task.status;
        let list = |list: &[String]| (!list.is_empty()).then(|| json!(list));
        self.set("title", None);
        self.set("description", Some(json!(task.description)));
        self.set("context", (!task.context.is_empty()).then(|| json!(task.context)));
        self.set("acceptance", (!task.acceptance.is_empty()).then(|| json!(task.acceptance)));
        self.set("files", list(&task.files));
        self.set("reason", task.reason.as_ref().map(|reason| json!(reason)));
    }

    /// Stores that the task was assigned to this folder.
    pub(super) fn give(&mut self, taken: &TakenTask, worker: &str, name: &str, now: Timestamp) {
        self.describe(&taken.task);
        self.mark.shown = false;
        self.mark.hold = Some(Hold {
            fence: taken.lease.fence,
            worker: worker.to_owned(),
            heartbeat_seconds: taken.heartbeat_seconds,
            given_at: now,
            reports: 0,
        });
        self.set("brief", Some(json!(brief(&taken.brief, name))));
        self.set("refused", taken.refused.as_ref().map(|refused| json!(refused)));
        self.set("handover", taken.handover.as_ref().map(|handover| json!(handover)));
    }

    /// Stores that the task is no longer assigned to this folder.
    pub(super) fn give_back(&mut self) {
        self.mark.hold = None;
        for name in ["brief", "refused", "handover"] {
            self.set(name, None);
        }
    }

    /// Stores the report.
    pub(super) fn keep_report(&mut self, report: &Report) {
        self.set("report", Some(json!(report)));
    }

    pub(super) fn set(&mut self, name: &str, value: Option<Value>) {
        match value {
            Some(value) => self.content.insert(name.to_owned(), value),
            None => self.content.remove(name),
        };
    }

    pub(super) fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// A brief that explains how to report with files.
fn brief(text: &str, name: &str) -> String {
    let what = text.rsplit_once("\n## When you are done\n").map_or(text, |(what, _)| what);
    format!(
        "{}\n\n## When you are done\n\n\
         Write `reports/{name}.json` (under another name first, then rename it):\n\n\
         {{ \"summary\": \"What I did, in a few sentences.\", \"files\": [\"src/a.rs\"], \"context_score\": 4 }}\n\n\
         `files`, `commits`, `context_score` (from 1, had to guess, to 5, everything was clear) and `usage` are optional. \
         If the acceptance criteria check files or run commands, push the branch to the project's repository and \
         name it: \"branch\": \"my-branch\". A runner checks it there; without a branch, the report is refused. If the \
         task cannot be done, add \"failed\": \"why\". If the report is refused, `reports/{name}.refused.txt` says why: \
         fix it and write the report again. While you work on the task, `touch assigned/{name}.json` now and then.\n",
        what.trim_end()
    )
}

/// A portable file name for a task.
pub(super) fn plain_name(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = text.trim().chars().map(plain).take(60).collect();
    let name = name.trim_matches(['-', '.']).to_owned();
    let mut short = String::new();
    for c in name.chars() {
        if c != '-' || !short.ends_with('-') {
            short.push(c);
        }
    }
    if short.is_empty() { "task".to_owned() } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_for_files_names_no_tools() {
        let told = "# Task\n\nDo it.\n\n## When you are done\n\nReport with the tool `report`.\n";
        let brief = brief(told, "do-it");
        assert!(brief.starts_with("# Task\n\nDo it.\n\n## When you are done\n"), "{brief}");
        assert!(brief.contains("`reports/do-it.json`") && !brief.contains("tool"), "{brief}");
    }

    #[test]
    fn a_brief_for_files_says_when_a_branch_is_required() {
        let brief = brief("# Task\n\nDo it.\n", "do-it");
        assert!(brief.contains("push the branch to the project's repository and name it"), "{brief}");
        assert!(!brief.contains("`branch`, `commits`"), "it is not always optional: {brief}");
    }

    #[test]
    fn names_are_plain() {
        assert_eq!(plain_name("Write the parser: dates & times!"), "Write-the-parser-dates-times");
        assert_eq!(plain_name("../../etc/passwd"), "etc-passwd");
        assert_eq!(plain_name("…"), "task");
    }
}
