//! pcap and pcapng files: frames one after another, in bounded memory.

use super::assemble::{Collector, base};
use super::decode::{self, Decoded};
use super::flow::Flows;
use super::input::Input;
use super::ledger::{Ledger, reason};
use crate::error::{Error, Result};
use pcap_parser::{
    Block, InterfaceDescriptionBlock, LegacyPcapReader, PcapBlockOwned, PcapError, PcapNGReader,
    traits::{PcapNGPacketBlock, PcapReaderIterator},
};

const BUFFER: usize = 1 << 20;
/// No packet or block of a sound capture is larger.
const MAX_BUFFER: usize = 1 << 24;
/// Share of a damaged file's content that may lie beyond the damage.
const MAX_LOST: f64 = 0.05;

/// The block type of an interface description, read as little-endian.
const LITTLE_ENDIAN_DESCRIPTION: u32 = 1;

/// What a time stamp of one interface means.
#[derive(Debug, Clone, Copy)]
struct Interface {
    link_type: u32,
    /// Units per second.
    resolution: u64,
    /// Seconds to add.
    offset: i64,
}

/// Passes frames on to their flows.
struct Sink<'a> {
    ledger: &'a mut Ledger,
    flows: Flows,
    interfaces: Vec<Interface>,
    unknown_link: Option<u32>,
}

/// The reason why reading stopped.
enum End {
    Complete,
    Cut,
    Damaged(String),
}

/// Reads a pcap file.
///
/// # Errors
/// [`Error::File`] when its header is cut short or its link type is unknown, or it is damaged early.
pub fn read_pcap(input: &mut Input, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let path = input.path().to_string();
    let reader = LegacyPcapReader::new(BUFFER, &mut *input).map_err(|_| header_cut(&path))?;
    let (end, good) = read(reader, &path, ledger, collector)?;
    end.settle(good, input, ledger)
}

/// Reads a pcapng file.
///
/// # Errors
/// As [`read_pcap`].
pub fn read_pcapng(input: &mut Input, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let path = input.path().to_string();
    let reader = PcapNGReader::new(BUFFER, &mut *input).map_err(|_| header_cut(&path))?;
    let (end, good) = read(reader, &path, ledger, collector)?;
    end.settle(good, input, ledger)
}

fn header_cut(path: &str) -> Error {
    Error::file(path, "the capture ends within its header, or the header is damaged")
}

fn read(
    mut reader: impl PcapReaderIterator,
    path: &str,
    ledger: &mut Ledger,
    collector: &mut Collector,
) -> Result<(End, u64)> {
    let flows = Flows::new(collector.options.direction);
    let mut sink = Sink { ledger, flows, interfaces: Vec::new(), unknown_link: None };
    let end = pump(&mut reader, &mut sink)?;
    if let Some(link_type) = sink.unknown_link.filter(|_| sink.flows.is_empty()) {
        let known = "Ethernet, Linux cooked (SLL, SLL2), raw IP and BSD loopback can be read";
        return Err(Error::file(path, format!("link type {link_type} is unknown; {known}")));
    }
    let late = sink.flows.finish(sink.ledger, collector);
    if late > 0 {
        collector.note(format!("{}: {late} connections began before the capture did", base(path)));
    }
    Ok((end, reader.consumed() as u64))
}

/// The next thing the loop has to do, free of the reader's borrow.
enum Step {
    Consume(usize),
    Refill,
    Grow,
    Stop(End),
}

fn pump(reader: &mut impl PcapReaderIterator, sink: &mut Sink) -> Result<End> {
    let mut capacity = BUFFER;
    let mut oversized = false;
    loop {
        let step = match reader.next() {
            Ok((size, block)) => {
                sink.block(block)?;
                Step::Consume(size)
            }
            Err(error) => after(&error),
        };
        match step {
            Step::Consume(size) => {
                reader.consume(size);
                oversized = false;
            }
            Step::Stop(End::Cut) if oversized => return Ok(too_large()),
            Step::Stop(end) => return Ok(end),
            Step::Grow => {
                oversized = true;
                if !grow(reader, &mut capacity) {
                    return Ok(too_large());
                }
            }
            Step::Refill => {
                if !refill(reader, &mut capacity) {
                    return Ok(too_large());
                }
            }
        }
    }
}

fn after(error: &PcapError<&[u8]>) -> Step {
    match error {
        PcapError::Eof => Step::Stop(End::Complete),
        PcapError::UnexpectedEof => Step::Stop(End::Cut),
        PcapError::Incomplete(_) => Step::Refill,
        PcapError::BufferTooSmall => Step::Grow,
        _ => Step::Stop(End::Damaged("a damaged block".to_string())),
    }
}

fn too_large() -> End {
    End::Damaged("a packet claims an absurd length".to_string())
}

/// Refills the buffer. Returns whether there is more to parse, or a clear end.
fn refill(reader: &mut impl PcapReaderIterator, capacity: &mut usize) -> bool {
    let before = reader.data().len();
    let refilled = reader.refill().is_ok();
    let stuck = reader.data().len() == before && !reader.reader_exhausted();
    refilled && (!stuck || grow(reader, capacity))
}

fn grow(reader: &mut impl PcapReaderIterator, capacity: &mut usize) -> bool {
    *capacity *= 2;
    *capacity <= MAX_BUFFER && reader.grow(*capacity) && reader.refill().is_ok()
}

impl End {
    /// Counts a cut or damage as one fault, unless much of the file lies behind it.
    fn settle(self, good: u64, input: &mut Input, ledger: &mut Ledger) -> Result<()> {
        let packet = ledger.rows + 1;
        match self {
            End::Complete => Ok(()),
            End::Cut => ledger.fault_at_end(packet, "the capture ends within this packet"),
            End::Damaged(what) => {
                input.drain();
                let lost = 1.0 - good as f64 / input.delivered().max(1) as f64;
                if lost > MAX_LOST {
                    let problem = format!("{what}; {:.0} % of the capture cannot be read", 100.0 * lost);
                    return Err(Error::Row { file: input.path().to_string(), line: packet, problem });
                }
                ledger.fault_at_end(packet, what)
            }
        }
    }
}

impl Sink<'_> {
    fn block(&mut self, block: PcapBlockOwned) -> Result<()> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let resolution = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
                // The upper bits may hold the length of a frame check sequence.
                let link_type = header.network.0 as u32 & 0xffff;
                self.interfaces = vec![Interface { link_type, resolution, offset: 0 }];
                Ok(())
            }
            PcapBlockOwned::Legacy(packet) => {
                let interface = self.interfaces[0];
                let fraction = u64::from(packet.ts_usec) * (1_000_000_000 / interface.resolution);
                let at = i64::from(packet.ts_sec) * 1_000_000_000 + fraction as i64;
                self.frame(interface.link_type, packet.data, packet.origlen, at)
            }
            PcapBlockOwned::NG(block) => self.ng_block(block),
        }
    }

    fn ng_block(&mut self, block: Block) -> Result<()> {
        match block {
            Block::SectionHeader(_) => self.interfaces.clear(),
            Block::InterfaceDescription(description) => {
                self.interfaces.push(Interface::from_description(&description))
            }
            Block::EnhancedPacket(packet) => {
                let Some(interface) = self.interfaces.get(packet.if_id as usize).copied() else {
                    return self
                        .fault(format!("packet of interface {}, which was not described", packet.if_id));
                };
                let units = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let Some(at) = interface.nanoseconds(units) else {
                    return self.fault(format!("time stamp {units} is out of range"));
                };
                return self.frame(interface.link_type, packet.packet_data(), packet.origlen, at);
            }
            Block::SimplePacket(_) => {
                self.ledger.rows += 1;
                self.ledger.skip(reason::NO_TIME, 1, 0);
            }
            _ => {}
        }
        Ok(())
    }

    fn fault(&mut self, problem: String) -> Result<()> {
        self.ledger.rows += 1;
        self.ledger.fault(self.ledger.rows, problem)
    }

    fn frame(&mut self, link_type: u32, data: &[u8], orig_len: u32, at: i64) -> Result<()> {
        if !decode::is_known_link(link_type) {
            self.unknown_link = Some(link_type);
        }
        self.ledger.rows += 1;
        match decode::decode(link_type, data, orig_len, at) {
            Decoded::Segment(segment) => self.flows.add(&segment, self.ledger),
            Decoded::NotIp => self.ledger.skip(reason::NOT_IP, 1, 0),
            Decoded::OtherProtocol(bytes) => self.ledger.skip(reason::OTHER_PROTOCOL, 1, u64::from(bytes)),
            Decoded::Fragment(bytes) => self.ledger.skip(reason::FRAGMENT, 1, u64::from(bytes)),
            Decoded::Fault(problem) => self.ledger.fault(self.ledger.rows, problem)?,
        }
        Ok(())
    }
}

impl Interface {
    fn from_description(description: &InterfaceDescriptionBlock) -> Interface {
        let offset = description.if_tsoffset;
        let offset =
            if description.block_type != LITTLE_ENDIAN_DESCRIPTION { offset.swap_bytes() } else { offset };
        let link_type = description.linktype.0 as u32;
        Interface { link_type, resolution: resolution(description.if_tsresol), offset }
    }

    fn nanoseconds(&self, units: u64) -> Option<i64> {
        let ns = i128::from(units) * 1_000_000_000 / i128::from(self.resolution);
        let at = i64::try_from(ns + i128::from(self.offset) * 1_000_000_000).ok()?;
        (at.abs() < i64::MAX / 4).then_some(at)
    }
}

/// Returns the units per second by `if_tsresol`: a power of ten, or of two when the top bit is set (pcapng
/// draft, section 4.2).
fn resolution(code: u8) -> u64 {
    let power = u32::from(code & 0x7f);
    let base: u64 = if code & 0x80 == 0 { 10 } else { 2 };
    base.checked_pow(power).unwrap_or(1_000_000)
}
