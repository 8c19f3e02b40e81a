//! Shares of senders: `linux:0.6,bbr:0.3,rfc:0.1`.
use crate::common::{assert_error, play, scenario, with_model};
use mousehole_sim::error::Error;
use mousehole_sim::scenario::spec::TcpSpec;
use mousehole_sim::scenario::{Plan, Scenario};
use std::collections::BTreeMap;

/// Returns Poisson transfers under `scheme` by senders of `profile`.
fn with_profile(profile: &str, scheme: &str) -> Scenario {
    let tcp = TcpSpec { profile: profile.into(), ..TcpSpec::default() };
    with_model(Scenario { tcp, ..scenario(scheme) }, "poisson", 0.5)
}

/// Runs transfers by senders of `profile`; returns the index of each connection's TCP, by its key.
/// It panics if one is faster than alone, or packets are not conserved.
fn connection_tcps(profile: &str, scheme: &str) -> BTreeMap<u64, u8> {
    let result = play(&with_profile(profile, scheme));
    assert!(result.is_conserved());
    for (transfer, ideal) in result.outcome.transfers.iter().zip(&result.ideal_s) {
        let took = transfer.end.since(transfer.start).as_secs();
        assert!(*ideal > 0.0 && took > 0.999 * ideal, "{took} s, alone {ideal} s by TCP {}", transfer.tcp);
    }
    result.outcome.transfers.iter().map(|transfer| (transfer.key, transfer.tcp)).collect()
}

#[test]
fn shares__are_met_and_the_same_under_all_schemes() {
    let drawn = connection_tcps("linux:0.6,bbr:0.3,rfc:0.1", "droptail");
    let count = |tcp: u8| drawn.values().filter(|&&one| one == tcp).count() as f64 / drawn.len() as f64;
    println!("{} connections: {:.3} {:.3} {:.3}", drawn.len(), count(0), count(1), count(2));
    for (tcp, share) in [(0, 0.6), (1, 0.3), (2, 0.1)] {
        let tolerance = 4.0 * (share * (1.0 - share) / drawn.len() as f64).sqrt();
        assert!((count(tcp) - share).abs() < tolerance, "{tcp}: {}", count(tcp));
    }
    let under = connection_tcps("linux:0.6,bbr:0.3,rfc:0.1", "fq-codel");
    assert!(drawn.iter().all(|(key, tcp)| under.get(key).is_none_or(|other| other == tcp)));
}

/// One profile with all shares is that profile.
#[test]
fn shares__of_one_change_nothing() {
    let times = |profile: &str| {
        let result = play(&with_profile(profile, "droptail"));
        result.outcome.transfers.iter().map(|transfer| (transfer.key, transfer.end)).collect::<Vec<_>>()
    };
    assert_eq!(times("linux"), times("linux:1"));
}

#[test]
fn shares__wrong_ones() {
    let error =
        |profile: &str| -> Error { Plan::new(&with_profile(profile, "droptail")).expect_err("refused") };
    assert_error(&error("linux:0.6,bbr:0.3"), &["tcp.profile", "\"linux:0.6,bbr:0.3\"", "sum to 1", "0.9"]);
    assert_error(&error("linux:0.6,bbr"), &["tcp.profile", "\"bbr\"", "linux:0.6"]);
    assert_error(&error("linux:0,bbr:1"), &["tcp.profile", "\"linux:0\"", "above 0"]);
    assert_error(&error("linux:x,bbr:1"), &["tcp.profile", "\"linux:x\"", "share"]);
    assert_error(
        &error("linux:0.5,linux:0.5"),
        &["tcp.profile", "\"linux:0.5,linux:0.5\"", "each profile once"],
    );
    assert_error(&error("linux:0.5,bbq:0.5"), &["tcp.profile", "\"bbq\"", "did you mean \"bbr\""]);
    assert_error(
        &error("rfc:0.5,ns2-2.35:0.5"),
        &["tcp.profile", "\"rfc:0.5,ns2-2.35:0.5\"", "ns2 profiles alone"],
    );
}
