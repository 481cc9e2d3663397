//! `make bench`: every number beside a baseline of the same run, with the goal it is held against.

mod bare;
mod fanout;
mod hub;
mod idle;
mod overlaps;
mod queue;
mod recipes;
mod relay;
mod report;
mod resume;
mod search;
mod startup;
mod worktrees;
mod writes;

use report::Report;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut words = std::env::args().skip(1);
    let only = words.next();
    if only.as_deref() == Some("relay") {
        return relay::serve().await;
    }
    if let (Some("pty"), Some(program)) = (only.as_deref(), words.next()) {
        return bare::measure(&program).await;
    }
    let wanted = |name: &str| only.as_deref().is_none_or(|only| only == name);
    let mut report = Report::default();
    // Needs the other queues, which `make bench-queue` installs.
    if only.as_deref() == Some("queue") {
        queue::measure(&mut report).await?;
    }
    // Needs the other engines, which `make bench-recipes` builds.
    if only.as_deref() == Some("recipes") {
        recipes::measure(&mut report).await?;
    }
    if only.as_deref() == Some("queue-alone") {
        return queue::alone().await;
    }
    if wanted("writes") {
        writes::measure(&mut report).await?;
    }
    if wanted("fanout") {
        fanout::measure(&mut report).await?;
    }
    if wanted("resume") {
        resume::measure(&mut report).await?;
    }
    if wanted("search") {
        search::measure(&mut report).await?;
    }
    if wanted("start") {
        startup::measure(&mut report).await?;
    }
    if wanted("overlaps") {
        overlaps::measure(&mut report).await?;
    }
    if wanted("worktrees") {
        worktrees::measure(&mut report).await?;
    }
    if wanted("idle") {
        idle::measure(&mut report).await?;
    }
    report.finish()
}
