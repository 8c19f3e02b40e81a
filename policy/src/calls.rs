//! The calls of a policy's functions, with its parameters and states.

use crate::base::{Backlog, Colour, Verdict, View};
use crate::ffi::{self, Counts};
use crate::params::{Params, State};
#[cfg(feature = "native")]
use crate::policy::Origin;
use crate::policy::Policy;

/// A marker's answer to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It gets this colour.
    Colour(Colour),
    /// Its window hint becomes this.
    Hint(u8),
    /// It is dropped.
    Discard,
}

/// States are words of 64 bits, as many as [`Policy::flow_words`] or [`Policy::state_words`] says. Parameters and states
/// must be those of this policy.
impl Policy {
    /// Returns a fresh shared state.
    pub fn new_state(&self) -> State {
        State::new(self.raw().state_bytes as usize)
    }

    /// Returns a fresh state of a flow.
    pub fn new_flow(&self) -> State {
        State::new(self.raw().flow_bytes as usize)
    }

    /// Returns the function that colours a packet; `None` if this is no marker.
    pub fn marker(&'static self) -> Option<MarkFn> {
        self.raw().mark.map(|function| MarkFn {
            function,
            returns_hint: self.returns_hint(),
            restarts: self.raw().restarts.zip(self.raw().flow_end),
        })
    }

    /// Returns the function that judges a packet; `None` if this is no dropper.
    pub fn dropper(&'static self) -> Option<DropFn> {
        self.raw().drop.map(DropFn)
    }

    /// Returns whether its function for packets reads the random number with these parameters; true of a header that
    /// does not say.
    pub fn draws(&self, params: &Params) -> bool {
        // SAFETY: the parameters are this policy's.
        self.raw().draws.is_none_or(|draws| unsafe { draws(params.pointer()) != 0 })
    }

    /// Returns whether the header defines the function behind [`Policy::draws`]. If it does not, callers must assume that
    /// the policy reads the random number.
    pub fn offers_draws(&self) -> bool {
        self.raw().draws.is_some()
    }

    /// Returns whether a flow's state may be forgotten at `now_ns`; `false` of a policy whose flows never expire. The
    /// caller then calls [`Policy::flow_end`].
    pub fn expired(&self, params: &Params, flow: &[u64], now_ns: u64) -> bool {
        // SAFETY: parameters and state are this policy's.
        self.raw()
            .expired
            .is_some_and(|expired| unsafe { expired(params.pointer(), flow.as_ptr().cast(), now_ns) != 0 })
    }

    /// Calls the header's `flow_end` for a flow that has expired, before the caller forgets it; it may change the
    /// shared state. Does nothing if the header has no such function.
    pub fn flow_end(&self, params: &Params, flow: &[u64], state: &mut [u64]) {
        if let Some(flow_end) = self.raw().flow_end {
            // SAFETY: parameters and states are this policy's.
            unsafe { flow_end(params.pointer(), flow.as_ptr().cast(), state.as_mut_ptr().cast()) }
        }
    }

    /// Returns the time between two sweeps of the caller's table of flows, ns; `None` if it is never swept.
    pub fn period_ns(&self, params: &Params) -> Option<u64> {
        // SAFETY: the parameters are this policy's.
        self.raw().period.map(|period| unsafe { period(params.pointer()) })
    }

    /// Adds a flow to the class in `counts` that the header's `classify` returns. A flow of no class is not counted, nor is
    /// any if the header has no such function.
    pub fn count_flow(&self, params: &Params, flow: &[u64], state: &[u64], counts: &mut Counts) {
        if let Some(classify) = self.raw().classify {
            // SAFETY: parameters and states are this policy's.
            let class = unsafe { classify(params.pointer(), flow.as_ptr().cast(), state.as_ptr().cast()) };
            if let Some(flows) = counts.flows.get_mut(class as usize) {
                *flows += 1;
            }
        }
    }

    /// Calls the header's `control`, which adapts the state to the flows counted. Returns whether it took a step; `false`
    /// if the header has no such function.
    pub fn control(&self, params: &Params, state: &mut [u64], counts: &Counts, now_ns: u64) -> bool {
        // SAFETY: parameters and state are this policy's.
        let step = |control: ffi::ControlFn| unsafe {
            control(params.pointer(), state.as_mut_ptr().cast(), counts, now_ns) != 0
        };
        self.raw().control.is_some_and(step)
    }

    /// Takes a packet's tokens from the states and returns 0 if it may leave now; else takes none and returns the time
    /// to wait, ns, or [`crate::NEVER`]. A policy that does not shape returns 0.
    pub fn shape(
        &self,
        params: &Params,
        flow: &mut [u64],
        state: &mut [u64],
        view: &View,
        now_ns: u64,
    ) -> u64 {
        // SAFETY: parameters and states are this policy's.
        let wait = |shape: ffi::ShapeFn| unsafe {
            shape(params.pointer(), flow.as_mut_ptr().cast(), state.as_mut_ptr().cast(), view, now_ns)
        };
        self.raw().shape.map_or(0, wait)
    }

    /// Calls a dropper's `departed`, if it has one, when a packet starts transmission and leaves `after` waiting.
    #[inline]
    pub fn departed(&self, params: &Params, state: &mut [u64], colour: Colour, after: &Backlog, now_ns: u64) {
        if let Some(departed) = self.raw().departed {
            // SAFETY: parameters and state are this policy's.
            unsafe { departed(params.pointer(), state.as_mut_ptr().cast(), colour as u32, after, now_ns) }
        }
    }

    /// Returns the readings of a state, in the order of [`Policy::readings`]; NaN for one without a value yet.
    pub fn read(&self, params: &Params, state: &[u64]) -> Vec<f64> {
        // SAFETY: parameters and state are this policy's.
        let value =
            |reading: &ffi::RawReading| unsafe { (reading.value)(params.pointer(), state.as_ptr().cast()) };
        let watched = |reading: &ffi::RawReading| match self.origin() {
            #[cfg(feature = "native")]
            Origin::Header { .. } => {
                crate::own::call_watched(self.raw().name, reading.name, || value(reading))
            }
            _ => value(reading),
        };
        self.raw_readings().iter().map(watched).collect()
    }
}

/// A marker's function for packets.
#[derive(Debug, Clone, Copy)]
pub struct MarkFn {
    function: ffi::MarkFn,
    returns_hint: bool,
    /// The functions that say whether a packet starts its flow anew, and that end the former flow.
    restarts: Option<(ffi::RestartsFn, ffi::FlowEndFn)>,
}

impl MarkFn {
    /// Returns the marker's answer to a packet of `flow`; `random` is 32 uniform bits. If the packet starts the flow anew,
    /// the header's `flow_end` is called first. States are the marker's, and change. A hint beyond 255 becomes 255.
    #[inline]
    pub fn call(
        &self,
        params: &Params,
        flow: &mut [u64],
        state: &mut [u64],
        view: &View,
        now_ns: u64,
        random: u32,
    ) -> Answer {
        match self.raw(params, flow, state, view, now_ns, random) {
            hint if self.returns_hint => Answer::Hint(hint.min(255) as u8),
            ffi::DISCARD => Answer::Discard,
            colour => Answer::Colour(Colour::from_c(colour)),
        }
    }

    /// Does the same as [`MarkFn::call`] and returns the answer as the number that C returns.
    #[inline]
    pub fn raw(
        &self,
        params: &Params,
        flow: &mut [u64],
        state: &mut [u64],
        view: &View,
        now_ns: u64,
        random: u32,
    ) -> u32 {
        if let Some((restarts, flow_end)) = self.restarts {
            let former = flow.as_ptr().cast();
            // SAFETY: parameters and states are of the policy whose functions these are; they touch nothing else.
            unsafe {
                if restarts(params.pointer(), former, view, now_ns) != 0 {
                    flow_end(params.pointer(), former, state.as_mut_ptr().cast());
                }
            }
        }
        // SAFETY: as above.
        unsafe {
            (self.function)(
                params.pointer(),
                flow.as_mut_ptr().cast(),
                state.as_mut_ptr().cast(),
                view,
                now_ns,
                random,
            )
        }
    }
}

/// A dropper's function for packets.
#[derive(Debug, Clone, Copy)]
pub struct DropFn(ffi::DropFn);

impl DropFn {
    /// Returns the verdict on an arrival that finds `backlog`; `random` is 32 uniform bits. The state changes; whoever
    /// calls queues, marks or drops the packet.
    #[inline]
    pub fn call(
        &self,
        params: &Params,
        state: &mut [u64],
        view: &View,
        backlog: &Backlog,
        now_ns: u64,
        random: u32,
    ) -> Verdict {
        // SAFETY: parameters and state are of the policy whose function this is; it touches nothing else.
        Verdict::from_c(unsafe {
            (self.0)(params.pointer(), state.as_mut_ptr().cast(), view, backlog, now_ns, random)
        })
    }
}
