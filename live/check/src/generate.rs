//! Random records: calls of every function a policy offers, on states that such calls have left.
//!
//! A chain is a sequence of cases with the same parameters. It begins with fresh states and goes on from what the
//! native build makes of them, so that every state is one that a policy can come to. Half of the random numbers lie
//! on either side of the value at which the native decision turns; sometimes the time, a size or the backlog does.

use crate::parameters;
use crate::random::Random;
use crate::record::{Case, FLOWS, RECORDS, Record, state_words};
use mousehole_policy::{Application, Backlog, Colour, Counts, Function, NEVER, Params, Policy, View};

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

/// Parameters and where they have led.
#[derive(Clone)]
pub(crate) struct Chain {
    params: Params,
    draws: bool,
    states: Vec<u64>,
    now_ns: u64,
    constants: Vec<u64>,
    style: Style,
}

/// How the records of a chain are drawn: the scale of each argument.
#[derive(Clone)]
struct Style {
    packets_in_8: u64,
    one_flow: bool,
    plain_flags: bool,
    plain_segments: bool,
    one_colour: bool,
    time: u64,
    size: u32,
    backlog: u32,
    bytes_each: u64,
}

/// A record, and the one on the other side of the turn of a decision, where one was looked for and found.
pub(crate) struct Step {
    pub record: Record,
    pub other: Option<Record>,
}

/// An argument along which a turn is looked for.
#[derive(Clone, Copy)]
enum Argument {
    Random,
    Now,
    Size,
    Segments,
    Hint,
    Sequence,
    Bytes,
    Packets,
    Count(usize),
}

impl Generator {
    pub fn new(policy: &'static Policy, seed: u64) -> Generator {
        let mut random = Random::new(seed);
        let functions = beside_packet(policy);
        let params = parameters::draw(policy, &mut random);
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

    /// Returns a source that looks for a turn at nearly every record. That costs more, and finds the rare inputs on
    /// which a small change of a parameter tells.
    pub fn eager(policy: &'static Policy, seed: u64) -> Generator {
        Generator { is_eager: true, ..Generator::new(policy, seed) }
    }

    /// Returns the next case.
    pub fn case(&mut self) -> Case {
        self.begin_case();
        let before = self.chain.states.clone();
        let (mut records, mut outcomes) = (Vec::with_capacity(RECORDS), Vec::with_capacity(RECORDS));
        for _ in 0..RECORDS {
            let record = self.step().record;
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

    /// Returns the records of a case drawn without calling the policy, from parameters that were not set up.
    pub fn blind(policy: &'static Policy, params: &Params, seed: u64) -> Vec<Record> {
        let mut random = Random::new(seed);
        let functions = beside_packet(policy);
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

    /// Starts a case: goes on with the chain, or begins another one. A chain in which decisions turn is worth more than
    /// one in which none does.
    pub fn begin_case(&mut self) {
        let turns = std::mem::take(&mut self.turns);
        if self.cases_left == 0 && turns > MANY_TURNS && !self.random.one_in(4) {
            self.cases_left = 16;
        } else if turns == 0 && !self.is_eager && self.random.one_in(2) {
            self.cases_left = 0;
        }
        if self.cases_left == 0 {
            self.cases_left = self.random.pick(&[1, 1, 4, 16, 64]);
            let params = self.fresh.take().unwrap_or_else(|| parameters::draw(self.policy, &mut self.random));
            let draws = self.policy.draws(&params);
            self.chain = Chain::new(self.policy, params, draws, &mut self.random, &self.functions);
        }
        self.cases_left -= 1;
    }

    /// Begins another chain with the next case, and keeps to it for so many cases at the least.
    pub fn leave_chain(&mut self, cases: u32) {
        let params = parameters::draw(self.policy, &mut self.random);
        let draws = self.policy.draws(&params);
        let chain = Chain::new(self.policy, params, draws, &mut self.random, &self.functions);
        self.resume(chain, cases);
    }

    /// Goes on with a chain for so many cases.
    pub fn resume(&mut self, chain: Chain, cases: u32) {
        (self.chain, self.cases_left, self.turns) = (chain, cases, 1);
    }

    /// Returns the chain as it is now.
    pub fn chain(&self) -> Chain {
        self.chain.clone()
    }

    /// Makes the next chain one with these parameters.
    #[cfg(test)]
    pub fn use_params(&mut self, params: Params) {
        (self.fresh, self.cases_left) = (Some(params), 0);
    }

    pub fn params(&self) -> &Params {
        &self.chain.params
    }

    pub fn states(&self) -> &[u64] {
        &self.chain.states
    }

    /// Returns the next record, which has not been played yet.
    pub fn step(&mut self) -> Step {
        let record = self.draw();
        let Some(argument) = self.argument(record.call) else { return Step { record, other: None } };
        let turn = self.turn(&record, argument);
        self.turns += u32::from(turn.is_some());
        match turn {
            Some((one, other)) if self.random.one_in(2) => Step { record: one, other: Some(other) },
            Some((one, other)) => Step { record: other, other: Some(one) },
            None => Step { record, other: None },
        }
    }

    /// Plays a record natively and goes on from there.
    pub fn apply(&mut self, record: &Record) -> u64 {
        self.chain.now_ns = self.chain.now_ns.max(record.now_ns.min(LATEST_NS));
        record.play(self.policy, &self.chain.params, &mut self.chain.states)
    }

    fn draw(&mut self) -> Record {
        let (random, chain) = (&mut self.random, &self.chain);
        let style = &chain.style;
        let is_packet = self.functions.is_empty() || random.up_to(7) < style.packets_in_8;
        let call = if is_packet { Function::Packet } else { random.pick(&self.functions) };
        let flow = if style.one_flow { 0 } else { random.up_to(FLOWS as u64 - 1) as usize };
        let word = word_of_state(self.policy, &chain.states, flow, random);
        let now_ns = moment(chain, word, random);
        let mut record =
            Record { flow: flow as u32, now_ns, random: random.bits() as u32, ..Record::new(call) };
        record.view = view(chain, word, random);
        if self.policy.dropper().is_some() {
            record.backlog = backlog(chain, word, now_ns, random);
        }
        if call == Function::Control {
            let mut count = || if random.one_in(3) { 0 } else { random.spread(u32::MAX.into()) as u32 };
            record.counts = Counts { flows: [count(), count(), count(), count()] };
        }
        record
    }

    /// Returns the argument along which to look for a turn; `None` for most records that do not depend on chance.
    fn argument(&mut self, call: Function) -> Option<Argument> {
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
            Function::Expired => Now,
            Function::FlowEnd | Function::Classify => return None,
        })
    }

    /// Returns two records that differ by one in an argument, between which the native decision turns.
    fn turn(&mut self, record: &Record, argument: Argument) -> Option<(Record, Record)> {
        let (mut same, mut other) = range(record, argument, &mut self.random);
        let first = self.decision(&with(record, argument, same), argument);
        if same >= other || self.decision(&with(record, argument, other), argument) == first {
            return None;
        }
        while other - same > 1 {
            let middle = same + (other - same) / 2;
            if self.decision(&with(record, argument, middle), argument) == first {
                same = middle;
            } else {
                other = middle;
            }
        }
        Some((with(record, argument, same), with(record, argument, other)))
    }

    /// Returns a number that tells decisions apart: the outcome and, unless chance is looked at, whether each of the
    /// first words of the states fell, stayed or rose.
    fn decision(&mut self, record: &Record, argument: Argument) -> u64 {
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

/// Returns the functions that a policy offers beside `packet`.
fn beside_packet(policy: &Policy) -> Vec<Function> {
    Function::ALL[1..].iter().copied().filter(|function| policy.offers(*function)).collect()
}

/// So many turns in a case of 256 records are many.
const MANY_TURNS: u32 = 24;

/// Times beyond this one are played but not gone on from, so that a chain keeps room.
const LATEST_NS: u64 = 1 << 60;

impl Chain {
    fn new(
        policy: &Policy,
        params: Params,
        draws: bool,
        random: &mut Random,
        functions: &[Function],
    ) -> Chain {
        let constants = constants(&params);
        let style = Style::draw(random, &constants, functions);
        let later = random.spread(1 << 50);
        Chain {
            draws,
            states: vec![0; state_words(policy)],
            now_ns: random.pick(&[0, later]),
            params,
            constants,
            style,
        }
    }
}

impl Style {
    fn draw(random: &mut Random, constants: &[u64], functions: &[Function]) -> Style {
        let constant = random.pick(constants);
        let (steps, sizes) = (1 << random.up_to(45), 1u64 << random.up_to(31));
        let (time, size) = (random.pick(&[steps, constant]), random.pick(&[2048, sizes, constant]));
        let (small, few) = (1 << random.up_to(20), random.pick(constants) >> random.pick(&[0, 32]));
        Style {
            packets_in_8: if functions.is_empty() { 8 } else { random.pick(&[2, 6, 7]) },
            one_flow: random.one_in(3),
            plain_flags: random.one_in(2),
            plain_segments: !random.one_in(3),
            one_colour: random.one_in(2),
            time: time.clamp(1, 1 << 45),
            size: size.clamp(1, u32::MAX.into()) as u32,
            backlog: random.pick(&[64, small, few]).clamp(1, 1 << 21) as u32,
            bytes_each: random.pick(&[40, 1000, 1500, 32768, 65535]),
        }
    }
}

/// Returns the numbers that stand in the parameters' struct, read in every way: edges of decisions.
fn constants(params: &Params) -> Vec<u64> {
    let bytes = params.bytes();
    let words = bytes.chunks(8).map(|chunk| {
        let mut whole = [0; 8];
        whole[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(whole)
    });
    let mut all: Vec<u64> = words.flat_map(|word| [word, word >> 32, word & 0xffff_ffff]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns some word of the states that a call sees, or a half of it; 0 where there is none.
fn word_of_state(policy: &Policy, states: &[u64], flow: usize, random: &mut Random) -> u64 {
    let words = policy.flow_words();
    let shared = FLOWS * words;
    let in_flow = words > 0 && (states.len() == shared || random.one_in(2));
    let at = match in_flow {
        true => flow * words + random.up_to(words as u64 - 1) as usize,
        false if states.len() == shared => return 0,
        false => shared + random.up_to((states.len() - shared - 1).min(15) as u64) as usize,
    };
    let word = states[at];
    random.pick(&[word, word, word >> 32, word & 0xffff_ffff])
}

/// Returns a time: mostly later by a step of the chain's scale, sometimes a constant after a time in the state.
fn moment(chain: &Chain, word: u64, random: &mut Random) -> u64 {
    let now_ns = chain.now_ns;
    let step = random.spread(chain.style.time);
    match random.up_to(11) {
        0 | 1 => now_ns,
        2 => now_ns.saturating_sub(step),
        3 | 4 => {
            let constant = random.pick(&chain.constants);
            let at = random.near(word.saturating_add(constant));
            if at.abs_diff(now_ns) < 1 << 50 { at } else { now_ns }
        }
        5 => now_ns + random.up_to(1),
        _ => now_ns + step,
    }
}

fn view(chain: &Chain, word: u64, random: &mut Random) -> View {
    let style = &chain.style;
    let constant = random.pick(&chain.constants);
    let constant = random.near(constant);
    let (common, any) = (random.pick(&[40, 576, 1000, 1500]), random.spread(style.size.into()));
    let size = random.pick(&[common, common, any, any, any, constant, 0, u32::MAX.into()]);
    let (few_segments, few, many) = (random.spread(64) as u16, random.spread(300), random.spread(65535));
    let segments = if style.plain_segments { 1 } else { random.pick(&[0, 1, 2, few_segments, u16::MAX]) };
    let hint = random.pick(&[0, 1, few, many, constant]);
    let sequence = [word, random.near(word.wrapping_add(constant)), word.wrapping_add(any), random.bits()];
    let flags = match random.up_to(15) {
        0 => random.bits() as u8,
        1 => random.pick(&[View::SYN, View::ACK, View::IN_RECOVERY, View::REVERSE]),
        _ if style.plain_flags => random.up_to(1) as u8 * View::ECT,
        2..6 => random.pick(&[View::REVERSE, View::ACK, View::REVERSE | View::ACK]),
        _ => random.up_to(1) as u8 * View::ECT,
    };
    View::new(clamped(size))
        .with_application(application(random))
        .with_segments(segments)
        .with_window(hint.min(65535) as u16)
        .with_colour(random.pick(&Colour::ALL))
        .with_flags(flags)
        .with_sequence(random.pick(&sequence) as u32)
}

fn application(random: &mut Random) -> Application {
    random.pick(&[
        Application::Unknown,
        Application::Unknown,
        Application::Interactive,
        Application::Web,
        Application::Bulk,
    ])
}

/// Returns a queue: empty, as long as the state's or a parameter's number, or of the chain's scale.
fn backlog(chain: &Chain, word: u64, now_ns: u64, random: &mut Random) -> Backlog {
    let style = &chain.style;
    let mut backlog = Backlog::default();
    if random.one_in(4) {
        let earlier = now_ns.saturating_sub(random.spread(style.time));
        backlog.idle_since_ns = random.pick(&[0, earlier, earlier, word.min(now_ns), now_ns, NEVER]);
        return backlog;
    }
    let constant = random.pick(&chain.constants);
    let constant = random.near(constant);
    let any = random.spread(style.backlog.into());
    for colour in Colour::ALL {
        if style.one_colour && random.one_in(2) {
            continue;
        }
        let packets =
            clamped(random.pick(&[any, any, word >> 32, word, constant, u64::from(style.backlog), 1 << 20]));
        let bytes = u64::from(packets) * style.bytes_each;
        let (any_bytes, extra) = (random.spread(1 << 40), random.up_to(bytes / 4 + 1));
        let bytes = random.pick(&[bytes, bytes, bytes + extra, any_bytes, constant.min(1 << 50), 1 << 50]);
        let colour = colour.index();
        (backlog.colour_packets[colour], backlog.colour_bytes[colour]) = (packets, bytes);
    }
    total(&mut backlog);
    backlog
}

/// Makes the totals those of the colours.
fn total(backlog: &mut Backlog) {
    backlog.packets = backlog.colour_packets.iter().fold(0, |sum, packets| sum.saturating_add(*packets));
    backlog.bytes = backlog.colour_bytes.iter().sum();
}

fn clamped(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Returns the values of an argument between which to look for a turn.
fn range(record: &Record, argument: Argument, random: &mut Random) -> (u64, u64) {
    match argument {
        Argument::Random => (0, u32::MAX.into()),
        Argument::Now => (record.now_ns, record.now_ns.saturating_add(random.spread(1 << 58))),
        Argument::Size | Argument::Count(_) => (0, u32::MAX.into()),
        Argument::Segments | Argument::Hint => (0, u16::MAX.into()),
        Argument::Sequence => {
            let from = u64::from(record.view.sequence);
            (from, from + random.spread((1 << 31) - 1))
        }
        Argument::Bytes => (record.backlog.packets.min(1).into(), random.pick(&[1 << 36, 1 << 50])),
        Argument::Packets => (1, 1 << 21),
    }
}

/// Returns the record with another value of an argument.
fn with(record: &Record, argument: Argument, value: u64) -> Record {
    let mut record = *record;
    let colour = record.view.colour.index();
    match argument {
        Argument::Random => record.random = value as u32,
        Argument::Now => record.now_ns = value,
        Argument::Size => record.view.ip_bytes = value as u32,
        Argument::Segments => record.view.segments = value as u16,
        Argument::Hint => record.view.window_hint = value as u16,
        Argument::Sequence => record.view.sequence = value as u32,
        Argument::Count(class) => record.counts.flows[class] = value as u32,
        Argument::Bytes => {
            record.backlog.colour_packets[colour] = record.backlog.colour_packets[colour].max(1);
            record.backlog.colour_bytes[colour] = value;
            record.backlog.idle_since_ns = NEVER;
            total(&mut record.backlog);
        }
        Argument::Packets => {
            record.backlog.colour_packets[colour] = value as u32;
            record.backlog.idle_since_ns = NEVER;
            total(&mut record.backlog);
        }
    }
    record
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use mousehole_policy::{find, policies};

    #[test]
    fn cases__repeat_by_seed_and_go_on_from_each_other() {
        for policy in policies() {
            let (mut one, mut other) = (Generator::new(policy, 3), Generator::new(policy, 3));
            let mut went_on = 0;
            for _ in 0..20 {
                let (a, b) = (one.case(), other.case());
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
            let outcomes: Vec<u64> = (0..400).flat_map(|_| generator.case().outcomes).collect();
            assert!((0..4).all(|verdict| outcomes.contains(&verdict)), "{name}");
        }
    }

    #[test]
    fn turn__is_where_the_decision_turns() {
        let policy = find("window-marker").unwrap();
        let mut generator = Generator::new(policy, 1);
        let given = [("high", "4"), ("med", "8"), ("randomised", "true")];
        generator.use_params(Params::of(policy, &given, &mousehole_policy::Place::EXAMPLE).unwrap());
        generator.begin_case();
        let mut record = Record::new(Function::Packet);
        record.view = View::new(1500).with_window(8);
        let (one, other) = generator.turn(&record, Argument::Random).unwrap();
        assert_eq!((one.random, other.random), ((1 << 31) - 1, 1 << 31)); // green below H / W
    }
}
