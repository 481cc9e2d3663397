//! Start: how soon `up` is ready on an existing database, and what the hub weighs at rest.

use crate::hub::Hub;
use crate::report::{Goal, Report, Row, percentile, section};

const STARTS: usize = 10;

/// Starts the binary a few times on one folder.
pub(crate) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    section("Start");
    let folder = tempfile::tempdir()?;
    let first = Hub::start(folder.path(), None).await?;
    for _ in 0..20 {
        first.project().await?;
    }
    first.stop().await?;
    let (mut times, mut weights) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let hub = Hub::start(folder.path(), None).await?;
        times.push(hub.ready_after.as_secs_f64() * 1e3);
        weights.push(hub.memory()? / 1e6);
        hub.stop().await?;
    }
    let goal = Some(Goal::AtMost(300.0));
    let ours = percentile(&mut times, 0.5);
    report.add(Row { what: "`up` ready on an existing database, p50".into(), ours, baseline: None, unit: "ms", goal });
    let goal = Some(Goal::AtMost(40.0));
    let ours = percentile(&mut weights, 1.0);
    report.add(Row { what: "resident memory at rest, most".into(), ours, baseline: None, unit: "MB", goal });
    Ok(())
}
