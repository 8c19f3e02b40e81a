//! Parameters in natural units, from which both a policy's text and its reference model are made.

use crate::common::{Bits, parts};
use mousehole_policy::{LinkContext, Params, find};

/// RED's parameters; lengths are in mean packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Red {
    pub min_packets: f64,
    pub max_packets: f64,
    pub max_p: f64,
    pub w_q: f64,
    pub mean_packet_bytes: f64,
    pub rate_bps: f64,
    pub gentle: bool,
    pub wait: bool,
    pub byte_mode: bool,
    pub queue_in_bytes: bool,
    pub ecn: bool,
}

impl Default for Red {
    /// Returns the example of Floyd & Jacobson: 5 and 15 packets, `w_q` 0.002; `max_p` 0.1; 1000-byte packets
    /// at 10 Mbit/s.
    fn default() -> Red {
        Red {
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

impl Red {
    /// Draws parameters within their ranges.
    pub fn random(bits: &mut Bits) -> Red {
        let min_packets = bits.spread(0.5, 2000.0);
        Red {
            min_packets,
            max_packets: min_packets + bits.spread(1.0, 4000.0),
            max_p: bits.spread(1e-4, 1.0),
            w_q: bits.spread(1e-6, 1.0),
            mean_packet_bytes: bits.spread(40.0, 9000.0).round(),
            rate_bps: bits.spread(1e5, 1e11).round(),
            gentle: bits.below(2) == 1,
            wait: bits.below(2) == 1,
            byte_mode: bits.below(2) == 1,
            queue_in_bytes: bits.below(2) == 1,
            ecn: bits.below(2) == 1,
        }
    }

    /// Returns the link of this RED.
    pub fn context(&self) -> LinkContext {
        LinkContext { rate_bps: self.rate_bps, bottleneck_bps: self.rate_bps, ..LinkContext::EXAMPLE }
    }

    /// Returns RED's parameters.
    pub fn params(&self) -> Params {
        self.params_of("red", &[])
    }

    /// Returns the parameters of a policy that has RED's among them, with `more` in addition.
    pub fn params_of(&self, policy: &str, more: &[(&str, String)]) -> Params {
        let own = [
            ("min", self.min_packets.to_string()),
            ("max", self.max_packets.to_string()),
            ("maxp", self.max_p.to_string()),
        ];
        params_from(policy, &[&own[..], &self.common(), more].concat(), &self.context())
    }

    /// Returns the parameters that all lines of a RED share, by name.
    pub fn common(&self) -> Vec<(&'static str, String)> {
        vec![
            ("wq", self.w_q.to_string()),
            ("gentle", self.gentle.to_string()),
            ("wait", self.wait.to_string()),
            ("byte", self.byte_mode.to_string()),
            ("unit", if self.queue_in_bytes { "bytes" } else { "packets" }.to_string()),
            ("mean", format!("{}B", self.mean_packet_bytes)),
            ("ecn", self.ecn.to_string()),
        ]
    }
}

/// Returns the parameters of a policy for a link.
pub fn params_from(policy: &str, given: &[(&str, String)], context: &LinkContext) -> Params {
    let given: Vec<(&str, &str)> = given.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Params::from_text(find(policy).unwrap(), &given, context)
        .unwrap_or_else(|error| panic!("{policy}: {error}"))
}

/// The mode of multi-RED.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Coupled,
    Decoupled,
    Total,
}

impl Mode {
    pub const ALL: [Mode; 3] = [Mode::Coupled, Mode::Decoupled, Mode::Total];

    fn word(self) -> &'static str {
        ["coupled", "decoupled", "total"][self as usize]
    }
}

/// Returns multi-RED's parameters with one line per colour. Its options give all lines the same weight and switches;
/// here each line's bytes are those of a RED of its own, so that lines may differ in everything.
pub fn multi_red(mode: Mode, levels: &[Red]) -> Params {
    let given = [("colours", levels.len().to_string()), ("mode", mode.word().to_string())];
    let params = params_from("multi-red", &given, &levels[0].context());
    let mut bytes = params.bytes();
    for (name, level) in ["level[0]", "level[1]", "level[2]"]
        .map(|name| format!("mh_multi_red_params.{name}"))
        .iter()
        .zip(levels)
    {
        parts::replace(&mut bytes, name, &level.params().bytes());
    }
    params.with_bytes(&bytes)
}

/// LFP's parameters; lengths are in packets.
#[derive(Debug, Clone, Copy)]
pub struct Lfp {
    pub threshold: u32,
    /// Tokens per second.
    pub rate: f64,
    pub burst: u32,
    pub set_point: f64,
    pub hysteresis: f64,
    /// Level of the quantile (0 to 1), and how many flows are remembered.
    pub sizes: (f64, u32),
    pub memoryless: bool,
}

impl Default for Lfp {
    /// Returns the header's defaults at 2 Mbit/s, with whole tokens a second.
    fn default() -> Lfp {
        let sizes = (0.95, 1000);
        Lfp {
            threshold: 10,
            rate: 83.0,
            burst: 50,
            set_point: 50.0,
            hysteresis: 25.0,
            sizes,
            memoryless: false,
        }
    }
}

impl Lfp {
    /// Returns the parameters on a link that carries `rate` packets of 1500 B a second; omega is then 1.
    pub fn params(&self) -> Params {
        let link = if self.rate > 0.0 { self.rate * 12_000.0 } else { 12_000.0 };
        let context = LinkContext { rate_bps: link, bottleneck_bps: link, ..LinkContext::EXAMPLE };
        let given = [
            ("tau", self.threshold.to_string()),
            ("omega", if self.rate > 0.0 { "1" } else { "0" }.to_string()),
            ("zeta", self.burst.to_string()),
            ("kappa", self.set_point.to_string()),
            ("delta", self.hysteresis.to_string()),
            ("u", (self.sizes.0 * 100.0).to_string()),
            ("h", self.sizes.1.to_string()),
            ("memoryless", self.memoryless.to_string()),
        ];
        params_from("lfp", &given, &context)
    }
}
