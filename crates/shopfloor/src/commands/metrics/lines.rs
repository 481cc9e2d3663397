//! Measures over time: a line of blocks for each, in at least 80 columns.

use protocol::{Metrics, MetricsPoint};

use super::plot::{self, Join};
use super::words;
use crate::Output;
use crate::table::Style;

/// Widths of the names and of the text behind a line.
const NAME: usize = 18;
const WORDS: usize = 20;

/// One measure over time.
struct Measure {
    name: &'static str,
    /// Its value at a point; `None`: nothing was measured.
    of: fn(&MetricsPoint) -> Option<u64>,
    join: Join,
    /// Whether 0 means that nothing happened.
    counts: bool,
    style: Style,
    /// The summary behind the line: how to format a number, and which number.
    say: fn(u64) -> String,
    told: Told,
}

/// Which number summarizes the values.
#[derive(Clone, Copy)]
enum Told {
    InAll,
    AtMost,
    FromTo,
    AtTheEnd,
}

const MEASURES: [Measure; 12] = [
    sums("done", |point| Some(point.done.into()), Style::Green, number),
    sums("failed", |point| Some(point.failed.into()), Style::Red, number),
    sums("interventions", |point| Some(point.interventions.into()), Style::Yellow, number),
    Measure {
        name: "per task",
        of: |point| point.interventions_per_task.map(u64::from),
        join: Join::Last,
        counts: false,
        style: Style::Yellow,
        say: hundredths,
        told: Told::AtTheEnd,
    },
    means("context score", |point| point.context_score.map(u64::from), Told::FromTo),
    means("speed-up", |point| point.speed_up.map(u64::from), Told::FromTo),
    means("workers, average", |point| Some(point.busy.into()), Told::AtMost),
    highest("workers, peak", |point| (point.peak > 0).then_some(point.peak.into()), number),
    highest("vanished, noticed", |point| point.vanished.as_ref().map(|noticed| noticed.longest_ms), words::stretch),
    highest("failed, noticed", |point| point.failures.as_ref().map(|noticed| noticed.longest_ms), words::stretch),
    sums("tokens", |point| Some(point.tokens), Style::Plain, number),
    sums("cost", |point| Some(point.cost_micros), Style::Plain, words::money),
];

const fn sums(
    name: &'static str,
    of: fn(&MetricsPoint) -> Option<u64>,
    style: Style,
    say: fn(u64) -> String,
) -> Measure {
    Measure { name, of, join: Join::Sum, counts: true, style, say, told: Told::InAll }
}

const fn means(name: &'static str, of: fn(&MetricsPoint) -> Option<u64>, told: Told) -> Measure {
    Measure { name, of, join: Join::Mean, counts: true, style: Style::Plain, say: hundredths, told }
}

const fn highest(name: &'static str, of: fn(&MetricsPoint) -> Option<u64>, say: fn(u64) -> String) -> Measure {
    Measure { name, of, join: Join::Highest, counts: false, style: Style::Plain, say, told: Told::AtMost }
}

fn number(value: u64) -> String {
    value.to_string()
}

fn hundredths(value: u64) -> String {
    words::hundredths(u32::try_from(value).unwrap_or(u32::MAX))
}

impl Measure {
    fn line(&self, series: &[MetricsPoint], room: usize, out: &Output) -> String {
        let values: Vec<Option<u64>> = series.iter().map(self.of).collect();
        let known: Vec<u64> = values.iter().copied().flatten().collect();
        let (least, most) = (known.iter().min(), known.iter().max());
        let name = format!("{:<NAME$}", self.name);
        let (Some(least), Some(most), Some(last)) = (least, most, known.last()) else { return format!("{name} -") };
        // Counts of zero are nothing to show; a ratio or a time of 0 is.
        if *most == 0 && self.counts {
            return format!("{name} -");
        }
        let told = match self.told {
            Told::InAll => {
                format!("{} in total", (self.say)(known.iter().fold(0, |sum, one| sum.saturating_add(*one))))
            }
            Told::AtMost => format!("up to {}", (self.say)(*most)),
            Told::FromTo if least == most => (self.say)(*most),
            Told::FromTo => format!("{} to {}", (self.say)(*least), (self.say)(*most)),
            Told::AtTheEnd => format!("{} at the end", (self.say)(*last)),
        };
        let plot = plot::line(&values, room, self.join);
        format!("{name} {}  {told}", self.style.paint(&plot, out.color))
    }
}

/// All measures, or a hint if there is nothing to measure.
pub(super) fn all(metrics: &Metrics, out: &Output) -> String {
    let series = &metrics.series;
    let [first, second, ..] = series.as_slice() else { return String::new() };
    let width = (second.at.as_millis() - first.at.as_millis()).unsigned_abs();
    let hours = match width * series.len() as u64 / 3_600_000 {
        1 => "hour".to_owned(),
        hours => format!("{hours} hours"),
    };
    let quiet = |point: &MetricsPoint| point.peak == 0 && point.over == 0 && point.interventions == 0;
    if series.iter().all(quiet) {
        let text = format!(
            "no work in the last {hours}: add tasks with `shopfloor task add`, start workers\nwith `shopfloor worker start`, or show more with \
             `--hours`"
        );
        return Style::Dim.paint(&text, out.color);
    }
    let room = out.width.unwrap_or(80).saturating_sub(NAME + 1 + 2 + WORDS).clamp(8, 120);
    let head = Style::Dim.paint(&format!("in the last {hours}"), out.color);
    let lines = MEASURES.iter().map(|measure| measure.line(series, room, out));
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}
