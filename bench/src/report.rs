//! The table that people read, and the same as JSON.

use std::fs;
use std::path::Path;

use serde::Serialize;

/// One measured number with what it is held against.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) ours: f64,
    pub(crate) baseline: Option<f64>,
    pub(crate) unit: &'static str,
    pub(crate) goal: Option<Goal>,
}

/// What a number should be.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Goal {
    /// Ours is at most this.
    AtMost(f64),
    /// Ours is at most this many times the baseline.
    RatioAtMost(f64),
    /// Ours is at least this many times the baseline.
    RatioAtLeast(f64),
}

/// All rows of a run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Report {
    rows: Vec<Row>,
}

impl Row {
    fn ratio(&self) -> Option<f64> {
        self.baseline.filter(|baseline| *baseline > 0.0).map(|baseline| self.ours / baseline)
    }

    fn verdict(&self) -> String {
        let Some(goal) = self.goal else { return String::new() };
        let (met, text) = match goal {
            Goal::AtMost(most) => (self.ours <= most, format!("≤ {most} {}", self.unit)),
            Goal::RatioAtMost(most) => (self.ratio().is_some_and(|ratio| ratio <= most), format!("≤ {most}×")),
            Goal::RatioAtLeast(least) => (self.ratio().is_some_and(|ratio| ratio >= least), format!("≥ {least}×")),
        };
        format!("{} (goal {text})", if met { "met" } else { "MISSED" })
    }
}

impl Report {
    /// Adds a number and shows it at once.
    pub(crate) fn add(&mut self, row: Row) {
        let number = |value: f64| if value >= 100.0 { format!("{value:.0}") } else { format!("{value:.2}") };
        let baseline = row.baseline.map_or("-".to_owned(), number);
        let ratio = row.ratio().map_or("-".to_owned(), |ratio| format!("{ratio:.2}×"));
        let line = format!(
            "{:<58} {:>10} {:>10} {:<10} {:>8}  {}",
            row.what,
            number(row.ours),
            baseline,
            row.unit,
            ratio,
            row.verdict()
        );
        say(&line);
        self.rows.push(row);
    }

    /// Keeps the rows as JSON under `bench/results`.
    pub(crate) fn finish(&self) -> anyhow::Result<()> {
        let folder = Path::new("bench/results");
        fs::create_dir_all(folder)?;
        let file = folder.join(format!("{}.json", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ")));
        fs::write(&file, serde_json::to_string_pretty(self)?)?;
        say(&format!("written to {}", file.display()));
        Ok(())
    }
}

/// Shows a line.
#[allow(clippy::print_stdout, reason = "the table is this program's output")]
pub(crate) fn say(line: &str) {
    println!("{line}");
}

/// The head of the table's next part.
pub(crate) fn section(title: &str) {
    say(&format!("\n{title}\n{:<58} {:>10} {:>10} {:<10} {:>8}", "", "ours", "baseline", "unit", "ratio"));
}

/// The value below which a share of the samples lies.
pub(crate) fn percentile(samples: &mut [f64], share: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let index = ((samples.len() as f64 * share).ceil() as usize).clamp(1, samples.len()) - 1;
    samples[index]
}
