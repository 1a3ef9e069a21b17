//! Sorting that can be interrupted.

use std::cmp::Ordering;

use crate::error::Result;

/// Items sorted at once, without a look at the clock.
const AT_ONCE: usize = 1 << 17;

/// Sorts in place, as `sort_unstable_by` does, and calls `beat` now and then.
///
/// Halves are parted at the median, which takes linear time, until they are small.
pub(super) fn sort<T>(
    items: &mut [T],
    compare: &impl Fn(&T, &T) -> Ordering,
    beat: &mut dyn FnMut() -> Result<()>,
) -> Result<()> {
    if items.len() <= AT_ONCE {
        items.sort_unstable_by(compare);
        return beat();
    }
    let (low, _, high) = items.select_nth_unstable_by(items.len() / 2, compare);
    beat()?;
    sort(low, compare, beat)?;
    sort(high, compare, beat)
}
