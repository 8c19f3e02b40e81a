//! The calls of a policy's functions, with its parameters and states.

use crate::base::{Backlog, Colour, Verdict, View};
use crate::ffi::{self, Counts};
use crate::params::{Params, State};
#[cfg(feature = "native")]
use crate::policy::Origin;
use crate::policy::Policy;

/// What a marker says of a packet. States are words, as many as [`Policy::flow_words`] or [`Policy::state_words`] says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It gets this colour.
    Colour(Colour),
    /// Its window hint becomes this.
    Hint(u8),
    /// It is dropped.
    Discard,
}

impl Policy {
    /// Returns a fresh shared state.
    pub fn new_state(&self) -> State {
        State::new(self.raw().state_bytes as usize)
    }

    /// Returns a fresh state of a flow.
    pub fn new_flow(&self) -> State {
        State::new(self.raw().flow_bytes as usize)
    }

    /// Returns the function that colours a packet; `None` of a dropper.
    pub fn marker(&'static self) -> Option<MarkFn> {
        self.raw().mark.map(|function| MarkFn {
            function,
            returns_hint: self.returns_hint(),
            restarts: self.raw().restarts.zip(self.raw().flow_end),
        })
    }

    /// Returns the function that judges a packet; `None` of a marker.
    pub fn dropper(&'static self) -> Option<DropFn> {
        self.raw().drop.map(DropFn)
    }

    /// Returns whether it reads its random number with these parameters.
    pub fn draws(&self, params: &Params) -> bool {
        // SAFETY: the parameters are this policy's.
        self.raw().draws.is_none_or(|draws| unsafe { draws(params.pointer()) != 0 })
    }

    /// Returns whether it offers the function behind [`Policy::draws`]; without it, it may always read the number.
    pub fn says_whether_it_draws(&self) -> bool {
        self.raw().draws.is_some()
    }

    /// Returns whether a flow's state may be forgotten; `false` of a policy whose flows never expire.
    pub fn expired(&self, params: &Params, flow: &[u64], now_ns: u64) -> bool {
        // SAFETY: parameters and state are this policy's.
        self.raw()
            .expired
            .is_some_and(|expired| unsafe { expired(params.pointer(), flow.as_ptr().cast(), now_ns) != 0 })
    }

    /// Tells the policy that a flow has expired and will be forgotten.
    pub fn flow_end(&self, params: &Params, flow: &[u64], state: &mut [u64]) {
        if let Some(flow_end) = self.raw().flow_end {
            // SAFETY: parameters and states are this policy's.
            unsafe { flow_end(params.pointer(), flow.as_ptr().cast(), state.as_mut_ptr().cast()) }
        }
    }

    /// Returns how often its table is to be swept, ns; `None` if never.
    pub fn period_ns(&self, params: &Params) -> Option<u64> {
        // SAFETY: the parameters are this policy's.
        self.raw().period.map(|period| unsafe { period(params.pointer()) })
    }

    /// Counts a flow into the class that the header's `classify` returns; without that function it is not counted.
    pub fn count(&self, params: &Params, flow: &[u64], state: &[u64], counts: &mut Counts) {
        if let Some(classify) = self.raw().classify {
            // SAFETY: parameters and states are this policy's.
            let class = unsafe { classify(params.pointer(), flow.as_ptr().cast(), state.as_ptr().cast()) };
            if let Some(flows) = counts.flows.get_mut(class as usize) {
                *flows += 1;
            }
        }
    }

    /// Adapts the state to the flows counted. Returns whether it took a step.
    pub fn control(&self, params: &Params, state: &mut [u64], counts: &Counts, now_ns: u64) -> bool {
        // SAFETY: parameters and state are this policy's.
        let step = |control: ffi::ControlFn| unsafe {
            control(params.pointer(), state.as_mut_ptr().cast(), counts, now_ns) != 0
        };
        self.raw().control.is_some_and(step)
    }

    /// Returns 0 if a packet may leave now, whose tokens it takes; else the time to wait, ns, or [`crate::NEVER`]. A
    /// policy that does not shape lets everything go.
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

    /// Tells a dropper that a packet started transmission and left `after` waiting.
    #[inline]
    pub fn departed(&self, params: &Params, state: &mut [u64], colour: Colour, after: &Backlog, now_ns: u64) {
        if let Some(departed) = self.raw().departed {
            // SAFETY: parameters and state are this policy's.
            unsafe { departed(params.pointer(), state.as_mut_ptr().cast(), colour as u32, after, now_ns) }
        }
    }

    /// Returns the numbers it shows of its state, in the order of [`Policy::readings`]; NaN for none yet.
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
    /// Whether a packet starts its flow anew, and what is to be told of the flow before.
    restarts: Option<(ffi::RestartsFn, ffi::FlowEndFn)>,
}

impl MarkFn {
    /// Returns what the marker says of a packet of `flow`; `random` is 32 uniform bits. A flow that the packet starts
    /// anew has ended before.
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

    /// Returns the same as C does.
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
    /// Returns the verdict on an arrival that finds `backlog`; `random` is 32 uniform bits.
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
