//! Time spans of work: sums, unions and overlaps within a window.

use std::collections::HashMap;
use std::hash::Hash;

/// A time span in milliseconds, from start to end.
pub type Span = (i64, i64);

/// The total length of the spans within the window.
pub fn sum(spans: &[Span], window: Span) -> u64 {
    spans.iter().map(|span| overlap(*span, window)).sum()
}

/// The time within the window that at least one span covers.
pub fn union(spans: &[Span], window: Span) -> u64 {
    let mut clipped: Vec<Span> = spans.iter().map(|span| clip(*span, window)).collect();
    clipped.retain(|(from, to)| from < to);
    clipped.sort_unstable();
    let (mut total, mut reached) = (0, i64::MIN);
    for (from, to) in clipped {
        total += (to - from.max(reached)).max(0).unsigned_abs();
        reached = reached.max(to);
    }
    total
}

/// The length of a span within a window.
pub fn overlap(span: Span, window: Span) -> u64 {
    let (from, to) = clip(span, window);
    (to - from).max(0).unsigned_abs()
}

/// The length of a span without the breaks in it.
pub fn without(span: Span, breaks: &[Span]) -> u64 {
    overlap(span, span).saturating_sub(union(breaks, span))
}

/// How many times longer the successful work would have taken one after another, in hundredths; at least 1.00, and
/// `None` if there was none. Work that failed counts on neither side, nor does time in which nobody worked. Overlapping
/// spans of one worker count once.
pub fn speed_up<W: Copy + Eq + Hash>(useful: &[(W, Span)], window: Span) -> Option<u32> {
    let mut own: HashMap<W, Vec<Span>> = HashMap::new();
    for (who, span) in useful {
        own.entry(*who).or_default().push(*span);
    }
    let one_by_one: u64 = own.values().map(|spans| union(spans, window)).sum();
    let together: Vec<Span> = useful.iter().map(|(_, span)| *span).collect();
    let ratio = one_by_one.saturating_mul(100).checked_div(union(&together, window))?;
    Some(u32::try_from(ratio).unwrap_or(u32::MAX))
}

/// The average number of active spans over the window, in hundredths.
pub fn average(spans: &[Span], window: Span) -> u32 {
    let all = (window.1 - window.0).max(0).unsigned_abs();
    let ratio = sum(spans, window).saturating_mul(100).checked_div(all).unwrap_or(0);
    u32::try_from(ratio).unwrap_or(u32::MAX)
}

/// The maximum number of workers active at the same time in the window. Overlapping spans of one worker count once, and
/// a span that ends when another starts does not overlap it.
pub fn peak<W: Copy + Eq + Hash>(work: &[(W, Span)], window: Span) -> u32 {
    let clipped = work.iter().map(|(who, span)| (*who, clip(*span, window))).filter(|(_, (from, to))| from < to);
    // At the same moment, ends come before starts.
    let mut turns: Vec<(i64, bool, W)> =
        clipped.flat_map(|(who, (from, to))| [(from, true, who), (to, false, who)]).collect();
    turns.sort_unstable_by_key(|(at, begins, _)| (*at, *begins));
    let mut open: HashMap<W, u32> = HashMap::new();
    let mut most = 0;
    for (_, begins, who) in turns {
        if begins {
            *open.entry(who).or_default() += 1;
            most = most.max(open.len());
        } else if let Some(left) = open.get_mut(&who) {
            *left -= 1;
            if *left == 0 {
                open.remove(&who);
            }
        }
    }
    u32::try_from(most).unwrap_or(u32::MAX)
}

fn clip(span: Span, window: Span) -> Span {
    (span.0.max(window.0), span.1.min(window.1))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use proptest::prelude::*;

    const ALL: Span = (0, 1_000);

    #[test]
    fn three_at_once_are_three_times_as_fast() {
        let check = |spans: &[Span], window| {
            let own: Vec<(usize, Span)> = spans.iter().copied().enumerate().collect();
            speed_up(&own, window)
        };
        assert_eq!(check(&[(0, 100), (0, 100), (0, 100)], ALL), Some(300));
        assert_eq!(check(&[(0, 100), (100, 200)], ALL), Some(100));
        assert_eq!(check(&[(0, 100), (500, 600), (550, 600)], ALL), Some(125));
        assert_eq!(check(&[(-500, 100), (50, 5_000)], (0, 100)), Some(150));
        assert_eq!(check(&[], ALL), None);
        assert_eq!(check(&[(7, 7)], ALL), None);
    }

    #[test]
    fn speed_up_is_never_below_one() {
        assert_eq!(speed_up(&[('a', (100, 200))], ALL), Some(100), "failed work before it does not count");
        assert_eq!(speed_up::<char>(&[], ALL), None, "only failed work");
        assert_eq!(speed_up(&[('a', (0, 100)), ('a', (50, 150))], ALL), Some(100), "the same one");
    }

    #[test]
    fn breaks_are_not_work() {
        assert_eq!(without((0, 100), &[]), 100);
        assert_eq!(without((0, 100), &[(20, 50), (40, 60)]), 60, "overlapping breaks count once");
        assert_eq!(without((0, 100), &[(-50, 10), (90, 500)]), 80, "only the part within the span");
        assert_eq!(without((0, 100), &[(-5, 500)]), 0);
        assert_eq!(without((100, 0), &[(0, 100)]), 0);
    }

    #[test]
    fn an_average_is_over_the_whole_window() {
        assert_eq!(average(&[(0, 500), (0, 250)], ALL), 75);
        assert_eq!(average(&[(-1_000, 5_000)], ALL), 100);
        assert_eq!(average(&[(0, 500)], (7, 7)), 0);
    }

    #[test]
    fn a_peak_counts_the_workers_of_one_moment() {
        assert_eq!(peak(&[('a', (0, 10)), ('b', (10, 20))], ALL), 1, "one after the other");
        assert_eq!(peak(&[('a', (0, 11)), ('b', (10, 20)), ('c', (10, 12))], ALL), 3);
        assert_eq!(peak(&[('a', (0, 50)), ('a', (10, 20)), ('b', (60, 70))], ALL), 1, "the same one twice");
        assert_eq!(peak(&[('a', (0, 50)), ('a', (10, 20)), ('b', (30, 40))], ALL), 2, "one of its two goes on");
        assert_eq!(peak(&[('a', (-9, 0)), ('b', (1_000, 1_001)), ('c', (5, 5))], ALL), 0, "outside, or for no time");
    }

    type Work = Vec<(u8, Span)>;

    fn work() -> impl Strategy<Value = Work> {
        proptest::collection::vec((0u8..5, (-5i64..60, -5i64..60)), 0..14)
    }

    proptest! {
        #[test]
        fn the_union_is_what_each_moment_says(work in work()) {
            let spans: Vec<Span> = work.iter().map(|(_, span)| *span).collect();
            let moments = (0..50).filter(|at| spans.iter().any(|(from, to)| from <= at && at < to)).count();
            prop_assert_eq!(union(&spans, (0, 50)), moments as u64);
            prop_assert!(sum(&spans, (0, 50)) >= union(&spans, (0, 50)));
        }

        #[test]
        fn the_peak_is_the_fullest_moment(work in work()) {
            let there = |at: i64| -> HashSet<u8> {
                work.iter().filter(|(_, (from, to))| *from <= at && at < *to).map(|(who, _)| *who).collect()
            };
            let fullest = (0..50).map(|at| there(at).len()).max().unwrap_or(0);
            prop_assert_eq!(peak(&work, (0, 50)) as usize, fullest);
        }

        #[test]
        fn the_speed_up_never_exceeds_the_peak(work in work()) {
            let own: Vec<(usize, Span)> = work.iter().map(|(_, span)| *span).enumerate().collect();
            let spans: Vec<Span> = own.iter().map(|(_, span)| *span).collect();
            prop_assert!(average(&spans, (0, 50)) <= peak(&own, (0, 50)) * 100);
            let most = peak(&work, (0, 50)) * 100;
            let fast = speed_up(&work, (0, 50));
            prop_assert!(fast.is_none_or(|times| (100..=most).contains(&times)), "{fast:?} of {most}");
        }
    }
}
