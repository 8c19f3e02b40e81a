use super::*;
use crate::scenario::Scenario;
use crate::scenario::spec::AccessSpec;
use crate::scenario::topology::spec::{TopologyLink, TopologySpec};
use proptest::prelude::*;

/// Checks that the times derived from the longest transfer equal those of separate runs, to the nanosecond,
/// and that every time is derived.
fn assert_ideal(plan: &Plan, transfers: &[Transfer], what: &str) {
    let cancel = AtomicBool::new(false);
    let times = time_single_writes(plan, transfers, &cancel).expect("a run");
    let make_case = |transfer: &Transfer| make_case(plan, transfer, &Traffic::default(), &[]);
    let cases: Vec<Case> = transfers.iter().map(make_case).collect();
    let own = simulate(plan, &cases, &cancel).expect("a run");
    for ((transfer, time), case) in transfers.iter().zip(times).zip(cases) {
        assert!(!time.is_nan(), "{what}: no time is derived");
        let (expected, bytes, upload) = (own[&(case, 0)], transfer.bytes, transfer.upload);
        let is_same = (time - expected).abs() < 5e-10;
        assert!(is_same, "{what}: {bytes} B, upload {upload}: {time} s, alone {expected} s");
    }
}

#[test]
fn time_single_writes__equals_separate_runs() {
    let mut scenario = Scenario::default();
    scenario.traffic.model = Some("poisson".into());
    for (rate, rtt, profile) in [
        ("200kbit", "100ms", "rfc"),
        ("3mbit", "40ms", "rfc"),
        ("10mbit", "80ms", "rfc"),
        ("10mbit", "20ms", "linux"),
        ("50mbit", "20ms", "ns2-2001"),
    ] {
        (scenario.link.rate, scenario.link.rtt) = (Some(rate.into()), rtt.into());
        scenario.tcp.profile = profile.into();
        let plan = Plan::new(&scenario).expect("a valid scenario");
        let sizes = (1..700).step_by(7).chain([3000]);
        let one = |segments: u64| {
            let bytes = segments * u64::from(plan.senders.first().mss) - segments % 5 * 97;
            transfer(&plan, bytes, segments.is_multiple_of(2))
        };
        let transfers: Vec<Transfer> = sizes.map(one).collect();
        assert_ideal(&plan, &transfers, rate);
    }
}

/// Generates chains of links, each with a rate, a delay and perhaps a different rate back, and an
/// overhead in bytes.
fn any_chain() -> impl Strategy<Value = (TopologySpec, u32)> {
    let link = (1u32..8000, 0u32..30_000, prop::option::of(1u32..8000));
    (prop::collection::vec(link, 1..6), 0u32..60).prop_map(|(links, overhead)| {
        let written = |(number, (rate, delay, back)): (usize, &(u32, u32, Option<u32>))| {
            let there = TopologyLink {
                from: format!("n{number}"),
                to: format!("n{}", number + 1),
                rate: format!("{}kbit", 100 + rate),
                delay: format!("{delay}us"),
                buffer: Some("50p".into()),
                scheme: true,
                one_way: back.is_some(),
                ..TopologyLink::default()
            };
            let way_back = back.map(|rate| TopologyLink {
                from: there.to.clone(),
                to: there.from.clone(),
                rate: format!("{}kbit", 100 + rate),
                ..there.clone()
            });
            [there].into_iter().chain(way_back)
        };
        let spec = TopologySpec {
            servers: vec!["n0".into()],
            clients: vec![format!("n{}", links.len())],
            links: links.iter().enumerate().flat_map(written).collect(),
            ..TopologySpec::default()
        };
        (spec, overhead)
    })
}

/// Generates the bytes of single writes, and whether each is an upload.
fn any_single_writes() -> impl Strategy<Value = Vec<(u64, bool)>> {
    prop::collection::vec((prop_oneof![1u64..6000, 1u64..200_000, 1u64..900_000], any::<bool>()), 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn time_single_writes__equals_separate_runs_on_any_chain(
        (spec, overhead) in any_chain(),
        sizes in any_single_writes(),
        own_rtt in prop::option::of(0u64..300_000_000),
        profile in prop::sample::select(vec!["rfc", "linux", "ns2-2001"]),
    ) {
        let mut scenario = Scenario { topology: Some(spec), ..Scenario::default() };
        scenario.traffic.model = Some("poisson".into());
        scenario.link.overhead = overhead;
        scenario.tcp.profile = profile.into();
        assert_all_ideal(&scenario, &sizes, own_rtt);
    }

    #[test]
    fn time_single_writes__equals_separate_runs_with_access_links(
        rates in prop::collection::vec(100u32..20_000, 3),
        delay in 0u32..20_000,
        shared in any::<bool>(),
        burst in prop::option::of(1500u32..60_000),
        sizes in any_single_writes(),
        own_rtt in prop::option::of(0u64..300_000_000),
    ) {
        let kbit = |rate: u32| format!("{rate}kbit");
        let mut scenario = Scenario::default();
        scenario.traffic.model = Some("poisson".into());
        scenario.link.rate = Some(kbit(rates[0]));
        scenario.link.rtt = "200ms".into();
        scenario.link.burst = burst.map(|bytes| format!("{bytes}B"));
        scenario.access = Some(AccessSpec {
            rate: kbit(rates[1]),
            delay: format!("{delay}us"),
            client_rate: (!shared).then(|| kbit(rates[2])),
            client_delay: None,
            servers: shared.then_some(2),
            clients: shared.then_some(3),
        });
        assert_all_ideal(&scenario, &sizes, own_rtt);
    }
}

/// Checks as [`assert_ideal`] does, where a timer may have fired although nothing was lost. Such
/// transfers have separate runs; all other times are derived.
fn assert_all_ideal(scenario: &Scenario, sizes: &[(u64, bool)], own_rtt: Option<u64>) {
    let plan = Plan::new(scenario).expect("a valid scenario");
    let rtt = own_rtt.map_or(plan.own_rtt, Dur).max(plan.layout.base_rtt(0));
    let one = |&(bytes, upload): &(u64, bool)| Transfer { rtt_ns: rtt.0, ..transfer(&plan, bytes, upload) };
    let transfers: Vec<Transfer> = sizes.iter().map(one).collect();
    let cancel = AtomicBool::new(false);
    let times = time_single_writes(&plan, &transfers, &cancel).expect("a run");
    let derived = transfers.into_iter().zip(times).filter(|(_, time)| !time.is_nan());
    let known: Vec<Transfer> = derived.map(|(transfer, _)| transfer).collect();
    assert_ideal(&plan, &known, &scenario.to_toml());
}

/// Returns a transfer of so many bytes on path 0.
fn transfer(plan: &Plan, bytes: u64, upload: bool) -> Transfer {
    Transfer {
        path: 0,
        tcp: 0,
        key: 0,
        client: 0,
        write: 0,
        bytes,
        object_bytes: bytes,
        object_key: 0,
        source: 0,
        flow_class: None,
        upload,
        misbehaves: false,
        start: Time::ZERO,
        first_data: Time::ZERO,
        first_byte: Time::ZERO,
        end: Time::ZERO,
        rtt_ns: plan.rtt.0,
        retransmits: 0,
        timeouts: 0,
        dropped: 0,
        is_quic: false,
        template: None,
        page: 0,
        page_transfers: 0,
        service_ns: 0,
    }
}
