//! Stretches of time in which somebody worked: together, at once, and within a window.

/// A stretch of time in milliseconds, from its begin to its end.
pub type Span = (i64, i64);

/// How long the spans last, each for itself, as far as they are within the window.
pub fn sum(spans: &[Span], window: Span) -> u64 {
    spans.iter().map(|span| overlap(*span, window)).sum()
}

/// How long at least one of the spans lasts, as far as they are within the window.
pub fn union(spans: &[Span], window: Span) -> u64 {
    let mut clipped: Vec<Span> = spans.iter().map(|(from, to)| ((*from).max(window.0), (*to).min(window.1))).collect();
    clipped.retain(|(from, to)| from < to);
    clipped.sort_unstable();
    let (mut total, mut reached) = (0, i64::MIN);
    for (from, to) in clipped {
        total += (to - from.max(reached)).max(0).unsigned_abs();
        reached = reached.max(to);
    }
    total
}

/// How long a span lasts within a window.
pub fn overlap(span: Span, window: Span) -> u64 {
    (span.1.min(window.1) - span.0.max(window.0)).max(0).unsigned_abs()
}

/// How much faster the work went than one after the other, in hundredths; `None`: nobody worked.
pub fn speed_up(spans: &[Span], window: Span) -> Option<u32> {
    let any = union(spans, window);
    let ratio = (sum(spans, window).saturating_mul(100)).checked_div(any)?;
    Some(u32::try_from(ratio).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: Span = (0, 1_000);

    #[test]
    fn three_at_once_are_three_times_as_fast() {
        assert_eq!(speed_up(&[(0, 100), (0, 100), (0, 100)], ALL), Some(300));
        assert_eq!(speed_up(&[(0, 100), (100, 200)], ALL), Some(100));
        assert_eq!(speed_up(&[(0, 100), (500, 600), (550, 600)], ALL), Some(125));
        assert_eq!(speed_up(&[(-500, 100), (50, 5_000)], (0, 100)), Some(150));
        assert_eq!(speed_up(&[], ALL), None);
        assert_eq!(speed_up(&[(7, 7)], ALL), None);
    }

    proptest! {
        #[test]
        fn the_union_is_what_each_moment_says(spans in proptest::collection::vec((0i64..60, 0i64..60), 0..12)) {
            let moments = (0..50).filter(|at| spans.iter().any(|(from, to)| from <= at && at < to)).count();
            prop_assert_eq!(union(&spans, (0, 50)), moments as u64);
            prop_assert!(sum(&spans, (0, 50)) >= union(&spans, (0, 50)));
        }
    }
}
