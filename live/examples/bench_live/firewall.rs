//! Compares the marker with a firewall rule that does the same: nft marks packets of connections
//! beyond 30 kB.

use super::common::{Config, Harness, params};
use super::traffic::{ROUNDS, Wire, run_command};
use mousehole_live::layout::KEEP_DSCP;
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Flows of the larger measurement. By default the kernel tracks at least 65,536 connections.
const FLOWS: u32 = 16_384;
const PACKETS: u32 = 65_536;

/// The marker may cost at most this share of the rule's cost.
const LIMIT: f64 = 0.5;

/// What processes the packets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Arm {
    Nothing,
    Tracking,
    Rule,
    Marker,
}

impl Arm {
    const ALL: [Arm; 4] = [Arm::Nothing, Arm::Tracking, Arm::Rule, Arm::Marker];

    /// Returns its row's title.
    fn name(self) -> &'static str {
        match self {
            Arm::Nothing => "nothing",
            Arm::Tracking => "nft: ct state alone",
            Arm::Rule => "nft: ct bytes > 30000, DSCP",
            Arm::Marker => "marker sfd(th=30kB), DSCP",
        }
    }

    /// Returns its rule in nft's language; `None` if it has none.
    fn rule(self) -> Option<&'static str> {
        match self {
            Arm::Tracking => Some("ct state invalid drop"),
            Arm::Rule => Some("ct bytes > 30000 ip dscp set 1"),
            Arm::Nothing | Arm::Marker => None,
        }
    }
}

/// Installs one rule for outgoing packets, in the table `inet bench` of this network namespace,
/// which the caller deletes.
///
/// # Errors
/// A sentence when nft is missing or rejects it.
fn set_rule(rule: &str) -> Result<(), String> {
    let text = format!(
        "table inet bench {{ chain leaving {{ type filter hook postrouting priority mangle; policy accept; {rule}; }}; }}"
    );
    let mut nft = Command::new("nft")
        .args(["-f", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("nft does not run ({error}); it is of the package nftables"))?;
    nft.stdin.take().expect("it has one").write_all(text.as_bytes()).map_err(|error| error.to_string())?;
    let done = nft.wait_with_output().map_err(|error| error.to_string())?;
    match done.status.success() {
        true => Ok(()),
        false => Err(format!(
            "nft refuses `{rule}`, as where the kernel has no nft_ct or nf_conntrack: {}",
            String::from_utf8_lossy(&done.stderr).lines().next().unwrap_or_default()
        )),
    }
}

/// Measures all arms and prints the tables. Moves this thread into a new network namespace, where
/// it turns connection counters on.
///
/// # Errors
/// A sentence when the kernel or nft lacks something.
pub(crate) fn measure() -> Result<(), String> {
    let wire = Wire::new()?;
    let config = Config::new(&[params("sfd", &[("th", "30kB")])]).with_dscp([KEEP_DSCP, 1, 1]);
    let marker = Harness::load_built_in("sfd-none-none", 65_536, &config);
    // This rule loads connection tracking, without which its setting does not exist.
    set_rule("ct state invalid drop")?;
    run_command("nft", "delete table inet bench")?;
    fs::write("/proc/sys/net/netfilter/nf_conntrack_acct", "1")
        .map_err(|error| format!("connections' bytes are not counted (nf_conntrack_acct): {error}"))?;
    for (title, flows) in [("One flow", 1), ("16,384 flows, each packet of another one", FLOWS)] {
        let mut taken: [Vec<f64>; 4] = Default::default();
        for _ in 0..ROUNDS {
            for (arm, taken) in Arm::ALL.into_iter().zip(&mut taken) {
                if let Some(rule) = arm.rule() {
                    set_rule(rule)?;
                }
                let link = (arm == Arm::Marker).then(|| wire.attach(marker.program())).transpose()?;
                // Once before, so that the flows are known.
                let order: Vec<u32> = (0..PACKETS).map(|call| super::shuffle(call) % flows).collect();
                wire.send(order.iter().copied())?;
                taken.push(wire.send(order.into_iter())?);
                drop(link);
                if arm.rule().is_some() {
                    run_command("nft", "delete table inet bench")?;
                }
            }
        }
        print_table(title, &taken);
    }
    Ok(())
}

/// Returns the median and the minimum of at least one value.
fn summarise(taken: &[f64]) -> (f64, f64) {
    let mut all = taken.to_vec();
    all.sort_unstable_by(f64::total_cmp);
    (all[all.len() / 2], all[0])
}

/// Prints the cost of a packet for each arm, and its excess over nothing: the median over rounds of
/// the difference within a round.
fn print_table(title: &str, taken: &[Vec<f64>; 4]) {
    println!(
        "{title}: CPU time of sending a packet\n{:<32}{:>8}{:>8}{:>10}{:>10}",
        "ns a packet", "median", "least", "above", "least"
    );
    let above = |arm: usize| {
        let differences: Vec<f64> =
            taken[arm].iter().zip(&taken[0]).map(|(with, without)| with - without).collect();
        (summarise(&differences).0, summarise(&taken[arm]).1 - summarise(&taken[0]).1)
    };
    for (number, arm) in Arm::ALL.into_iter().enumerate() {
        let ((median, least), (above, above_least)) = (summarise(&taken[number]), above(number));
        println!("{:<32}{median:>8.0}{least:>8.0}{above:>10.0}{above_least:>10.0}", arm.name());
    }
    let ratio = |of: &dyn Fn((f64, f64)) -> f64| of(above(3)) / of(above(2));
    println!(
        "the marker costs {:.2} of nft's rule (of the least: {:.2}; limit {LIMIT})\n",
        ratio(&|both| both.0),
        ratio(&|both| both.1)
    );
}
