//! Working memory that threads borrow and give back.
//!
//! Taking and giving never block: a place that another thread holds is passed over, so a forked
//! child cannot wait for a thread that it does not have, and the worst that can happen is that an
//! item is made anew.

use std::sync::Mutex;

/// How many items are kept for later.
const PLACES: usize = 16;

/// Items of `T` for reuse.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    places: [Mutex<Option<T>>; PLACES],
}

impl<T> Pool<T> {
    /// A pool that holds `item`.
    pub(crate) fn new(item: T) -> Self {
        let pool = Self { places: std::array::from_fn(|_| Mutex::new(None)) };
        pool.give(item);
        pool
    }

    /// An item, if one is at hand.
    pub(crate) fn take(&self) -> Option<T> {
        self.places.iter().find_map(|place| place.try_lock().ok()?.take())
    }

    /// Keeps `item` for later, or drops it when there is no place.
    pub(crate) fn give(&self, item: T) {
        for place in &self.places {
            if let Ok(mut place) = place.try_lock()
                && place.is_none()
            {
                *place = Some(item);
                return;
            }
        }
    }
}
