//! The functions of a queue, and their answers (`queue.h`).

use crate::base::{Verdict, View};
use crate::fault::{self, Fault};
use crate::ffi::{self, RawPolicy};
use crate::params::Params;
use crate::policy::{Origin, Policy};
use crate::waiting::{AGAIN, BAND, DROPPED, FITS, HEAD, MARKED, REFUSED, Waiting};
use std::ffi::c_void;

unsafe extern "C" {
    /// See queue.c. The parameters, the state and the backlog are those of this policy; state and backlog change.
    pub(crate) fn mh_queue_entry_enqueue(
        policy: *const RawPolicy,
        params: *const c_void,
        state: *mut c_void,
        waiting: *mut c_void,
        view: *const View,
        hash: u32,
        now_ns: u64,
        random: u32,
    ) -> u32;
    /// See queue.c. State and backlog of this policy change by the answer.
    pub(crate) fn mh_queue_entry_remove(
        policy: *const RawPolicy,
        overflows: u32,
        params: *const c_void,
        state: *mut c_void,
        waiting: *mut c_void,
        view: *const View,
        now_ns: u64,
        random: u32,
    ) -> u32;
    safe fn mh_queue_entry_tries(bands: u32) -> u32;
}

/// Returns how many answers in a row without a packet that leaves a queue of so many bands may give; more is a fault.
pub fn tries(bands: usize) -> u32 {
    mh_queue_entry_tries(bands as u32)
}

/// A queue's answer to an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// It waits in this band, marked or not.
    Band(usize, bool),
    /// It is dropped, early or forced.
    Refused(Verdict),
}

/// A queue's answer when a packet is to leave or to be dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The head of this band leaves, marked or not.
    Sent(usize, bool),
    /// The head of this band is dropped.
    Dropped(usize),
    /// The newest packet of this band is dropped.
    Newest(usize),
    /// No packet: `dequeue` is to be called again, or `overflow` drops none.
    Nothing,
}

/// The functions of a queue.
#[derive(Debug, Clone, Copy)]
pub struct QueueFns {
    enqueue: ffi::EnqueueFn,
    dequeue: ffi::LeaveFn,
    overflow: Option<ffi::LeaveFn>,
}

impl Policy {
    /// Returns the functions of a queue; `None` if this is a marker or dropper.
    pub fn queue(&'static self) -> Option<QueueFns> {
        let (enqueue, dequeue) = self.raw().enqueue.zip(self.raw().dequeue)?;
        Some(QueueFns { enqueue, dequeue, overflow: self.raw().overflow })
    }

    /// Records the fault that this queue has given an answer that is not allowed, for [`crate::take_fault`]. `problem` is one
    /// sentence without the header's name; it is called only if this thread has no fault yet.
    pub fn refuse_answer(&self, problem: impl FnOnce() -> String) {
        let header = match self.origin() {
            Origin::Header { path, .. } => path.display().to_string(),
            Origin::Shipped => self.name().to_string(),
        };
        fault::record_first(|| Some(Fault { header, problem: problem() }));
    }
}

impl QueueFns {
    /// Returns whether the queue may drop a packet after it was taken, by [`QueueFns::overflow`].
    pub fn overflows(&self) -> bool {
        self.overflow.is_some()
    }

    /// Calls `enqueue` for an arrival that finds `waiting`, and returns its answer. The hash of the flow and the random number
    /// are 32 uniform bits each. The answer may name a band that does not exist. The state changes; the caller queues
    /// or drops the packet and changes the backlog.
    #[inline]
    pub fn enqueue(
        &self,
        params: &Params,
        state: &mut [u64],
        waiting: &Waiting,
        view: &View,
        (hash, random): (u32, u32),
        now_ns: u64,
    ) -> Entry {
        let (pointer, state) = (waiting.pointer(), state.as_mut_ptr().cast());
        // SAFETY: parameters and state are of the policy whose function this is; it touches nothing else.
        let answer = unsafe { (self.enqueue)(params.pointer(), state, pointer, view, hash, now_ns, random) };
        match answer & REFUSED {
            0 => Entry::Band((answer & BAND) as usize, answer & MARKED != 0),
            _ => Entry::Refused(Verdict::from_c((answer & BAND).max(Verdict::Early as u32))),
        }
    }

    /// Calls `dequeue`, only while packets wait, and returns its answer, which is never `Exit::Newest` and may name a band
    /// that does not exist.
    #[inline]
    pub fn dequeue(&self, params: &Params, state: &mut [u64], waiting: &Waiting, now_ns: u64) -> Exit {
        let (pointer, state) = (waiting.pointer(), state.as_mut_ptr().cast());
        // SAFETY: as above.
        let answer = unsafe { (self.dequeue)(params.pointer(), state, pointer, now_ns) };
        let band = (answer & BAND) as usize;
        match answer & (AGAIN | DROPPED) {
            0 => Exit::Sent(band, answer & MARKED != 0),
            DROPPED => Exit::Dropped(band),
            _ => Exit::Nothing,
        }
    }

    /// Calls `overflow` and returns its answer, which is never `Exit::Sent` and may name a band that does not exist;
    /// `Exit::Nothing` if the queue has no such function.
    #[inline]
    pub fn overflow(&self, params: &Params, state: &mut [u64], waiting: &Waiting, now_ns: u64) -> Exit {
        let Some(overflow) = self.overflow else { return Exit::Nothing };
        let (pointer, state) = (waiting.pointer(), state.as_mut_ptr().cast());
        // SAFETY: as above.
        let answer = unsafe { overflow(params.pointer(), state, pointer, now_ns) };
        let band = (answer & BAND) as usize;
        match answer & (FITS | HEAD) {
            0 => Exit::Newest(band),
            HEAD => Exit::Dropped(band),
            _ => Exit::Nothing,
        }
    }
}
