//! Runs the checks of a stack in its clean checkout, one after the other, until one does not pass.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use acceptance::{End, Ran, Runs, run_command, warden};
use domain::CheckOutcome;
use protocol::link::{DesiredMerge, MAX_MERGE_LOG, MergeCheck, MergeChecked};
use rustix::process::Signal;
use worktree::Checkout;

use super::Merger;
use super::trust::setup;
use crate::checks::environment;
use crate::machine::Machine;
use crate::sessions::contain;
use crate::workspaces::{Place, printed};

/// How long the setup may take.
const SETUP_SECONDS: u32 = 1800;
/// How many lines of an output are told.
const LINES: usize = 1000;
/// A check that fails on a disk with less room than this may have failed for that reason.
const FULL: u64 = 1 << 20;

impl Merger {
    pub(super) async fn run_checks(
        &self,
        merge: &DesiredMerge,
        checks: &[MergeCheck],
        checkout: &Checkout,
    ) -> Result<Vec<MergeChecked>, String> {
        let runs = runs(&self.machine, merge, checkout)?;
        let mut all = Vec::new();
        if let Some(line) = setup(merge) {
            let argv = ["/bin/sh", "-c", line].map(str::to_owned);
            let prepared = self.run_check(&runs, checkout, &argv, SETUP_SECONDS).await;
            if prepared.outcome != CheckOutcome::Passed {
                // Without it no check can run: it counts as the first one.
                let log = end(format!("the project's setup did not succeed\n{}", prepared.log));
                all.push(MergeChecked { log, ..prepared });
            }
        }
        for check in checks.iter().skip(all.len()) {
            all.push(match all.iter().all(|before| before.outcome == CheckOutcome::Passed) {
                true => self.run_check(&runs, checkout, &check.argv, check.seconds).await,
                false => {
                    let (duration_ms, code, log) = (0, None, String::new());
                    MergeChecked { outcome: CheckOutcome::NotRun, duration_ms, code, log }
                }
            });
        }
        Ok(all)
    }

    async fn run_check(&self, runs: &Runs, checkout: &Checkout, argv: &[String], seconds: u32) -> MergeChecked {
        let began = Instant::now();
        let Ran { end: ended, tail, cut } = run_command(checkout.path(), runs, argv, seconds).await;
        let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let shown = printed(tail.as_bytes(), cut, LINES, &mut self.machine.secrets()).text();
        let killed = [Signal::KILL, Signal::TERM].map(Signal::as_raw);
        let (outcome, code, note) = match ended {
            End::Exited(0) => (CheckOutcome::Passed, Some(0), None),
            End::Exited(code) if is_full(checkout.path()) => {
                (CheckOutcome::Infrastructure, Some(code), Some("the disk of its machine is full".to_owned()))
            }
            End::Exited(code) => (CheckOutcome::Failed, Some(code), None),
            End::Late => {
                (CheckOutcome::TimedOut, None, Some(format!("it took longer than {seconds} s and was killed")))
            }
            End::Killed(signal) => {
                // Nothing in a check sends these to the check itself; a machine without memory does.
                let outside = killed.contains(&signal);
                let outcome = if outside { CheckOutcome::Infrastructure } else { CheckOutcome::Failed };
                (outcome, None, Some(format!("it was killed by signal {signal}")))
            }
            End::NotStarted(why) => {
                (CheckOutcome::Infrastructure, None, Some(format!("it could not be started: {why}")))
            }
        };
        let log = end([Some(shown), note]
            .into_iter()
            .flatten()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("\n"));
        MergeChecked { outcome, duration_ms, code, log }
    }
}

/// How commands run in a checkout.
fn runs(machine: &Arc<Machine>, merge: &DesiredMerge, checkout: &Checkout) -> Result<Runs, String> {
    let mut env = environment(machine);
    env.push(("SHOPFLOOR_PROJECT".to_owned(), merge.project.to_string()));
    env.push(("SHOPFLOOR_MERGE_RUN".to_owned(), merge.run.to_string()));
    let place = Place { path: checkout.path().to_owned(), ports: None, borrows: Some(checkout.borrows().to_owned()) };
    let exe = machine.options.exe.to_string_lossy().into_owned();
    let adapter = machine.adapters.get("command").ok_or("this runner has no adapter for commands")?;
    let (machine, project, sandbox) = (machine.clone(), merge.project, merge.sandbox.clone());
    Ok(Runs {
        warden: vec![exe, warden::COMMAND.to_owned()],
        env,
        contain: Arc::new(move |argv| {
            contain(&machine, &adapter, (project, sandbox.as_ref()), &place, Vec::new(), argv)
        }),
        // Masked with its control characters, when it is made readable.
        mask: Arc::new(str::to_owned),
    })
}

/// Whether nothing more can be written to the disk of a folder.
fn is_full(folder: &Path) -> bool {
    rustix::fs::statvfs(folder).is_ok_and(|disk| disk.f_bavail.saturating_mul(disk.f_frsize) < FULL)
}

/// The end of a log, within its limit.
fn end(log: String) -> String {
    let start = log.ceil_char_boundary(log.len().saturating_sub(MAX_MERGE_LOG));
    log[start..].to_owned()
}
