//! One run: parameters, a state and records, with what the native build makes of them.

use super::dice::Dice;
use super::plain::{Plain, bytes};
use mousehole_policy::{Backlog, ColourBacklog, NEVER, ParamError, View};

/// Records in a case; `PARITY_RECORDS` of `bpf/parity.h`.
pub const RECORDS: usize = 256;

/// Which function of the policy a record calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Call {
    /// `*_packet`, or the only one there is.
    Packet = 0,
    /// `*_departed`.
    Departed = 1,
    /// `*_expired`.
    Expired = 2,
    /// `*_flow_end`.
    FlowEnd = 16,
    /// `*_take`.
    Take = 17,
    /// `*_take_clipped`.
    TakeClipped = 18,
    /// `*_wait_ns`.
    Wait = 19,
    /// `*_percent_q16`.
    Fill = 20,
    /// `*_control`.
    Control = 3,
}

/// One call: every argument that any policy takes; same layout as `struct parity_record`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Record {
    /// The packet.
    pub view: View,
    /// 32 uniform bits.
    pub random: u32,
    /// The function called.
    pub call: Call,
    /// The time, ns.
    pub now_ns: u64,
    /// What waits.
    pub backlog: Backlog,
    /// What waits, by colour.
    pub colours: ColourBacklog,
    /// Threshold of the flow, bytes or packets.
    pub threshold: u32,
    /// Count of the flow, bytes or packets.
    pub count: u32,
}

// The parts add up: there is no padding.
const _: () = assert!(size_of::<Record>() == 16 + 2 * 4 + 8 + 24 + 40 + 2 * 4);

impl Record {
    /// A full-sized packet at time 0, nothing waiting, all else 0.
    pub fn new() -> Record {
        Record {
            view: View::new(1500),
            random: 0,
            call: Call::Packet,
            now_ns: 0,
            backlog: Backlog::new(0, 0, NEVER),
            colours: ColourBacklog::default(),
            threshold: 0,
            count: 0,
        }
    }
}

impl Default for Record {
    fn default() -> Record {
        Record::new()
    }
}

/// By what steps a parameter may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steps {
    /// One up and one down: a unit of the fixed-point format, a byte, a packet, a nanosecond.
    Unit,
    /// One up and one down, but not out of this range: kinds, modes, colours, switches.
    Within(u64, u64),
    /// One up, to at most this: what is always at its least.
    Up(u64),
    /// Each bit that is set here: switches.
    Bits(u64),
    /// By contract the policy does not read it: a change must make no difference.
    Unread,
}

/// A policy as it is put to the test. One implementation and its line in `POLICIES` adds a policy, together
/// with its `POLICY(..)` in `bpf/parity.bpf.c`.
pub trait Policy {
    /// Of the header and of the program.
    const NAME: &'static str;
    /// Of the C struct of parameters.
    const PARAMS: &'static str;
    /// Of the C struct of state.
    const STATE: &'static str;
    /// What can come out, by value.
    const OUTCOMES: &'static [&'static str];
    /// Whether chance plays a part in it.
    const RANDOM: bool = true;
    /// Parameters in natural units.
    type Spec;
    /// Parameters as the policy takes them.
    type Params: Plain;
    /// What it keeps.
    type State: Plain;

    /// Any parameters that are allowed, edges often.
    fn spec(dice: &mut Dice) -> Self::Spec;
    /// The crate's own conversion.
    fn params(spec: &Self::Spec) -> Result<Self::Params, ParamError>;
    /// Any state, edges of the parameters often.
    fn state(dice: &mut Dice, spec: &Self::Spec) -> Self::State;
    /// A call that is interesting in this state.
    fn record(dice: &mut Dice, spec: &Self::Spec, state: &Self::State) -> Record;
    /// The call, natively.
    fn call(params: &Self::Params, state: &mut Self::State, record: &Record) -> u32;
    /// How the parameter of this name may be changed.
    fn steps(field: &str) -> Steps;
}

/// One case, its types erased.
#[derive(Clone)]
pub struct Case {
    /// The struct of parameters.
    pub params: Vec<u8>,
    /// The struct of state before the first record.
    pub before: Vec<u8>,
    /// The calls.
    pub records: Box<[Record; RECORDS]>,
    /// What the native build said to each.
    pub outcomes: Vec<u32>,
    /// The native state after the last.
    pub after: Vec<u8>,
}

impl Case {
    /// The records as the kernel's program reads them.
    pub fn record_bytes(&self) -> &[u8] {
        // SAFETY: as many bytes as the records have, none of them padding.
        unsafe { std::slice::from_raw_parts(self.records.as_ptr().cast(), size_of::<Record>() * RECORDS) }
    }
}

/// A policy in the list of all.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Of the header and of the program.
    pub name: &'static str,
    /// Of the C struct of parameters.
    pub params: &'static str,
    /// Of the C struct of state.
    pub state: &'static str,
    /// What can come out, by value.
    pub outcomes: &'static [&'static str],
    /// Size of the mirrored structs, bytes: parameters, state.
    pub sizes: (usize, usize),
    /// How the parameter of this name may be changed.
    pub steps: fn(&str) -> Steps,
    /// Draws a case.
    pub draw: fn(&mut Dice) -> Case,
}

impl Entry {
    /// The entry of a policy.
    pub const fn of<P: Policy>() -> Entry {
        Entry {
            name: P::NAME,
            params: P::PARAMS,
            state: P::STATE,
            outcomes: P::OUTCOMES,
            sizes: (size_of::<P::Params>(), size_of::<P::State>()),
            steps: P::steps,
            draw: draw::<P>,
        }
    }
}

fn draw<P: Policy>(dice: &mut Dice) -> Case {
    let spec = P::spec(dice);
    let params = P::params(&spec).expect("only parameters that are allowed are drawn");
    let mut state = P::state(dice, &spec);
    let before = bytes(&state).to_vec();
    let mut records = Box::new([Record::new(); RECORDS]);
    let mut outcomes = Vec::with_capacity(RECORDS);
    for record in records.iter_mut() {
        *record = P::record(dice, &spec, &state);
        record.random = random::<P>(dice, &params, &state, record);
        outcomes.push(P::call(&params, &mut state, record));
    }
    Case { params: bytes(&params).to_vec(), before, records, outcomes, after: bytes(&state).to_vec() }
}

/// 32 bits for the record: any, an end, or on either side of the value at which the decision turns.
fn random<P: Policy>(dice: &mut Dice, params: &P::Params, state: &P::State, record: &Record) -> u32 {
    match dice.up_to(7) {
        _ if !P::RANDOM => 0,
        0..3 => dice.bits() as u32,
        3 => dice.pick(&[0, u32::MAX]),
        _ => {
            let decide = |random| P::call(params, &mut { *state }, &Record { random, ..*record });
            let last = brink(decide);
            last.map_or(dice.bits() as u32, |last| last + dice.up_to(1) as u32)
        }
    }
}

/// The last value, from 0 on, that is decided as 0 is; `None` when all 32 bits are.
fn brink(decide: impl Fn(u32) -> u32) -> Option<u32> {
    let (first, mut same, mut other) = (decide(0), 0, u32::MAX);
    if decide(other) == first {
        return None;
    }
    while other - same > 1 {
        let middle = same + (other - same) / 2;
        if decide(middle) == first { same = middle } else { other = middle }
    }
    Some(same)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn brink__is_where_the_decision_turns() {
        assert_eq!(brink(|random| u32::from(random < 1000)), Some(999));
        assert_eq!(brink(|random| u32::from(random < u32::MAX)), Some(u32::MAX - 1));
        assert_eq!(brink(|_| 3), None);
    }
}
