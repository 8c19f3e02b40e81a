//! Short constructors of scenarios, links and golden tables, which the tests of engine, queues and TCP share.
#![allow(dead_code, missing_docs, reason = "every test file uses a part of it")]

pub mod dialogue;
pub mod hop;
pub mod topology;
pub mod virtual_fifo;

use mousehole_sim::error::Error;
use mousehole_sim::scenario::spec::{
    ConnectionSpec, Ends, FaultSpec, LinkSpec, MixSpec, TcpSpec, TrafficSpec, WriteSpec,
};
use mousehole_sim::scenario::values::Values;
use mousehole_sim::scenario::{self as catalogue, Part, Plan, Role, RunResult, Scenario, Scheme, run};
use mousehole_sim::scenario::{LinkContext, build};
use mousehole_sim::traffic::Traffic;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock};

/// Returns the parameters of a policy, given as text, at a link of this rate with a buffer of 50
/// packets; panics for an unknown policy or a wrong value.
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

/// Settings that take a path of their own through a queue or a marker.
const VARIANTS: [&str; 25] = [
    "droptail(ns2=true)",
    "red(gentle=true,wait=true)",
    "red(byte=true,unit=bytes)",
    "red(ecn=true,min=3,max=9)",
    "sfd(mode=coupled,th=8p)",
    "sfd(mode=total)",
    "p-sfd(mode=coupled)",
    "s-sfd(k=3)",
    "ns2-sfd(selective=true,mode=decoupled)",
    "ns2-rio(gentle=true)",
    "fq-codel(target=1ms,interval=20ms)",
    "sfq(perturb=1,flows=8,divisor=16,limit=30p)",
    "codel(target=1ms,interval=20ms)",
    "pie(burst=0s)",
    "cake(rtt=20ms)",
    "cake(tins=class,hosts=flows)",
    "wrr(weight=10)",
    "rio-ps(t_c=1s,t_u=200ms)",
    "shred(min=30%,max=90%)",
    "shred-edge|shred(min=20,max=50)",
    "lfp(h=20,timeout=1s)",
    "lfp(shared=false,omega=0.05)",
    "lfp(pushout=false,h=20,timeout=1s)",
    "ct-bytes(th=20kB)",
    "rio-ps(t_c=1s,t_u=200ms)|cake(tins=bulk)",
];

/// Stands before every queue of the catalogue: it promotes after a timeout.
const MARKER: &str = "sfd(th=8p)";
/// Stands behind every marker of the catalogue: it reads colours in one FIFO.
const QUEUE: &str = "multi-red";

/// The catalogue, each once: every named scheme and every queue alone, [`MARKER`] before every queue, every marker before
/// [`QUEUE`], and the variants. What is new in the catalogue is under all laws by itself.
pub static SCHEMES: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let parts =
        |role| Part::all().into_iter().filter(move |part| part.role() == role).map(|part| part.name());
    let named = catalogue::SCHEMES.iter().map(|scheme| scheme.name.to_string());
    let mut all: Vec<String> = named.collect();
    all.extend(parts(Role::Queue).map(String::from));
    all.extend(parts(Role::Queue).map(|queue| format!("{MARKER}|{queue}")));
    all.extend(parts(Role::Marker).map(|marker| format!("{marker}|{QUEUE}")));
    all.extend(VARIANTS.map(String::from));
    let mut seen = HashSet::new();
    all.retain(|scheme| seen.insert(scheme.clone()));
    all.into_iter().map(|scheme| &*scheme.leak()).collect()
});

/// Returns the scheme that a text describes; panics if it is wrong.
fn parse_scheme(scheme: &str) -> Scheme {
    Scheme::parse(scheme).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns whether departures from the scheme's queue are known at the arrival; panics if the
/// scheme is wrong.
pub fn decides_at_arrival(scheme: &str) -> bool {
    let queue = build::build_queue(&parse_scheme(scheme), LinkContext::EXAMPLE);
    queue.unwrap_or_else(|error| panic!("{error}")).as_fifo().is_some()
}

/// Returns the schemes whose queue is a single FIFO that decides at the arrival.
pub fn fifo_schemes() -> impl Iterator<Item = &'static str> {
    SCHEMES.iter().copied().filter(|scheme| decides_at_arrival(scheme))
}

/// How a scheme may change the order of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// One FIFO.
    Fifo,
    /// Several queues, but no connection is ever in two of them.
    WithinConnections,
    /// Queues by colour, and a connection's colour only ever gets worse: what is sent later waits longer.
    Demoted,
    /// Queues by colour, and a connection's colour may get better: later packets overtake earlier ones.
    Promoted,
}

/// Returns the order of packets that the scheme's parts guarantee; panics if the scheme is wrong. A
/// marker may promote unless it is known not to.
pub fn find_order(scheme: &str) -> Order {
    let mut markers = parse_scheme(scheme).parts();
    let (queue, values) = markers.pop().expect("a scheme has a queue");
    let colours = |(part, _): &(Part, BTreeMap<&str, String>)| match part {
        Part::Policy(policy) => !policy.returns_hint(),
        Part::Native(native) => native.name != "no-hint",
    };
    let demotes = |(part, values): &(Part, BTreeMap<&str, String>)| match part.name() {
        "demotion" => values["timeout"] == "never",
        name => name == "application",
    };
    markers.retain(colours);
    let reads_colours = queue.reads_colours(&Values::new("", queue.parameters(), &values));
    match (queue.order(), reads_colours && !markers.is_empty()) {
        (catalogue::native_part::Order::Fifo, _) => Order::Fifo,
        (_, false) => Order::WithinConnections,
        (_, true) if markers.iter().all(demotes) => Order::Demoted,
        (_, true) => Order::Promoted,
    }
}

/// Returns whether packets of a flow may be reordered. A flow may come back to a better queue, or
/// fall into one that has a separate share of the link, as CAKE's tins have, so that later packets
/// need not wait longer.
pub fn overtakes(scheme: &str) -> bool {
    let is_strict =
        parse_scheme(scheme).parts().last().is_some_and(|(queue, _)| queue.name().starts_with("priority"));
    match find_order(scheme) {
        Order::Promoted => true,
        Order::Demoted => !is_strict,
        Order::Fifo | Order::WithinConnections => false,
    }
}

/// Returns the schemes that may run on a graph: a scheme whose edge learns from acknowledgements is
/// refused there.
pub fn schemes_of_graphs() -> impl Iterator<Item = &'static str> {
    SCHEMES.iter().copied().filter(|scheme| !scheme.contains("shred-edge"))
}

/// Returns the text of a file of `oracle/golden`; panics if it cannot be read.
pub fn read_golden(file: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../oracle/golden").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the rows of a golden CSV table below its header, as fields; panics if it cannot be read.
pub fn read_golden_rows(file: &str) -> Vec<Vec<String>> {
    let fields = |line: &str| line.split(',').map(str::to_string).collect();
    read_golden(file).lines().skip(1).map(fields).collect()
}

/// Returns a run of `scheme` on 4 Mbit/s and 40 ms with `rfc` TCP, from 0 s to 20 s, without
/// traffic.
pub fn scenario(scheme: &str) -> Scenario {
    Scenario {
        scheme: scheme.into(),
        warmup: "0s".into(),
        duration: "20s".into(),
        max_windows: 20,
        link: LinkSpec {
            rate: Some("4mbit".into()),
            rtt: "40ms".into(),
            buffer: "30p".into(),
            ..LinkSpec::default()
        },
        ..Scenario::default()
    }
}

/// Returns the scenario with these connections as its only traffic.
pub fn with_connections(base: Scenario, connections: Vec<ConnectionSpec>) -> Scenario {
    Scenario { traffic: TrafficSpec { connections, ..TrafficSpec::default() }, ..base }
}

/// Returns the connections with their payload in this direction.
pub fn with_payload(
    direction: &str,
    connections: impl IntoIterator<Item = ConnectionSpec>,
) -> Vec<ConnectionSpec> {
    let payload = Some(direction.to_string());
    connections.into_iter().map(|one| ConnectionSpec { payload: payload.clone(), ..one }).collect()
}

/// Returns the name of the direction of an upload's payload, or of a download's.
pub fn payload(is_upload: bool) -> Option<String> {
    Some(if is_upload { "up" } else { "down" }.into())
}

/// Returns the ends of a scheme at both directions, or at the downlink alone.
pub fn ends(is_both: bool) -> Option<Ends> {
    Some(if is_both { Ends::Both } else { Ends::Down })
}

/// Gives the uplink the rate `up` and the downlink the former rate of both, and leaves the scheme
/// where it was. A buffer that is not given becomes 1000 packets, the default of a single rate.
pub fn with_up(scenario: &mut Scenario, up: &str) {
    scenario.link.down = scenario.link.rate.take();
    scenario.link.up = Some(up.into());
    scenario.link.up_buffer.get_or_insert_with(|| "1000p".into());
    scenario.at.get_or_insert(Ends::Down);
}

/// Returns the scenario with a model at a load as its only traffic.
pub fn with_model(base: Scenario, model: &str, load: f64) -> Scenario {
    let traffic = TrafficSpec { model: Some(model.into()), load: Some(load), ..TrafficSpec::default() };
    Scenario { traffic, ..base }
}

/// Returns the scenario with a mix of these sources as its only traffic.
pub fn with_mix(base: Scenario, mix: Vec<MixSpec>) -> Scenario {
    Scenario { traffic: TrafficSpec { mix, ..TrafficSpec::default() }, ..base }
}

/// Returns a model with some parameters, as an entry of a mix.
pub fn entry(model: &str, params: serde_json::Value) -> MixSpec {
    MixSpec { model: model.into(), params: Some(params), ..MixSpec::default() }
}

/// Returns the entry with its payload in this direction.
pub fn with_direction(direction: &str, spec: MixSpec) -> MixSpec {
    MixSpec { payload: Some(direction.into()), ..spec }
}

/// Returns the error of a scenario, which must be refused; panics if it is accepted.
pub fn find_error(scenario: &Scenario) -> Error {
    match Plan::new(scenario) {
        Ok(_) => panic!("accepted: {}", scenario.to_toml()),
        Err(error) => error,
    }
}

/// Asserts that the error names the field `parts[0]` and the value `parts[1]` as written (empty if
/// it has none), and that its sentence is one line with every further part.
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

/// Returns the scenario with another TCP profile; other settings of TCP stay.
pub fn with_profile(base: Scenario, profile: &str) -> Scenario {
    Scenario { tcp: TcpSpec { profile: profile.into(), ..base.tcp }, ..base }
}

/// Returns a connection that starts at `start_s` and carries `writes` of (idle before in s, bytes).
pub fn connection(start_s: f64, writes: &[(f64, u64)]) -> ConnectionSpec {
    let writes = writes.iter().map(|&(idle_s, bytes)| WriteSpec { idle_s, bytes }).collect();
    ConnectionSpec { start_s, writes, ..ConnectionSpec::default() }
}

/// Returns `count` transfers of `bytes` bytes, `gap_s` apart from time zero on, each of another
/// client.
pub fn transfers(count: u32, gap_s: f64, bytes: u64) -> Vec<ConnectionSpec> {
    let one = |index: u32| ConnectionSpec {
        client: index,
        ..connection(f64::from(index) * gap_s, &[(0.0, bytes)])
    };
    (0..count).map(one).collect()
}

/// Returns the losses of these arrivals, numbered from 0, at a link.
pub fn losses_at(link: &str, drop: &[u64]) -> FaultSpec {
    FaultSpec { link: link.into(), drop: drop.to_vec(), bernoulli: 0.0 }
}

/// Runs a scenario that names no files; panics if it is refused.
pub fn play(scenario: &Scenario) -> RunResult {
    let plan = Plan::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    run(&plan, None, &AtomicBool::new(false)).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a scenario with this traffic; panics if it is refused or packets are not conserved.
pub fn play_traffic(scenario: &Scenario, traffic: &Traffic) -> RunResult {
    let plan = Plan::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    let result = run(&plan, Some(Arc::new(traffic.clone())), &AtomicBool::new(false));
    let result = result.unwrap_or_else(|error| panic!("{error}"));
    assert!(result.is_conserved(), "{:?}", result.outcome.balance);
    result
}

/// Returns a hash over every transfer, counts and delays of the queues, and goodput: equal runs
/// have equal hashes.
pub fn digest(result: &RunResult) -> u64 {
    let mut hasher = DefaultHasher::new();
    result.outcome.transfers.hash(&mut hasher);
    for queue in &result.outcome.queues {
        format!("{} {:?} {:?}", queue.name, queue.colours, queue.delay_s).hash(&mut hasher);
    }
    (result.outcome.goodput_bytes, result.outcome.reordered, result.outcome.opened).hash(&mut hasher);
    hasher.finish()
}
