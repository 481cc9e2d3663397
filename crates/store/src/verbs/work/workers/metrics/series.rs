//! Time series of the metrics.

use domain::{AttemptOutcome, Timestamp};
use engine::metrics::series::{Lengths, Stretches, mean, so_far, tally};
use engine::metrics::spans::{self, Span};
use protocol::{MetricsPoint, Noticed};

use super::read::{Hold, Seen};
use super::small;
use crate::verbs::work::workers::rows::{nothing, sum};

/// The number of points of a series.
const POINTS: usize = 48;

/// One point for each interval, oldest first.
pub(super) fn points(seen: &Seen, window: Span) -> Vec<MetricsPoint> {
    let stretches = Stretches::new(window, POINTS);
    let ended = stretches.sorted(seen.holds.iter().map(|hold| (hold.over, hold)));
    // Cost counts when the work ended, not when a person judged it.
    let used = stretches.sorted(seen.holds.iter().map(|hold| (hold.span.1.max(window.0), &hold.usage)));
    let asked = stretches.sorted(seen.asked.iter().map(|at| (*at, ())));
    let over = stretches.sorted(seen.over.iter().map(|at| (*at, ())));
    let scores = stretches.sorted(seen.scores.iter().map(|given| (given.at, given.score)));
    let pairs: Vec<(u32, u32)> =
        asked.iter().zip(&over).map(|(asked, over)| (small(asked.len()), small(over.len()))).collect();
    let per_task = so_far(&pairs);
    let (spans, work, useful) = (seen.spans(), seen.work(), seen.useful());
    let point = |(index, stretch): (usize, Span)| {
        let ended = &ended[index];
        // The last interval includes the end of the window, which adds no working time.
        let lasted = (stretch.0, stretch.1.min(window.1));
        let used = used[index].iter().fold(nothing(), |all, usage| sum(&all, usage));
        let scores = tally(&scores[index]);
        let accepted = |hold: &&&Hold| hold.ended && hold.outcome == AttemptOutcome::Accepted;
        MetricsPoint {
            at: Timestamp::from_millis(stretch.0),
            done: small(ended.iter().filter(accepted).count()),
            failed: small(ended.iter().filter(|hold| hold.ended && hold.failed()).count()),
            over: pairs[index].1,
            interventions: pairs[index].0,
            interventions_per_task: per_task[index],
            context_scores: scores.to_vec(),
            context_score: mean(&scores),
            speed_up: spans::speed_up(&useful, lasted),
            busy: spans::average(&spans, lasted),
            peak: spans::peak(&work, lasted),
            vanished: noticed(ended.iter().filter_map(|hold| hold.lost_for())),
            failures: noticed(ended.iter().filter_map(|hold| hold.failed_for())),
            tokens: used.input_tokens.saturating_add(used.output_tokens),
            cost_micros: used.cost_micros.unwrap_or(0),
        }
    };
    stretches.all().enumerate().map(point).collect()
}

/// Statistics of detection times.
pub(super) fn noticed(lengths: impl Iterator<Item = u64>) -> Option<Noticed> {
    let found = Lengths::of(lengths.collect())?;
    Some(Noticed { times: found.times, median_ms: found.median, longest_ms: found.longest })
}
