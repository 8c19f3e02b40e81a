//! Every parameter of every scheme has an effect, and a wrong value is reported in one line.
use crate::common::{digest, play, scenario};
use mousehole_sim::scenario::catalogue::{Kind, Parameter, Visible};
use mousehole_sim::scenario::spec::{BulkSpec, Ends, LinkSpec, MixSpec, TcpSpec, TrafficSpec};
use mousehole_sim::scenario::topology::spec::HostStageSpec;
use mousehole_sim::scenario::{Part, Plan, Role, SCHEMES, Scenario, Scheme};
use serde_json::json;
use std::collections::BTreeMap;

/// Parameters whose effect needs another one: scheme (`*` is any), parameter, what is set beside it, its value.
const BESIDE: &[(&str, &str, &str, &str)] = &[
    ("red", "wq", "", "0.5"),
    ("red", "gentle", "min=1,max=4", "false"),
    // ECN marks in the gentle part only where the average gets there.
    ("red", "mark_gentle", "ecn=true,min=1,max=4,wq=0.5", "true"),
    ("shred", "mark_gentle", "ecn=true,min=6,max=8,wq=0.5", "true"),
    ("lfp", "mark_gentle", "ecn=true,gentle=true,min=1,max=4,wq=0.5", "true"),
    ("sfd", "mark_gentle", "ecn=true,gentle=true,out_min=1,out_max=4,wq=0.5", "true"),
    ("p-sfd", "mark_gentle", "ecn=true,gentle=true,out_min=1,out_max=4,wq=0.5", "true"),
    ("s-sfd", "mark_gentle", "ecn=true,gentle=true,out_min=1,out_max=4,wq=0.5", "true"),
    ("pq-sfd", "mark_gentle", "ecn=true,gentle=true,out_min=1,out_max=4,wq=0.5", "true"),
    ("appl", "mark_gentle", "ecn=true,gentle=true,low_min=2%,low_max=10%", "true"),
    ("tcp-ds", "mark_gentle", "ecn=true,gentle=true,low_min=2%,low_max=10%", "true"),
    ("tcp-ds-r", "mark_gentle", "ecn=true,gentle=true,low_min=2%,low_max=10%", "true"),
    ("er-tbm", "mark_gentle", "ecn=true,gentle=true,low_min=2%,low_max=10%", "true"),
    ("ared", "min", "auto=false", "2"),
    ("ared", "max", "auto=false", "9"),
    ("ared", "wq", "auto=false", "0.05"),
    ("ared", "gentle", "auto=false", "false"),
    ("rio-ps", "slr", "t_c=100ms", "0.1"),
    ("rio-ps", "t_c", "slr=0.1", "50ms"),
    ("rio-ps", "floor", "slr=0.1,t_c=50ms,l_t=9", "8"),
    ("rio-ps", "cap", "slr=100,t_c=50ms,l_t=2", "3"),
    ("lfp", "u", "h=20", "50"),
    ("lfp", "memoryless", "h=3,u=60,timeout=100ms,tau=2", "true"),
    ("lfp", "kappa", "omega=0.1,zeta=10,delta=10", "80"),
    ("lfp", "min", "max=20,wq=0.1,maxp=0.3", "1"),
    // Its buffer is to be full: no early drops.
    ("lfp", "pushout", "", "false"),
    ("ct-bytes", "pushout", "th=5kB", "false"),
    ("shred", "min", "max=100,wq=0.1", "10"),
    ("ns2-sfd", "mode", "wq=0.5", "decoupled"),
    // Where every packet is IN, the queue of IN packets is as long as the queue.
    ("ns2-rio", "in_min", "th=1MB,wq=0.1", "1"),
    ("ns2-rio", "in_maxp", "th=1MB,wq=0.1,in_min=1", "0.9"),
    // Acknowledgements are small: only a small contract makes them wait.
    ("*", "hold_acks", "high_rate=8kbit,med_rate=8kbit", "true"),
    // Below 40 ms the least threshold of 5 packets holds at this rate.
    ("ared", "delay", "", "100ms"),
    // The average begins at zero, so that max_p falls first.
    ("ared", "lowest", "auto=false,min=25,max=39,interval=50ms", "0.09"),
    ("p-sfd", "gentle", "out_min=1,out_max=4", "true"),
    ("s-sfd", "gentle", "out_min=1,out_max=4", "true"),
    ("sfd", "in_maxp", "in_min=1,in_max=20,wq=0.1", "0.9"),
    // Calls are the only datagrams, and send 80 kbit/s while they talk.
    ("excess-cake", "datagrams", "th=15kB", "20kbit"),
    ("excess-cake", "small", "th=15kB,datagrams=20kbit", "400B"),
    ("excess-tins-cake", "datagrams", "th=15kB", "20kbit"),
    ("excess-tins-cake", "small", "th=15kB,datagrams=20kbit", "400B"),
    ("excess-budget-cake", "datagrams", "", "20kbit"),
    ("excess-budget-cake", "small", "datagrams=20kbit", "400B"),
    ("excess-budget-cake", "budget", "burst=1000B", "1%"),
    ("excess-budget-cake", "burst", "budget=1%", "1000B"),
    // IN never waits for OUT, so that its own queue stays short.
    ("pq-sfd", "in_min", "in_maxp=1,wq=0.5", "0"),
    ("pq-sfd", "in_maxp", "in_min=0.5,in_max=4", "0.9"),
];

/// Settings of a scheme under which its parameters show on a small link in seconds: thresholds that a buffer of 40
/// packets reaches, an average that follows, buckets that run empty.
const READY: &[(&str, &str)] = &[
    ("rio-ps", "short_min=5%,wq=0.1"),
    ("shred", "min=8,max=20,wq=0.1"),
    ("lfp", "min=1,max=8,wq=0.1,maxp=0.3,omega=0.1,zeta=10"),
];

/// Returns the settings with which a parameter of its scheme can have an effect, without the
/// parameter.
fn required_settings(scheme: &str, parameter: &str) -> String {
    let all = READY.iter().find(|(name, _)| *name == scheme).map_or("", |(_, all)| all);
    let others = all.split(',').filter(|one| one.split('=').next() != Some(parameter));
    others.collect::<Vec<_>>().join(",")
}

/// Returns scenarios in which the parameters are to show their effect: cheap, crowded, with every
/// kind of traffic.
fn situations() -> [(&'static str, Scenario); 4] {
    let ecn = TcpSpec { ecn: Some(true), ..TcpSpec::default() };
    let stage: HostStageSpec = serde_json::from_value(json!({"users": 3, "mark": true})).expect("a stage");
    let kilobytes = LinkSpec { buffer: "30kB".into(), overhead: 18, ..crowded_scenario().link };
    let (down, up) = (crowded_scenario().link.rate, Some("60kbit".into()));
    let narrow = LinkSpec { rate: None, down, up, ..crowded_scenario().link };
    [
        ("plain", crowded_scenario()),
        ("ECN, buffer in bytes", Scenario { tcp: ecn, link: kilobytes, ..crowded_scenario() }),
        (
            "acknowledgements that queue",
            Scenario { at: Some(Ends::Both), link: narrow, ..crowded_scenario() },
        ),
        (
            "shaped hosts, both ways",
            Scenario { host_stage: Some(stage), at: Some(Ends::Both), ..crowded_scenario() },
        ),
    ]
}

/// Returns pages, logins, calls and endless flows on 2 Mbit/s.
fn crowded_scenario() -> Scenario {
    let entry = |model: &str, load: Option<f64>, count: Option<u32>| MixSpec {
        model: model.into(),
        load,
        count,
        ..MixSpec::default()
    };
    let mix =
        vec![entry("web:sfd", Some(0.7), None), entry("telnet", None, Some(5)), entry("voip", None, Some(4))];
    let bulk = Some(BulkSpec { flows: 5, start_spread_s: 1.0, rtt_spread: 0.3 });
    let link = LinkSpec {
        rate: Some("2mbit".into()),
        rtt: "40ms".into(),
        buffer: "40p".into(),
        up_buffer: Some("10p".into()),
        ..LinkSpec::default()
    };
    Scenario {
        duration: "8s".into(),
        max_windows: 1,
        link,
        traffic: TrafficSpec { mix, bulk, nqb: true, ..TrafficSpec::default() },
        tcp: TcpSpec { profile: "rfc:0.6,prague:0.4".into(), ..TcpSpec::default() },
        ..scenario("droptail")
    }
}

/// Returns other values of a parameter, from the mild to the extreme; those that a scheme refuses
/// do not count.
fn other_values(parameter: &Parameter) -> Vec<String> {
    let default = parameter.default;
    let digits = default.trim_end_matches(|one: char| one.is_alphabetic() || one == '%');
    let (number, unit) = (digits.parse::<f64>().unwrap_or(0.0), &default[digits.len()..]);
    let scaled = |factors: &[f64]| factors.iter().map(|by| format!("{}{unit}", number * by)).collect();
    let words =
        |all: &[&str]| all.iter().filter(|word| **word != default).map(|word| word.to_string()).collect();
    match parameter.kind {
        Kind::Flag => words(&["true", "false"]),
        Kind::Choice(all) => words(all),
        Kind::Length if number == 0.0 => vec!["5".into()],
        Kind::Length => scaled(&[0.5, 0.1, 2.0]),
        Kind::Percent if number == 0.0 => vec!["50".into()],
        Kind::Count => vec!["2".into(), format!("{}", (number / 50.0).ceil()), format!("{}", number * 3.0)],
        Kind::Buffer => vec!["15p".into()],
        Kind::Fraction | Kind::Number | Kind::Percent => scaled(&[0.25, 4.0, 0.02]),
        Kind::Timeout if default == "never" => vec!["100ms".into()],
        Kind::Threshold | Kind::Size | Kind::Rate | Kind::Time | Kind::Timeout => scaled(&[0.25, 4.0, 0.02]),
    }
}

/// Returns the settings to combine with a parameter, and the values to try, from the tables of
/// exceptions or by the parameter's kind.
fn trial(scheme: &str, parameter: &Parameter) -> (String, Vec<String>) {
    let beside = BESIDE.iter().find(|(name, one, ..)| [scheme, "*"].contains(name) && *one == parameter.name);
    if let Some((_, _, beside, value)) = beside {
        return (beside.to_string(), vec![value.to_string()]);
    }
    // An upper threshold shows where the lower one is reached.
    match parameter.name.strip_suffix("max") {
        Some(colour) => (format!("{colour}min=1"), vec!["3".into()]),
        None => (required_settings(scheme, parameter.name), other_values(parameter)),
    }
}

/// The digests of runs, each made once.
#[derive(Default)]
struct Runs(BTreeMap<(String, usize), Option<u64>>);

impl Runs {
    /// Returns the digest of the scheme's run in situation `number`; `None` if the scheme is
    /// refused. Each run is played once and stored.
    fn digest(&mut self, scheme: &str, number: usize) -> Option<u64> {
        let key = (scheme.to_string(), number);
        *self.0.entry(key).or_insert_with(|| {
            let [.., (_, base)] = &situations()[..=number] else { unreachable!() };
            let scenario = Scenario { scheme: scheme.to_string(), ..base.clone() };
            Plan::new(&scenario).ok().map(|_| digest(&play(&scenario)))
        })
    }

    /// Returns whether some value of the parameter changes some run.
    fn has_effect(&mut self, scheme: &str, parameter: &Parameter) -> bool {
        let (beside, values) = trial(scheme, parameter);
        let with = |more: &str| format!("{scheme}({beside},{more})");
        let trials =
            values.iter().flat_map(|value| (0..situations().len()).map(move |number| (value, number)));
        trials.into_iter().any(|(value, number)| {
            let before = self.digest(&with(""), number);
            let after = self.digest(&with(&format!("{}={value}", parameter.name)), number);
            before.is_some() && after.is_some() && before != after
        })
    }
}

/// Returns the parameters without effect, as `scheme(parameter)`, of the schemes from `first` to
/// the one before `end`, or to the last. It panics for a name that is no scheme's.
fn find_idle_parameters(first: &str, end: Option<&str>) -> Vec<String> {
    let place = |name| SCHEMES.iter().position(|doc| doc.name == name).expect("a scheme's name");
    let mut runs = Runs::default();
    let mut idle = Vec::new();
    for doc in &SCHEMES[place(first)..end.map_or(SCHEMES.len(), place)] {
        for Visible { parameter, .. } in doc.visible_parameters() {
            if !runs.has_effect(doc.name, &parameter) {
                idle.push(format!("{}({})", doc.name, parameter.name));
            }
        }
    }
    idle
}

/// Asserts that every parameter of the schemes from `first` to the one before `end` has an effect.
fn assert_effects(first: &str, end: Option<&str>) {
    let idle = find_idle_parameters(first, end);
    assert!(idle.is_empty(), "without effect: {idle:?}");
}

#[test]
fn parameters__change_something__red_and_sfd() {
    assert_effects("droptail", Some("rio-ps"));
}

#[test]
fn parameters__change_something__rio_ps_shred_lfp() {
    assert_effects("rio-ps", Some("appl"));
}

#[test]
fn parameters__change_something__traffic_profiles() {
    assert_effects("appl", Some("pq-sfd"));
}

#[test]
fn parameters__change_something__the_rest() {
    assert_effects("pq-sfd", None);
}

#[test]
fn documentation__is_complete() {
    for doc in SCHEMES {
        assert!(doc.detail.len() > 80 && !doc.source.is_empty() && !doc.summary.is_empty(), "{}", doc.name);
        for Visible { parameter: one, .. } in doc.visible_parameters() {
            let texts = [one.default, one.meaning, one.source, &one.allowed()].map(str::len);
            assert!(texts.iter().all(|length| *length > 0), "{}({})", doc.name, one.name);
            let written = format!("{}({}={})", doc.name, one.name, one.default);
            let beside =
                if doc.name == "ared" { written.replace('(', "(auto=false,") } else { written.clone() };
            let accepted = Scheme::parse(&written).or_else(|_| Scheme::parse(&beside));
            assert!(accepted.is_ok(), "the default is not allowed: {written}");
        }
    }
}

/// What is wrong, and the parameter, the value and what is allowed, as the complaint names them.
const WRONG: &[(&str, &str, &str, &str)] = &[
    ("red(min=30,max=10)", "red(max)", "\"10\"", "at least one packet more than min"),
    ("red(min=-3)", "red(min)", "\"-3\"", "% of the buffer"),
    ("red(min=20%,max=10%)", "red(max)", "\"10%\"", "more than min"),
    ("red(min=8,min=9)", "red(min)", "\"9\"", "with \"8\"; give one value"),
    ("red(maxp=0)", "red(maxp)", "\"0\"", "above 0, at most 1"),
    ("red(maxp=0.1p)", "red(maxp)", "\"0.1p\"", "a number"),
    ("red(mean=4GB)", "red(mean)", "\"4GB\"", "1 to 65535 B"),
    ("red(unit=byte)", "red(unit)", "\"byte\"", "packets or bytes"),
    ("red(gentle=yes)", "red(gentle)", "\"yes\"", "true or false"),
    ("ared(min=10)", "ared(min)", "\"10\"", "auto=false"),
    ("ared(auto=false,delay=9ms)", "ared(delay)", "\"9ms\"", "auto=true"),
    ("ared(lowest=0.5,highest=0.1)", "ared(lowest)", "\"0.5\"", "at most highest"),
    ("sfd(in_min=30,in_max=30)", "sfd(in_max)", "\"30\"", "at least one packet more than in_min"),
    ("sfd(out_min=50%)", "sfd(out_max)", "\"48%\"", "more than out_min"),
    ("sfd(th=15)", "sfd(th)", "\"15\"", "bytes (15kB) or packets (15p)"),
    ("sfd(timeout=0s)", "sfd(timeout)", "\"0s\"", "above 0 s"),
    ("rio-ps(l_t=5000)", "rio-ps(l_t)", "\"5000\"", "from floor to cap"),
    ("rio-ps(slr=0)", "rio-ps(slr)", "\"0\"", "to 65535"),
    ("rio-ps(long_min=60%)", "rio-ps(long_max)", "\"50%\"", "more than long_min"),
    ("shred(wc=0)", "shred(wc)", "\"0\"", "to 1"),
    ("lfp(kappa=10)", "lfp(delta)", "\"25\"", "at most kappa"),
    ("lfp(u=101)", "lfp(u)", "\"101\"", "to 100 %"),
    ("lfp(h=5000)", "lfp(h)", "\"5000\"", "1 to 4096"),
    ("appl(high_rate=1bit)", "appl(high_rate)", "\"1bit\"", "8 to"),
    ("appl(med_rate=0%)", "appl(med_rate)", "\"0%\"", "% of the bottleneck"),
    ("appl(burst=5GB)", "appl(burst)", "\"5GB\"", "1000000000 B"),
    ("appl(police=shape)", "appl(police)", "\"shape\"", "none, remark or drop"),
    ("tcp-ds(high=8,med=4)", "tcp-ds(high)", "\"8\"", "at most med"),
    ("tcp-ds(low_min=50%)", "tcp-ds(low_max)", "\"40%\"", "more than low_min"),
    ("wrr(weight=0%)", "wrr(weight)", "\"0%\"", "0.1 to 99.9"),
    ("lfp(shared=false,pushout=true)", "lfp(pushout)", "\"true\"", "false, as shared is false"),
    ("pias(first=2MB)", "pias(second)", "\"1MB\"", "at least first"),
    ("pie(mean=5GB)", "pie(mean)", "\"5GB\"", "65535"),
    ("fq-codel(flows=100000)", "fq-codel(flows)", "\"100000\"", "1024"),
    ("sfd|cake(tins=color)", "cake(tins)", "\"color\"", "did you mean \"colour\""),
    ("srpt(limit=0p)", "srpt(limit)", "\"0p\"", "at least one 1500-byte packet"),
    ("empty(x=1)", "scheme empty", "\"x\"", "there are no parameters"),
    ("sfd(treshold=3)", "scheme sfd", "\"treshold\"", "th, timeout"),
];

#[test]
fn faults__name_parameter_value_and_what_is_allowed() {
    for (text, parameter, value, allowed) in WRONG {
        let Err(error) = Scheme::parse(text) else { panic!("accepted: {text}") };
        let field = if parameter.starts_with("scheme") {
            parameter.to_string()
        } else {
            format!("scheme {parameter}")
        };
        crate::common::assert_error(&error, &[&field, value, allowed]);
    }
}

/// What is said of a scheme whose parts do not fit together.
const MISFITS: &[(&str, &[&str])] = &[
    ("sfd|window-marker", &["\"window-marker\" is a marker, and a queue goes last"]),
    ("priority|sfd", &["\"priority\" is a queue, and a marker goes before it", "such as sfd|priority"]),
    ("droptail|sfd", &["\"droptail\" is a queue, and a marker goes before it"]),
    ("policer", &["is a marker", "queue behind it"]),
    ("sfd|", &["no queue \"\""]),
    ("sfdd|droptail", &["no marker \"sfdd\"", "did you mean \"sfd\""]),
    ("sfd|multi-red(green_mim=3)", &["multi-red", "green_mim", "did you mean \"green_min\""]),
];

#[test]
fn faults__of_parts_that_do_not_fit() {
    for (text, parts) in MISFITS {
        let Err(error) = Scheme::parse(text) else { panic!("accepted: {text}") };
        let complaint = error.to_string();
        for part in *parts {
            assert!(complaint.contains(part), "\"{part}\" is not in: {complaint}");
        }
    }
}

/// Every marker goes with every queue.
#[test]
fn schemes__any_marker_with_any_queue() {
    let of = |role| Part::all().into_iter().filter(move |part| part.role() == role).map(|part| part.name());
    for marker in of(Role::Marker) {
        for queue in of(Role::Queue) {
            let text = format!("{marker}|{queue}");
            let scheme = Scheme::parse(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((scheme.to_string(), scheme.name()), (text.clone(), text));
        }
    }
}

/// A named scheme's parts under their own names, with the scheme's values, are the scheme.
#[test]
fn schemes__named_ones_are_their_parts() {
    let same = [
        (
            "s-sfd(th=5kB)",
            "sfd(promotion=one-of-k,th=5kB)|multi-red(colours=2,mode=decoupled,green_min=20%,green_max=60%,green_maxp=0.02,yellow_min=16%,yellow_max=48%,unit=bytes,mean=1500B)",
        ),
        ("pias(first=5kB)", "demotion(first=5kB)|priority"),
        ("tcp-ds", "window-marker|policer|tcp-ds"),
        ("rio-ps", "rio-ps|rio-ps"),
    ];
    for (named, parts) in same {
        let digest = |text: &str| digest(&play(&Scenario { scheme: text.into(), ..crowded_scenario() }));
        assert_eq!(digest(named), digest(parts), "{named}");
    }
}

#[test]
fn remarks__say_what_a_queue_ignores() {
    let remarks = |text: &str| Scheme::parse(text).unwrap().remarks();
    assert!(remarks("sfd|droptail")[0].contains("droptail ignores colours"));
    assert!(remarks("sfd|cake")[0].contains("cake ignores colours"));
    assert!(remarks("shred-edge|red")[0].contains("red ignores window hints"));
    for fitting in
        ["sfd|cake(tins=colour)", "sfd|priority", "lfp|multi-red", "shred-edge|shred", "fq-codel", "sfd"]
    {
        assert_eq!(remarks(fitting), [""; 0], "{fitting}");
    }
}
