//! Overlaps: what it takes to compare one changed work with 1,000 others, and how soon two people learn of a collision.

mod compared;
mod live;

use crate::report::Report;

/// Measures the comparison, then two runners with real workspaces.
pub(crate) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    compared::measure(report).await?;
    live::measure(report).await
}
