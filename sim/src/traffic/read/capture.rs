//! Reads pcap, pcapng, snoop and ERF files frame by frame, in bounded memory.

use super::assemble::Collector;
use super::clock::Clock;
use super::decode::{self, Decoded, FirstFragment, Segment};
use super::flow::Flows;
use super::fragments::Fragments;
use super::input::Input;
use super::input::file_name;
use super::ledger::{Ledger, reason};
use super::link;
use super::reason::Reason;
use super::records::{self, Next};
use crate::error::{Error, Result};
use crate::traffic::CaptureCounts;
use crate::traffic::note::{Note, NoteKind};
use pcap_parser::{
    Block, InterfaceDescriptionBlock, LegacyPcapReader, PcapBlockOwned, PcapError, PcapNGReader,
    traits::{PcapNGPacketBlock, PcapReaderIterator},
};
use sha2::{Digest, Sha256};

/// Initial size of the parser's buffer, bytes.
const BUFFER: usize = 1 << 20;
/// No packet or block of a sound capture is larger.
const MAX_BUFFER: usize = 1 << 24;

/// The block type of an interface description, read as little-endian.
const LITTLE_ENDIAN_DESCRIPTION: u32 = 1;

/// The link type and the time stamps of one interface.
#[derive(Debug, Clone, Copy)]
struct Interface {
    link_type: u32,
    /// Units per second.
    resolution: u64,
    /// Seconds to add to a time stamp.
    offset: i64,
}

/// Passes frames on to their flows and counts them.
struct Sink<'a> {
    ledger: &'a mut Ledger,
    collector: &'a mut Collector,
    flows: Flows,
    fragments: Fragments,
    interfaces: Vec<Interface>,
    unknown_link: Option<u32>,
    clock: Clock,
    ends: Ends,
    /// Bytes of all packets on the wire.
    wire: u64,
    overclaimed: Overclaimed,
}

/// Packets whose IP length exceeds the frame.
#[derive(Default)]
struct Overclaimed {
    packets: u64,
    bytes: u64,
    first: u64,
}

/// The first and the last packet, which identify a capture that was stored in another form.
#[derive(Default)]
struct Ends {
    first: Option<Likeness>,
    last: Likeness,
}

/// The parts of a packet that identify it.
#[derive(Clone, Copy)]
struct Likeness {
    /// Time stamp, nanoseconds; compared in microseconds, because not every form has finer stamps.
    at: i64,
    wire: u32,
    /// The first bytes, because captures may be cut; zeros beyond the end.
    head: [u8; Likeness::COMPARED],
}

impl Likeness {
    const COMPARED: usize = 48;
}

impl Default for Likeness {
    /// Returns the likeness of no packet, all zeros.
    fn default() -> Likeness {
        Likeness { at: 0, wire: 0, head: [0; Likeness::COMPARED] }
    }
}

impl Ends {
    /// Records a frame as the last one, and also as the first one if none came before.
    fn record_packet(&mut self, data: &[u8], wire: u32, at: i64) {
        (self.last.at, self.last.wire) = (at, wire);
        match data.first_chunk() {
            Some(head) => self.last.head = *head,
            None => {
                self.last.head = [0; Likeness::COMPARED];
                self.last.head[..data.len()].copy_from_slice(data);
            }
        }
        if self.first.is_none() {
            self.first = Some(self.last);
        }
    }

    /// Returns a hash of both packets and of the number of packets; `None` for fewer than two.
    fn hash_content(&self, packets: u64) -> Option<[u8; 32]> {
        let first = self.first.filter(|_| packets > 1)?;
        let mut hash = Sha256::new().chain_update(packets.to_le_bytes());
        for Likeness { at, wire, head } in [first, self.last] {
            hash = hash
                .chain_update((at / 1000).to_le_bytes())
                .chain_update(wire.to_le_bytes())
                .chain_update(head);
        }
        Some(hash.finalize().into())
    }
}

/// The reason why reading stopped.
enum End {
    Complete,
    Cut,
    Damaged(String),
}

/// Reads a pcap file to its end or up to damage: counts its packets in `ledger` and adds its connections and notes to
/// `collector`.
///
/// # Errors
/// [`Error::File`] when its header is cut short, or its link type is unknown and nothing was read; [`Error::Row`] for
/// damage before which nothing is usable, or for a faulty packet when reading strictly.
pub fn read_pcap(input: &mut Input, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let path = input.path().to_string();
    let reader = LegacyPcapReader::new(BUFFER, &mut *input).map_err(|_| header_cut_error(&path))?;
    let (end, good) = read(reader, &path, ledger, collector)?;
    end.report(good, input, ledger, collector)
}

/// Reads a pcapng file, with the effects of [`read_pcap`].
///
/// # Errors
/// As [`read_pcap`].
pub fn read_pcapng(input: &mut Input, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let path = input.path().to_string();
    let reader = PcapNGReader::new(BUFFER, &mut *input).map_err(|_| header_cut_error(&path))?;
    let (end, good) = read(reader, &path, ledger, collector)?;
    end.report(good, input, ledger, collector)
}

/// Returns the error for a capture whose header cannot be read.
fn header_cut_error(path: &str) -> Error {
    Error::file(path, "the capture ends within its header, or the header is damaged")
}

/// Reads a capture until it ends, and adds its flows and notes to `collector`. Returns the kind of its end, for
/// [`End::report`], and the number of bytes consumed.
///
/// # Errors
/// Those of [`Sink::finish`]; a packet's fault when reading strictly.
fn read(
    mut reader: impl PcapReaderIterator,
    path: &str,
    ledger: &mut Ledger,
    collector: &mut Collector,
) -> Result<(End, u64)> {
    let mut sink = Sink::new(ledger, collector);
    let end = read_blocks(&mut reader, &mut sink)?;
    sink.finish(path)?;
    Ok((end, reader.consumed() as u64))
}

/// Reads a snoop file, with the effects of [`read_pcap`].
///
/// # Errors
/// [`Error::File`] for another link than Ethernet; otherwise as [`read_pcap`].
pub fn read_snoop(input: &mut Input, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    let path = input.path().to_string();
    let Some(link_type) = records::read_snoop_link(input) else {
        return Err(Error::file(
            &path,
            "a snoop capture of another link than Ethernet; editcap -F pcap converts it",
        ));
    };
    read_records(input, ledger, collector, |input| records::read_snoop_frame(input, link_type))
}

/// Reads an ERF file, with the effects of [`read_pcap`].
///
/// # Errors
/// As [`read_pcap`].
pub fn read_erf(input: &mut Input, ledger: &mut Ledger, collector: &mut Collector) -> Result<()> {
    read_records(input, ledger, collector, records::read_erf_frame)
}

/// Reads the records of a format until `next`, which parses one, returns an end or a torn record.
///
/// # Errors
/// Those of [`Sink::finish`] and [`End::report`]; a packet's fault when reading strictly.
fn read_records(
    input: &mut Input,
    ledger: &mut Ledger,
    collector: &mut Collector,
    mut next: impl FnMut(&mut Input) -> Next,
) -> Result<()> {
    let path = input.path().to_string();
    let mut sink = Sink::new(ledger, collector);
    let (end, good) = loop {
        let good = input.delivered();
        match next(input) {
            Next::Frame(frame) => sink.add_frame((frame.link_type, 0), &frame.bytes, frame.wire, frame.at)?,
            Next::Other => sink.leave_out(reason::NOT_IP, 0),
            Next::End => break (End::Complete, good),
            Next::Torn(what) => break (End::Damaged(what.to_string()), good),
        }
    };
    sink.finish(&path)?;
    end.report(good, input, ledger, collector)
}

/// The next step of the loop, free of the reader's borrow.
enum Step {
    Consume(usize),
    Refill,
    Grow,
    Stop(End),
}

/// Passes all blocks of the reader to the sink. The buffer is refilled, and doubled for a block that does not
/// fit, up to [`MAX_BUFFER`]; a larger block ends the capture as damaged.
///
/// # Errors
/// A packet's fault when reading strictly.
fn read_blocks(reader: &mut impl PcapReaderIterator, sink: &mut Sink) -> Result<End> {
    let mut capacity = BUFFER;
    let mut oversized = false;
    loop {
        let step = match reader.next() {
            Ok((size, block)) => {
                sink.add_block(block)?;
                Step::Consume(size)
            }
            Err(error) => choose_step(&error),
        };
        match step {
            Step::Consume(size) => {
                reader.consume(size);
                oversized = false;
            }
            Step::Stop(End::Cut) if oversized => return Ok(too_large_end()),
            Step::Stop(end) => return Ok(end),
            Step::Grow => {
                oversized = true;
                if !grow_buffer(reader, &mut capacity) {
                    return Ok(too_large_end());
                }
            }
            Step::Refill => {
                if !refill_buffer(reader, &mut capacity) {
                    return Ok(too_large_end());
                }
            }
        }
    }
}

/// Returns the step to take after an error of the parser.
fn choose_step(error: &PcapError<&[u8]>) -> Step {
    match error {
        PcapError::Eof => Step::Stop(End::Complete),
        PcapError::UnexpectedEof => Step::Stop(End::Cut),
        PcapError::Incomplete(_) => Step::Refill,
        PcapError::BufferTooSmall => Step::Grow,
        _ => Step::Stop(End::Damaged("a damaged block".to_string())),
    }
}

/// Returns the end at a block that exceeds [`MAX_BUFFER`].
fn too_large_end() -> End {
    End::Damaged("a packet claims an absurd length".to_string())
}

/// Refills the buffer, and doubles it if it is full. Returns whether parsing may go on, with more data or at a clear
/// end; false if reading failed or the buffer cannot grow.
fn refill_buffer(reader: &mut impl PcapReaderIterator, capacity: &mut usize) -> bool {
    let before = reader.data().len();
    let refilled = reader.refill().is_ok();
    let stuck = reader.data().len() == before && !reader.reader_exhausted();
    refilled && (!stuck || grow_buffer(reader, capacity))
}

/// Doubles the buffer and refills it. Returns whether that succeeded within [`MAX_BUFFER`]; `capacity`, bytes, is
/// doubled in any case.
fn grow_buffer(reader: &mut impl PcapReaderIterator, capacity: &mut usize) -> bool {
    *capacity *= 2;
    *capacity <= MAX_BUFFER && reader.grow(*capacity) && reader.refill().is_ok()
}

impl End {
    /// Counts a cut or damage as one fault. A damaged file is used up to the damage, `good` bytes; its rest is read and
    /// dropped, and `collector` gets a note on how much that is. Does nothing for a complete file.
    ///
    /// # Errors
    /// [`Error::Row`] for damage before which nothing is usable; the fault when reading strictly.
    fn report(
        self,
        good: u64,
        input: &mut Input,
        ledger: &mut Ledger,
        collector: &mut Collector,
    ) -> Result<()> {
        let packet = ledger.rows + 1;
        match self {
            End::Complete => Ok(()),
            End::Cut => ledger.count_fault_at_end(packet, "the capture ends within this packet"),
            End::Damaged(what) => {
                input.drain();
                let lost = 1.0 - good as f64 / input.delivered().max(1) as f64;
                let lost =
                    format!("{:.0} % of the capture lies behind it and is not read", (100.0 * lost).ceil());
                if ledger.used == 0 {
                    let problem = format!("{what}; {lost}");
                    return Err(Error::Row { file: input.path().to_string(), line: packet, problem });
                }
                let text = format!("{}: {what} at packet {packet}; {lost}", file_name(input.path()));
                let note = Note::new(NoteKind::LeftOut, Some(file_name(input.path())), text);
                collector.add_note(Note { row: Some(packet), ..note });
                ledger.count_fault_at_end(packet, what)
            }
        }
    }
}

impl<'a> Sink<'a> {
    /// Returns a sink that counts in `ledger` and adds flows to `collector`.
    fn new(ledger: &'a mut Ledger, collector: &'a mut Collector) -> Sink<'a> {
        Sink {
            flows: Flows::new(collector.options.direction),
            ledger,
            collector,
            fragments: Fragments::default(),
            interfaces: Vec::new(),
            unknown_link: None,
            clock: Clock::default(),
            ends: Ends::default(),
            wire: 0,
            overclaimed: Overclaimed::default(),
        }
    }
}

impl Sink<'_> {
    /// Passes the flows and the notes of the capture to the collector, and its account and content hash to the ledger.
    ///
    /// # Errors
    /// [`Error::File`] if nothing was read because of an unknown link type.
    fn finish(self, path: &str) -> Result<()> {
        let collector = self.collector;
        if let Some(number) = self.unknown_link.filter(|_| self.flows.is_empty()) {
            let name = link::find_name(number).map(|name| format!(" ({name})")).unwrap_or_default();
            let problem =
                format!("link type {number}{name} cannot be read; docs/traffic.md lists those that can");
            return Err(Error::file(path, problem));
        }
        self.ledger.content = self.ends.hash_content(self.ledger.rows);
        self.ledger.capture = Some(CaptureCounts { bytes: self.wire, ..CaptureCounts::default() });
        self.flows.finish(self.ledger, collector);
        if let Overclaimed { packets: packets @ 1.., bytes, first } = self.overclaimed {
            let text = format!(
                "{}: {packets} packets claim {bytes} bytes more than their frames had on the wire, the first is packet \
                 {first}; what the frames had counts",
                file_name(path)
            );
            let note = Note::new(NoteKind::LengthNotBelieved, Some(file_name(path)), text);
            collector.add_note(Note { count: Some(packets), bytes: Some(bytes), row: Some(first), ..note });
        }
        self.clock.to_notes(path).into_iter().for_each(|note| collector.add_note(note));
        Ok(())
    }

    /// Adds a block of either format. The header of a pcap file must come before its packets; panics otherwise.
    ///
    /// # Errors
    /// A packet's fault when reading strictly.
    fn add_block(&mut self, block: PcapBlockOwned) -> Result<()> {
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
                self.add_frame((interface.link_type, 0), packet.data, packet.origlen, at)
            }
            PcapBlockOwned::NG(block) => self.add_ng_block(block),
        }
    }

    /// Adds a pcapng block: a section, which forgets all interfaces, an interface or a packet; others are skipped.
    /// Packets without a time and obsolete ones are left out.
    ///
    /// # Errors
    /// When reading strictly, the fault of a packet of an unknown interface, with a stamp out of range, or as in
    /// [`Sink::add_frame`].
    fn add_ng_block(&mut self, block: Block) -> Result<()> {
        match block {
            Block::SectionHeader(_) => self.interfaces.clear(),
            Block::InterfaceDescription(description) => {
                self.interfaces.push(Interface::from_description(&description))
            }
            Block::EnhancedPacket(packet) => {
                let Some(interface) = self.interfaces.get(packet.if_id as usize).copied() else {
                    return self.count_fault(format!(
                        "packet of interface {}, which was not described",
                        packet.if_id
                    ));
                };
                let units = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                let Some(at) = interface.to_nanoseconds(units) else {
                    return self.count_fault(format!("time stamp {units} is out of range"));
                };
                // One interface alone needs no number.
                let number = if self.interfaces.len() > 1 { packet.if_id + 1 } else { 0 };
                return self.add_frame(
                    (interface.link_type, number),
                    packet.packet_data(),
                    packet.origlen,
                    at,
                );
            }
            Block::SimplePacket(packet) => self.leave_out(reason::NO_TIME, packet.origlen),
            Block::Unknown(unknown) if is_obsolete_packet(unknown.block_type) => {
                self.leave_out(reason::OBSOLETE_BLOCK, unknown.data.len() as u32)
            }
            _ => {}
        }
        Ok(())
    }

    /// Counts a packet of `wire` bytes that is not decoded as a row skipped for `reason`.
    fn leave_out(&mut self, reason: &'static str, wire: u32) {
        self.ledger.rows += 1;
        self.wire += u64::from(wire);
        self.ledger.skip(reason, 1, u64::from(wire));
    }

    /// Counts a packet that cannot be understood as a row and a fault.
    ///
    /// # Errors
    /// The fault itself when reading strictly.
    fn count_fault(&mut self, problem: String) -> Result<()> {
        self.ledger.rows += 1;
        self.ledger.count_fault(self.ledger.rows, problem)
    }

    /// Decodes a frame of `orig_len` bytes on the wire, of which `data` was captured at `at`, ns, and adds it
    /// to its flow, or counts it as skipped or faulty. Every frame counts as a row and for the clock and the content.
    ///
    /// # Errors
    /// The fault of a frame that contradicts itself, when reading strictly.
    fn add_frame(
        &mut self,
        (link_type, interface): (u32, u32),
        data: &[u8],
        orig_len: u32,
        at: i64,
    ) -> Result<()> {
        let wire = orig_len.max(data.len() as u32);
        self.ledger.rows += 1;
        self.wire += u64::from(wire);
        self.clock.add_packet(at);
        self.ends.record_packet(data, wire, at);
        let interface = link::find_interface(link_type, data).unwrap_or(interface);
        match decode::decode(link_type, data, wire, at) {
            Decoded::Segment(segment) => self.add_segment(&Segment { interface, ..segment }),
            Decoded::FirstFragment(first) => {
                let FirstFragment { of, segment, is_tunnel } = *first;
                self.fragments.begin(of, segment, is_tunnel);
                self.add_segment(&segment);
            }
            Decoded::LaterFragment(later) => match self.fragments.to_segment(&later, wire, at) {
                Ok(segment) => self.add_segment(&segment),
                Err(reason) => self.ledger.skip(reason, 1, u64::from(wire)),
            },
            Decoded::LeftOut(reason) => {
                if reason == Reason::LinkType(link_type) {
                    self.unknown_link = Some(link_type);
                }
                self.ledger.skip(reason, 1, u64::from(wire));
            }
            Decoded::Fault(problem) => self.ledger.count_fault(self.ledger.rows, problem)?,
        }
        Ok(())
    }

    /// Adds a decoded segment to its flow; counts IP lengths that claim more than the frame had.
    fn add_segment(&mut self, segment: &Segment) {
        if segment.overclaimed > 0 {
            let Overclaimed { packets, bytes, first } = &mut self.overclaimed;
            (*packets, *bytes) = (*packets + 1, *bytes + u64::from(segment.overclaimed));
            if *first == 0 {
                *first = self.ledger.rows;
            }
        }
        self.flows.add(segment, self.ledger, self.collector);
    }
}

/// Returns whether a pcapng block of this type, in either byte order, is a packet in the form that the draft calls
/// obsolete (section A).
fn is_obsolete_packet(block_type: u32) -> bool {
    matches!(block_type, 2 | 0x0200_0000)
}

impl Interface {
    /// Returns the interface that a pcapng block describes.
    fn from_description(description: &InterfaceDescriptionBlock) -> Interface {
        let offset = description.if_tsoffset;
        let offset =
            if description.block_type != LITTLE_ENDIAN_DESCRIPTION { offset.swap_bytes() } else { offset };
        let link_type = description.linktype.0 as u32;
        Interface { link_type, resolution: parse_resolution(description.if_tsresol), offset }
    }

    /// Converts a time stamp in the interface's units to nanoseconds since 1970; `None` if a quarter of the range of
    /// `i64` does not hold it.
    fn to_nanoseconds(self, units: u64) -> Option<i64> {
        let ns = i128::from(units) * 1_000_000_000 / i128::from(self.resolution);
        let at = i64::try_from(ns + i128::from(self.offset) * 1_000_000_000).ok()?;
        (at.abs() < i64::MAX / 4).then_some(at)
    }
}

/// Returns the units per second by `if_tsresol`: a power of ten, or of two when the top bit is set (pcapng
/// draft, section 4.2). A power beyond 64 bits counts as microseconds.
fn parse_resolution(code: u8) -> u64 {
    let power = u32::from(code & 0x7f);
    let base: u64 = if code & 0x80 == 0 { 10 } else { 2 };
    base.checked_pow(power).unwrap_or(1_000_000)
}
