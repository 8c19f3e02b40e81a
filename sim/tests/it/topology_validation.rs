//! Every fault in a topology is one line that names the field, the value and what is allowed.
use crate::common::topology::{chain_topology, hosts, kind, link, scenario_carrying, scheme};
use crate::common::{assert_error, find_error, transfers};
use mousehole_sim::scenario::spec::AccessSpec;
use mousehole_sim::scenario::topology::spec::{HostStageSpec, Role, TopologyLink, TopologySpec};
use mousehole_sim::scenario::{Plan, Scenario};

/// Returns a scenario over the topology.
fn topology_scenario(spec: TopologySpec) -> Scenario {
    scenario_carrying(spec, "sfd", transfers(1, 0.0, 1000))
}

/// Asserts that the scenario is refused with these parts; see [`assert_error`].
#[track_caller]
fn assert_refused(scenario: &Scenario, parts: &[&str]) {
    assert_error(&find_error(scenario), parts);
}

/// Asserts that the topology that `spoil` makes wrong is refused with these parts.
#[track_caller]
fn assert_says(parts: &[&str], spoil: impl FnOnce(&mut TopologySpec)) {
    let mut spec = chain_topology();
    spoil(&mut spec);
    assert_refused(&topology_scenario(spec), parts);
}

#[test]
fn topology__accepts_the_valid_base_topologies() {
    Plan::new(&topology_scenario(chain_topology())).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn links__wrong_values() {
    let two = |from: &str, to: &str| link(from, to, "1mbit", "1ms");
    assert_says(&["topology.links[0].rate", "\"0mbit\"", "1bit"], |s| s.links[0].rate = "0mbit".into());
    assert_says(&["topology.links[1].rate", "\"quick\"", "10mbit"], |s| s.links[1].rate = "quick".into());
    assert_says(&["topology.links[2].delay", "\"5\"", "no unit"], |s| s.links[2].delay = "5".into());
    assert_says(&["topology.links[2].delay", "\"2000s\"", "1000s"], |s| s.links[2].delay = "2000s".into());
    assert_says(&["topology.links[1].buffer", "\"0p\"", "50p"], |s| s.links[1].buffer = Some("0p".into()));
    assert_says(&["topology.links[1].buffer", "\"unlimited\"", "scheme"], |s| {
        s.links[1].buffer = Some("unlimited".into())
    });
    assert_says(&["topology.links[3]", "\"left-server\"", "there already"], |s| {
        s.links.push(two("left", "server"))
    });
    assert_says(&["topology.links[3]", "\"server-left\"", "there already"], |s| {
        s.links.push(two("server", "left"))
    });
    assert_says(&["topology.links[3]", "\"left\" to \"left\""], |s| s.links.push(two("left", "left")));
    assert_says(&["topology.links[3]", "\"\" to \"left\""], |s| s.links.push(two("", "left")));
    assert_says(&["topology.links", "", "scheme = true", "none was given"], |s| s.links[1].scheme = false);
    assert_says(&["topology.links", "0 links"], |s| s.links.clear());
    assert_says(&["topology.links", "", "a path from \"server\" to \"client\""], |s| {
        s.links[2] = two("client", "else");
    });
    assert_says(&["topology.links", "", "a path from \"client\" to \"server\""], |s| {
        s.links[2].one_way = true
    });
    assert_says(&["topology.bottleneck", "\"left-right\"", "link back"], |s| s.links[1].one_way = true);
}

#[test]
fn hosts__wrong_values() {
    assert_says(&["topology.clients", "\"cleint\"", "did you mean \"client\""], |s| {
        s.clients = vec!["cleint".into()]
    });
    assert_says(&["topology.servers", "", "at least one"], |s| s.servers.clear());
    assert_says(&["topology.clients", "\"server\"", "both"], |s| s.clients.push("server".into()));
    assert_says(&["topology.bottleneck", "\"left-rigth\"", "did you mean \"left-right\""], |s| {
        s.bottleneck = Some("left-rigth".into())
    });
    assert_says(&["topology.rtt", "\"80\"", "80ms"], |s| s.rtt = Some("80".into()));
    assert_says(&["topology.paired", "true", "2 clients and 1 servers"], |s| {
        (s.paired, s.clients) = (Some(true), vec!["client".into(), "right".into()]);
    });
    let group = |count, rate: &str| hosts(Role::Client, "home", "right", count, rate, "1ms");
    assert_says(&["topology.hosts[0].count", "0", "1 to 10000"], |s| s.hosts.push(group(0, "1mbit")));
    assert_says(&["topology.hosts[0].rate", "\"fast\""], |s| s.hosts.push(group(2, "fast")));
    assert_says(&["topology.links", "20006 links", "20000"], |s| {
        s.hosts = vec![group(10_000, "1mbit"), hosts(Role::Client, "far", "left", 2, "1mbit", "1ms")]
    });
    assert_says(&["topology.hosts", "900 clients and 900 servers", "250000"], |s| {
        (s.clients, s.servers) = (vec![], vec![]);
        s.hosts = vec![group(900, "1mbit"), hosts(Role::Server, "web", "left", 900, "1mbit", "1ms")];
    });
    assert_says(&["topology.links", "", "a path from \"server\" to \"far0\""], |s| {
        s.hosts = vec![hosts(Role::Client, "far", "elsewhere", 1, "1mbit", "1ms")];
    });
}

#[test]
fn kinds__wrong_values() {
    let with = |name: &str, params: serde_json::Value| {
        topology_scenario(TopologySpec { params: Some(params), ..kind(name) })
    };
    assert_refused(
        &topology_scenario(kind("two-teir")),
        &["topology.kind", "\"two-teir\"", "did you mean \"two-tier\""],
    );
    assert_refused(
        &with("tree", serde_json::json!({"user": 3})),
        &["topology.params", "\"user\"", "did you mean \"users\""],
    );
    assert_refused(
        &with("tree", serde_json::json!({"rtts": ["5ms"]})),
        &["topology.params.rtts", "\"5ms\"", "10ms"],
    );
    assert_refused(
        &with("tree", serde_json::json!({"users": "ten"})),
        &["topology.params.users", "\"ten\"", "a whole number"],
    );
    assert_refused(&with("y", serde_json::json!({"rate": "0bit"})), &["topology.links[1].rate", "\"0bit\""]);
    assert_refused(
        &with("two-tier", serde_json::json!({"tier_access_delays": []})),
        &["topology.params.tier_access_delays", "[]", "at least one"],
    );
    assert_says(&["topology.kind", "\"tree\"", "its own links"], |s| s.kind = Some("tree".into()));
    assert_says(&["topology.params", "{\"users\":3}", "only a topology.kind"], |s| {
        s.params = Some(serde_json::json!({"users": 3}))
    });
}

#[test]
fn scenario__fields_that_do_not_go_with_a_topology() {
    let mut rate = topology_scenario(chain_topology());
    rate.link.rate = Some("3mbit".into());
    assert_refused(&rate, &["link.rate", "\"3mbit\"", "links of its own"]);
    let mut access = topology_scenario(chain_topology());
    access.access = Some(AccessSpec {
        rate: "10mbit".into(),
        delay: "1ms".into(),
        client_rate: None,
        client_delay: None,
        servers: None,
        clients: None,
    });
    assert_refused(&access, &["access", "rate \"10mbit\"", "links of its own"]);
    let staged = |users, rate: &str| HostStageSpec { users, rate: rate.into(), mark: false };
    assert_refused(
        &Scenario { host_stage: Some(staged(0, "1mbit")), ..topology_scenario(chain_topology()) },
        &["host_stage.users", "0"],
    );
    assert_refused(
        &Scenario { host_stage: Some(staged(2, "1")), ..topology_scenario(chain_topology()) },
        &["host_stage.rate", "\"1\""],
    );
    access.topology = None;
    assert_refused(
        &Scenario { host_stage: Some(staged(2, "1mbit")), ..access },
        &["host_stage", "a host stage", "private"],
    );
    let mut fault = topology_scenario(chain_topology());
    fault.faults = vec![crate::common::losses_at("left-rihgt", &[1])];
    assert_refused(&fault, &["faults.link", "\"left-rihgt\"", "did you mean \"left-right\""]);
}

/// A link for each direction may be written out; a scheme without a marker too.
#[test]
fn links__two_of_one_way_are_a_link() {
    let one_way = |from, to, rate| TopologyLink { one_way: true, ..scheme(from, to, rate, "5ms", "30p") };
    let mut spec = chain_topology();
    spec.links.splice(1..2, [one_way("left", "right", "3mbit"), one_way("right", "left", "1mbit")]);
    spec.bottleneck = Some("left-right".into());
    let plan = Plan::new(&topology_scenario(spec)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((plan.rate.0, plan.up_rate.0), (3_000_000, 1_000_000));
}

/// Text with a field that does not exist is refused with its line.
#[test]
fn toml__unknown_fields() {
    let says = |text: &str, part: &str| match Scenario::from_toml(text, "run.toml") {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => assert!(error.to_string().contains(part), "{error}"),
    };
    says("[topology]\nkin = \"y\"\n", "run.toml:2");
    says("[[topology.links]]\nfrom = \"a\"\nto = \"b\"\nrat = \"1mbit\"\n", "rat");
    says(
        "[[topology.hosts]]\nname = \"a\"\nat = \"b\"\ncount = 1\nrate = \"1mbit\"\nrole = \"router\"\n",
        "router",
    );
    says("[host_stage]\nuser = 3\n", "user");
}

/// SHRED's edge learns from acknowledgements, which on a graph may pass elsewhere.
#[test]
fn an_edge_that_sees_one_direction_is_refused() {
    let on_a_graph = Scenario { scheme: "shred-edge|shred".into(), ..topology_scenario(chain_topology()) };
    assert_refused(&on_a_graph, &["scheme", "\"shred-edge|shred\"", "both directions"]);
    let told_by_senders = Scenario { scheme: "shred".into(), ..topology_scenario(chain_topology()) };
    Plan::new(&told_by_senders).expect("senders may tell");
}
