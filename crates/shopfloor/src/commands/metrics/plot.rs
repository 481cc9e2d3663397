//! A row of values as a line of blocks.

const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Values as blocks in at most `width` columns; neighbours are added, or the highest is taken, when there are more.
pub(super) fn line(values: &[u64], width: usize, sums: bool) -> String {
    let columns = columns(values, width.max(1), sums);
    let most = columns.iter().copied().max().unwrap_or(0);
    let block = |value: u64| {
        // What is there at all is seen.
        let height = if value == 0 { 0 } else { (u128::from(value) * 8 / u128::from(most)).max(1) };
        BLOCKS[usize::try_from(height).unwrap_or(0)]
    };
    columns.into_iter().map(block).collect()
}

fn columns(values: &[u64], width: usize, sums: bool) -> Vec<u64> {
    let each = values.len().div_ceil(width).max(1);
    let join = |part: &[u64]| {
        if sums {
            part.iter().fold(0, |sum: u64, value| sum.saturating_add(*value))
        } else {
            part.iter().copied().max().unwrap_or(0)
        }
    };
    values.chunks(each).map(join).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_blocks() {
        assert_eq!(line(&[0, 1, 4, 8], 10, true), " ▁▄█");
        assert_eq!(line(&[0, 0], 10, true), "  ");
        assert_eq!(line(&[], 10, true), "");
        assert_eq!(line(&[1, 1, 2, 2, 4, 4], 3, true), "▂▄█", "neighbours are added");
        assert_eq!(line(&[1, 8, 1, 4], 2, false), "█▄", "or the highest is taken");
        assert_eq!(line(&[1, u64::MAX], 9, true), "▁█");
    }
}
