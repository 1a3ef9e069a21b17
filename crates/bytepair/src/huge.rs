//! Large tables and results in pages of 2 MiB, where the system has them.
//!
//! A table that is looked up at random places costs a walk through the page tables for most of its
//! lines when its pages have 4 KiB, and a long result a call of the system for each 4 KiB of it. The
//! system must know before the memory is first written.

#![cfg_attr(
    all(target_os = "linux", not(miri)),
    expect(unsafe_code, reason = "english is encoded 1.3 times as fast")
)]

/// From this many bytes on a table is worth a large page.
#[cfg(all(target_os = "linux", not(miri)))]
const LEAST: usize = 2 << 20;

/// `len` copies of `value`, written here.
pub(crate) fn filled<T: Clone>(len: usize, value: T) -> Vec<T> {
    let mut table = with_capacity(len);
    table.resize(len, value);
    table
}

/// [`filled`], if the system has the memory.
pub(crate) fn try_filled<T: Clone>(len: usize, value: T) -> Option<Vec<T>> {
    let mut table = Vec::new();
    table.try_reserve_exact(len).ok()?;
    advise(&mut table);
    table.resize(len, value);
    Some(table)
}

/// Makes room for `more` items behind those of `items`.
pub(crate) fn reserve<T: Copy>(items: &mut Vec<T>, more: usize) {
    let mut larger = with_capacity(items.len() + more);
    larger.extend_from_slice(items);
    *items = larger;
}

/// An empty vector with room for `len` items.
///
/// ```
/// assert!(bytepair::huge::with_capacity::<u32>(1_000_000).capacity() >= 1_000_000);
/// ```
pub fn with_capacity<T>(len: usize) -> Vec<T> {
    let mut items = Vec::with_capacity(len);
    advise(&mut items);
    items
}

/// Asks for large pages under the memory of `table`, which is empty, if it is worth one. They are a
/// matter of speed alone, so it does not matter whether the system agrees.
#[cfg(all(target_os = "linux", not(miri)))]
fn advise<T>(table: &mut Vec<T>) {
    let room = table.spare_capacity_mut();
    if size_of_val(room) < LEAST {
        return;
    }
    let start = room.as_mut_ptr().addr().next_multiple_of(4096);
    let end = room.as_mut_ptr().addr() + size_of_val(room);
    if let Some(bytes) = end.checked_sub(start) {
        let first = room.as_mut_ptr().with_addr(start).cast();
        // SAFETY: the range lies in memory that `table` owns; the advice changes nothing of what it
        // holds.
        unsafe { libc::madvise(first, bytes, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(any(not(target_os = "linux"), miri))]
fn advise<T>(_: &mut Vec<T>) {}
