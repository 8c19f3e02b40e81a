//! Calls any function of a policy by its number and returns the result exactly as C does. For tools that compare builds.

use crate::base::{Backlog, View};
use crate::ffi::Counts;
use crate::params::Params;
use crate::policy::Policy;
use crate::queue::{mh_queue_entry_enqueue, mh_queue_entry_remove};
use std::ffi::c_void;

/// A function that a header may offer and that a packet, a sweep or a departure calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Function {
    /// `*_packet`; of a queue `*_enqueue`. Every policy has it.
    Packet = 0,
    /// `*_expired`.
    Expired = 1,
    /// `*_flow_end`.
    FlowEnd = 2,
    /// `*_classify`.
    Classify = 3,
    /// `*_control`.
    Control = 4,
    /// `*_shape`.
    Shape = 5,
    /// `*_departed`.
    Departed = 6,
    /// `*_restarts`.
    Restarts = 7,
    /// `*_dequeue`.
    Dequeue = 8,
    /// `*_overflow`.
    Overflow = 9,
}

impl Function {
    /// All functions, in the order of their numbers.
    pub const ALL: [Function; 10] = [
        Function::Packet,
        Function::Expired,
        Function::FlowEnd,
        Function::Classify,
        Function::Control,
        Function::Shape,
        Function::Departed,
        Function::Restarts,
        Function::Dequeue,
        Function::Overflow,
    ];

    /// Returns its name in C, without the policy's.
    pub fn name(self) -> &'static str {
        [
            "packet", "expired", "flow_end", "classify", "control", "shape", "departed", "restarts",
            "dequeue", "overflow",
        ][self as usize]
    }
}

/// The arguments of every function except parameters and states. A departure's colour is the view's. A queue holds no
/// packets here: the backlog, `struct mh_waiting`, is passed as the flow's state and changes by the answer (`queue.h`).
#[derive(Debug, Clone, Copy)]
pub struct Arguments<'a> {
    /// The packet.
    pub view: &'a View,
    /// The backlog that it finds, or of a departure the one that it leaves.
    pub backlog: &'a Backlog,
    /// Flows by class.
    pub counts: &'a Counts,
    /// The time, ns.
    pub now_ns: u64,
    /// 32 uniform bits.
    pub random: u32,
    /// 32 uniform bits of the packet's flow.
    pub hash: u32,
}

/// Pointers to the structs of a call, in the caller's memory.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    /// The complete parameters.
    pub params: *const c_void,
    /// The flow's state.
    pub flow: *mut c_void,
    /// The state that all packets share.
    pub state: *mut c_void,
}

/// Position of a parameter in the struct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Bytes from the beginning of the struct.
    pub offset: usize,
    /// Bytes it takes.
    pub bytes: usize,
    /// How many times it is written.
    pub count: usize,
    /// Bytes from one of these to the next.
    pub stride: usize,
    /// The bits of a flag or choice; else 0.
    pub mask: u32,
}

impl Policy {
    /// Returns whether the header offers a function.
    pub fn offers(&self, function: Function) -> bool {
        let raw = self.raw();
        match function {
            Function::Packet => true,
            Function::Expired => raw.expired.is_some(),
            Function::FlowEnd => raw.flow_end.is_some(),
            Function::Classify => raw.classify.is_some(),
            Function::Control => raw.control.is_some(),
            Function::Shape => raw.shape.is_some(),
            Function::Departed => raw.departed.is_some(),
            Function::Restarts => raw.restarts.is_some(),
            Function::Dequeue => raw.dequeue.is_some(),
            Function::Overflow => raw.overflow.is_some(),
        }
    }

    /// Calls a function and returns its result; 0 if it has none or is not offered. `flow` and `state` have at least
    /// [`Policy::flow_words`] and [`Policy::state_words`] words.
    ///
    /// # Panics
    /// When the parameters are of another policy, or a state is too small.
    pub fn call(
        &self,
        function: Function,
        params: &Params,
        flow: &mut [u64],
        state: &mut [u64],
        with: Arguments,
    ) -> u64 {
        assert!(std::ptr::eq(params.policy(), self), "{self:?}: parameters of {:?}", params.policy());
        assert!(flow.len() >= self.flow_words() && state.len() >= self.state_words(), "{self:?}");
        let memory = Memory {
            params: params.pointer(),
            flow: flow.as_mut_ptr().cast(),
            state: state.as_mut_ptr().cast(),
        };
        // SAFETY: parameters and states are this policy's, as asserted.
        unsafe { self.call_in(function, memory, with) }
    }

    /// Does the same as [`Policy::call`] on structs in the caller's memory, for tools that guard this memory.
    ///
    /// # Safety
    /// The structs have the sizes of [`Policy::sizes`] and are aligned, and the parameters are complete.
    pub unsafe fn call_in(&self, function: Function, memory: Memory, with: Arguments) -> u64 {
        let Arguments { view, backlog, counts, now_ns, random, hash } = with;
        let raw = self.raw();
        let Memory { params: p, flow: f, state: s } = memory;
        // SAFETY: the caller vouches for the memory.
        unsafe {
            match function {
                Function::Packet if raw.enqueue.is_some() => {
                    mh_queue_entry_enqueue(raw, p, s, f, view, hash, now_ns, random).into()
                }
                Function::Packet => match (raw.mark, raw.drop) {
                    (Some(mark), _) => mark(p, f, s, view, now_ns, random).into(),
                    (_, Some(drop)) => drop(p, s, view, backlog, now_ns, random).into(),
                    _ => 0,
                },
                Function::Expired => raw.expired.map_or(0, |expired| expired(p, f, now_ns).into()),
                Function::FlowEnd => {
                    if let Some(flow_end) = raw.flow_end {
                        flow_end(p, f, s);
                    }
                    0
                }
                Function::Classify => raw.classify.map_or(0, |classify| classify(p, f, s).into()),
                Function::Control => raw.control.map_or(0, |control| control(p, s, counts, now_ns).into()),
                Function::Shape => raw.shape.map_or(0, |shape| shape(p, f, s, view, now_ns)),
                Function::Departed => {
                    if let Some(departed) = raw.departed {
                        departed(p, s, view.colour as u32, backlog, now_ns);
                    }
                    0
                }
                Function::Restarts => raw.restarts.map_or(0, |restarts| restarts(p, f, view, now_ns).into()),
                Function::Dequeue if raw.dequeue.is_some() => {
                    mh_queue_entry_remove(raw, 0, p, s, f, view, now_ns, random).into()
                }
                Function::Overflow if raw.overflow.is_some() => {
                    mh_queue_entry_remove(raw, 1, p, s, f, view, now_ns, random).into()
                }
                Function::Dequeue | Function::Overflow => 0,
            }
        }
    }

    /// Returns the position of a parameter in the struct, by its index in the table.
    ///
    /// # Panics
    /// When there are fewer parameters.
    pub fn field(&self, index: usize) -> Field {
        let raw = &self.raw_parameters()[index];
        Field {
            offset: raw.offset as usize,
            bytes: raw.bytes as usize,
            count: raw.count as usize,
            stride: raw.stride as usize,
            mask: raw.mask,
        }
    }
}
