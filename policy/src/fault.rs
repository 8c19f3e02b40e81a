//! What an own policy did wrong in a thread, until the caller asks for it.

use std::cell::RefCell;

thread_local! {
    static FAULT: RefCell<Option<Fault>> = const { RefCell::new(None) };
}

/// What an own policy did wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The header, as the user named it.
    pub header: String,
    /// What its function did, and at which call: one sentence without the header's name.
    pub problem: String,
}

/// Returns the first answer out of range that an own policy has given in this thread since the last call of this. The
/// colour or verdict was then taken for the worst one.
pub fn take_fault() -> Option<Fault> {
    FAULT.with_borrow_mut(Option::take)
}

/// Keeps a fault of this thread, which is made only if none is kept yet.
pub(crate) fn keep(make: impl FnOnce() -> Option<Fault>) {
    FAULT.with_borrow_mut(|kept| *kept = kept.take().or_else(make));
}
