//! One connection as data: its hosts, its start and its writes or datagrams.

use super::class::FlowClass;
use super::datagrams::Datagrams;
use crate::flow::Class;
use crate::units::{Dur, Time};
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Bytes of IPv4 and TCP headers without options, on every packet.
pub const HEADER_BYTES: u64 = 40;

/// One burst of payload in the measured direction, sent as a unit (a response, an object, a file).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Write {
    /// Pause before it: from the end of the previous write (last byte received) to its request. Zero for the
    /// first write of a connection.
    pub idle: Dur,
    /// Payload bytes, at least 1.
    pub bytes: u64,
}

/// The transport of a connection, by which connections are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Kind {
    /// An ordinary TCP connection.
    #[default]
    Tcp,
    /// QUIC, replayed as TCP and counted separately.
    Quic,
    /// A flow of any other protocol, replayed packet by packet; its [`Writes`] are datagrams.
    Datagrams,
}

/// One connection: everything the engine needs to play it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connection {
    /// When the client opens it, relative to the start of the traffic.
    pub start: Time,
    /// Client host, numbered densely from 0.
    pub client: u32,
    /// Server host, numbered densely from 0.
    pub server: u32,
    /// Round-trip time without queueing, if the source gives it.
    pub rtt: Option<Dur>,
    /// Recorded time from the start to the last byte, if the source has it; a replay uses it only to find what the
    /// client waited for.
    pub duration: Option<Dur>,
    /// TCP, QUIC or datagrams.
    pub kind: Kind,
    /// The precedence class of its application.
    pub class: Class,
    /// The class that the recorded behaviour shows; `None` if the source does not show it.
    pub flow_class: Option<FlowClass>,
    /// Whether the payload goes from client to server, against the direction of the data.
    pub upload: bool,
    /// How long its server thinks before it answers the first write's request.
    pub server_think: ServerThink,
    /// The writes, in order, at least one; [`Kind::Datagrams`] has datagrams and no writes.
    pub writes: Writes,
}

/// The time from a request to its answer at a server, in microseconds and four bytes, if the source has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerThink(u32);

impl ServerThink {
    const UNKNOWN: ServerThink = ServerThink(u32::MAX);

    /// Returns the time; `None` if it is unknown.
    pub fn time(self) -> Option<Dur> {
        (self != ServerThink::UNKNOWN).then_some(Dur(u64::from(self.0) * 1000))
    }
}

impl Default for ServerThink {
    /// Returns an unknown time.
    fn default() -> ServerThink {
        ServerThink::UNKNOWN
    }
}

impl From<Dur> for ServerThink {
    /// Rounds down to microseconds, at most 71 minutes.
    fn from(time: Dur) -> ServerThink {
        ServerThink((time.0 / 1000).min(u64::from(u32::MAX - 1)) as u32)
    }
}

/// The writes of a connection in their order. A single one, which most connections of large logs have, is held
/// inline, so that it costs no allocation.
#[derive(Clone)]
pub struct Writes(Held);

/// How [`Writes`] are stored.
#[derive(Clone)]
enum Held {
    One(Write),
    Many(Box<[Write]>),
    Datagrams(Box<Datagrams>),
}

impl Writes {
    /// Returns a single write of `bytes` payload bytes without a pause.
    pub fn single(bytes: u64) -> Writes {
        Writes(Held::One(Write { idle: Dur::ZERO, bytes }))
    }

    /// Returns the datagrams of a flow, which has no writes.
    pub fn from_datagrams(datagrams: Datagrams) -> Writes {
        Writes(Held::Datagrams(Box::new(datagrams)))
    }

    /// Returns the datagrams; `None` for a connection with writes.
    pub fn datagrams(&self) -> Option<&Datagrams> {
        match &self.0 {
            Held::Datagrams(datagrams) => Some(datagrams),
            Held::One(_) | Held::Many(_) => None,
        }
    }
}

impl From<Vec<Write>> for Writes {
    /// Stores a single write inline and any other number on the heap.
    fn from(writes: Vec<Write>) -> Writes {
        match writes[..] {
            [only] => Writes(Held::One(only)),
            _ => Writes(Held::Many(writes.into_boxed_slice())),
        }
    }
}

impl FromIterator<Write> for Writes {
    /// Collects writes in their order.
    fn from_iter<I: IntoIterator<Item = Write>>(writes: I) -> Writes {
        writes.into_iter().collect::<Vec<Write>>().into()
    }
}

impl Deref for Writes {
    type Target = [Write];

    /// Returns the writes; none for datagrams.
    fn deref(&self) -> &[Write] {
        match &self.0 {
            Held::One(write) => std::slice::from_ref(write),
            Held::Many(writes) => writes,
            Held::Datagrams(_) => &[],
        }
    }
}

impl DerefMut for Writes {
    /// Returns the writes; none for datagrams.
    fn deref_mut(&mut self) -> &mut [Write] {
        match &mut self.0 {
            Held::One(write) => std::slice::from_mut(write),
            Held::Many(writes) => writes,
            Held::Datagrams(_) => &mut [],
        }
    }
}

impl PartialEq for Writes {
    /// Compares writes and datagrams.
    fn eq(&self, other: &Writes) -> bool {
        **self == **other && self.datagrams() == other.datagrams()
    }
}

impl Eq for Writes {}

impl<const N: usize> PartialEq<[Write; N]> for Writes {
    /// Compares the writes with an array.
    fn eq(&self, other: &[Write; N]) -> bool {
        **self == *other
    }
}

impl fmt::Debug for Writes {
    /// Formats the writes, or the datagrams, without the way in which they are stored.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.datagrams() {
            Some(datagrams) => fmt::Debug::fmt(datagrams, f),
            None => fmt::Debug::fmt(&**self, f),
        }
    }
}

impl Connection {
    /// Returns a download of one write over TCP, from server 0 to client 0, of no known RTT or application.
    pub fn from_one_write(start: Time, bytes: u64) -> Connection {
        Connection {
            start,
            client: 0,
            server: 0,
            rtt: None,
            duration: None,
            kind: Kind::Tcp,
            class: Class::default(),
            flow_class: None,
            upload: false,
            server_think: ServerThink::default(),
            writes: Writes::single(bytes),
        }
    }

    /// Returns the payload bytes of all writes; of datagrams, the bytes of IP length in the direction of the data.
    pub fn bytes(&self) -> u64 {
        match self.writes.datagrams() {
            Some(datagrams) => datagrams.amount(false).bytes,
            None => self.writes.iter().map(|write| write.bytes).sum(),
        }
    }

    /// Returns the bytes of IP length that the connection puts on the data direction of a link without loss:
    /// payload, 40 B of headers per segment of at most `mss` payload bytes, and 40 B for the SYN-ACK. The sizes of
    /// datagrams are IP lengths already.
    pub fn wire_bytes(&self, mss: u32) -> u64 {
        if self.writes.datagrams().is_some() {
            return self.bytes();
        }
        let mss = u64::from(mss.max(1));
        let headers: u64 = self.writes.iter().map(|write| HEADER_BYTES * write.bytes.div_ceil(mss)).sum();
        self.bytes() + headers + HEADER_BYTES
    }

    /// Returns the last time at which the connection is known to be active: the start plus all pauses, or the
    /// last datagram. How long its transfers take is unknown.
    pub fn last_activity(&self) -> Time {
        if let Some(datagrams) = self.writes.datagrams() {
            return self.start + datagrams.duration();
        }
        self.writes.iter().fold(self.start, |at, write| at + write.idle)
    }
}

/// The page of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PageOf {
    /// Number of the page; 0 for none.
    pub key: u64,
    /// How many writes the page has in all, at most 65,535.
    pub transfers: u16,
}

impl PageOf {
    /// Returns page `key`, which has `transfers` writes; more than 65,535 count as that many.
    pub fn new(key: u64, transfers: u64) -> PageOf {
        PageOf { key, transfers: transfers.min(u64::from(u16::MAX)) as u16 }
    }
}

/// The writes of a modelled connection that has several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The writes, at least one.
    pub writes: Vec<Write>,
    /// The page of each.
    pub pages: Vec<PageOf>,
}

impl Script {
    /// Returns the payload bytes of all writes.
    pub fn bytes(&self) -> u64 {
        self.writes.iter().map(|write| write.bytes).sum()
    }

    /// Adds a write of `bytes` payload bytes after a pause of `idle`, as part of `page`.
    pub fn push(&mut self, idle: Dur, bytes: u64, page: PageOf) {
        self.writes.push(Write { idle, bytes });
        self.pages.push(page);
    }
}
