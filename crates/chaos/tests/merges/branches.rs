//! The branches that are added to the queue, and what may become of each.

use rand::Rng;
use rand::rngs::StdRng;

/// What may become of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It lands.
    Lands,
    /// Its checks fail, alone as with others.
    Fails,
    /// It changes a line that others of its kind change: the first lands, the others conflict.
    Rival,
    /// Its checks fail with the other branch of this pair: one of them lands.
    Pair(usize),
    /// It is deleted while it waits: it lands before that, or is missing.
    Deleted,
    /// It is pushed to while it waits: it lands as it was or as it is.
    Moved,
}

/// A branch to make.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub(crate) name: String,
    /// The branch that it continues; the start otherwise.
    pub(crate) on: Option<String>,
    /// What it writes, by path.
    pub(crate) files: Vec<(String, String)>,
    pub(crate) fate: Fate,
}

impl Branch {
    fn new(number: usize, fate: Fate) -> Self {
        let name = format!("branch-{number}");
        let files = vec![(format!("parts/{name}.txt"), format!("the work of {name}\n"))];
        Self { name, on: None, files, fate }
    }

    /// A branch that changes nothing that others change, good or not.
    pub(crate) fn single(number: usize, good: bool) -> Self {
        match good {
            true => Self::new(number, Fate::Lands),
            false => Self::new(number, Fate::Fails).red(),
        }
    }

    fn with(mut self, path: String, text: String) -> Self {
        self.files.push((path, text));
        self
    }

    /// A file that makes the checks fail.
    fn red(self) -> Self {
        let path = format!("bad/{}.txt", self.name);
        self.with(path, "this breaks the checks\n".to_owned())
    }
}

/// The next branches to add, in the order in which they are added; `number` is that of the first.
pub(crate) fn next(random: &mut StdRng, number: usize) -> Vec<Branch> {
    let one = |fate| Branch::new(number, fate);
    match random.random_range(0..20) {
        0..=2 => vec![Branch::single(number, false)],
        3..=5 => vec![one(Fate::Rival).with("shared.txt".into(), format!("branch-{number}\n"))],
        6 => vec![one(Fate::Deleted)],
        7 => vec![one(Fate::Moved)],
        8..=9 => ["a", "b"]
            .iter()
            .enumerate()
            .map(|(at, side)| {
                let branch = Branch::new(number + at, Fate::Pair(number));
                branch.with(format!("pairs/{number}-{side}"), format!("{side}\n"))
            })
            .collect(),
        10..=12 => stack(random, number),
        13 => twins(random, number),
        _ => vec![Branch::single(number, true)],
    }
}

/// A branch and one that continues it, which may be added first and may fail.
fn stack(random: &mut StdRng, number: usize) -> Vec<Branch> {
    let lower = Branch::new(number, Fate::Lands);
    let fails = random.random_ratio(1, 2);
    let mut upper = Branch::new(number + 1, if fails { Fate::Fails } else { Fate::Lands });
    upper.on = Some(lower.name.clone());
    if fails {
        upper = upper.red();
    }
    match random.random_ratio(1, 2) {
        true => vec![upper, lower],
        false => vec![lower, upper],
    }
}

/// Two branches that change the same, for better or worse.
fn twins(random: &mut StdRng, number: usize) -> Vec<Branch> {
    let mut first = Branch::new(number, Fate::Lands);
    if random.random_ratio(1, 2) {
        first = Branch { fate: Fate::Fails, ..first.red() };
    }
    let second = Branch { name: format!("branch-{}", number + 1), ..first.clone() };
    vec![first, second]
}
