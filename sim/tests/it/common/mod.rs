//! Scenarios, links and golden tables in few words, shared by the tests of engine, queues and TCP.
#![allow(dead_code, missing_docs, reason = "every test file uses a part of it")]

pub mod dialogue;
pub mod hop;
pub mod topology;
pub mod virtual_fifo;

use mousehole_sim::error::Error;
use mousehole_sim::scenario::spec::{
    ConnectionSpec, FaultSpec, LinkSpec, MixSpec, TcpSpec, TrafficSpec, WriteSpec,
};
use mousehole_sim::scenario::{Plan, RunResult, Scenario, run};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// Returns the parameters of a policy, given as text, at a link of this rate with a buffer of 50 packets.
pub fn params(policy: &str, given: &[(&str, &str)], rate_bps: f64) -> mousehole_policy::Params {
    let context = mousehole_policy::LinkContext {
        rate_bps,
        bottleneck_bps: rate_bps,
        buffer_packets: 50,
        buffer_bytes: 0,
    };
    let policy = mousehole_policy::find(policy).unwrap_or_else(|| panic!("there is no policy {policy}"));
    mousehole_policy::Params::from_text(policy, given, &context).unwrap_or_else(|error| panic!("{error}"))
}

/// One of each scheme, and the variants that take a path of their own through the queue.
pub const SCHEMES: [&str; 39] = [
    "droptail",
    "droptail(ns2=true)",
    "red",
    "red(gentle=true,wait=true)",
    "red(byte=true,unit=bytes)",
    "red(ecn=true,min=3,max=9)",
    "sfd",
    "sfd(mode=coupled,th=8p)",
    "sfd(mode=total)",
    "p-sfd(mode=coupled)",
    "s-sfd(k=3)",
    "ns2-sfd",
    "ns2-sfd(selective=true,mode=decoupled)",
    "ns2-rio(gentle=true)",
    "fq-codel(target=1ms,interval=20ms)",
    "ared",
    "codel(target=1ms,interval=20ms)",
    "pie(burst=0s)",
    "cake(rtt=20ms)",
    "cake(tins=class,hosts=flows)",
    "srpt",
    "las",
    "wrr(weight=10)",
    "pq-sfd",
    "rio-ps(t_c=1s,t_u=200ms)",
    "shred(min=30%,max=90%)",
    "shred-edge|shred(min=20,max=50)",
    "lfp(h=20,timeout=1s)",
    "lfp(shared=false,omega=0.05)",
    "lfp(pushout=false,h=20,timeout=1s)",
    "appl",
    "tcp-ds",
    "tcp-ds-r",
    "er-tbm",
    "pias",
    "ct-bytes(th=20kB)",
    "sfd(th=8p)|priority(colours=2)",
    "rio-ps(t_c=1s,t_u=200ms)|cake(tins=bulk)",
    "lfp(h=20,timeout=1s)|multi-red",
];

/// Returns the schemes whose queue is a single FIFO that decides at the arrival.
pub fn fifo_schemes() -> impl Iterator<Item = &'static str> {
    let other = [
        "fq-codel",
        "codel",
        "pie",
        "cake",
        "srpt",
        "las",
        "wrr",
        "pq-sfd",
        "lfp",
        "pias",
        "ct-bytes",
        "sfd(th=8p)|",
    ];
    let is_other =
        move |scheme: &str| other.iter().any(|name| scheme.starts_with(name)) || scheme.contains("|cake");
    SCHEMES.into_iter().filter(move |scheme| !is_other(scheme) || scheme.ends_with("|multi-red"))
}

/// Returns whether a flow of a scheme may come back to a better queue, and so be reordered; where it is only
/// ever demoted what it sends later goes later.
pub fn overtakes(scheme: &str) -> bool {
    ["pq-sfd", "lfp", "sfd(th=8p)|", "rio-ps(t_c=1s,t_u=200ms)|"].iter().any(|name| scheme.starts_with(name))
        && !scheme.ends_with("|multi-red")
}

/// Returns the schemes that may stand anywhere: one whose edge learns from acknowledgements is refused on a
/// graph.
pub fn schemes_of_graphs() -> impl Iterator<Item = &'static str> {
    SCHEMES.into_iter().filter(|scheme| !scheme.contains("shred-edge"))
}

/// Returns a file of `oracle/golden`.
pub fn golden(file: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../oracle/golden").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the rows of a golden CSV table below its header, as fields.
pub fn golden_rows(file: &str) -> Vec<Vec<String>> {
    let fields = |line: &str| line.split(',').map(str::to_string).collect();
    golden(file).lines().skip(1).map(fields).collect()
}

/// `scheme` on 4 Mbit/s and 40 ms, `rfc` TCP, from 0 s to 20 s, nothing to send yet.
pub fn scenario(scheme: &str) -> Scenario {
    Scenario {
        scheme: scheme.into(),
        warmup: "0s".into(),
        duration: "20s".into(),
        max_windows: 20,
        link: LinkSpec {
            rate: "4mbit".into(),
            rtt: "40ms".into(),
            buffer: "30p".into(),
            ..LinkSpec::default()
        },
        ..Scenario::default()
    }
}

/// Returns the scenario with these connections.
pub fn with_connections(base: Scenario, connections: Vec<ConnectionSpec>) -> Scenario {
    let direction = base.traffic.direction.clone();
    Scenario { traffic: TrafficSpec { connections, direction, ..TrafficSpec::default() }, ..base }
}

/// Returns the scenario with a model at a load.
pub fn with_model(base: Scenario, model: &str, load: f64) -> Scenario {
    let traffic = TrafficSpec { model: Some(model.into()), load: Some(load), ..TrafficSpec::default() };
    Scenario { traffic, ..base }
}

/// Returns the scenario with these models beside each other.
pub fn mixed(base: Scenario, mix: Vec<MixSpec>) -> Scenario {
    Scenario { traffic: TrafficSpec { mix, ..TrafficSpec::default() }, ..base }
}

/// Returns a model of a mix with some parameters.
pub fn entry(model: &str, params: serde_json::Value) -> MixSpec {
    MixSpec { model: model.into(), params: Some(params), ..MixSpec::default() }
}

/// Returns the error of a scenario that is wrong.
pub fn error_of(scenario: &Scenario) -> Error {
    match Plan::new(scenario) {
        Ok(_) => panic!("accepted: {}", scenario.to_toml()),
        Err(error) => error,
    }
}

/// Asserts that the error is of the first part, a field, and of the second, its value as written (empty where it has
/// none), and that its sentence is one line with every further part.
#[track_caller]
pub fn assert_error(error: &Error, parts: &[&str]) {
    let [field, value, rest @ ..] = parts else { panic!("field and value are not named") };
    let Error::Field { problem, .. } = error else { panic!("no field is named: {error}") };
    let sentence = error.to_string();
    assert_eq!(error.path(), Some(*field), "{sentence}");
    assert_eq!(problem.value().map(|value| value.to_string()).unwrap_or_default(), *value, "{sentence}");
    assert!(!sentence.contains('\n') && sentence.len() < 500, "one line: {sentence}");
    for part in rest {
        assert!(sentence.contains(part), "\"{part}\" is not in: {sentence}");
    }
}

/// Returns the scenario with another TCP profile.
pub fn with_profile(base: Scenario, profile: &str) -> Scenario {
    Scenario { tcp: TcpSpec { profile: profile.into(), ..base.tcp }, ..base }
}

/// Returns a connection that starts at `start_s` and carries `writes` of (idle before in s, bytes).
pub fn connection(start_s: f64, writes: &[(f64, u64)]) -> ConnectionSpec {
    let writes = writes.iter().map(|&(idle_s, bytes)| WriteSpec { idle_s, bytes }).collect();
    ConnectionSpec {
        start_s,
        client: 0,
        server: 0,
        rtt_s: None,
        duration_s: None,
        class: Default::default(),
        upload: false,
        writes,
    }
}

/// `count` transfers of `bytes` bytes, `gap_s` apart.
pub fn transfers(count: u32, gap_s: f64, bytes: u64) -> Vec<ConnectionSpec> {
    let one = |index: u32| ConnectionSpec {
        client: index,
        ..connection(f64::from(index) * gap_s, &[(0.0, bytes)])
    };
    (0..count).map(one).collect()
}

/// Loses these arrivals at a link.
pub fn losing(link: &str, drop: &[u64]) -> FaultSpec {
    FaultSpec { link: link.into(), drop: drop.to_vec(), bernoulli: 0.0 }
}

/// Runs a scenario that names no files.
pub fn play(scenario: &Scenario) -> RunResult {
    let plan = Plan::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    run(&plan, None, &AtomicBool::new(false)).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a hash over every transfer and every number of the queues.
pub fn digest(result: &RunResult) -> u64 {
    let mut hasher = DefaultHasher::new();
    result.outcome.transfers.hash(&mut hasher);
    for queue in &result.outcome.queues {
        format!("{} {:?} {:?}", queue.name, queue.colours, queue.delay_s).hash(&mut hasher);
    }
    (result.outcome.goodput_bytes, result.outcome.reordered, result.outcome.opened).hash(&mut hasher);
    hasher.finish()
}
