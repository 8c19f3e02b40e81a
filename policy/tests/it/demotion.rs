//! Demotion by bytes sent: levels, and `ct bytes`.
use crate::common::Bits;
use mousehole_policy::demotion::{self, Params, Spec};
use mousehole_policy::flow_meter::Meter;
use mousehole_policy::{Colour, NEVER, View, sfd};

const YEAR_NS: u64 = 365 * 86_400 * 1_000_000_000;

fn colours(spec: Spec, packets: &[(u32, u8, u64)]) -> Vec<Colour> {
    let (params, mut flow) = (Params::new(&spec).unwrap(), Meter::default());
    let one = |&(bytes, flags, now_ns): &(u32, u8, u64)| {
        demotion::packet(&params, &mut flow, &View::new(bytes).with_flags(flags), now_ns)
    };
    packets.iter().map(one).collect()
}

#[test]
fn levels__include_their_threshold() {
    use Colour::{Green, Red, Yellow};
    let spec = Spec { first: 3000, second: Some(5000), ..Spec::default() };
    let got = colours(spec, &[(3000, 0, 0), (1, 0, 1), (1999, 0, 2), (1, 0, 3), (1, 0, 4)]);
    assert_eq!(got, [Green, Yellow, Yellow, Red, Red]);
}

#[test]
fn levels__equal_thresholds_skip_yellow() {
    let spec = Spec { first: 1000, second: Some(1000), ..Spec::default() };
    assert_eq!(colours(spec, &[(1000, 0, 0), (1, 0, 1)]), [Colour::Green, Colour::Red]);
}

/// A colour never gets better but at a SYN, and the bytes of each colour are what the thresholds say.
#[test]
fn levels__of_a_flow_are_the_thresholds() {
    let mut bits = Bits(71);
    for _ in 0..300 {
        let (first, more) = (bits.spread(1.0, 1e5) as u32, bits.spread(1.0, 1e5) as u32);
        let spec = Spec { first, second: Some(first + more), ..Spec::default() };
        let (params, mut flow, mut sent) = (Params::new(&spec).unwrap(), Meter::default(), 0.0);
        let mut last = Colour::Green;
        for now_ns in 0..300 {
            let bytes = 40 + bits.below(1460);
            sent += f64::from(bytes);
            let got = demotion::packet(&params, &mut flow, &View::new(bytes), now_ns);
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
    let rule = Spec::connection_bytes(15_000);
    let got = colours(rule, &[(15_000, 0, 0), (40, 0, 1), (40, 0, YEAR_NS), (40, View::SYN, YEAR_NS + 1)]);
    assert_eq!(got, [Green, Yellow, Yellow, Green]);
    let params = Params::new(&rule).unwrap();
    assert!(!demotion::expired(&params, &Meter::default(), NEVER));
}

#[test]
fn connection_bytes__have_two_colours_however_much_is_sent() {
    let packets = [(u32::MAX, 0, 0); 4];
    assert_eq!(colours(Spec::connection_bytes(u32::MAX - 1), &packets), [Colour::Yellow; 4]);
    assert_eq!(colours(Spec::connection_bytes(0), &packets), [Colour::Yellow; 4]);
}

/// One threshold and SFD's timeout: SFD's marker, packet by packet.
#[test]
fn one_threshold__is_sfd() {
    let spec = Spec { timeout_ns: 1_000_000_000, ..Spec::connection_bytes(15_000) };
    let (ours, theirs) = (Params::new(&spec).unwrap(), sfd::Params::new(&sfd::Spec::default()).unwrap());
    let (mut flow, mut other, mut bits) = (Meter::default(), sfd::Flow::default(), Bits(72));
    let (mut now_ns, mut seen) = (0, [0; 3]);
    for _ in 0..50_000 {
        now_ns += bits.spread(1e3, 2e9) as u64;
        let syn = if bits.below(50) == 0 { View::SYN } else { 0 };
        let view = View::new(40 + bits.below(1460)).with_flags(syn);
        let colour = demotion::packet(&ours, &mut flow, &view, now_ns);
        assert_eq!(colour, sfd::packet(&theirs, &mut other, &view, now_ns, 0));
        assert!(!demotion::expired(&ours, &flow, now_ns + 999_999_999));
        seen[colour.index()] += 1;
    }
    assert!(seen[0] > 1000 && seen[1] > 1000 && seen[2] == 0, "{seen:?}");
}

#[test]
fn params__are_checked() {
    let refused = |spec: Spec| Params::new(&spec).unwrap_err().to_string();
    let base = Spec::default();
    let swapped = Spec { first: 10, second: Some(9), ..base };
    assert_eq!(refused(swapped), "second: 9 is not allowed; 10 to 4294967295 bytes");
    assert!(refused(Spec { first: u32::MAX, second: None, ..base }).starts_with("first: 4294967295"));
    assert!(refused(Spec { timeout_ns: 0, ..base }).starts_with("timeout_ns: 0"));
}
