//! Declared intent: what activities reserve, and what the files of their running tasks name, against what others
//! change, reserve or name.

use domain::{ActivityId, Timestamp};

use super::patterns::Pattern;

/// Maximum number of comparisons of a path with a pattern, or of two patterns, in one call.
const COMPARED: usize = 200_000;
/// Maximum number of places of one pair.
const PLACES: usize = 50;

/// What somebody does, or says that they will do.
#[derive(Debug, Clone)]
pub struct Claim<K> {
    /// Its key.
    pub key: K,
    /// The activity that it belongs to.
    pub activity: ActivityId,
    /// Which files it is about.
    pub files: Files,
}

/// The files of a claim.
#[derive(Debug, Clone)]
pub enum Files {
    /// Reserved until then.
    Reserved {
        /// What is reserved.
        patterns: Vec<Pattern>,
        /// When the reservation ends.
        until: Timestamp,
    },
    /// Named by a running task.
    Planned(Vec<Pattern>),
    /// Changed in a workspace.
    Changed(Vec<String>),
}

impl Files {
    /// The files that a workspace changes.
    pub fn changed(mut paths: Vec<String>) -> Self {
        paths.sort_unstable();
        paths.dedup();
        Self::Changed(paths)
    }

    fn patterns(&self) -> Option<&[Pattern]> {
        match self {
            Self::Reserved { patterns, .. } | Self::Planned(patterns) => Some(patterns),
            Self::Changed(_) => None,
        }
    }

    fn is_over(&self, now: Timestamp) -> bool {
        matches!(self, Self::Reserved { until, .. } if *until <= now)
    }
}

/// Two claims that are about the same files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair<K> {
    /// One claim.
    pub one: K,
    /// The other.
    pub other: K,
    /// The files or patterns, and why they meet; never empty.
    pub places: Vec<Place>,
    /// How many places are left out.
    pub more: usize,
}

/// Where two claims meet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// A path or a pattern.
    pub path: String,
    /// An explanation.
    pub why: String,
}

/// The claims of different activities that meet at a time, where at least one of the two is only declared. Of very many
/// claims, those that come first are compared.
pub fn declared<K: Copy>(claims: &[Claim<K>], now: Timestamp) -> Vec<Pair<K>> {
    let mut left = COMPARED;
    let pairs = claims.iter().enumerate().flat_map(|(at, one)| claims[at + 1..].iter().map(move |other| (one, other)));
    pairs.filter_map(|(one, other)| pair(one, other, now, &mut left)).collect()
}

/// The same for one claim and all others.
pub fn declared_by<K: Copy>(one: &Claim<K>, others: &[Claim<K>], now: Timestamp) -> Vec<Pair<K>> {
    let mut left = COMPARED;
    others.iter().filter_map(|other| pair(one, other, now, &mut left)).collect()
}

fn pair<K: Copy>(one: &Claim<K>, other: &Claim<K>, now: Timestamp, left: &mut usize) -> Option<Pair<K>> {
    if one.activity == other.activity || one.files.is_over(now) || other.files.is_over(now) {
        return None;
    }
    let mut places = places(&one.files, &other.files, left);
    places.sort();
    places.dedup();
    let more = places.len().saturating_sub(PLACES);
    places.truncate(PLACES);
    (!places.is_empty()).then_some(Pair { one: one.key, other: other.key, places, more })
}

fn places(one: &Files, other: &Files, left: &mut usize) -> Vec<Place> {
    match (one.patterns(), other.patterns(), one, other) {
        (Some(one), Some(other), ..) => both(one, other, left),
        (Some(patterns), None, _, Files::Changed(paths)) | (None, Some(patterns), Files::Changed(paths), _) => {
            changed(patterns, paths, left)
        }
        _ => Vec::new(),
    }
}

fn both(one: &[Pattern], other: &[Pattern], left: &mut usize) -> Vec<Place> {
    let mut found = Vec::new();
    for mine in one {
        for theirs in other {
            if !spend(left) {
                return found;
            }
            if mine.meets(theirs) {
                found.push(place(mine, theirs));
            }
        }
    }
    found
}

/// Two patterns that meet, in an order that does not depend on whose they are: a path before a glob.
fn place(mine: &Pattern, theirs: &Pattern) -> Place {
    let [first, second] = match (mine.is_glob(), mine.text()) <= (theirs.is_glob(), theirs.text()) {
        true => [mine.text(), theirs.text()],
        false => [theirs.text(), mine.text()],
    };
    let why = match first == second {
        true => "declared by both".to_owned(),
        false => format!("declared by one, and as `{second}` by the other"),
    };
    Place { path: first.to_owned(), why }
}

/// The sorted paths that patterns name.
fn changed(patterns: &[Pattern], paths: &[String], left: &mut usize) -> Vec<Place> {
    let mut found = Vec::new();
    for pattern in patterns {
        let start = pattern.start();
        let first = paths.partition_point(|path| *path < start);
        for path in paths[first..].iter().take_while(|path| path.starts_with(&start)) {
            if !spend(left) {
                return found;
            }
            if pattern.names(path) {
                let why = format!("changed, and declared as `{}`", pattern.text());
                found.push(Place { path: path.clone(), why });
            }
        }
    }
    found
}

fn spend(left: &mut usize) -> bool {
    let some = *left > 0;
    *left = left.saturating_sub(1);
    some
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn patterns(texts: &[&str]) -> Vec<Pattern> {
        texts.iter().map(|text| Pattern::parse(text).unwrap()).collect()
    }

    fn reserved(key: u8, activity: ActivityId, texts: &[&str], until: i64) -> Claim<u8> {
        let until = Timestamp::from_millis(until);
        Claim { key, activity, files: Files::Reserved { patterns: patterns(texts), until } }
    }

    fn does(key: u8, activity: ActivityId, paths: &[&str]) -> Claim<u8> {
        Claim { key, activity, files: Files::changed(paths.iter().map(|path| (*path).to_owned()).collect()) }
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_reservation_meets_changes_and_declarations_of_others() {
        let [mine, theirs] = [ActivityId::generate(), ActivityId::generate()];
        let planned = Claim { key: 3, activity: theirs, files: Files::Planned(patterns(&["src/deep", "docs"])) };
        let claims = [
            reserved(1, mine, &["src/**"], 100),
            does(2, theirs, &["src/a.rs", "README.md"]),
            planned,
            reserved(4, theirs, &["README.md"], 100),
        ];
        let found = declared(&claims, at(0));
        let met: Vec<(u8, u8, &str)> =
            found.iter().map(|pair| (pair.one, pair.other, pair.places[0].path.as_str())).collect();
        assert_eq!(met, [(1, 2, "src/a.rs"), (1, 3, "src/deep")]);
        assert_eq!(found[0].places[0].why, "changed, and declared as `src/**`");
        assert_eq!(found[1].places[0].why, "declared by one, and as `src/**` by the other");
    }

    #[test]
    fn one_activity_does_not_meet_itself_and_changes_alone_are_no_declaration() {
        let [mine, theirs] = [ActivityId::generate(), ActivityId::generate()];
        let own = [reserved(1, mine, &["src/**"], 100), does(2, mine, &["src/a.rs"]), reserved(3, mine, &["src"], 100)];
        assert_eq!(declared(&own, at(0)), []);
        assert_eq!(declared(&[does(1, mine, &["a"]), does(2, theirs, &["a"])], at(0)), []);
    }

    #[test]
    fn many_places_are_counted() {
        let [mine, theirs] = [ActivityId::generate(), ActivityId::generate()];
        let paths: Vec<String> = (0..80).map(|at| format!("src/{at}.rs")).collect();
        let work = Claim { key: 2, activity: theirs, files: Files::changed(paths) };
        let found = declared(&[reserved(1, mine, &["src", "**/*.rs"], 100), work], at(0));
        assert_eq!((found[0].places.len(), found[0].more), (PLACES, 160 - PLACES));
    }

    proptest! {
        #[test]
        fn expired_reservations_never_count(until in 0..100_i64, now in 0..100_i64) {
            let [mine, theirs] = [ActivityId::generate(), ActivityId::generate()];
            let claims = [reserved(1, mine, &["src/**"], until), does(2, theirs, &["src/a.rs"])];
            prop_assert_eq!(declared(&claims, at(now)).is_empty(), until <= now);
        }

        #[test]
        fn the_order_of_claims_does_not_matter(
            texts in prop::collection::vec("[ab]/[ab*]{1,2}", 1..4),
            paths in prop::collection::vec("[ab]/[ab]{1,2}", 1..6),
        ) {
            let [mine, theirs] = [ActivityId::generate(), ActivityId::generate()];
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let claims = [reserved(1, mine, &texts, 100), does(2, theirs, &paths)];
            let turned = [claims[1].clone(), claims[0].clone()];
            let places = |claims: &[Claim<u8>]| {
                declared(claims, at(0)).into_iter().flat_map(|pair| pair.places).collect::<Vec<_>>()
            };
            prop_assert_eq!(places(&claims), places(&turned));
            let [one, other] = &claims;
            let by_one = declared_by(one, std::slice::from_ref(other), at(0));
            prop_assert_eq!(by_one, declared(&claims, at(0)));
            let expected = paths.iter().any(|path| patterns(&texts).iter().any(|one| one.names(path)));
            prop_assert_eq!(!places(&claims).is_empty(), expected);
        }
    }
}
