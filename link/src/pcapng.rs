//! Writes packets, each with a comment, to a pcapng file (draft-ietf-opsawg-pcapng) in a separate
//! thread.
//!
//! A slow disk must not delay packets, so they are passed to a queue. If the disk stays behind for
//! long, packets are left out of the file and counted.

use crate::driver::Way;
use mousehole_sim::units::Time;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// The link type of IP packets without a link-layer header.
const LINKTYPE_RAW: u16 = 101;
const OPT_COMMENT: u16 = 1;
const IF_NAME: u16 = 2;
const IF_TSRESOL: u16 = 9;
/// The most packets that may wait for the disk.
const MOST_WAITING: usize = 65_536;

/// One packet of the file.
pub struct Entry {
    /// Its direction, which selects the interface.
    pub way: Way,
    /// Its time, ns since 1970.
    pub at_ns: u64,
    /// Its comment.
    pub comment: String,
    /// Its bytes from the IP header on.
    pub frame: Vec<u8>,
}

/// An open file.
pub struct Pcapng {
    queue: Option<SyncSender<Entry>>,
    thread: Option<JoinHandle<io::Result<()>>>,
    /// Packets that were left out.
    pub left_out: u64,
}

impl Pcapng {
    /// Creates or empties a file at `path`, writes its head and starts the thread that writes
    /// packets.
    ///
    /// # Errors
    /// Those of the file system, or of starting a thread.
    pub fn create(path: &std::path::Path) -> io::Result<Pcapng> {
        let mut file = io::BufWriter::with_capacity(1 << 20, std::fs::File::create(path)?);
        file.write_all(&encode_preamble())?;
        let (queue, entries) = sync_channel(MOST_WAITING);
        let thread =
            std::thread::Builder::new().name("pcapng".into()).spawn(move || write_entries(file, entries))?;
        Ok(Pcapng { queue: Some(queue), thread: Some(thread), left_out: 0 })
    }

    /// Queues a packet for the file and does not block; leaves it out, and counts it, if too many
    /// wait for the disk or writing has failed.
    pub fn add(&mut self, entry: Entry) {
        let is_taken = self.queue.as_ref().is_some_and(|queue| queue.try_send(entry).is_ok());
        self.left_out += u64::from(!is_taken);
    }

    /// Waits until everything is written. Returns how many packets were left out.
    ///
    /// # Errors
    /// Those of the file system, also from earlier writes.
    pub fn finish(mut self) -> io::Result<u64> {
        self.queue = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result.map(|()| self.left_out),
            _ => Err(io::Error::other("the thread that writes ended early")),
        }
    }
}

/// Writes packets until the queue is closed or a write fails; the thread runs this.
fn write_entries(mut file: impl Write, entries: Receiver<Entry>) -> io::Result<()> {
    for entry in entries {
        file.write_all(&encode_packet(&entry))?;
    }
    file.flush()
}

/// Returns the comment of a packet: its colour, its verdict, and its delay from `sent` to `end`.
pub fn format_comment(colour: &str, verdict: &str, sent: Time, end: Time) -> String {
    format!("colour={colour} verdict={verdict} delay={:.3}ms", end.since(sent).as_secs() * 1e3)
}

/// Returns the section header block and the interface description blocks of both directions, whose
/// times are in ns (draft-ietf-opsawg-pcapng, sections 4.1 and 4.2).
fn encode_preamble() -> Vec<u8> {
    let mut section = Vec::new();
    section.extend(0x1a2b_3c4d_u32.to_le_bytes());
    section.extend(1u16.to_le_bytes());
    section.extend(0u16.to_le_bytes());
    section.extend(u64::MAX.to_le_bytes());
    let mut file = encode_block(0x0a0d_0d0a, &section);
    for name in ["down", "up"] {
        let mut interface = Vec::new();
        interface.extend(LINKTYPE_RAW.to_le_bytes());
        interface.extend(0u16.to_le_bytes());
        interface.extend(0u32.to_le_bytes());
        push_option(&mut interface, IF_NAME, name.as_bytes());
        push_option(&mut interface, IF_TSRESOL, &[9]);
        push_option(&mut interface, 0, &[]);
        file.extend(encode_block(1, &interface));
    }
    file
}

/// Returns the enhanced packet block of a packet (draft-ietf-opsawg-pcapng, section 4.3).
fn encode_packet(entry: &Entry) -> Vec<u8> {
    let mut body = Vec::with_capacity(entry.frame.len() + entry.comment.len() + 40);
    let bytes = entry.frame.len() as u32;
    let words = [entry.way as u32, (entry.at_ns >> 32) as u32, entry.at_ns as u32, bytes, bytes];
    words.iter().for_each(|word| body.extend(word.to_le_bytes()));
    body.extend(&entry.frame);
    body.resize(body.len().next_multiple_of(4), 0);
    push_option(&mut body, OPT_COMMENT, entry.comment.as_bytes());
    push_option(&mut body, 0, &[]);
    encode_block(6, &body)
}

/// Appends an option of a pcapng block, padded to four bytes; code 0 without a value ends the
/// options. A value has at most 65,535 bytes.
fn push_option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// Returns a block with its type and lengths, little-endian. `body` must be a multiple of four
/// bytes long.
fn encode_block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, body, &length].concat()
}
