//! Every fault in a scenario is one line that names the field, the value and what is allowed.
use crate::common::topology::kind;
use crate::common::{assert_error, connection, find_error, transfers, with_connections, with_up};
use mousehole_sim::error::Error;
use mousehole_sim::scenario::spec::{AccessSpec, BulkSpec, ConnectionSpec, FaultSpec, LinkSpec, TrafficSpec};
use mousehole_sim::scenario::topology::spec::TopologySpec;
use mousehole_sim::scenario::{Plan, SCHEMES, Scenario, Scheme};
use mousehole_sim::tcp::Variant;

/// Returns a scenario that is accepted.
fn valid_scenario() -> Scenario {
    with_connections(crate::common::scenario("sfd"), transfers(1, 0.0, 1000))
}

/// Returns the error of a scenario that `spoil` makes wrong; panics if it is accepted.
fn spoil_scenario(spoil: impl FnOnce(&mut Scenario)) -> Error {
    let mut scenario = valid_scenario();
    spoil(&mut scenario);
    find_error(&scenario)
}

#[test]
fn plan__accepts_the_valid_base_scenario() {
    Plan::new(&valid_scenario()).unwrap_or_else(|error| panic!("{error}"));
    for scheme in SCHEMES {
        Scheme::parse(scheme.name).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn schemes__wrong_names_and_values() {
    let cases: &[(&str, &[&str])] = &[
        ("sdf", &["scheme", "\"sdf\"", "droptail", "did you mean \"sfd\""]),
        ("fq_codel", &["scheme", "\"fq_codel\"", "did you mean \"fq-codel\""]),
        ("", &["scheme", "\"\"", "the schemes are droptail, "]),
        ("sfd(th=15kB", &["scheme", "\"sfd(th=15kB\"", "parentheses"]),
        ("sfd(tH=15kB)", &["scheme sfd", "\"tH\"", "did you mean \"th\""]),
        ("sfd(15kB)", &["scheme sfd", "\"15kB\"", "parameter=value"]),
        ("sfd(th=15)", &["scheme sfd(th)", "\"15\"", "bytes (15kB) or packets (15p)"]),
        ("sfd(th=15qB)", &["scheme sfd(th)", "\"15qB\"", "bytes (15kB)"]),
        ("sfd(th=5GB)", &["scheme sfd(th)", "\"5GB\"", "0 to 4294967294"]),
        ("sfd(timeout=1)", &["scheme sfd(timeout)", "\"1\"", "5ms or 1s, or never"]),
        (
            "sfd(mode=couple)",
            &["scheme sfd(mode)", "\"couple\"", "coupled, decoupled or total", "did you mean \"coupled\""],
        ),
        ("sfd(gentle=yes)", &["scheme sfd(gentle)", "\"yes\"", "true or false"]),
        ("sfd(wq=2)", &["scheme sfd(wq)", "\"2\"", "to 1"]),
        ("sfd(in_maxp=0)", &["scheme sfd(in_maxp)", "\"0\"", "above 0, at most 1"]),
        ("sfd(in_min=30,in_max=10)", &["scheme sfd(in_max)", "\"10\"", "one packet more than in_min"]),
        ("red(min=-1)", &["scheme red(min)", "\"-1\"", "packets (30p)"]),
        ("red(max=NaN)", &["scheme red(max)", "\"NaN\""]),
        ("s-sfd(k=0)", &["scheme s-sfd(k)", "\"0\"", "1 to 4294967295"]),
        ("s-sfd(k=2.5)", &["scheme s-sfd(k)", "\"2.5\"", "whole number"]),
        ("fq-codel(limit=0p)", &["scheme fq-codel(limit)", "\"0p\"", "at least one 1500-byte packet"]),
        ("fq-codel(flows=100000)", &["scheme fq-codel(flows)", "\"100000\"", "1024"]),
        ("fq-codel(quantum=2GB)", &["scheme fq-codel(quantum)", "\"2GB\"", "1000000000 B"]),
        ("fq-codel(interval=0ms)", &["scheme fq-codel(interval)", "\"0ms\"", "above 0 s"]),
        ("droptail(th=15kB)", &["scheme droptail", "\"th\"", "ns2"]),
    ];
    for (scheme, parts) in cases {
        let error = spoil_scenario(|scenario| scenario.scheme = (*scheme).into());
        assert_error(&error, parts);
    }
}

#[test]
fn link__wrong_values() {
    let says = |parts: &[&str], spoil: fn(&mut Scenario)| assert_error(&spoil_scenario(spoil), parts);
    says(&["link.rate", "\"-1mbit\"", "10mbit"], |s| s.link.rate = Some("-1mbit".into()));
    says(&["link.rate", "\"0mbit\"", "1bit"], |s| s.link.rate = Some("0mbit".into()));
    says(&["link.rate", "\"10\"", "no unit"], |s| s.link.rate = Some("10".into()));
    says(&["link.rate", "\"10mbits\"", "did you mean \"mbit\""], |s| s.link.rate = Some("10mbits".into()));
    says(&["link.rate", "\"fast\""], |s| s.link.rate = Some("fast".into()));
    says(&["link.up", "\"1x\""], |s| with_up(s, "1x"));
    says(&["link.rtt", "\"0ms\"", "positive"], |s| s.link.rtt = "0ms".into());
    says(&["link.rtt", "\"40ms\"", "60 ms"], |s| s.link.delay = "30ms".into());
    says(&["link.delay", "\"x\""], |s| s.link.delay = "x".into());
    says(&["link.buffer", "\"0p\"", "at least one packet"], |s| s.link.buffer = "0p".into());
    says(&["link.buffer", "\"1.5p\""], |s| s.link.buffer = "1.5p".into());
    says(&["link.buffer", "\"100B\"", "1500-byte"], |s| s.link.buffer = "100B".into());
    says(&["link.buffer", "\"0.001bdp\"", "20 B at "], |s| s.link.buffer = "0.001bdp".into());
    says(&["link.up_buffer", "\"10q\""], |s| s.link.up_buffer = Some("10q".into()));
    says(&["link.overhead", "25000000", "from 0 to 65535"], |s| s.link.overhead = 25_000_000);
    says(&["link.layer", "\"docsys\"", "docsis", "pppoe-llcsnap"], |s| s.link.layer = Some("docsys".into()));
    says(&["link.layer", "\"adsl\"", "link.overhead", "give one of them"], |s| {
        (s.link.layer, s.link.overhead) = (Some("adsl".into()), 14);
    });
    says(&["link.burst", "\"1748B\"", "from 1749B"], |s| {
        (s.link.layer, s.link.burst) = (Some("adsl".into()), Some("1748B".into()));
    });
    says(&["link.burst", "\"8q\"", "15kB, 64KiB or 1500B"], |s| s.link.burst = Some("8q".into()));
    says(&["link.burst", "\"1513B\"", "from 1514B, a full packet with its overhead"], |s| {
        (s.link.burst, s.link.overhead) = (Some("1513B".into()), 14);
    });
    says(&["link.burst", "\"2MB\"", "at most what the link sends in 10 s"], |s| {
        s.link.burst = Some("2MB".into());
        with_up(s, "1mbit");
    });
}

/// Links on which a packet takes longer than a retransmission timer are refused, wherever they are.
#[test]
fn link__too_slow_for_tcp() {
    let says = |parts: &[&str], spoil: fn(&mut Scenario)| assert_error(&spoil_scenario(spoil), parts);
    let access = |client_rate: Option<&str>| AccessSpec {
        rate: "10bit".into(),
        delay: "1ms".into(),
        client_rate: client_rate.map(Into::into),
        client_delay: None,
        servers: None,
        clients: None,
    };
    Plan::new(&Scenario {
        link: LinkSpec { rate: Some("200bit".into()), ..valid_scenario().link },
        ..valid_scenario()
    })
    .unwrap_or_else(|error| panic!("60 s are allowed: {error}"));
    says(&["link.rate", "\"199bit\"", "takes 60 s to send 1500 bytes", "at most 60 s"], |s| {
        s.link.rate = Some("199bit".into())
    });
    says(&["link.up", "\"1bit\"", "takes 12000 s to send 1500 bytes"], |s| {
        with_up(s, "1bit");
    });
    says(&["link.rate", "\"5kbit\"", "1500 bytes and 60000 bytes of overhead"], |s| {
        (s.link.rate, s.link.overhead) = (Some("5kbit".into()), 60_000);
    });
    assert_error(
        &spoil_scenario(|s| s.access = Some(access(None))),
        &["access.rate", "\"10 bit/s\"", "1200 s"],
    );
    let slow_client = AccessSpec { rate: "1mbit".into(), ..access(Some("10bit")) };
    assert_error(
        &spoil_scenario(|s| s.access = Some(slow_client)),
        &["access.client_rate", "\"10 bit/s\"", "1200 s"],
    );
    let (rate, buffer) = (Some("1bit".into()), Some("50p".into()));
    let spec = TopologySpec { rate, buffer, ..kind("y") };
    let error = spoil_scenario(|s| (s.topology, s.link) = (Some(spec), LinkSpec::default()));
    assert!(error.to_string().contains("takes 12000 s to send 1500 bytes"), "{error}");
}

#[test]
fn run__wrong_times_and_schema() {
    let says = |parts: &[&str], spoil: fn(&mut Scenario)| assert_error(&spoil_scenario(spoil), parts);
    says(&["schema", "\"mousehole.scenario/9\"", "mousehole.scenario/1"], |s| {
        s.schema = "mousehole.scenario/9".into()
    });
    says(&["warmup", "\"-3s\""], |s| s.warmup = "-3s".into());
    says(&["duration", "\"0s\"", "longer than zero"], |s| s.duration = "0s".into());
    says(&["duration", "\"5 minutes\""], |s| s.duration = "5 minutes".into());
    says(&["max_windows", "0", "1 to 1000"], |s| s.max_windows = 0);
}

#[test]
fn tcp__wrong_values() {
    let says = |parts: &[&str], spoil: fn(&mut Scenario)| assert_error(&spoil_scenario(spoil), parts);
    says(
        &[
            "tcp.profile",
            "\"ns-2.35\"",
            "rfc, linux, bbr, prague, ns2-2.35 and ns2-2001",
            "did you mean \"ns2-2.35\"",
        ],
        |s| {
            s.tcp.profile = "ns-2.35".into();
        },
    );
    says(&["tcp.mss", "0", "1 to 9000"], |s| s.tcp.mss = Some(0));
    says(&["tcp.header", "200", "0 to 120"], |s| s.tcp.header = Some(200));
    says(&["tcp.initial_window", "0"], |s| s.tcp.initial_window = Some(0));
    says(&["tcp.initial_ssthresh", "0", "at least 1"], |s| s.tcp.initial_ssthresh = Some(0));
    says(&["tcp.receive_window", "70000", "65535"], |s| s.tcp.receive_window = Some(70_000));
    says(&["tcp.min_rto", "\"fast\""], |s| s.tcp.min_rto = Some("fast".into()));
    says(&["tcp.tick", "\"0ms\"", "longer than zero"], |s| s.tcp.tick = Some("0ms".into()));
    says(&["tcp.variant", "\"tahoe\"", "tcp.profile \"rfc\"", "ns2 profiles"], |s| {
        s.tcp.variant = Some(Variant::Tahoe)
    });
    says(&["tcp.tick_phase_s", "-1"], |s| s.tcp.tick_phase_s = Some(-1.0));
    says(&["tcp.delayed_ack", "\"on\""], |s| s.tcp.delayed_ack = Some("on".into()));
    says(&["tcp.syn", "false", "tcp.profile \"rfc\"", "ns2"], |s| s.tcp.syn = Some(false));
}

#[test]
fn traffic__wrong_values() {
    let says = |parts: &[&str], spoil: fn(&mut Scenario)| assert_error(&spoil_scenario(spoil), parts);
    says(&["traffic", "files", "with model", "one of files, model or connections"], |s| {
        s.traffic = TrafficSpec {
            files: vec!["a.pcap".into()],
            model: Some("web:sfd".into()),
            ..TrafficSpec::default()
        };
    });
    says(&["traffic", "model", "with connections"], |s| s.traffic.model = Some("web:sfd".into()));
    says(&["traffic", "", "give one of files, model or connections", "none was given"], |s| {
        s.traffic = TrafficSpec::default()
    });
    for (load, text) in [(0.0, "0"), (2.5, "2.5"), (-0.5, "-0.5"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")]
    {
        assert_error(
            &spoil_scenario(|s| s.traffic.load = Some(load)),
            &["traffic.load", text, "above 0, at most 2"],
        );
    }
    let model =
        |name: &str, params| TrafficSpec { model: Some(name.into()), params, ..TrafficSpec::default() };
    let sideways = |s: &mut Scenario| {
        s.traffic = TrafficSpec { payload: Some("sideways".into()), ..model("poisson", None) }
    };
    assert_error(&spoil_scenario(sideways), &["traffic.payload", "\"sideways\"", "down", "up"]);
    says(&["traffic.payload", "\"up\"", "a payload of its own"], |s| s.traffic.payload = Some("up".into()));
    assert_error(
        &spoil_scenario(|s| s.traffic = model("web:sdf", None)),
        &["traffic.model", "\"web:sdf\"", "did you mean \"web:sfd\""],
    );
    let shape = serde_json::json!({ "shap": 1.5 });
    assert_error(
        &spoil_scenario(|s| s.traffic = model("poisson", Some(shape))),
        &["traffic.params", "\"shap\"", "did you mean \"shape\""],
    );
    let bulk = |flows, start_spread_s, rtt_spread| Some(BulkSpec { flows, start_spread_s, rtt_spread });
    assert_error(
        &spoil_scenario(|s| s.traffic.bulk = bulk(0, 0.0, 0.0)),
        &["traffic.bulk.flows", "0", "1 to 1000000"],
    );
    assert_error(
        &spoil_scenario(|s| s.traffic.bulk = bulk(1, -1.0, 0.0)),
        &["traffic.bulk.start_spread_s", "-1"],
    );
    assert_error(
        &spoil_scenario(|s| s.traffic.bulk = bulk(1, 0.0, 1.5)),
        &["traffic.bulk.rtt_spread", "1.5", "0 to 0.99"],
    );
}

#[test]
fn connections__wrong_values() {
    let with = |one: ConnectionSpec| spoil_scenario(|s| s.traffic.connections.push(one));
    let good = || connection(0.0, &[(0.0, 1)]);
    assert_error(
        &with(connection(0.0, &[(0.0, 0)])),
        &["traffic.connections[1].writes.bytes", "0", "1 to 10^12"],
    );
    assert_error(&with(connection(0.0, &[])), &["traffic.connections[1].writes", "", "at least one write"]);
    assert_error(
        &with(connection(-1.0, &[(0.0, 1)])),
        &["traffic.connections[1].start_s", "-1", "0 or more"],
    );
    assert_error(&with(connection(f64::NAN, &[(0.0, 1)])), &["traffic.connections[1].start_s", "NaN"]);
    assert_error(&with(connection(0.0, &[(-2.0, 1)])), &["traffic.connections[1].writes.idle_s", "-2"]);
    assert_error(
        &with(ConnectionSpec { rtt_s: Some(-0.1), ..good() }),
        &["traffic.connections[1].rtt_s", "-0.1"],
    );
}

#[test]
fn faults_and_access__wrong_values() {
    let fault = |link: &str, bernoulli| FaultSpec { link: link.into(), drop: vec![], bernoulli };
    assert_error(
        &spoil_scenario(|s| s.faults = vec![fault("dwon", 0.1)]),
        &["faults.link", "\"dwon\"", "did you mean \"down\""],
    );
    assert_error(
        &spoil_scenario(|s| s.faults = vec![fault("up", 1.5)]),
        &["faults.bernoulli", "1.5", "0 to 1"],
    );
    assert_error(&spoil_scenario(|s| s.faults = vec![fault("up", f64::NAN)]), &["faults.bernoulli", "NaN"]);
    let access = |rate: &str, servers| AccessSpec {
        rate: rate.into(),
        delay: "1ms".into(),
        client_rate: None,
        client_delay: None,
        servers,
        clients: None,
    };
    assert_error(
        &spoil_scenario(|s| s.access = Some(access("10mbit", Some(3)))),
        &["access.servers", "3", "both servers and clients"],
    );
    assert_error(&spoil_scenario(|s| s.access = Some(access("quick", None))), &["access.rate", "\"quick\""]);
}

#[test]
fn toml__faults_name_the_file_and_line() {
    let says = |text: &str, parts: &[&str]| match Scenario::from_toml(text, "run.toml") {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => {
            let sentence = error.to_string();
            assert!(matches!(error, Error::Row { .. }) && !sentence.contains('\n'), "{sentence}");
            assert!(parts.iter().all(|part| sentence.contains(part)), "{sentence}");
        }
    };
    says("seed = 1\n[link]\nrate = \"1mbit\"\nrtd = \"80ms\"\n", &["run.toml:4", "rtd", "rtt"]);
    says("seed = 1\nschem = \"sfd\"\n", &["run.toml:2", "schem", "scheme"]);
    says("seed = \"one\"\n", &["run.toml:1", "the text \"one\"", "a whole number"]);
    says("[link\n", &["run.toml:1"]);
    says("[tcp]\nvariant = \"vegas\"\n", &["run.toml:2", "vegas", "newreno"]);
}

#[test]
fn json__faults_name_the_field() {
    let error = Scenario::from_json(r#"{"link": {"rtd": "80ms"}}"#).expect_err("rtd");
    assert_error(&error, &["scenario", "", "rtd", "rtt"]);
}

#[test]
fn toml_and_json__what_is_written_reads_the_same() {
    let mut scenario = valid_scenario();
    scenario.faults = vec![crate::common::losses_at("down", &[3, 17])];
    scenario.tcp.variant = Some(mousehole_sim::tcp::Variant::Newreno);
    let toml = Scenario::from_toml(&scenario.to_toml(), "again").expect("our own text");
    assert_eq!(toml, scenario);
    let json = serde_json::to_string(&scenario).expect("plain data");
    assert_eq!(Scenario::from_json(&json).expect("our own text"), scenario);
    assert_eq!(Scheme::parse("s-sfd( k = 3 )").expect("spaces").to_string(), "s-sfd(k=3)");
}
