//! Records, which are single calls of a policy, and cases, which are sequences of them to play to each build.

use mousehole_policy::{Arguments, Backlog, Counts, Function, Params, Policy, View};

/// Records of a case; `MH_CHECK_RECORDS` in `c/record.h`.
pub(crate) const RECORDS: usize = 256;
/// Flows of a case; `MH_CHECK_FLOWS`.
pub(crate) const FLOWS: usize = 4;

/// One call of a policy; `struct mh_check_record`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub(crate) struct Record {
    pub view: View,
    pub random: u32,
    pub call: Function,
    pub flow: u32,
    pub hash: u32,
    pub now_ns: u64,
    pub backlog: Backlog,
    pub counts: Counts,
}

// The parts add up: there is no padding.
const _: () = assert!(size_of::<Record>() == 16 + 4 * 4 + 8 + 56 + 16);

impl Record {
    /// Returns a call for a full-sized packet at time 0 that finds nothing waiting.
    pub fn new(call: Function) -> Record {
        Record {
            view: View::new(1500),
            random: 0,
            call,
            flow: 0,
            hash: 0,
            now_ns: 0,
            backlog: Backlog::default(),
            counts: Counts::default(),
        }
    }

    /// Makes the call natively and returns its result, 0 of a function that has none. It changes `states`, those of the
    /// flows and the shared one ([`state_words`]); panics if they are too few, or the parameters are of another policy.
    #[inline]
    pub fn play(&self, policy: &Policy, params: &Params, states: &mut [u64]) -> u64 {
        let words = policy.flow_words();
        let (flows, state) = states.split_at_mut(FLOWS * words);
        let flow = &mut flows[self.flow as usize * words..][..words];
        let with = Arguments {
            view: &self.view,
            backlog: &self.backlog,
            counts: &self.counts,
            now_ns: self.now_ns,
            random: self.random,
            hash: self.hash,
        };
        policy.call(self.call, params, flow, state, with)
    }
}

/// Returns the bytes of records, as C has them.
pub(crate) fn bytes_of(records: &[Record]) -> &[u8] {
    // SAFETY: records have no padding.
    unsafe { std::slice::from_raw_parts(records.as_ptr().cast(), size_of_val(records)) }
}

/// Returns how many words of 64 bits the states of a case have: those of [`FLOWS`] flows, then the shared one.
pub(crate) fn state_words(policy: &Policy) -> usize {
    FLOWS * policy.flow_words() + policy.state_words()
}

/// Parameters, states and records, with the native build's outcomes.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub params: Params,
    /// States before the first record.
    pub before: Vec<u64>,
    pub records: Vec<Record>,
    pub outcomes: Vec<u64>,
    /// States after the last record.
    pub after: Vec<u64>,
}
