//! Prefix search: which prefixes to test at once, so that the queue is expected to be empty soonest.
//!
//! A dynamic programme over (n branches wait, the first m are known to hold a failure; m = 0: nothing is known). Of the
//! tested prefixes the longest green one lands, and the shortest red one narrows the search. The first failure decides
//! both, so the expected cost of a choice is a sum over the gaps between tested prefixes, and the best choice is a
//! shortest path.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How many branches are planned for; the rest waits behind them.
pub const WINDOW: usize = 30;

/// The steps in which failure rates are told apart, so that plans can be reused.
const GRAIN: f64 = 100.0;

/// The most runs at once that a plan uses.
const MOST_AT_ONCE: usize = 8;

/// Plans for one failure rate and one number of runs at once.
#[derive(Debug)]
pub struct Search {
    /// The probability that a branch is good.
    good: f64,
    /// Expected rounds until the queue is empty, by n and m.
    rounds: Vec<Vec<f64>>,
}

impl Search {
    /// The plans for a failure rate; computed once for each percent and number of runs.
    pub fn of(failure: f64, at_once: usize) -> Arc<Self> {
        static KNOWN: Mutex<BTreeMap<(u32, usize), Arc<Search>>> = Mutex::new(BTreeMap::new());
        let percent = (failure * GRAIN).round().clamp(1.0, GRAIN - 1.0) as u32;
        let key = (percent, at_once.clamp(1, MOST_AT_ONCE));
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let compute = || Arc::new(Self::compute(f64::from(percent) / GRAIN, key.1));
        Arc::clone(known.entry(key).or_insert_with(compute))
    }

    fn compute(failure: f64, at_once: usize) -> Self {
        let mut search = Self { good: 1.0 - failure, rounds: vec![vec![0.0]] };
        for n in 1..=WINDOW {
            search.rounds.push(vec![f64::NAN; n + 1]);
            // A larger m depends on smaller ones, and m = 0 on all of them.
            for m in (1..=n).chain([0]) {
                search.rounds[n][m] = match m {
                    1 => search.rounds[n - 1][0],
                    _ => 1.0 + search.best(n, m, at_once, &[]).0,
                };
            }
        }
        search
    }

    /// Expected rounds of checks until `n` branches have landed or left, if the first `m` are known to hold a failure.
    pub fn rounds(&self, n: usize, m: usize) -> f64 {
        let n = n.min(WINDOW);
        self.rounds[n][m.min(n)]
    }

    /// The lengths of the prefixes to test at once, with at most `slots` of them. Those in `running` are being tested
    /// already and are part of the answer.
    pub fn prefixes(&self, n: usize, m: usize, slots: usize, running: &[usize]) -> Vec<usize> {
        let n = n.min(WINDOW);
        if n == 0 || m == 1 {
            return Vec::new();
        }
        self.best(n, m.min(n), slots.clamp(running.len(), MOST_AT_ONCE.max(running.len())), running).1
    }

    /// The cheapest set of prefixes, with the expected rounds after this one.
    fn best(&self, n: usize, m: usize, slots: usize, running: &[usize]) -> (f64, Vec<usize>) {
        // A prefix that holds the known failure is red; there is nothing to learn from it.
        let last = if m > 0 { m - 1 } else { n };
        let mut must: Vec<usize> = running.iter().copied().filter(|k| (1..=last).contains(k)).collect();
        must.sort_unstable();
        must.dedup();
        let blocked = |a: usize, b: usize| must.iter().any(|k| a < *k && *k < b);
        let slots = slots.max(must.len()).min(last);
        // cost[j][b]: the cheapest way to test j prefixes, the longest of which is b.
        let mut cost = vec![vec![f64::INFINITY; last + 1]; slots + 1];
        let mut from = vec![vec![0; last + 1]; slots + 1];
        cost[0][0] = 0.0;
        let (mut least, mut end) = (f64::INFINITY, (0, 0));
        for j in 0..=slots {
            for b in 0..=last {
                if j > 0 {
                    for a in (j - 1)..b.max(j - 1) {
                        let sum = cost[j - 1][a] + self.gap(n, m, a, b);
                        if sum < cost[j][b] && !blocked(a, b) {
                            cost[j][b] = sum;
                            from[j][b] = a;
                        }
                    }
                }
                let whole = cost[j][b] + self.rest(n, m, b);
                if b > 0 && whole < least - 1e-9 && must.last().is_none_or(|longest| *longest <= b) {
                    (least, end) = (whole, (j, b));
                }
            }
        }
        let mut chosen = Vec::new();
        let (mut j, mut b) = end;
        while j > 0 {
            chosen.push(b);
            b = from[j][b];
            j -= 1;
        }
        chosen.reverse();
        (least, chosen)
    }

    /// The probability that the first failure is behind the first `k`, given that it is within the first `m`.
    fn beyond(&self, m: usize, k: usize) -> f64 {
        let power = |k: usize| self.good.powi(i32::try_from(k).unwrap_or(i32::MAX));
        match m {
            0 => power(k),
            m => (power(k) - power(m)) / (1.0 - power(m)),
        }
    }

    /// The expected rounds if `a` is green and `b`, the next tested prefix, is red.
    fn gap(&self, n: usize, m: usize, a: usize, b: usize) -> f64 {
        (self.beyond(m, a) - self.beyond(m, b)) * self.rounds[n - a][b - a]
    }

    /// The expected rounds if the longest tested prefix is green.
    fn rest(&self, n: usize, m: usize, b: usize) -> f64 {
        self.beyond(m, b) * self.rounds[n - b][m.saturating_sub(b)]
    }
}
