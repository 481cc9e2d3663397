//! What must be true at the end: every task done, each accepted exactly once, nothing accepted under a lost lease.

use std::collections::{HashMap, HashSet};

use domain::{AttemptOutcome, ReportVerdict, TaskStatus};
use protocol::{Call, TaskDetail};

use crate::fixture::Fixture;

/// Checks everything; what happened, in words.
pub(crate) async fn check(fixture: &Fixture, count: usize) -> String {
    let lines = fixture.tasks().await;
    assert_eq!(lines.len(), count);
    let (mut attempts, mut lost, mut late) = (0, 0, 0);
    for line in &lines {
        assert_eq!(line.status, TaskStatus::Done, "{line:?}");
        let detail: TaskDetail = fixture.client().ask(Call::TaskShow { task: line.id }).await.unwrap();
        let accepted = detail.attempts.iter().filter(|attempt| attempt.outcome == AttemptOutcome::Accepted).count();
        assert_eq!(accepted, 1, "{detail:#?}");
        let verdicts = detail.reports.iter().filter(|report| report.verdict == ReportVerdict::Accepted).count();
        assert_eq!(verdicts, 1, "{detail:#?}");
        let fences: HashSet<u64> = detail.attempts.iter().map(|attempt| attempt.fence).collect();
        assert_eq!(fences.len(), detail.attempts.len(), "each hold has a fence of its own: {detail:#?}");
        // One after the other: no two holds at the same time.
        for pair in detail.attempts.windows(2) {
            let ended = pair[0].ended_at.unwrap_or_else(|| panic!("an older hold has ended: {detail:#?}"));
            assert!(ended <= pair[1].started_at, "{detail:#?}");
        }
        attempts += detail.attempts.len();
        lost += detail.attempts.iter().filter(|attempt| attempt.outcome == AttemptOutcome::Lost).count();
        late += detail.reports.iter().filter(|report| report.verdict == ReportVerdict::Late).count();
    }
    let worked = fixture.worked();
    let mut starts: HashMap<(String, String), u32> = HashMap::new();
    for (task, fence) in worked {
        *starts.entry((task, fence)).or_default() += 1;
    }
    format!(
        "{count} tasks in {attempts} attempts, {lost} lost leases, {late} late reports, {} pieces of work",
        starts.len()
    )
}
