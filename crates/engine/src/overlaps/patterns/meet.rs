//! Whether two patterns have a path in common.

use super::{Piece, Unit};

/// Whether a path matches both.
pub(super) fn meet(one: &[Piece], other: &[Piece]) -> bool {
    // Most patterns and paths differ in one of their first names.
    let same = one.iter().zip(other).take_while(|pair| matches!(pair, (Piece::Name(a), Piece::Name(b)) if a == b));
    let same = same.count();
    let (one, other) = (&one[same..], &other[same..]);
    match (one.first(), other.first()) {
        (Some(Piece::Name(_)), Some(Piece::Name(_))) => false,
        _ => both(one, other, |piece| matches!(piece, Piece::Deep), pieces),
    }
}

fn pieces(one: &Piece, other: &Piece) -> bool {
    match (one, other) {
        (Piece::Name(one), Piece::Name(other)) => one == other,
        (Piece::Glob(one), Piece::Glob(other)) => names(one, other),
        (Piece::Glob(glob), Piece::Name(name)) | (Piece::Name(name), Piece::Glob(glob)) => {
            let name: Vec<Unit> = name.chars().map(|c| Unit::One(vec![(c, c)])).collect();
            names(glob, &name)
        }
        (Piece::Deep, _) | (_, Piece::Deep) => true,
    }
}

fn names(one: &[Unit], other: &[Unit]) -> bool {
    both(one, other, |unit| matches!(unit, Unit::Many), units)
}

fn units(one: &Unit, other: &Unit) -> bool {
    match (one, other) {
        (Unit::One(one), Unit::One(other)) => {
            one.iter().any(|(first, last)| other.iter().any(|(from, to)| first <= to && from <= last))
        }
        (Unit::Many, _) | (_, Unit::Many) => true,
    }
}

/// Whether two sequences can stand for the same one. `many` stands for any number of items; `alike` says whether two
/// other items can be the same.
fn both<T>(one: &[T], other: &[T], many: impl Fn(&T) -> bool, alike: impl Fn(&T, &T) -> bool) -> bool {
    // From the ends: `after[j]` is whether what follows in `one` can be the same as `other[j..]`.
    let mut after: Vec<bool> = vec![false; other.len() + 1];
    after[other.len()] = true;
    for j in (0..other.len()).rev() {
        after[j] = after[j + 1] && many(&other[j]);
    }
    for item in one.iter().rev() {
        let mut here = vec![false; other.len() + 1];
        here[other.len()] = many(item) && after[other.len()];
        for j in (0..other.len()).rev() {
            here[j] = match many(item) || many(&other[j]) {
                true => after[j] || here[j + 1],
                false => after[j + 1] && alike(item, &other[j]),
            };
        }
        after = here;
    }
    after[0]
}
