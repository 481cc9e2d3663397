//! How often branches fail, and how often a run is red without a cause.

/// Counts of a project's queue, with a prior for a project that has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rates {
    /// Branches that landed.
    pub landed: u32,
    /// Branches that were sent back because their checks fail.
    pub failed: u32,
    /// Runs whose checks ran.
    pub runs: u32,
    /// Red runs whose commit was green in another run.
    pub flaky: u32,
}

impl Rates {
    /// The probability that a branch fails; 10 % at first.
    pub fn failure(self) -> f64 {
        share(self.failed, self.landed, 1.0, 9.0)
    }

    /// The probability that a run of good branches is red; 5 % at first, because wrong blame costs more than a run.
    pub fn flake(self) -> f64 {
        share(self.flaky, self.runs.saturating_sub(self.flaky), 1.0, 19.0)
    }
}

/// The mean of a beta distribution after these counts.
fn share(yes: u32, no: u32, prior_yes: f64, prior_no: f64) -> f64 {
    let (yes, no) = (f64::from(yes) + prior_yes, f64::from(no) + prior_no);
    yes / (yes + no)
}
