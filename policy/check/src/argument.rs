//! The numeric arguments of a call along which a search looks for the value where the policy's decision changes (a turn).

use crate::chain::set_totals;
use crate::random::Random;
use crate::record::Record;
use mousehole_policy::NEVER;

/// An argument of a call that a search varies; `Count` has the class.
#[derive(Clone, Copy)]
pub(crate) enum Argument {
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

/// Draws the least and the greatest value of an argument between which to search for a turn.
pub(crate) fn search_range(record: &Record, argument: Argument, random: &mut Random) -> (u64, u64) {
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

/// Returns the record with this value of an argument. A changed backlog is of the packet's colour and not idle.
pub(crate) fn with_argument(record: &Record, argument: Argument, value: u64) -> Record {
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
            set_totals(&mut record.backlog);
        }
        Argument::Packets => {
            record.backlog.colour_packets[colour] = value as u32;
            record.backlog.idle_since_ns = NEVER;
            set_totals(&mut record.backlog);
        }
    }
    record
}
