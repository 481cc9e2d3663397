//! Values as a line of blocks.

const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// How to join neighbours when there are more values than columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Join {
    /// They are added.
    Sum,
    /// The highest is taken.
    Highest,
    /// Their mean is taken.
    Mean,
    /// The last is taken.
    Last,
}

/// Values as blocks in at most `width` columns, from 0 to the highest; an unknown value is a gap.
pub(super) fn line(values: &[Option<u64>], width: usize, join: Join) -> String {
    let each = values.len().div_ceil(width.max(1)).max(1);
    let columns: Vec<u64> = values.chunks(each).map(|part| joined(part, join)).collect();
    let most = columns.iter().copied().max().unwrap_or(0);
    let block = |value: u64| {
        // Every value above 0 is visible.
        let height = if value == 0 { 0 } else { (u128::from(value) * 8 / u128::from(most)).max(1) };
        BLOCKS[usize::try_from(height).unwrap_or(0)]
    };
    columns.into_iter().map(block).collect()
}

fn joined(part: &[Option<u64>], join: Join) -> u64 {
    let known = || part.iter().copied().flatten();
    let sum = || known().fold(0, |sum: u64, value| sum.saturating_add(value));
    match join {
        Join::Sum => sum(),
        Join::Highest => known().max().unwrap_or(0),
        Join::Mean => sum().checked_div(known().count() as u64).unwrap_or(0),
        Join::Last => known().last().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_blocks() {
        let line =
            |values: &[u64], width, join| line(&values.iter().copied().map(Some).collect::<Vec<_>>(), width, join);
        assert_eq!(line(&[0, 1, 4, 8], 10, Join::Sum), " ▁▄█");
        assert_eq!(line(&[0, 0], 10, Join::Sum), "  ");
        assert_eq!(line(&[], 10, Join::Sum), "");
        assert_eq!(line(&[1, 1, 2, 2, 4, 4], 3, Join::Sum), "▂▄█", "neighbours are added");
        assert_eq!(line(&[1, 8, 1, 4], 2, Join::Highest), "█▄", "or the highest is taken");
        assert_eq!(line(&[8, 4, 1, 2], 2, Join::Last), "█▄", "or the last");
        assert_eq!(line(&[1, u64::MAX], 9, Join::Sum), "▁█");
    }

    #[test]
    fn an_unknown_value_is_not_zero() {
        assert_eq!(line(&[Some(8), None, None, Some(4), None, None], 3, Join::Mean), "█▄ ");
        assert_eq!(line(&[Some(4), None, Some(8), None], 4, Join::Last), "▄ █ ");
    }
}
