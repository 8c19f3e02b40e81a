//! ECN and the first packet of a connection: until it is answered ECN is not agreed upon, so a queue that marks all
//! others drops it. In ns-2's one-way TCP that is the first packet of the data (Guo & Matta, BU-CS-2001-005,
//! footnote 19), with a handshake the SYN and its answer.

use crate::common::{connection, play, scenario, with_connections, with_profile};
use mousehole_sim::record::TraceEvent;
use mousehole_sim::scenario::spec::TcpSpec;

/// Returns segment number and bytes of each loss, and how many packets were marked. A long transfer
/// maintains a queue that marks or drops at random while a thousand short ones begin.
fn play_losses(profile: &str) -> (Vec<(i64, u16)>, usize) {
    let long = connection(0.0, &[(0.0, 8_000_000)]);
    let short = (0..1000).map(|number| connection(2.0 + 0.01 * f64::from(number), &[(0.0, 1000)]));
    let base = scenario("red(min=1,max=1000,maxp=1,wq=0.5,ecn=true)");
    let base = with_profile(with_connections(base, std::iter::once(long).chain(short).collect()), profile);
    let tcp = TcpSpec { ecn: Some(true), receive_window: Some(200), ..base.tcp };
    let mut scenario = mousehole_sim::scenario::Scenario { tcp, trace: true, ..base };
    scenario.link.buffer = "1000p".into();
    let result = play(&scenario);
    let rows = &result.outcome.trace;
    let of = |event| rows.iter().filter(move |row| row.event == event);
    (of(TraceEvent::Drop).map(|row| (row.seq, row.bytes)).collect(), of(TraceEvent::Mark).count())
}

#[test]
fn ns2__the_first_packet_is_dropped_where_others_are_marked() {
    for profile in ["ns2-2001", "ns2-2.35"] {
        let (lost, marked) = play_losses(profile);
        assert!(marked > 20, "{profile}: {marked} marks");
        assert!(!lost.is_empty(), "{profile}: some first packets are lost");
        assert!(
            lost.iter().all(|(seq, _)| *seq == 0),
            "{profile}: only first packets are lost, not {lost:?}"
        );
    }
}

/// With a handshake all data is ECN-capable; only answers to SYNs are lost.
#[test]
fn rfc__no_data_is_dropped_where_it_can_be_marked() {
    let (lost, marked) = play_losses("rfc");
    assert!(marked > 20, "{marked} marks");
    assert!(lost.iter().all(|(_, bytes)| *bytes == 40), "{lost:?}");
}
