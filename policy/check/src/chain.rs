//! A chain of calls: its parameters and states so far, and random arguments for the next call.

use crate::random::Random;
use crate::record::{FLOWS, state_words};
use mousehole_policy::{Application, Backlog, Colour, Function, NEVER, Params, Policy, View};

/// A sequence of calls with the same parameters: their states and time so far.
#[derive(Clone)]
pub(crate) struct Chain {
    pub params: Params,
    pub draws: bool,
    pub states: Vec<u64>,
    pub now_ns: u64,
    pub constants: Vec<u64>,
    pub style: Style,
}

/// How the records of a chain are drawn: the scale of each argument.
#[derive(Clone)]
pub(crate) struct Style {
    pub packets_in_8: u64,
    pub one_flow: bool,
    pub plain_flags: bool,
    pub plain_segments: bool,
    pub one_colour: bool,
    pub time: u64,
    pub size: u32,
    pub backlog: u32,
    pub bytes_each: u64,
}

impl Chain {
    /// Returns a chain without calls yet: fresh states, a random style, and time 0 or a random one. `draws` is whether the
    /// policy draws with these parameters; `functions` are those that it offers in addition to `packet`.
    pub fn new(
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
    /// Draws the style of a chain: scales of times, sizes and queues, and how often `packet` is called.
    ///
    /// The scales are often one of the `constants`. `functions` are those that the policy offers in addition to `packet`.
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

/// Returns the words of the parameters' struct and their halves, sorted and without duplicates: values at which decisions
/// often change.
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

/// Draws a word of this flow's or the shared state, or half of one; 0 if the drawn state has no words.
pub(crate) fn draw_state_word(policy: &Policy, states: &[u64], flow: usize, random: &mut Random) -> u64 {
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

/// Draws the time of the next call, ns: mostly later by a step of the chain's scale, sometimes earlier, or a parameter's
/// number after `word`, a word of the state.
pub(crate) fn draw_time(chain: &Chain, word: u64, random: &mut Random) -> u64 {
    let now_ns = chain.now_ns;
    let step = random.spread(chain.style.time);
    match random.up_to(11) {
        0 | 1 => now_ns,
        2 => now_ns.saturating_sub(step),
        3 | 4 => {
            let constant = random.pick(&chain.constants);
            let at = random.neighbour(word.saturating_add(constant));
            if at.abs_diff(now_ns) < 1 << 50 { at } else { now_ns }
        }
        5 => now_ns + random.up_to(1),
        _ => now_ns + step,
    }
}

/// Draws a packet's view on the chain's scales, any value of a member included. Its sequence is often `word`, a word of
/// the state, or near it.
pub(crate) fn draw_view(chain: &Chain, word: u64, random: &mut Random) -> View {
    let style = &chain.style;
    let constant = random.pick(&chain.constants);
    let constant = random.neighbour(constant);
    let (common, any) = (random.pick(&[40, 576, 1000, 1500]), random.spread(style.size.into()));
    let size = random.pick(&[common, common, any, any, any, constant, 0, u32::MAX.into()]);
    let (few_segments, few, many) = (random.spread(64) as u16, random.spread(300), random.spread(65535));
    let segments = if style.plain_segments { 1 } else { random.pick(&[0, 1, 2, few_segments, u16::MAX]) };
    let hint = random.pick(&[0, 1, few, many, constant]);
    let sequence =
        [word, random.neighbour(word.wrapping_add(constant)), word.wrapping_add(any), random.bits()];
    let flags = match random.up_to(15) {
        0 => random.bits() as u8,
        1 => random.pick(&[View::SYN, View::ACK, View::IN_RECOVERY, View::REVERSE]),
        _ if style.plain_flags => random.up_to(1) as u8 * View::ECT,
        2..6 => random.pick(&[View::REVERSE, View::ACK, View::REVERSE | View::ACK]),
        _ => random.up_to(1) as u8 * View::ECT,
    };
    let transport = random.up_to(1) as u8 * View::DATAGRAM;
    let any_dscp = random.up_to(63) as u8;
    View::new(clamp_to_u32(size))
        .with_application(draw_application(random))
        .with_segments(segments)
        .with_window(hint.min(65535) as u16)
        .with_colour(random.pick(&Colour::ALL))
        .with_flags(flags | transport)
        .with_dscp(random.pick(&[0, View::NQB, any_dscp]))
        .with_sequence(random.pick(&sequence) as u32)
}

/// Draws a class of application: unknown in two draws of five.
fn draw_application(random: &mut Random) -> Application {
    random.pick(&[
        Application::Unknown,
        Application::Unknown,
        Application::Interactive,
        Application::Web,
        Application::Bulk,
    ])
}

/// Draws a backlog: empty, of the chain's scale, or as long as `word`, a word of the state, or a parameter's number.
pub(crate) fn draw_backlog(chain: &Chain, word: u64, now_ns: u64, random: &mut Random) -> Backlog {
    let style = &chain.style;
    let mut backlog = Backlog::default();
    if random.one_in(4) {
        let earlier = now_ns.saturating_sub(random.spread(style.time));
        backlog.idle_since_ns = random.pick(&[0, earlier, earlier, word.min(now_ns), now_ns, NEVER]);
        return backlog;
    }
    let constant = random.pick(&chain.constants);
    let constant = random.neighbour(constant);
    let any = random.spread(style.backlog.into());
    for colour in Colour::ALL {
        if style.one_colour && random.one_in(2) {
            continue;
        }
        let packets = clamp_to_u32(random.pick(&[
            any,
            any,
            word >> 32,
            word,
            constant,
            u64::from(style.backlog),
            1 << 20,
        ]));
        let bytes = u64::from(packets) * style.bytes_each;
        let (any_bytes, extra) = (random.spread(1 << 40), random.up_to(bytes / 4 + 1));
        let bytes = random.pick(&[bytes, bytes, bytes + extra, any_bytes, constant.min(1 << 50), 1 << 50]);
        let colour = colour.index();
        (backlog.colour_packets[colour], backlog.colour_bytes[colour]) = (packets, bytes);
    }
    set_totals(&mut backlog);
    backlog
}

/// Sets the totals of a backlog to the sums over its colours; packets stop at 2^32 - 1.
pub(crate) fn set_totals(backlog: &mut Backlog) {
    backlog.packets = backlog.colour_packets.iter().fold(0, |sum, packets| sum.saturating_add(*packets));
    backlog.bytes = backlog.colour_bytes.iter().sum();
}

/// Returns a number, at most 2^32 - 1.
fn clamp_to_u32(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::parameters::draw_params;
    use crate::record::{Record, bytes_of};
    use mousehole_policy::policies;

    #[test]
    fn draw_view__varies_every_byte_and_draws_what_policies_ask_for() {
        let mut random = Random::new(1);
        let policy = policies()[0];
        let records: Vec<Record> = (0..4000)
            .map(|_| {
                let params = draw_params(policy, &mut random);
                let chain = Chain::new(policy, params, false, &mut random, &[]);
                Record { view: draw_view(&chain, 0, &mut random), ..Record::new(Function::Packet) }
            })
            .collect();
        let views: Vec<&[u8]> = bytes_of(&records)
            .chunks(size_of::<Record>())
            .map(|record| &record[..size_of::<View>()])
            .collect();
        for at in 0..size_of::<View>() {
            assert!(views.iter().any(|view| view[at] != views[0][at]), "byte {at} of a view never varies");
        }
        for flag in (0..8).map(|bit| 1 << bit) {
            assert!(
                records.iter().any(|record| record.view.flags & flag != 0),
                "flag {flag:#x} is never set"
            );
        }
        assert!(records.iter().any(|record| record.view.dscp == View::NQB));
    }
}
