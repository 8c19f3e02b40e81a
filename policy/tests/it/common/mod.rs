//! Helpers that the tests of this crate share.
#![allow(dead_code)]

pub mod cases;
pub mod link;
pub mod parts;
pub mod reference;
pub mod specs;

use mousehole_policy::{
    Answer, Backlog, Colour, Counts, LinkContext, Origin, Params, Policy, State, Verdict, View, find,
    policies,
};
use std::path::PathBuf;

/// Uniform bits that are the same on every run (a 64-bit LCG, upper half).
pub struct Bits(pub u64);

impl Bits {
    /// Returns the next 32 bits.
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 32) as u32
    }

    /// Returns a uniform number in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        f64::from(self.next()) / 4294967296.0
    }

    /// Returns a uniform whole number below `n`.
    pub fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(n)) >> 32) as u32
    }

    /// Returns a number between two positive ones whose logarithm is uniform.
    pub fn spread(&mut self, low: f64, high: f64) -> f64 {
        low * libm::pow(high / low, self.uniform())
    }
}

/// Returns the fields of each row of a table in `oracle/golden`, without its header.
pub fn golden(name: &str) -> Vec<Vec<String>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../oracle/golden").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().skip(1).map(|line| line.split(',').map(str::to_string).collect()).collect()
}

/// Returns the shipped policies; other tests of this program load headers.
pub fn shipped() -> Vec<&'static Policy> {
    policies().into_iter().filter(|policy| *policy.origin() == Origin::Shipped).collect()
}

/// Returns a policy's parameters at the example link: those given, and the defaults of all others.
///
/// # Panics
/// When one is not allowed.
pub fn params(name: &str, given: &[(&str, &str)]) -> Params {
    params_at(name, given, &LinkContext::EXAMPLE)
}

/// Returns the same at this link.
pub fn params_at(name: &str, given: &[(&str, &str)], context: &LinkContext) -> Params {
    let policy = find(name).unwrap_or_else(|| panic!("no policy {name}"));
    Params::from_text(policy, given, context).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the text of the error for parameters that are not allowed at the example link.
pub fn parameter_error(name: &str, given: &[(&str, &str)]) -> String {
    parameter_error_at(name, given, &LinkContext::EXAMPLE)
}

/// Returns the same at this link.
pub fn parameter_error_at(name: &str, given: &[(&str, &str)], context: &LinkContext) -> String {
    Params::from_text(find(name).unwrap(), given, context).expect_err("must be refused").to_string()
}

/// A marker with the state that all flows share.
#[derive(Clone)]
pub struct Marker {
    pub params: Params,
    pub state: State,
}

impl Marker {
    pub fn new(params: Params) -> Marker {
        let state = params.policy().new_state();
        Marker { params, state }
    }

    pub fn new_flow(&self) -> State {
        self.params.policy().new_flow()
    }

    /// Returns the marker's answer to a packet of `flow`.
    pub fn answer(&mut self, flow: &mut State, view: &View, now_ns: u64, random: u32) -> Answer {
        let marker = self.params.policy().marker().expect("a marker");
        marker.call(&self.params, flow, &mut self.state, view, now_ns, random)
    }

    /// Returns the colour of a packet.
    ///
    /// # Panics
    /// When the marker gives none.
    pub fn packet(&mut self, flow: &mut State, view: &View, now_ns: u64, random: u32) -> Colour {
        match self.answer(flow, view, now_ns, random) {
            Answer::Colour(colour) => colour,
            other => panic!("{other:?} is no colour"),
        }
    }

    pub fn expired(&self, flow: &State, now_ns: u64) -> bool {
        self.params.policy().expired(&self.params, flow, now_ns)
    }

    pub fn flow_end(&mut self, flow: &State) {
        self.params.policy().flow_end(&self.params, flow, &mut self.state);
    }

    /// Adapts the state to the flows counted. Returns whether it took a step.
    pub fn control(&mut self, counts: Counts, now_ns: u64) -> bool {
        self.params.policy().control(&self.params, &mut self.state, &counts, now_ns)
    }

    /// Returns the class in which a flow is counted; `None` if it is not counted.
    pub fn class(&self, flow: &State) -> Option<usize> {
        let mut counts = Counts::default();
        self.params.policy().count_flow(&self.params, flow, &self.state, &mut counts);
        counts.flows.iter().position(|flows| *flows > 0)
    }

    pub fn reading(&self, name: &str) -> f64 {
        reading(&self.params, &self.state, name)
    }
}

/// A dropper with its state.
#[derive(Clone)]
pub struct Dropper {
    pub params: Params,
    pub state: State,
}

impl Dropper {
    pub fn new(params: Params) -> Dropper {
        let state = params.policy().new_state();
        Dropper { params, state }
    }

    pub fn packet(&mut self, view: &View, backlog: &Backlog, now_ns: u64, random: u32) -> Verdict {
        let dropper = self.params.policy().dropper().expect("a dropper");
        dropper.call(&self.params, &mut self.state, view, backlog, now_ns, random)
    }

    pub fn departed(&mut self, colour: Colour, after: &Backlog, now_ns: u64) {
        self.params.policy().departed(&self.params, &mut self.state, colour, after, now_ns);
    }

    pub fn reading(&self, name: &str) -> f64 {
        reading(&self.params, &self.state, name)
    }
}

/// Returns the reading of this name of a policy's state.
///
/// # Panics
/// When the policy has no such reading.
pub fn reading(params: &Params, state: &State, name: &str) -> f64 {
    let policy = params.policy();
    let at = policy.readings().iter().position(|one| *one == name);
    policy.read(params, state)[at.unwrap_or_else(|| panic!("{} shows no {name}", policy.name()))]
}
