//! One line of RED in natural units, for the variants that decide in floating point: ns-2's.

/// A line of RED; lengths are in mean packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RedLine {
    /// Average below which nothing is dropped.
    pub min_packets: f64,
    /// Average at which the base probability is `max_p`; at least `min_packets` + 1.
    pub max_packets: f64,
    /// Base probability at `max_packets`; above 0, at most 1.
    pub max_p: f64,
    /// Weight of the new length in the average; 1e-6 to 1.
    pub w_q: f64,
    /// A typical packet, for idle time and for everything counted in bytes; bytes.
    pub mean_packet_bytes: f64,
    /// Rate of the link, for idle time; bit/s.
    pub rate_bps: f64,
    /// Let the base probability rise to 1 between max and 2 max instead of jumping at max.
    pub gentle: bool,
    /// Keep drops at least 1/p apart.
    pub wait: bool,
    /// Scale the probability with the packet's size.
    pub byte_mode: bool,
    /// Judge by bytes waiting, not packets.
    pub queue_in_bytes: bool,
    /// Mark ECN-capable packets instead of dropping them early.
    pub ecn: bool,
}

impl Default for RedLine {
    /// Returns the example of Floyd & Jacobson 1993: 5 and 15 packets, `w_q` 0.002; `max_p` 0.1; 1000-byte
    /// packets at 10 Mbit/s.
    fn default() -> RedLine {
        RedLine {
            min_packets: 5.0,
            max_packets: 15.0,
            max_p: 0.1,
            w_q: 0.002,
            mean_packet_bytes: 1000.0,
            rate_bps: 10e6,
            gentle: false,
            wait: false,
            byte_mode: false,
            queue_in_bytes: false,
            ecn: false,
        }
    }
}
