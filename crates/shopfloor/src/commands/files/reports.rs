//! `reports/`: sends the workers' reports.

use std::fs;
use std::path::Path;

use client::{ClientError, View};
use protocol::{Call, Deliverables, ProblemKind, Report, TaskReport, Usage};
use serde::Deserialize;

use super::arrivals::beside;
use super::door::Found;
use super::paper::Hold;
use super::tree::Folder;
use super::{Desk, Trouble};

/// A report as a worker writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportFile {
    summary: String,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    branch: Option<String>,
    #[serde(default)]
    commits: Vec<String>,
    #[serde(default)]
    deliverables: Option<Deliverables>,
    #[serde(default)]
    context_score: Option<u8>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    failed: Option<String>,
}

impl ReportFile {
    fn input(self, fence: u64) -> TaskReport {
        let own = Deliverables { files: self.files, branch: self.branch, commits: self.commits, more_commits: 0 };
        let own = (own != Deliverables::default()).then_some(own);
        TaskReport {
            fence,
            summary: self.summary,
            deliverables: self.deliverables.or(own),
            context_score: self.context_score,
            usage: self.usage,
            failed: self.failed,
        }
    }
}

impl Desk<'_> {
    /// Sends the files in `reports/`, and finishes what a killed process began.
    pub(super) async fn collect(&mut self) -> Result<(), Trouble> {
        for path in self.tree.files(&self.tree.own("reports"))? {
            self.send(&path).await?;
        }
        let paths = self.tree.files(&self.tree.reports())?;
        self.keep_only(&self.tree.reports(), &paths)?;
        for path in paths {
            let Some(bytes) = self.arrived(&path)? else { continue };
            let name = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".json")).map(str::to_owned);
            let Some(name) = name else {
                self.complain(&path, "name the report NAME.json, like its task in assigned/")?;
                continue;
            };
            let Some(hold) = self.held(&name) else {
                self.complain(
                    &path,
                    &format!("there is no {name}.json in assigned/: the task is finished, or was returned"),
                )?;
                continue;
            };
            if let Err(error) = serde_json::from_slice::<ReportFile>(&bytes) {
                let why =
                    format!("{error}\nA report looks like {{\"summary\": \"what was done\", \"files\": [\"a.txt\"]}}.");
                self.complain(&path, &why)?;
                continue;
            }
            // Claimed by a rename, with a number: the same report is not sent twice, and a new one is another report.
            let claimed = self.tree.own("reports").join(format!("{}~{name}.json", hold.reports));
            if let Err(failure) = self.tree.rename(&path, &claimed) {
                self.complain(&path, &failure.render(false))?;
                continue;
            }
            self.taken_in(&path)?;
            self.tree.remove(&beside(&path, "refused"))?;
            self.send(&claimed).await?;
        }
        Ok(())
    }

    fn held(&self, name: &str) -> Option<Hold> {
        let (folder, paper) = self.papers.get(name)?;
        paper.mark.hold.clone().filter(|_| *folder == Folder::Assigned)
    }

    async fn send(&mut self, claimed: &Path) -> Result<(), Trouble> {
        let full = claimed.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let parts = full
            .split_once('~')
            .and_then(|(number, name)| Some((number.parse::<u32>().ok()?, name.strip_suffix(".json")?.to_owned())));
        let Some((number, name)) = parts else { return Ok(()) };
        let file = match self.tree.read(claimed) {
            Found::File(bytes, _) => serde_json::from_slice::<ReportFile>(&bytes).ok(),
            Found::Odd(_) | Found::Nothing => None,
        };
        let (Some(hold), Some(file)) = (self.held(&name).filter(|hold| hold.reports == number), file) else {
            // It was sent before, or the task is no longer held.
            self.tree.remove(claimed)?;
            return Ok(());
        };
        let Some((folder, paper)) = self.papers.get(&name).cloned() else { return Ok(()) };
        let task = paper.mark.task;
        let key = format!("files-{}-{task}-{}-{number}", self.state.id, hold.fence);
        let call = Call::TaskReport { task, input: file.input(hold.fence) };
        let mut paper = paper;
        match self.client.call_with_key(call, Some(&key)).await {
            Ok(answer) => {
                if let Some(report) = Report::from_answer(answer) {
                    paper.keep_report(&report);
                }
                paper.set("refused", None);
            }
            Err(ClientError::Problem(problem)) if problem.kind == ProblemKind::Invalid => {
                // The worker can fix it: move the file back.
                let back = self.tree.reports().join(format!("{name}.json"));
                if !self.tree.rename_new(claimed, &back)? {
                    // There is already a newer one.
                    return Ok(self.tree.remove(claimed)?);
                }
                self.tree
                    .write(&beside(&back, "error"), &format!("{name}.json was refused.\n\n{}\n", problem.detail))?;
                if let Ok(looks) = fs::symlink_metadata(&back) {
                    self.settling.unchanged_for(&back, &looks);
                    self.settling.set_told(&back);
                }
                return Ok(());
            }
            // The lease was lost: the hub keeps a late report, and the task's status explains the rest.
            Err(ClientError::Problem(problem))
                if matches!(problem.kind, ProblemKind::Conflict | ProblemKind::NotFound) =>
            {
                self.out.note(&format!("the report on {name} was not accepted: {}", problem.detail));
            }
            Err(error) => return Err(error.into()),
        }
        if let Some(hold) = &mut paper.mark.hold {
            hold.reports = number + 1;
        }
        self.place(&name, folder, paper)?;
        self.tree.remove(claimed)?;
        self.news.look_at(task);
        Ok(())
    }
}
