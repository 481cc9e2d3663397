//! A long queue costs no more than a short one: three edges for each task, up to 100,000 tasks.

use std::time::Instant;

use testkit::Postgres;

use super::ours::Queue;
use crate::report::{Goal, Report, Row, percentile, section};

/// How many claims are measured.
const CLAIMS: usize = 300;

/// Measures queues of three sizes on both databases.
pub(super) async fn measure(report: &mut Report, postgres: &Postgres) -> anyhow::Result<()> {
    section("Queue: 3 edges for each task; beside 1,000 tasks");
    for name in ["PostgreSQL", "SQLite"] {
        let mut base = None;
        for size in [1_000, 10_000, 100_000] {
            let folder = tempfile::tempdir()?;
            let database = postgres.database().await;
            let url = match name {
                "SQLite" => format!("sqlite:{}", folder.path().join("queue.db").display()),
                _ => database.url().to_owned(),
            };
            let queue = Queue::open(&url).await?;
            let begun = Instant::now();
            // Added in lists that are short beside the shortest queue, so that it, too, has its edges. Half of the tasks
            // are ready; each of the others waits for six of those before it.
            let deps = |at: usize, ids: &[domain::TaskId]| match at % 2 {
                0 => Vec::new(),
                _ => [1, 7, 31].iter().chain(&[2, 12, 97]).filter_map(|back| pick(ids, at, *back)).collect(),
            };
            queue.add(size, 100, deps).await?;
            let add = begun.elapsed().as_secs_f64() * 1000.0 / size as f64;
            let mut claims = Vec::with_capacity(CLAIMS);
            for at in 0..CLAIMS {
                claims.push(queue.claim(&format!("w{at}")).await?.as_secs_f64() * 1000.0);
            }
            let begun = Instant::now();
            for _ in 0..CLAIMS / 3 {
                queue.once("finisher").await?;
            }
            let both = begun.elapsed().as_secs_f64() * 1000.0 / (CLAIMS / 3) as f64;
            queue.close().await;
            let claim = percentile(&mut claims, 0.5);
            let (add0, claim0, both0) = *base.get_or_insert((add, claim, both));
            for (what, ours, baseline) in
                [("add", add, add0), ("claim", claim, claim0), ("claim and complete", both, both0)]
            {
                let goal = (size > 1_000).then_some(Goal::RatioAtMost(2.0));
                let what = format!("{name}, {size} tasks: {what}, each");
                report.add(Row { what, ours, baseline: Some(baseline), unit: "ms", goal });
            }
        }
    }
    Ok(())
}

/// The id of a task so far back in what is there already.
fn pick(ids: &[domain::TaskId], at: usize, back: usize) -> Option<String> {
    let place = at.checked_sub(back)?;
    ids.get(place.min(ids.len().checked_sub(back)?)).map(ToString::to_string)
}
