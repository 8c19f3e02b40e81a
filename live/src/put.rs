//! Queue disciplines and classes to be installed. Each is described once and written in two ways:
//! as the tc(8) command that a person would type, and as the rtnetlink message for the kernel
//! (linux/pkt_sched.h of Linux's UAPI).
//!
//! The kernel counts rates in bytes per second, and the time that a bucket takes to fill in ticks
//! of 64 ns, whatever its clock (PSCHED_SHIFT in its net/pkt_sched.h; since 2.6.31). tc also sends
//! tables of such times. The kernel reads them only for a rate without a link layer; ours name one.

use crate::deployment::{Cake, Cost};
use crate::error::{Failure, Result};
use crate::netlink::{RTM_NEWQDISC, RTM_NEWTCLASS, TC_H_ROOT, write_qdisc};
use crate::qdisc::{
    DIFFSERV, TCA_CAKE_ACK_FILTER, TCA_CAKE_BASE_RATE64, TCA_CAKE_DIFFSERV_MODE, TCA_CAKE_NAT, format_id,
    format_missing,
};
use mousehole_netlink::add_attribute;
use mousehole_scheme::link_layer::Framing;
use mousehole_scheme::units::{Buffer, Rate};

const TCA_FQ_FLOW_PLIMIT: u16 = 2;
const TCA_CAKE_ATM: u16 = 4;
const TCA_CAKE_OVERHEAD: u16 = 6;
const TCA_CAKE_MPU: u16 = 14;
const TCA_CAKE_INGRESS: u16 = 15;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const TCA_HTB_PARMS: u16 = 1;
const TCA_HTB_INIT: u16 = 2;
const TCA_HTB_RATE64: u16 = 6;
const TCA_HTB_CEIL64: u16 = 7;
const TC_LINKLAYER_ETHERNET: u8 = 1;
/// The version of HTB's protocol, as tc sends it.
const TC_HTB_PROTOVER: u32 = 3;
/// The divisor by which HTB derives a class's quantum from its rate, as tc sends it.
const RATE_TO_QUANTUM: u32 = 10;
const TICKS_PER_US: f64 = 1000.0 / 64.0;

/// Whether an existing queue discipline is replaced or changed in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Replace,
    Change,
}

/// A queue discipline or class, with its position in a device's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Put {
    /// The class or queue discipline above it; [`TC_H_ROOT`] for the device's root.
    pub(crate) parent: u32,
    /// Its handle or class number; 0 lets the kernel choose.
    pub(crate) handle: u32,
    pub(crate) what: What,
}

/// A kind of queue discipline or class, with its options. Rates are in bit/s; bursts, limits and
/// overheads in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    Fq { flow_limit: u32 },
    Cake(Cake),
    Tbf { rate: Rate, burst: u32, limit: u32, overhead: u32 },
    Htb { default: u32 },
    HtbClass { rate: Rate, ceil: Rate, burst: u32, priority: u32, overhead: u32 },
    Fifo(Buffer),
    Native(String),
}

impl Put {
    /// Returns the tc(8) command that installs or changes it at this device.
    pub(crate) fn format_command(&self, verb: Verb, device: &str) -> String {
        let verb = if verb == Verb::Replace { "replace" } else { "change" };
        let parent = match self.parent {
            TC_H_ROOT => "root".to_string(),
            parent => format!("parent {}", format_id(parent)),
        };
        let (object, number) = match (self.is_class(), self.handle) {
            (true, class) => ("class", format!(" classid {}", format_id(class))),
            (false, 0) => ("qdisc", String::new()),
            (false, handle) => ("qdisc", format!(" handle {}", format_id(handle))),
        };
        format!(
            "tc {object} {verb} dev {device} {parent}{number} {}{}",
            self.what.kind(),
            self.what.format_options()
        )
    }

    /// Sends it to the kernel for the device with this name and interface index and waits for the
    /// answer. A change of something that is not there fails.
    ///
    /// # Errors
    /// A sentence that names the device and what the kernel rejects.
    pub(crate) fn apply(&self, verb: Verb, device: &str, index: u32) -> Result<()> {
        let what = if self.is_class() { RTM_NEWTCLASS } else { RTM_NEWQDISC };
        let flags = match verb {
            Verb::Replace => libc::NLM_F_CREATE | libc::NLM_F_REPLACE,
            Verb::Change => 0,
        };
        let (kind, numbers) = (self.what.kind(), [self.handle, self.parent]);
        write_qdisc(what, flags, index, numbers, kind, &self.what.encode_options()).map_err(|said| {
            let object = if self.is_class() { "class" } else { "queue" };
            let number = if self.handle == 0 { self.parent } else { self.handle };
            Failure::new(match said.contains("kind is unknown") {
                true => format!("{device}: {}", format_missing(kind)),
                false => {
                    format!("{device}: the kernel refuses the {object} {kind} {}; {said}", format_id(number))
                }
            })
        })
    }

    /// Returns whether it is a class, not a queue discipline.
    fn is_class(&self) -> bool {
        matches!(self.what, What::HtbClass { .. })
    }
}

impl What {
    /// Returns the kind's name, as tc(8) and the kernel use it.
    fn kind(&self) -> &str {
        match self {
            What::Fq { .. } => "fq",
            What::Cake(_) => "cake",
            What::Tbf { .. } => "tbf",
            What::Htb { .. } | What::HtbClass { .. } => "htb",
            What::Fifo(Buffer::Packets(_)) => "pfifo",
            What::Fifo(Buffer::Bytes(_)) => "bfifo",
            What::Native(kind) => kind,
        }
    }

    /// Returns its options in tc(8)'s syntax, each preceded by a space.
    fn format_options(&self) -> String {
        let of_overhead =
            |bytes: &u32| if *bytes == 0 { String::new() } else { format!(" overhead {bytes}") };
        match self {
            What::Fq { flow_limit } => format!(" flow_limit {flow_limit}"),
            What::Cake(cake) => format!(" {}", cake.format_options()),
            What::Tbf { rate, burst, limit, overhead } => {
                format!(" rate {} burst {burst} limit {limit}{}", rate.0, of_overhead(overhead))
            }
            What::Htb { default } => format!(" default {default:x}"),
            What::HtbClass { rate, ceil, burst, priority, overhead } => {
                let (rate, ceil, overhead) = (rate.0, ceil.0, of_overhead(overhead));
                format!(" rate {rate} ceil {ceil} burst {burst} cburst {burst} prio {priority}{overhead}")
            }
            What::Fifo(Buffer::Packets(packets)) => format!(" limit {packets}"),
            What::Fifo(Buffer::Bytes(bytes)) => format!(" limit {bytes}"),
            What::Native(_) => String::new(),
        }
    }

    /// Returns its options as the body of TCA_OPTIONS, in the kernel's layout. A buffer beyond 32
    /// bits is cut to the largest.
    fn encode_options(&self) -> Vec<u8> {
        let mut all = Vec::new();
        let mut add = |kind, value: &[u8]| add_attribute(&mut all, kind, value);
        match self {
            What::Fq { flow_limit } => add(TCA_FQ_FLOW_PLIMIT, &flow_limit.to_ne_bytes()),
            What::Cake(cake) => {
                add(TCA_CAKE_BASE_RATE64, &to_bytes_per_second(cake.rate).to_ne_bytes());
                for (kind, value) in list_cake_attributes(cake) {
                    add(kind, &value.to_ne_bytes());
                }
            }
            What::Tbf { rate, burst, limit, overhead } => {
                // No peak rate; then the limit. The bucket as time stays 0, since TCA_TBF_BURST gives it in bytes.
                let parameters =
                    [encode_rate(*rate, *overhead), vec![0; 12], encode_words(&[*limit, 0, 0])].concat();
                add(TCA_TBF_PARMS, &parameters);
                add(TCA_TBF_RATE64, &to_bytes_per_second(*rate).to_ne_bytes());
                add(TCA_TBF_BURST, &burst.to_ne_bytes());
            }
            What::Htb { default } => {
                add(TCA_HTB_INIT, &encode_words(&[TC_HTB_PROTOVER, RATE_TO_QUANTUM, *default, 0, 0]));
            }
            What::HtbClass { rate, ceil, burst, priority, overhead } => {
                let buckets = [to_ticks(*burst, *rate), to_ticks(*burst, *ceil)];
                // The kernel works out the quantum and the level.
                let rest = encode_words(&[buckets[0], buckets[1], 0, 0, *priority]);
                add(
                    TCA_HTB_PARMS,
                    &[encode_rate(*rate, *overhead), encode_rate(*ceil, *overhead), rest].concat(),
                );
                add(TCA_HTB_RATE64, &to_bytes_per_second(*rate).to_ne_bytes());
                add(TCA_HTB_CEIL64, &to_bytes_per_second(*ceil).to_ne_bytes());
            }
            // The one structure that is no list of attributes.
            What::Fifo(Buffer::Packets(packets)) => all.extend(packets.to_ne_bytes()),
            What::Fifo(Buffer::Bytes(bytes)) => {
                all.extend(u32::try_from(*bytes).unwrap_or(u32::MAX).to_ne_bytes());
            }
            What::Native(_) => {}
        }
        all
    }
}

/// Returns the 32-bit attributes of a CAKE: number and value. CAKE's rate has 64 bits and is not
/// among them.
fn list_cake_attributes(cake: &Cake) -> Vec<(u16, u32)> {
    let diffserv = DIFFSERV.iter().position(|mode| *mode == Cake::DIFFSERV).expect("a mode of CAKE") as u32;
    let mut all = vec![(TCA_CAKE_DIFFSERV_MODE, diffserv)];
    all.extend(
        [
            (TCA_CAKE_NAT, cake.has_nat),
            (TCA_CAKE_INGRESS, cake.is_download),
            (TCA_CAKE_ACK_FILTER, cake.has_ack_filter),
        ]
        .into_iter()
        .filter_map(|(kind, is_set)| is_set.then_some((kind, 1))),
    );
    match cake.cost {
        Cost::Unknown => {}
        Cost::Overhead(bytes) => all.push((TCA_CAKE_OVERHEAD, bytes)),
        Cost::Layer(layer) => {
            let framing = match layer.framing {
                Framing::Plain => 0,
                Framing::Atm => 1,
                Framing::Ptm => 2,
            };
            all.extend([
                (TCA_CAKE_ATM, framing),
                (TCA_CAKE_OVERHEAD, layer.overhead),
                (TCA_CAKE_MPU, layer.mpu),
            ]);
        }
    }
    all
}

/// Returns a struct tc_ratespec without a rate table. A rate beyond its 32 bits is cut to the
/// largest, and the 64-bit attribute in the same message has the full value.
fn encode_rate(rate: Rate, overhead: u32) -> Vec<u8> {
    let mut all = vec![0, TC_LINKLAYER_ETHERNET];
    all.extend((overhead as u16).to_ne_bytes());
    all.extend([0; 4]);
    all.extend(u32::try_from(to_bytes_per_second(rate)).unwrap_or(u32::MAX).to_ne_bytes());
    all
}

/// Returns the rate in bytes per second, rounded down.
fn to_bytes_per_second(rate: Rate) -> u64 {
    rate.0 / 8
}

/// Returns how long `bytes` take at `rate`, in the kernel's ticks of 64 ns. Times are cut to whole
/// microseconds, as tc does it.
fn to_ticks(bytes: u32, rate: Rate) -> u32 {
    let us = 1e6 * (f64::from(bytes) / to_bytes_per_second(rate) as f64);
    (us.floor() * TICKS_PER_US) as u32
}

/// Returns the numbers as bytes in the machine's order.
fn encode_words(all: &[u32]) -> Vec<u8> {
    all.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn format_command__of_a_queue_and_a_class() {
        let (rate, ceil) = (Rate(50_000), Rate(5_000_000));
        let class = What::HtbClass { rate, ceil, burst: 8000, priority: 1, overhead: 4 };
        let class = Put { parent: 0x6d48_0001, handle: 0x6d48_0011, what: class };
        assert_eq!(
            class.format_command(Verb::Change, "wan"),
            "tc class change dev wan parent 6d48:1 classid 6d48:11 htb rate 50000 ceil 5000000 burst 8000 cburst 8000 prio 1 \
             overhead 4"
        );
        let leaf = Put { parent: 0x6d48_0011, handle: 0, what: What::Fifo(Buffer::Packets(50)) };
        assert_eq!(
            leaf.format_command(Verb::Replace, "wan"),
            "tc qdisc replace dev wan parent 6d48:11 pfifo limit 50"
        );
        let root = Put { parent: TC_H_ROOT, handle: 0x6d48_0000, what: What::Htb { default: 0x10 } };
        assert_eq!(
            root.format_command(Verb::Replace, "wan"),
            "tc qdisc replace dev wan root handle 6d48: htb default 10"
        );
    }

    #[test]
    fn encode_options__have_the_sizes_of_the_kernels_structures() {
        let length = |what: What| what.encode_options().len();
        let (rate, fifo) = (Rate(5_000_000), |bytes| What::Fifo(Buffer::Bytes(bytes)));
        assert_eq!(length(What::Tbf { rate, burst: 8000, limit: 1, overhead: 0 }), 4 + 36 + 12 + 8);
        assert_eq!(length(What::Htb { default: 1 }), 4 + 20);
        let class = What::HtbClass { rate, ceil: rate, burst: 8000, priority: 0, overhead: 0 };
        assert_eq!(length(class), 4 + 44 + 12 + 12);
        assert_eq!(fifo(1 << 40).encode_options(), u32::MAX.to_ne_bytes());
        assert_eq!(to_ticks(8000, rate), 200_000, "12.8 ms");
        assert_eq!(to_ticks(1 << 30, Rate(8)), u32::MAX);
    }
}
