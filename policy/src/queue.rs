//! The functions of a queue, and what they answer (`queue.h`).

use crate::base::{Verdict, View};
use crate::fault::{self, Fault};
use crate::ffi::{self, RawPolicy};
use crate::params::Params;
use crate::policy::{Origin, Policy};
use crate::waiting::{AGAIN, BAND, DROPPED, FITS, HEAD, MARKED, REFUSED, Waiting};
use std::ffi::c_void;

unsafe extern "C" {
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

/// Returns how often in a row a queue with so many bands may answer nothing that leaves.
pub fn tries(bands: usize) -> u32 {
    mh_queue_entry_tries(bands as u32)
}

/// What a queue says of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// It waits in this band, marked or not.
    Band(usize, bool),
    /// It is dropped, early or forced.
    Refused(Verdict),
}

/// What a queue says when a packet is to leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The head of this band leaves, marked or not.
    Sent(usize, bool),
    /// The head of this band is dropped.
    Dropped(usize),
    /// The newest packet of this band is dropped.
    Newest(usize),
    /// Nothing; the queue is to be asked again, or nobody has to go.
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
    /// Returns the functions of a queue; `None` of the other kinds.
    pub fn queue(&'static self) -> Option<QueueFns> {
        let (enqueue, dequeue) = self.raw().enqueue.zip(self.raw().dequeue)?;
        Some(QueueFns { enqueue, dequeue, overflow: self.raw().overflow })
    }

    /// Keeps a fault of this queue for [`crate::take_fault`]: it has answered what it must not.
    pub fn refuse_answer(&self, problem: impl FnOnce() -> String) {
        let header = match self.origin() {
            Origin::Header { path, .. } => path.display().to_string(),
            Origin::Shipped => self.name().to_string(),
        };
        fault::keep(|| Some(Fault { header, problem: problem() }));
    }
}

impl QueueFns {
    /// Returns whether a packet that was taken may be dropped for another.
    pub fn overflows(&self) -> bool {
        self.overflow.is_some()
    }

    /// Returns where an arrival waits; `random` is 32 uniform bits, `hash` 32 of the packet's flow.
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

    /// Returns what leaves next.
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

    /// Returns who is dropped because too much waits.
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
