//! Demotion by bytes sent: levels, and `ct bytes`.
use crate::common::{Bits, Marker, parameter_error, params};
use mousehole_policy::{Colour, NEVER, Params, View};

const YEAR_NS: u64 = 365 * 86_400 * 1_000_000_000;

/// The greatest second threshold, which no flow passes.
const NEVER_RED: (&str, &str) = ("second", "4294967295B");

/// Returns the parameters for two thresholds in bytes.
fn levels(first: u32, second: u32) -> Params {
    params("demotion", &[("first", &format!("{first}B")), ("second", &format!("{second}B"))])
}

/// Returns the parameters that say what a firewall's `ct original bytes > bytes` says.
fn connection_bytes(bytes: u32) -> Params {
    params("demotion", &[("first", &format!("{bytes}B")), NEVER_RED])
}

fn colours(params: Params, packets: &[(u32, u8, u64)]) -> Vec<Colour> {
    let mut demotion = Marker::new(params);
    let mut flow = demotion.new_flow();
    let one = |&(bytes, flags, now_ns): &(u32, u8, u64)| {
        demotion.packet(&mut flow, &View::new(bytes).with_flags(flags), now_ns, 0)
    };
    packets.iter().map(one).collect()
}

#[test]
fn levels__include_their_threshold() {
    use Colour::{Green, Red, Yellow};
    let got = colours(levels(3000, 5000), &[(3000, 0, 0), (1, 0, 1), (1999, 0, 2), (1, 0, 3), (1, 0, 4)]);
    assert_eq!(got, [Green, Yellow, Yellow, Red, Red]);
}

#[test]
fn levels__equal_thresholds_skip_yellow() {
    assert_eq!(colours(levels(1000, 1000), &[(1000, 0, 0), (1, 0, 1)]), [Colour::Green, Colour::Red]);
}

/// A colour never gets better but at a SYN, and the bytes of each colour are what the thresholds say.
#[test]
fn levels__of_a_flow_are_the_thresholds() {
    let mut bits = Bits(71);
    for _ in 0..300 {
        let (first, more) = (bits.spread(1.0, 1e5) as u32, bits.spread(1.0, 1e5) as u32);
        let mut demotion = Marker::new(levels(first, first + more));
        let (mut flow, mut sent) = (demotion.new_flow(), 0.0);
        let mut last = Colour::Green;
        for now_ns in 0..300 {
            let bytes = 40 + bits.below(1460);
            sent += f64::from(bytes);
            let got = demotion.packet(&mut flow, &View::new(bytes), now_ns, 0);
            let passed = [first, first + more].iter().filter(|edge| sent > f64::from(**edge)).count();
            assert_eq!(got, Colour::ALL[passed]);
            assert!(got >= last);
            last = got;
        }
    }
}

#[test]
fn connection_bytes__are_never_forgotten_while_the_connection_lives() {
    use Colour::{Green, Yellow};
    let rule = connection_bytes(15_000);
    let got =
        colours(rule.clone(), &[(15_000, 0, 0), (40, 0, 1), (40, 0, YEAR_NS), (40, View::SYN, YEAR_NS + 1)]);
    assert_eq!(got, [Green, Yellow, Yellow, Green]);
    let demotion = Marker::new(rule);
    assert!(!demotion.expired(&demotion.new_flow(), NEVER));
}

#[test]
fn connection_bytes__have_two_colours_however_much_is_sent() {
    let packets = [(u32::MAX, 0, 0); 4];
    assert_eq!(colours(connection_bytes(u32::MAX - 1), &packets), [Colour::Yellow; 4]);
    assert_eq!(colours(connection_bytes(0), &packets), [Colour::Yellow; 4]);
}

/// One threshold and SFD's timeout: SFD's marker, packet by packet.
#[test]
fn one_threshold__is_sfd() {
    let mut ours = Marker::new(params("demotion", &[("first", "15kB"), NEVER_RED, ("timeout", "1s")]));
    let mut theirs = Marker::new(params("sfd", &[]));
    let (mut flow, mut other, mut bits) = (ours.new_flow(), theirs.new_flow(), Bits(72));
    let (mut now_ns, mut seen) = (0, [0; 3]);
    for _ in 0..50_000 {
        now_ns += bits.spread(1e3, 2e9) as u64;
        let syn = if bits.below(50) == 0 { View::SYN } else { 0 };
        let view = View::new(40 + bits.below(1460)).with_flags(syn);
        let colour = ours.packet(&mut flow, &view, now_ns, 0);
        assert_eq!(colour, theirs.packet(&mut other, &view, now_ns, 0));
        assert!(!ours.expired(&flow, now_ns + 999_999_999));
        seen[colour.index()] += 1;
    }
    assert!(seen[0] > 1000 && seen[1] > 1000 && seen[2] == 0, "{seen:?}");
}

#[test]
fn params__are_checked() {
    assert_eq!(
        parameter_error("demotion", &[("first", "10B"), ("second", "9B")]),
        "second: its value is not allowed here; allowed: at least first"
    );
    assert_eq!(
        parameter_error("demotion", &[("first", "4294967295B")]),
        "first: \"4294967295B\" is not allowed; allowed: a size, such as 1500B or 15kB; 0 to 4294967294 B"
    );
    assert!(parameter_error("demotion", &[("timeout", "0s")]).starts_with("timeout: \"0s\" is not allowed"));
}
