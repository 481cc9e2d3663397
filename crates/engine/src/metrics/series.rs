//! Time series: equal intervals, ratios, means and medians.

use crate::metrics::spans::Span;

/// The highest context score; the lowest is 1.
pub const SCORES: usize = 5;

/// A window in equal half-open intervals; the last one also has the remainder and the end itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretches {
    window: Span,
    count: usize,
    width: i64,
}

impl Stretches {
    /// Divides a window into `count` intervals, or fewer if the window is too short.
    pub fn new(window: Span, count: usize) -> Self {
        let long = (window.1 - window.0).max(1);
        let count = count.clamp(1, usize::try_from(long).unwrap_or(usize::MAX));
        Self { window, count, width: long / i64::try_from(count).unwrap_or(i64::MAX) }
    }

    /// The intervals, oldest first.
    pub fn all(self) -> impl Iterator<Item = Span> {
        let begin = move |index: usize| self.window.0 + self.width * i64::try_from(index).unwrap_or(0);
        (0..self.count).map(move |index| {
            let last = index + 1 == self.count;
            (begin(index), if last { self.window.1 + 1 } else { begin(index + 1) })
        })
    }

    /// The index of the interval of a moment; `None` outside the window.
    pub fn place(self, at: i64) -> Option<usize> {
        let within = (self.window.0..=self.window.1).contains(&at);
        let index = usize::try_from((at - self.window.0) / self.width).ok()?;
        within.then_some(index.min(self.count - 1))
    }

    /// Groups values by interval; drops those outside the window.
    pub fn sorted<T>(self, things: impl IntoIterator<Item = (i64, T)>) -> Vec<Vec<T>> {
        let mut sorted: Vec<Vec<T>> = (0..self.count).map(|_| Vec::new()).collect();
        for (at, thing) in things {
            if let Some(place) = self.place(at) {
                sorted[place].push(thing);
            }
        }
        sorted
    }
}

/// Statistics of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// The number of durations.
    pub times: u32,
    /// The median.
    pub median: u64,
    /// The longest.
    pub longest: u64,
}

impl Lengths {
    /// The statistics of these durations; `None` if there are none.
    pub fn of(mut lengths: Vec<u64>) -> Option<Self> {
        lengths.sort_unstable();
        let longest = *lengths.last()?;
        let median = lengths[(lengths.len() - 1) / 2];
        Some(Self { times: u32::try_from(lengths.len()).unwrap_or(u32::MAX), median, longest })
    }
}

/// The count of each score from 1 to 5; ignores others.
pub fn tally(scores: &[u8]) -> [u32; SCORES] {
    let mut counts = [0; SCORES];
    for score in scores {
        if let Some(count) = usize::from(*score).checked_sub(1).and_then(|place| counts.get_mut(place)) {
            *count += 1;
        }
    }
    counts
}

/// The mean of tallied scores, in hundredths; `None` if there are none.
pub fn mean(counts: &[u32; SCORES]) -> Option<u32> {
    let all: u64 = counts.iter().map(|count| u64::from(*count)).sum();
    let sum: u64 = (1..).zip(counts).map(|(score, count)| score * u64::from(*count)).sum();
    (sum * 100).checked_div(all).and_then(|mean| u32::try_from(mean).ok())
}

/// A ratio in hundredths; `None` if the divisor is zero.
pub fn per(some: u32, each: u32) -> Option<u32> {
    let ratio = (u64::from(some) * 100).checked_div(each.into())?;
    Some(u32::try_from(ratio).unwrap_or(u32::MAX))
}

/// The running ratio of the first to the second number of each pair, in hundredths.
pub fn so_far(pairs: &[(u32, u32)]) -> Vec<Option<u32>> {
    let mut sums = (0u32, 0u32);
    let mut add = |(some, each): &(u32, u32)| {
        sums = (sums.0.saturating_add(*some), sums.1.saturating_add(*each));
        per(sums.0, sums.1)
    };
    pairs.iter().map(&mut add).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lengths_have_a_median_that_occurred_and_a_longest() {
        assert_eq!(Lengths::of(Vec::new()), None);
        assert_eq!(Lengths::of(vec![7]), Some(Lengths { times: 1, median: 7, longest: 7 }));
        assert_eq!(Lengths::of(vec![9, 1]), Some(Lengths { times: 2, median: 1, longest: 9 }));
        assert_eq!(Lengths::of(vec![30, 10, 20]), Some(Lengths { times: 3, median: 20, longest: 30 }));
    }

    #[test]
    fn scores_are_counted_and_have_a_mean() {
        assert_eq!(tally(&[5, 5, 1, 0, 6, 255]), [1, 0, 0, 0, 2]);
        assert_eq!(mean(&[1, 0, 0, 0, 2]), Some(366));
        assert_eq!(mean(&[0; SCORES]), None);
        assert_eq!(mean(&[0, 0, 0, 0, u32::MAX]), Some(500));
    }

    #[test]
    fn ratios_go_on_from_stretch_to_stretch() {
        assert_eq!(so_far(&[(1, 0), (0, 2), (0, 0), (2, 1)]), [None, Some(50), Some(50), Some(100)]);
        assert_eq!((per(3, 0), per(0, 4), per(u32::MAX, 1)), (None, Some(0), Some(u32::MAX)));
    }

    #[test]
    fn an_hour_has_48_buckets_of_75_seconds() {
        let hour = Stretches::new((0, 3_600_000), 48);
        let all: Vec<Span> = hour.all().collect();
        assert_eq!((all.len(), all[0], all[47]), (48, (0, 75_000), (3_525_000, 3_600_001)));
        assert_eq!(
            [-1, 0, 74_999, 75_000, 3_600_000, 3_600_001].map(|at| hour.place(at)),
            [None, Some(0), Some(0), Some(1), Some(47), None]
        );
    }

    proptest! {
        #[test]
        fn each_moment_is_in_one_bucket(begin in -500i64..500, long in 0i64..400, count in 0usize..60) {
            let stretches = Stretches::new((begin, begin + long), count);
            let all: Vec<Span> = stretches.all().collect();
            prop_assert_eq!((all[0].0, all[all.len() - 1].1), (begin, begin + long + 1));
            for at in begin - 2..=begin + long + 2 {
                let those: Vec<usize> = (0..all.len()).filter(|one| (all[*one].0..all[*one].1).contains(&at)).collect();
                prop_assert_eq!(those, stretches.place(at).into_iter().collect::<Vec<_>>());
            }
            let sorted = stretches.sorted((begin..=begin + long).map(|at| (at, at)));
            prop_assert_eq!(sorted.concat(), (begin..=begin + long).collect::<Vec<_>>());
        }

        #[test]
        fn a_mean_is_between_the_lowest_and_the_highest(scores in proptest::collection::vec(1u8..=5, 1..40)) {
            let (low, high) = (*scores.iter().min().unwrap(), *scores.iter().max().unwrap());
            let mean = mean(&tally(&scores)).unwrap();
            prop_assert!((u32::from(low) * 100..=u32::from(high) * 100).contains(&mean));
            let counted: u32 = tally(&scores).iter().sum();
            prop_assert_eq!(counted as usize, scores.len());
        }

        #[test]
        fn the_last_ratio_is_that_of_all(pairs in proptest::collection::vec((0u32..90, 0u32..90), 1..50)) {
            let sums = pairs.iter().fold((0, 0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
            prop_assert_eq!(*so_far(&pairs).last().unwrap(), per(sums.0, sums.1));
        }

        #[test]
        fn half_took_no_longer_than_the_median(lengths in proptest::collection::vec(0u64..1_000, 1..40)) {
            let found = Lengths::of(lengths.clone()).unwrap();
            let no_longer = lengths.iter().filter(|one| **one <= found.median).count();
            let longer = lengths.iter().filter(|one| **one >= found.median).count();
            prop_assert!(no_longer * 2 >= lengths.len() && longer * 2 >= lengths.len());
            prop_assert_eq!(found.longest, *lengths.iter().max().unwrap());
        }
    }
}
