//! Draws random records: calls of every function that a policy offers, on states that such calls have left.
//!
//! A chain is a sequence of cases with the same parameters. It begins with fresh states and continues with those that the
//! native build leaves, so that every state can be reached. Half of the random numbers lie on either side of the value at
//! which the native decision changes (a turn); sometimes the time, a size or the backlog does.

use crate::argument::{Argument, search_range, with_argument};
use crate::chain::{Chain, draw_backlog, draw_state_word, draw_time, draw_view};
use crate::parameters;
use crate::random::Random;
use crate::record::{Case, FLOWS, RECORDS, Record, state_words};
use mousehole_policy::{Counts, Function, NEVER, Params, Policy};

/// A source of cases for one policy. The same seed gives the same cases.
pub(crate) struct Generator {
    policy: &'static Policy,
    random: Random,
    functions: Vec<Function>,
    chain: Chain,
    cases_left: u32,
    turns: u32,
    is_eager: bool,
    scratch: Vec<u64>,
    fresh: Option<Params>,
}

/// A record; if a turn of its decision was found, also the record on the other side of the turn.
pub(crate) struct Step {
    pub record: Record,
    pub other: Option<Record>,
}

impl Generator {
    /// Returns a source that looks for a turn at some records. Draws the first parameters, for which it calls the
    /// policy's set-up function in this process.
    pub fn new(policy: &'static Policy, seed: u64) -> Generator {
        let mut random = Random::new(seed);
        let functions = other_functions(policy);
        let params = parameters::draw_params(policy, &mut random);
        let draws = policy.draws(&params);
        let chain = Chain::new(policy, params, draws, &mut random, &functions);
        let scratch = vec![0; state_words(policy)];
        Generator {
            policy,
            random,
            functions,
            chain,
            cases_left: 0,
            turns: 0,
            is_eager: false,
            scratch,
            fresh: None,
        }
    }

    /// Returns a source that looks for a turn at every record that has one to look for. That costs more, and finds the rare
    /// inputs on which a small change of a parameter makes a difference.
    pub fn eager(policy: &'static Policy, seed: u64) -> Generator {
        Generator { is_eager: true, ..Generator::new(policy, seed) }
    }

    /// Draws the next case: parameters, [`RECORDS`] records, and the native build's outcomes and states. The chain goes
    /// on to those states.
    pub fn draw_case(&mut self) -> Case {
        self.begin_case();
        let before = self.chain.states.clone();
        let (mut records, mut outcomes) = (Vec::with_capacity(RECORDS), Vec::with_capacity(RECORDS));
        for _ in 0..RECORDS {
            let record = self.draw_step().record;
            outcomes.push(self.apply(&record));
            records.push(record);
        }
        Case {
            params: self.chain.params.clone(),
            before,
            records,
            outcomes,
            after: self.chain.states.clone(),
        }
    }

    /// Draws the records of a case without calling the policy; the parameters need not be set up.
    pub fn draw_blind(policy: &'static Policy, params: &Params, seed: u64) -> Vec<Record> {
        let mut random = Random::new(seed);
        let functions = other_functions(policy);
        let chain = Chain::new(policy, params.clone(), false, &mut random, &functions);
        let scratch = vec![0; state_words(policy)];
        let mut generator = Generator {
            policy,
            random,
            functions,
            chain,
            cases_left: 1,
            turns: 0,
            is_eager: false,
            scratch,
            fresh: None,
        };
        let mut records = Vec::with_capacity(RECORDS);
        for _ in 0..RECORDS {
            let record = generator.draw();
            generator.chain.now_ns = generator.chain.now_ns.max(record.now_ns.min(LATEST_NS));
            records.push(record);
        }
        records
    }

    /// Starts a case: continues the chain or starts another one. Chains in which many turns were found last longer, those
    /// without any end sooner.
    pub fn begin_case(&mut self) {
        let turns = std::mem::take(&mut self.turns);
        if self.cases_left == 0 && turns > MANY_TURNS && !self.random.one_in(4) {
            self.cases_left = 16;
        } else if turns == 0 && !self.is_eager && self.random.one_in(2) {
            self.cases_left = 0;
        }
        if self.cases_left == 0 {
            self.cases_left = self.random.pick(&[1, 1, 4, 16, 64]);
            let params =
                self.fresh.take().unwrap_or_else(|| parameters::draw_params(self.policy, &mut self.random));
            let draws = self.policy.draws(&params);
            self.chain = Chain::new(self.policy, params, draws, &mut self.random, &self.functions);
        }
        self.cases_left -= 1;
    }

    /// Draws parameters, for which it calls the policy's set-up function in this process, and starts a chain with them for
    /// `cases` cases; [`Self::resume`] says when it lasts longer or ends sooner.
    pub fn start_chain(&mut self, cases: u32) {
        let params = parameters::draw_params(self.policy, &mut self.random);
        let draws = self.policy.draws(&params);
        let chain = Chain::new(self.policy, params, draws, &mut self.random, &self.functions);
        self.resume(chain, cases);
    }

    /// Continues with this chain for `cases` cases. A chain with many turns may go on after them;
    /// unless the generator is eager, one that has a case without a turn may end sooner.
    pub fn resume(&mut self, chain: Chain, cases: u32) {
        (self.chain, self.cases_left, self.turns) = (chain, cases, 1);
    }

    /// Returns a copy of the chain.
    pub fn chain(&self) -> Chain {
        self.chain.clone()
    }

    /// Has the next case start a chain with these parameters.
    #[cfg(test)]
    pub fn use_params(&mut self, params: Params) {
        (self.fresh, self.cases_left) = (Some(params), 0);
    }

    /// Returns the chain's parameters.
    pub fn params(&self) -> &Params {
        &self.chain.params
    }

    /// Returns the chain's states, as those of a [`Case`].
    pub fn states(&self) -> &[u64] {
        &self.chain.states
    }

    /// Draws the next record, for which it may call the policy on copies of the states; [`Generator::apply`] plays it.
    pub fn draw_step(&mut self) -> Step {
        let record = self.draw();
        let Some(argument) = self.draw_argument(record.call) else { return Step { record, other: None } };
        let turn = self.find_turn(&record, argument);
        self.turns += u32::from(turn.is_some());
        match turn {
            Some((one, other)) if self.random.one_in(2) => Step { record: one, other: Some(other) },
            Some((one, other)) => Step { record: other, other: Some(one) },
            None => Step { record, other: None },
        }
    }

    /// Plays a record natively on the chain's states, which change, and returns the outcome. The chain's time becomes
    /// the record's if that is later.
    pub fn apply(&mut self, record: &Record) -> u64 {
        self.chain.now_ns = self.chain.now_ns.max(record.now_ns.min(LATEST_NS));
        record.play(self.policy, &self.chain.params, &mut self.chain.states)
    }

    /// Draws a record at the chain's time and states, without calling the policy.
    fn draw(&mut self) -> Record {
        let (random, chain) = (&mut self.random, &self.chain);
        let style = &chain.style;
        let is_packet = self.functions.is_empty() || random.up_to(7) < style.packets_in_8;
        let call = if is_packet { Function::Packet } else { random.pick(&self.functions) };
        let flow = if style.one_flow || self.policy.bands() > 0 {
            0
        } else {
            random.up_to(FLOWS as u64 - 1) as usize
        };
        let word = draw_state_word(self.policy, &chain.states, flow, random);
        let now_ns = draw_time(chain, word, random);
        let mut record =
            Record { flow: flow as u32, now_ns, random: random.bits() as u32, ..Record::new(call) };
        if self.policy.reads_flows() {
            record.hash = random.bits() as u32;
        }
        record.view = draw_view(chain, word, random);
        if self.policy.dropper().is_some() {
            record.backlog = draw_backlog(chain, word, now_ns, random);
        }
        if call == Function::Control {
            let mut count = || if random.one_in(3) { 0 } else { random.spread(u32::MAX.into()) as u32 };
            record.counts = Counts { flows: [count(), count(), count(), count()] };
        }
        record
    }

    /// Draws the argument along which to look for a turn at a call; `None` if no turn is to be looked for, or the
    /// function has no such argument.
    fn draw_argument(&mut self, call: Function) -> Option<Argument> {
        use Argument::*;
        let random = &mut self.random;
        let is_packet = call == Function::Packet;
        if is_packet && self.chain.draws && random.one_in(2) {
            return Some(Random);
        }
        let rare = if self.scratch.len() > 256 { 12 } else { 4 };
        if !self.is_eager && !random.one_in(rare) {
            return None;
        }
        let is_dropper = self.policy.dropper().is_some();
        Some(match call {
            Function::Packet if is_dropper => {
                random.pick(&[Now, Size, Hint, Bytes, Bytes, Bytes, Packets, Packets])
            }
            Function::Packet => random.pick(&[Now, Now, Size, Segments, Hint, Sequence]),
            Function::Shape => random.pick(&[Now, Size]),
            Function::Departed => random.pick(&[Now, Packets]),
            Function::Control => random.pick(&[Now, Count(0), Count(1), Count(2), Count(3)]),
            Function::Expired | Function::Restarts | Function::Dequeue => Now,
            Function::FlowEnd | Function::Classify | Function::Overflow => return None,
        })
    }

    /// Returns two records that differ by one in an argument and of which the native build decides differently, found by
    /// bisection; `None` if it decides alike at both ends of the range searched. Draws the range from the random
    /// stream; the chain's states stay.
    fn find_turn(&mut self, record: &Record, argument: Argument) -> Option<(Record, Record)> {
        let (mut same, mut other) = search_range(record, argument, &mut self.random);
        let first = self.decide(&with_argument(record, argument, same), argument);
        if same >= other || self.decide(&with_argument(record, argument, other), argument) == first {
            return None;
        }
        while other - same > 1 {
            let middle = same + (other - same) / 2;
            if self.decide(&with_argument(record, argument, middle), argument) == first {
                same = middle;
            } else {
                other = middle;
            }
        }
        Some((with_argument(record, argument, same), with_argument(record, argument, other)))
    }

    /// Plays a record on a copy of the states and returns a number that stands for the decision. If the argument is
    /// `Random`, it is the outcome; otherwise a hash of the outcome and of whether each of the first 16 words of the flow's
    /// and of the shared state fell, stayed or rose.
    fn decide(&mut self, record: &Record, argument: Argument) -> u64 {
        self.scratch.copy_from_slice(&self.chain.states);
        let outcome = record.play(self.policy, &self.chain.params, &mut self.scratch);
        let outcome =
            if record.call == Function::Shape && outcome != NEVER { outcome.min(1) } else { outcome };
        if matches!(argument, Argument::Random) {
            return outcome;
        }
        let words = self.policy.flow_words();
        let ranges = [
            record.flow as usize * words..(record.flow as usize + 1) * words,
            FLOWS * words..self.scratch.len(),
        ];
        ranges.into_iter().fold(outcome, |sum, range| {
            let pairs = self.chain.states[range.clone()].iter().zip(&self.scratch[range]).take(16);
            pairs.fold(sum, |sum, (before, after)| {
                sum.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(before.cmp(after) as u64)
            })
        })
    }
}

/// Returns the functions that a policy offers in addition to `packet`.
fn other_functions(policy: &Policy) -> Vec<Function> {
    Function::ALL[1..].iter().copied().filter(|function| policy.offers(*function)).collect()
}

/// Turns in a case of 256 records beyond which its chain lasts longer.
const MANY_TURNS: u32 = 24;

/// The latest time of a chain, ns, so that its times do not reach the end of 64 bits; records may be later.
const LATEST_NS: u64 = 1 << 60;

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use mousehole_policy::{View, find, policies};

    #[test]
    fn cases__repeat_by_seed_and_go_on_from_each_other() {
        for policy in policies() {
            let (mut one, mut other) = (Generator::new(policy, 3), Generator::new(policy, 3));
            let mut went_on = 0;
            for _ in 0..20 {
                let (a, b) = (one.draw_case(), other.draw_case());
                assert_eq!((&a.records, &a.outcomes, &a.after), (&b.records, &b.outcomes, &b.after));
                went_on += usize::from(a.before.iter().any(|word| *word != 0));
            }
            assert!(went_on > 0 || state_words(policy) == 0, "{}: every case is fresh", policy.name());
        }
    }

    #[test]
    fn cases__reach_every_verdict() {
        for name in ["red", "multi-red", "shred"] {
            let mut generator = Generator::new(find(name).unwrap(), 1);
            let outcomes: Vec<u64> = (0..400).flat_map(|_| generator.draw_case().outcomes).collect();
            assert!((0..4).all(|verdict| outcomes.contains(&verdict)), "{name}");
        }
    }

    #[test]
    fn find_turn__is_where_the_decision_changes() {
        let policy = find("window-marker").unwrap();
        let mut generator = Generator::new(policy, 1);
        let given = [("high", "4"), ("med", "8"), ("randomised", "true")];
        generator
            .use_params(Params::from_text(policy, &given, &mousehole_policy::LinkContext::EXAMPLE).unwrap());
        generator.begin_case();
        let mut record = Record::new(Function::Packet);
        record.view = View::new(1500).with_window(8);
        let (one, other) = generator.find_turn(&record, Argument::Random).unwrap();
        assert_eq!((one.random, other.random), ((1 << 31) - 1, 1 << 31)); // green below H / W
    }
}
