//! The structs that the programs in the kernel and this command share: bpf/layout.h in Rust. A test
//! compares the two by the objects' type information.

/// How many colours there are: green, yellow and red, in this order.
pub const COLOURS: usize = 3;

/// The reasons for drops, in the order of `ML_EARLY` and its successors.
pub const DROP_REASONS: [&str; 4] = ["early", "forced", "full-buffer", "policed"];

/// The unit of a limit in bytes: `MH_BYTES`.
pub const BYTES: u32 = 0;
/// The unit of a limit in packets: `MH_PACKETS`.
pub const PACKETS: u32 = 1;

/// Entries in a bucket of the flow table.
pub const BUCKET: u32 = 8;

/// The pause that ends a transfer, ms: `ML_PAUSE_MS`.
pub const PAUSE_MS: u32 = 5000;

/// The value that leaves the DSCP unchanged.
pub const KEEP_DSCP: u8 = 255;

/// `struct ml_key`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Key {
    /// Source address, IPv4 mapped into IPv6.
    pub source: [u8; 16],
    /// Destination address.
    pub destination: [u8; 16],
    /// Source port in network order; 0 if the protocol has none.
    pub source_port: [u8; 2],
    /// Destination port in network order; 0 if the protocol has none.
    pub destination_port: [u8; 2],
    /// IP protocol.
    pub protocol: u8,
    /// Zero.
    pub reserved: [u8; 3],
}

/// `struct ml_flow`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Flow {
    /// Colour of its last packet.
    pub colour: u32,
    /// Packets whose marks by others were respected.
    pub already_marked: u32,
    /// When its last packet came, CLOCK_MONOTONIC.
    pub last_seen_ns: u64,
    /// IP bytes of all packets.
    pub bytes: u64,
    /// When its first packet came, CLOCK_MONOTONIC in milliseconds, the low 32 bits.
    pub first_seen_ms: u32,
    /// Packets on the wire, by colour.
    pub colour_packets: [u32; COLOURS],
    /// Packets dropped, by reason.
    pub dropped: [u32; 4],
    /// Packets marked CE.
    pub ce_marked: u32,
    /// Zero.
    pub reserved: u32,
    /// For TCP: the sequence number of its first byte, or the first that was seen.
    pub begins: u32,
    /// 1 while a CPU handles one of its packets.
    pub lock: u32,
}

impl Flow {
    /// Returns how many packets on the wire it had, modulo 2³².
    pub fn packets(&self) -> u32 {
        self.colour_packets.iter().fold(0, |sum, packets| sum.wrapping_add(*packets))
    }

    /// Returns the milliseconds since its first packet; after 49 days the count restarts at 0.
    pub fn age_ms(&self, now_ns: u64) -> u32 {
        ((now_ns / 1_000_000) as u32).wrapping_sub(self.first_seen_ms)
    }
}

/// The offset of a flow's account in an entry of the flow table: after the key.
pub const ACCOUNT: usize = size_of::<Key>();
/// The offset of the policy's state in an entry: after the account.
pub const STATE: usize = ACCOUNT + size_of::<Flow>();

/// `struct ml_count`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets on the wire.
    pub packets: u64,
    /// Their IP bytes.
    pub bytes: u64,
}

/// `struct ml_counters`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// IPv4.
    pub ipv4: Count,
    /// IPv6.
    pub ipv6: Count,
    /// Frames of other protocols.
    pub not_ip: Count,
    /// Frames whose headers are cut short or inconsistent.
    pub malformed: Count,
    /// Fragments, which are counted above as well.
    pub fragments: Count,
    /// GSO super-packets, counted above as well.
    pub super_packets: Count,
    /// By colour.
    pub colour: [Count; COLOURS],
    /// Dropped, by reason.
    pub dropped: [Count; 4],
    /// Dropped, by colour.
    pub colour_dropped: [Count; COLOURS],
    /// Marked CE.
    pub ce_marked: Count,
    /// Marks of others that were respected.
    pub already_marked: Count,
    /// Packets that got a later departure time.
    pub held: Count,
    /// The sum of their waits, ns, counted once for each packet on the wire.
    pub held_ns: u64,
    /// Flows that were new to the table.
    pub new_flows: u64,
    /// Packets that found no room in the table.
    pub without_state: u64,
    /// Packets that passed without a decision because a lock stayed taken.
    pub lock_busy: u64,
}

/// `struct ml_action`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Action {
    /// `skb->priority` by colour; 0 leaves it unchanged.
    pub priority: [u32; COLOURS],
    /// DSCP by colour; [`KEEP_DSCP`] leaves it unchanged.
    pub dscp: [u8; COLOURS],
    /// Whether marks of others are replaced.
    pub overrides: u8,
}

impl Action {
    /// The action that changes nothing.
    pub const NONE: Action = Action { priority: [0; COLOURS], dscp: [KEEP_DSCP; COLOURS], overrides: 0 };
}

/// `struct mh_limit`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// How many bytes or packets fit.
    pub count: u64,
    /// [`BYTES`] or [`PACKETS`].
    pub unit: u32,
    /// Zero.
    pub reserved: u32,
}

/// `struct ml_trial`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// The coefficients of the hash that draws the hosts: one for each 32-bit word of an address,
    /// and a constant.
    pub key: [u64; 5],
    /// The share of hosts that is spared, in Q32; 0 without a trial.
    pub spared_q32: u64,
}

impl Trial {
    /// The trial that spares nobody.
    pub const NONE: Trial = Trial { key: [0; 5], spared_q32: 0 };

    /// Returns whether the packets of this address are left alone: `ml_spares()`.
    pub fn spares(&self, address: &[u8; 16]) -> bool {
        let words =
            address.chunks_exact(4).map(|word| u32::from_ne_bytes([word[0], word[1], word[2], word[3]]));
        let sum = words
            .zip(self.key)
            .fold(self.key[4], |sum, (word, key)| sum.wrapping_add(key.wrapping_mul(word.into())));
        sum >> 32 < self.spared_q32
    }
}

/// `struct ml_transfer`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Transfer {
    /// When the SYN came, CLOCK_MONOTONIC in milliseconds, the low 32 bits; 0 if none was seen.
    pub began_ms: u32,
    /// When the last packet with payload came, on the same clock.
    pub ended_ms: u32,
    /// IP bytes of the packets with payload.
    pub bytes: u64,
}

/// The flag of settings by which a user is a destination address; without it, a source address.
pub const USER_IS_DESTINATION: u32 = 1;
/// The flag of settings by which a native queue behind the program marks packets.
pub const HAS_TWINS: u32 = 2;

/// `struct ml_settings`. Programs of earlier builds run on, so members keep their offsets.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// 1 to decide and count only, and change nothing.
    pub shadow: u32,
    /// Bytes before the network header.
    pub link_header_bytes: u32,
    /// [`USER_IS_DESTINATION`] and [`HAS_TWINS`].
    pub flags: u32,
    /// The longest time that a packet waits for tokens; 0 if packets are policed.
    pub longest_wait_ms: u32,
    /// The queue's buffer.
    pub limit: Limit,
    /// What is done with packets.
    pub action: Action,
    /// The hosts whose packets are left alone.
    pub trial: Trial,
}

impl Settings {
    /// Returns whether a user is a destination address.
    pub fn has_destination_users(&self) -> bool {
        self.flags & USER_IS_DESTINATION != 0
    }
}

/// `struct ml_control`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Control {
    /// The active slot of settings.
    pub active: u32,
    /// Buckets of the flow table.
    pub buckets: u32,
    /// Random coefficients of the hash that spreads flows over the table.
    pub hash: [u32; size_of::<Key>() / 4],
}

/// `struct ml_agent`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Agent {
    /// The active slot of published values.
    pub active: u32,
    /// Zero.
    pub reserved: u32,
    /// When the agent last ran, CLOCK_MONOTONIC; 0 if never.
    pub seen_ns: u64,
}

/// A struct of plain numbers that can be read from bytes and written to them.
///
/// # Safety
/// The type must be `repr(C)` and have no padding, and any bytes must be a valid value.
pub unsafe trait Plain: Copy {
    /// Returns the value in the first bytes; `None` if there are too few, as in a map of another
    /// build's program.
    fn find(bytes: &[u8]) -> Option<Self> {
        (bytes.len() >= size_of::<Self>()).then(|| Self::read(bytes))
    }

    /// Returns the value in the first bytes.
    ///
    /// # Panics
    /// When there are too few bytes.
    fn read(bytes: &[u8]) -> Self {
        assert!(bytes.len() >= size_of::<Self>(), "{} bytes are too few", bytes.len());
        // SAFETY: there are enough bytes, and any are a value.
        unsafe { bytes.as_ptr().cast::<Self>().read_unaligned() }
    }

    /// Returns the value's bytes.
    fn bytes(&self) -> &[u8] {
        // SAFETY: the type has no padding.
        unsafe { std::slice::from_raw_parts(std::ptr::from_ref(self).cast(), size_of::<Self>()) }
    }
}

// SAFETY: plain numbers without padding; the test of the layouts checks their sizes.
unsafe impl Plain for Key {}
// SAFETY: as above.
unsafe impl Plain for Flow {}
// SAFETY: as above.
unsafe impl Plain for Counters {}
// SAFETY: as above.
unsafe impl Plain for Settings {}
// SAFETY: as above.
unsafe impl Plain for Control {}
// SAFETY: as above.
unsafe impl Plain for Agent {}
// SAFETY: as above.
unsafe impl Plain for Transfer {}

impl Count {
    /// Adds packets and bytes of another count.
    fn add(&mut self, other: Count) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

impl Counters {
    /// Adds the counters of another CPU.
    pub fn add(&mut self, other: &Counters) {
        self.ipv4.add(other.ipv4);
        self.ipv6.add(other.ipv6);
        self.not_ip.add(other.not_ip);
        self.malformed.add(other.malformed);
        self.fragments.add(other.fragments);
        self.super_packets.add(other.super_packets);
        for index in 0..COLOURS {
            self.colour[index].add(other.colour[index]);
            self.colour_dropped[index].add(other.colour_dropped[index]);
        }
        for (mine, others) in self.dropped.iter_mut().zip(other.dropped) {
            mine.add(others);
        }
        self.ce_marked.add(other.ce_marked);
        self.already_marked.add(other.already_marked);
        self.held.add(other.held);
        self.held_ns += other.held_ns;
        self.new_flows += other.new_flows;
        self.without_state += other.without_state;
        self.lock_busy += other.lock_busy;
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    macro_rules! assert_same_layout {
        ($btf:expr, $c:literal, $rust:ident, $($member:ident),+) => {
            let (bytes, members) = $btf.find_struct($c).expect("the object has the struct");
            let members: Vec<_> = members.into_iter().map(|(name, bits)| (name, bits / 8)).collect();
            let here = vec![$((stringify!($member).to_string(), offset_of!($rust, $member))),+];
            assert_eq!(members, here, "{}", $c);
            assert_eq!(bytes, size_of::<$rust>(), "{}", $c);
        };
    }

    #[test]
    fn settings__keep_the_offsets_of_programs_that_run() {
        let offsets = [
            offset_of!(Settings, shadow),
            offset_of!(Settings, link_header_bytes),
            offset_of!(Settings, flags),
            offset_of!(Settings, longest_wait_ms),
            offset_of!(Settings, limit),
            offset_of!(Settings, action),
            offset_of!(Settings, trial),
        ];
        assert_eq!(offsets, [0, 4, 8, 12, 16, 32, 48]);
        assert_eq!(size_of::<Settings>(), 96);
    }

    #[test]
    fn settings__of_another_length_are_read_or_missing() {
        let mut bytes = vec![0; size_of::<Settings>()];
        bytes[8] = 1;
        bytes[44] = 46;
        let short = Settings::find(&bytes[..95]);
        assert!(short.is_none());
        bytes.extend([7; 40]);
        let long = Settings::find(&bytes).unwrap();
        assert!(long.has_destination_users());
        assert_eq!((long.action.dscp[0], long.trial), (46, Trial::NONE));
    }

    #[test]
    fn structs__are_those_of_the_programs() {
        for name in ["sfd-none-none", "rio_ps-none-multi_red"] {
            let object = crate::object::find_built_in(name).expect("it is built in");
            let section =
                crate::kernel::find_section(&object, ".BTF").expect("programs have type information");
            let btf = crate::types::Types::read(section).expect("it is whole");
            assert_same_layout!(
                btf,
                "ml_key",
                Key,
                source,
                destination,
                source_port,
                destination_port,
                protocol,
                reserved
            );
            assert_same_layout!(
                btf,
                "ml_flow",
                Flow,
                colour,
                already_marked,
                last_seen_ns,
                bytes,
                first_seen_ms,
                colour_packets,
                dropped,
                ce_marked,
                reserved,
                begins,
                lock
            );
            assert_same_layout!(btf, "ml_count", Count, packets, bytes);
            assert_same_layout!(
                btf,
                "ml_counters",
                Counters,
                ipv4,
                ipv6,
                not_ip,
                malformed,
                fragments,
                super_packets,
                colour,
                dropped,
                colour_dropped,
                ce_marked,
                already_marked,
                held,
                held_ns,
                new_flows,
                without_state,
                lock_busy
            );
            assert_same_layout!(btf, "ml_action", Action, priority, dscp, overrides);
            assert_same_layout!(
                btf,
                "ml_settings",
                Settings,
                shadow,
                link_header_bytes,
                flags,
                longest_wait_ms,
                limit,
                action,
                trial
            );
            assert_same_layout!(btf, "ml_trial", Trial, key, spared_q32);
            assert_same_layout!(btf, "ml_transfer", Transfer, began_ms, ended_ms, bytes);
            assert_same_layout!(btf, "mh_limit", Limit, count, unit, reserved);
            assert_same_layout!(btf, "ml_control", Control, active, buckets, hash);
            assert_same_layout!(btf, "ml_agent", Agent, active, reserved, seen_ns);
        }
    }
}
