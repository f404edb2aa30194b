//! Cutting work into parts on block borders.

use std::ops::Range;

/// One worker's share of the blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The place of the part in the input, counted from 0; also the number of its worker.
    pub id: usize,
    /// The blocks of the part, counted over the whole input. May be empty.
    pub blocks: Range<usize>,
}

/// Cuts `blocks` blocks into `parts` parts in input order, whose sizes differ by at most one block.
///
/// The longer parts come first. With more parts than blocks the last ones are empty; there is always exactly one part
/// for each worker asked for.
pub fn split(blocks: usize, parts: usize) -> Vec<Part> {
    let Some(short) = blocks.checked_div(parts) else {
        return Vec::new();
    };
    let longer = blocks % parts;
    let mut start = 0;
    (0..parts)
        .map(|id| {
            let end = start + short + usize::from(id < longer);
            let part = Part { id, blocks: start..end };
            start = end;
            part
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parts_cover_the_blocks_in_order_and_differ_by_at_most_one(blocks in 0usize..5000, parts in 1usize..200) {
            let cut = split(blocks, parts);
            prop_assert_eq!(cut.len(), parts);
            let mut next = 0;
            for (id, part) in cut.iter().enumerate() {
                prop_assert_eq!(part.id, id);
                prop_assert_eq!(part.blocks.start, next);
                next = part.blocks.end;
            }
            prop_assert_eq!(next, blocks);
            let longest = cut.iter().map(|part| part.blocks.len()).max().unwrap_or(0);
            let shortest = cut.iter().map(|part| part.blocks.len()).min().unwrap_or(0);
            prop_assert!(longest - shortest <= 1);
        }
    }

    #[test]
    fn no_parts_is_an_empty_cut() {
        assert!(split(5, 0).is_empty());
    }

    #[test]
    fn more_parts_than_blocks_leaves_the_last_ones_empty() {
        let sizes: Vec<usize> = split(2, 4).iter().map(|part| part.blocks.len()).collect();
        assert_eq!(sizes, [1, 1, 0, 0]);
    }
}
