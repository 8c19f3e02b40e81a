//! The first fault of a policy in each thread, stored until the caller takes it.

use std::cell::RefCell;

thread_local! {
    static FAULT: RefCell<Option<Fault>> = const { RefCell::new(None) };
}

/// A fault of a policy: an answer that it must not give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The header, as the user named it.
    pub header: String,
    /// What its function did, and at which call: one sentence without the header's name.
    pub problem: String,
}

/// Removes and returns the first fault recorded in this thread since the last call; `None` if there is none. An answer out
/// of range was then treated as the worst colour or verdict.
pub fn take_fault() -> Option<Fault> {
    FAULT.with_borrow_mut(Option::take)
}

/// Records a fault of this thread unless one is recorded already; only then is `make` called.
pub(crate) fn record_first(make: impl FnOnce() -> Option<Fault>) {
    FAULT.with_borrow_mut(|first| *first = first.take().or_else(make));
}
