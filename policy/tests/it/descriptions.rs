//! The description in every shipped header, and that its functions keep what it promises.

use crate::common::{Bits, Dropper, Marker, shipped};
use mousehole_policy::{
    Application, Backlog, Colour, Key, Kind, LinkContext, Params, Policy, PolicyKind, Settings, State,
    Verdict, View,
};

#[test]
fn policies__are_found_by_the_build() {
    let headers = std::fs::read_dir("include/mousehole").unwrap();
    let described = headers.filter(|entry| {
        let text = std::fs::read_to_string(entry.as_ref().unwrap().path()).unwrap();
        ["MARKER", "DROPPER", "QUEUE"].iter().any(|kind| text.contains(&format!("\nMH_{kind}(")))
    });
    assert_eq!(shipped().len(), described.count());
    assert!(shipped().iter().any(|policy| policy.kind() == PolicyKind::Dropper));
}

/// The simulator computes positions only for policies that say that they read them.
#[test]
fn policies__read_positions_if_they_say_so() {
    for policy in shipped() {
        let header = format!("include/mousehole/{}.h", policy.name().replace('-', "_"));
        let reads = std::fs::read_to_string(&header).unwrap().contains("->sequence");
        assert_eq!(policy.reads_positions(), reads, "{header}");
    }
}

#[test]
fn defaults__are_allowed_and_read_back() {
    for policy in shipped() {
        let params = Settings::new(policy)
            .for_link(&LinkContext::EXAMPLE)
            .unwrap_or_else(|error| panic!("{}: {error}", policy.name()));
        for parameter in policy.parameters() {
            assert!(params.number(parameter.name).is_finite(), "{} {}", policy.name(), parameter.name);
            assert!(!parameter.meaning.is_empty() && !parameter.meaning.ends_with('.'), "{}", parameter.name);
            assert!(!parameter.source.is_empty(), "{} {}", policy.name(), parameter.name);
        }
        assert!(
            !policy.summary().is_empty() && !policy.source().is_empty() && policy.detail().ends_with('.')
        );
    }
}

/// The ranges of the tables are those that docs/schemes publishes.
#[test]
fn parameters__have_the_published_ranges() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schemes");
    let pages = std::fs::read_dir(folder).unwrap().map(|page| std::fs::read_to_string(page.unwrap().path()));
    let text = pages.collect::<Result<Vec<_>, _>>().unwrap().join("\n");
    for policy in shipped() {
        for parameter in policy.parameters() {
            let (start, range) =
                (format!("| `{}` |", parameter.name), format!("| {} |", parameter.allowed()));
            let is_published = text.lines().any(|row| row.starts_with(&start) && row.contains(&range));
            assert!(is_published, "{}: {start} {range}", policy.name());
        }
    }
}

/// Returns the key and the flags of a policy as text.
fn traits(policy: &Policy) -> String {
    let key = match policy.key() {
        Key::Flow => "flow",
        Key::Connection => "connection",
        Key::User => "user",
    };
    let flags = [
        ("hint", policy.returns_hint()),
        ("strict", policy.least_is_strictest()),
        ("full", policy.sees_full_buffers()),
        ("edge", policy.is_at_edge_only()),
        ("colours", policy.reads_colours()),
        ("hints", policy.reads_hints()),
        ("departures", policy.tracks_departures()),
        ("expires", policy.expires()),
        ("shapes", policy.shapes()),
        ("adapts", policy.adapts()),
    ];
    let held = flags.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name);
    std::iter::once(key).chain(held).collect::<Vec<_>>().join(" ")
}

#[test]
fn policies__say_what_their_headers_say() {
    for (name, expected) in [
        ("aggregate-marker", "user"),
        ("application", "flow"),
        ("demotion", "flow expires"),
        ("excess", "flow expires"),
        ("multi-red", "flow colours departures"),
        ("policer", "user edge shapes"),
        ("priority", "flow colours"),
        ("red", "flow strict full"),
        ("rio-ps", "flow expires adapts"),
        ("sfd", "flow expires"),
        ("shred", "flow full hints"),
        ("shred-edge", "connection hint"),
        ("window-marker", "flow hints"),
    ] {
        assert_eq!(traits(mousehole_policy::find(name).unwrap()), expected, "{name}");
    }
    let sfd = mousehole_policy::find("sfd").unwrap();
    assert_eq!(sfd.summary(), "the first bytes of a flow are green (IN), the rest yellow (OUT)");
    assert_eq!(sfd.source(), "Chen & Heidemann, ISI-TR-2001-548, sections 3.2 and 3.3");
    assert_eq!((format!("{sfd:?}").contains("raw: sfd,"), sfd.unread()), (true, vec![]));
    let excess = mousehole_policy::find("excess").unwrap();
    assert_eq!(excess.unread(), ["elastic.most_tokens", "datagrams.most_tokens"]);
    let meter = mousehole_policy::find("aggregate-marker").unwrap();
    assert_eq!(meter.unread(), ["bucket[0].most_tokens", "bucket[1].most_tokens"]);
}

#[test]
fn states__have_room_for_the_structs() {
    for policy in shipped() {
        let (_, flow, state) = policy.sizes();
        assert_eq!((policy.flow_words(), policy.state_words()), (flow.div_ceil(8), state.div_ceil(8)));
        assert_eq!(
            (policy.new_flow().len(), policy.new_state().len()),
            (flow.div_ceil(8), state.div_ceil(8))
        );
        assert!(policy.new_flow().iter().chain(policy.new_state().iter()).all(|word| *word == 0));
    }
    let rio_ps = mousehole_policy::find("rio-ps").unwrap();
    assert_eq!((rio_ps.flow_words(), rio_ps.state_words()), (2, 2));
}

#[test]
fn params__refuse_values_in_words() {
    let sfd = mousehole_policy::find("sfd").unwrap();
    let error = Params::from_text(sfd, &[("th", "15kX")], &LinkContext::EXAMPLE).unwrap_err();
    assert_eq!((error.parameter.as_str(), error.value.as_str()), ("th", "15kX"));
    assert!(error.allowed.starts_with("bytes (15kB) or packets (15p)"), "{}", error.allowed);
    let red = mousehole_policy::find("red").unwrap();
    let error = Params::from_text(red, &[("min", "8p"), ("max", "8p")], &LinkContext::EXAMPLE).unwrap_err();
    assert_eq!(
        (error.parameter.as_str(), error.allowed.as_str()),
        ("max", "at least one packet more than min")
    );
}

/// Draws a packet's view.
fn any_view(bits: &mut Bits) -> View {
    View::new(40 + bits.below(1460))
        .with_segments(1 + bits.below(3) as u16)
        .with_colour(Colour::ALL[bits.below(3) as usize])
        .with_window(bits.below(300) as u16)
        .with_flags(bits.below(64) as u8)
        .with_sequence(bits.next())
        .with_application(
            [Application::Unknown, Application::Interactive, Application::Bulk][bits.below(3) as usize],
        )
}

/// Draws a backlog of fewer than `longest` packets.
fn any_backlog(bits: &mut Bits, longest: u32) -> Backlog {
    let mut backlog = Backlog::default();
    for _ in 0..bits.below(longest) {
        backlog.add(Colour::ALL[bits.below(3) as usize], 40 + bits.below(1460));
    }
    backlog
}

/// Returns the verdict of a copy of a dropper, and the state that this leaves.
fn decide_on_copy(
    dropper: &Dropper,
    view: &View,
    backlog: &Backlog,
    now_ns: u64,
    random: u32,
) -> (Verdict, State) {
    let mut copy = dropper.clone();
    let verdict = copy.packet(view, backlog, now_ns, random);
    (verdict, copy.state)
}

/// Plays random arrivals to a dropper with its defaults and a quick average; `see` is called before each.
fn play_arrivals(
    policy: &'static Policy,
    seed: u64,
    mut see: impl FnMut(&Dropper, &View, &Backlog, u64, &mut Bits),
) {
    let given: &[(&str, &str)] =
        if policy.parameters().iter().any(|one| one.name == "wq") { &[("wq", "0.3")] } else { &[] };
    let mut dropper = Dropper::new(Params::from_text(policy, given, &LinkContext::EXAMPLE).unwrap());
    let (mut bits, mut now_ns) = (Bits(seed), 0);
    for round in 0..5000 {
        now_ns += u64::from(bits.below(1_000_000));
        let longest = [10, 40, 120, 240][round / 50 % 4];
        let (view, backlog) = (any_view(&mut bits), any_backlog(&mut bits, longest));
        see(&dropper, &view, &backlog, now_ns, &mut bits);
        let random = bits.next();
        dropper.packet(&view, &backlog, now_ns, random);
    }
}

fn droppers() -> Vec<&'static Policy> {
    shipped().into_iter().filter(|policy| policy.kind() == PolicyKind::Dropper).collect()
}

#[test]
fn droppers__read_colours_if_they_say_so() {
    for policy in droppers() {
        let (mut differ, mut taken) = (0, 0);
        play_arrivals(policy, 101, |dropper, view, backlog, now_ns, bits| {
            let random = bits.next() / 8;
            let all = Colour::ALL
                .map(|colour| decide_on_copy(dropper, &view.with_colour(colour), backlog, now_ns, random));
            differ += u32::from(all[0] != all[1] || all[1] != all[2]);
            taken += u32::from(all[0].0 != Verdict::Pass);
        });
        assert_eq!(differ > 0, policy.reads_colours(), "{}: {differ} differ", policy.name());
        assert!(taken > 100, "{}: {taken}", policy.name());
    }
}

#[test]
fn droppers__read_hints_if_they_say_so() {
    for policy in droppers() {
        let mut differ = 0;
        play_arrivals(policy, 102, |dropper, view, backlog, now_ns, bits| {
            let random = bits.next() / 8;
            let all = [0, 1, 200]
                .map(|window| decide_on_copy(dropper, &view.with_window(window), backlog, now_ns, random));
            differ += u32::from(all[0] != all[1] || all[1] != all[2]);
        });
        assert_eq!(differ > 0, policy.reads_hints(), "{}: {differ} differ", policy.name());
    }
}

/// `MH_LEAST_IS_STRICTEST`: random 0 drops whatever any value drops, and a packet that passes with 0 leaves the same
/// state with any value.
#[test]
fn droppers__that_say_so_drop_most_at_random_0() {
    let strict: Vec<_> = droppers().into_iter().filter(|policy| policy.least_is_strictest()).collect();
    assert!(!strict.is_empty());
    for policy in strict {
        let mut seen = [0; 2];
        play_arrivals(policy, 103, |dropper, view, backlog, now_ns, bits| {
            let least = decide_on_copy(dropper, view, backlog, now_ns, 0);
            for random in [bits.next(), bits.next() / 16, u32::MAX] {
                let other = decide_on_copy(dropper, view, backlog, now_ns, random);
                match least.0 {
                    Verdict::Pass => assert_eq!(other, least, "{}", policy.name()),
                    Verdict::Mark => assert!(!other.0.drops(), "{}", policy.name()),
                    Verdict::Early | Verdict::Forced => {}
                }
            }
            seen[usize::from(least.0.drops())] += 1;
        });
        assert!(seen.iter().all(|count| *count > 500), "{}: {seen:?}", policy.name());
    }
}

/// The same packets lead to the same answers and states, and answers are what the kind of policy may give.
#[test]
fn markers__depend_only_on_their_arguments() {
    for policy in shipped().into_iter().filter(|policy| policy.kind() == PolicyKind::Marker) {
        let params = Params::from_text(policy, &[], &LinkContext::EXAMPLE).unwrap();
        let mut bits = Bits(104);
        let (mut first, mut second) = (Marker::new(params.clone()), Marker::new(params));
        let (mut flow, mut other) = (first.new_flow(), second.new_flow());
        for at in 0..5000u64 {
            let (view, random) = (any_view(&mut bits), bits.next());
            let now_ns = at * u64::from(bits.below(3)) * 10_000_000;
            let raw = policy.marker().unwrap().raw(
                &first.params,
                &mut flow,
                &mut first.state,
                &view,
                now_ns,
                random,
            );
            assert!(raw <= if policy.returns_hint() { 255 } else { 3 }, "{}: {raw}", policy.name());
            second.answer(&mut other, &view, now_ns, random);
            assert_eq!((&flow, &first.state), (&other, &second.state), "{}", policy.name());
        }
        assert!(policy.flow_words() == 0 || flow != first.new_flow(), "{}: keeps no state", policy.name());
    }
}

/// Returns the defaults of a policy, and the defaults with each other value of each flag and choice.
fn with_each_option(policy: &'static Policy) -> Vec<Params> {
    let options = policy.parameters().iter().flat_map(|parameter| {
        let words = match parameter.kind {
            Kind::Flag => &["true", "false"][..],
            Kind::Choice(words) => words,
            _ => &[],
        };
        words.iter().filter(|word| **word != "-").map(|word| vec![(parameter.name, *word)])
    });
    let given = std::iter::once(vec![]).chain(options);
    given.map(|given| Params::from_text(policy, &given, &LinkContext::EXAMPLE).unwrap()).collect()
}

/// `draws`: whether any answer or state that a packet leaves depends on the random number.
#[test]
fn markers__draw_if_they_say_so() {
    let mut drawing = 0;
    for params in
        shipped().into_iter().flat_map(with_each_option).filter(|one| one.policy().marker().is_some())
    {
        let (policy, mut bits, mut differ) = (params.policy(), Bits(105), 0);
        let mut marker = Marker::new(params.clone());
        let mut flow = marker.new_flow();
        for at in 0..1000u64 {
            let mut view = any_view(&mut bits);
            if at % 100 > 0 {
                view.flags = 0;
            }
            let all = [u32::MAX, 0].map(|random| {
                let (mut copy, mut copied_flow) = (marker.clone(), flow.clone());
                (copy.answer(&mut copied_flow, &view, at * 10_000_000, random), copied_flow, copy.state)
            });
            differ += u32::from(all[0] != all[1]);
            marker.answer(&mut flow, &view, at * 10_000_000, bits.next());
        }
        assert_eq!(differ > 0, policy.draws(&params), "{}: {differ} differ", policy.name());
        drawing += u32::from(differ > 0);
    }
    assert_eq!(drawing, 2, "SFD's probabilistic promotion and the randomised window marker");
}

/// The caller sweeps what expires; a policy that adapts must say how often.
#[test]
fn functions__are_offered_in_consistent_pairs() {
    for policy in shipped() {
        let params = Params::from_text(policy, &[], &LinkContext::EXAMPLE).unwrap();
        let period_ns = policy.period_ns(&params);
        assert!(!policy.adapts() || period_ns.is_some_and(|ns| ns > 0), "{}", policy.name());
        assert!(period_ns.is_none() || policy.expires(), "{}: swept, but nothing expires", policy.name());
        assert_eq!(policy.marker().is_some(), policy.kind() == PolicyKind::Marker, "{}", policy.name());
        assert_eq!(policy.dropper().is_some(), policy.kind() == PolicyKind::Dropper, "{}", policy.name());
    }
}

#[test]
fn counterparts__are_what_the_headers_say() {
    use mousehole_policy::CounterpartKind::{Classes, Firewall, Qdisc, Wred};
    let found: Vec<_> = shipped()
        .into_iter()
        .filter_map(|policy| policy.counterpart().map(|one| (policy.name(), one.kind, one.requires)))
        .collect();
    for expected in [
        ("sfd", Firewall("th"), vec![("promotion", "none"), ("timeout", "never")]),
        ("demotion", Firewall("first"), vec![("second", "4294967295B"), ("timeout", "never")]),
        ("red", Qdisc("red", "2.2"), vec![]),
        ("codel", Qdisc("codel", "3.5"), vec![]),
        ("fq-codel", Qdisc("fq_codel", "3.5"), vec![]),
        ("multi-red", Wred, vec![("mode", "total"), ("gentle", "false")]),
        ("priority", Classes, vec![]),
        ("priority-red", Classes, vec![]),
    ] {
        assert!(found.contains(&expected), "{expected:?} in {found:?}");
    }
    assert_eq!(found.len(), 8);
    let colours = |name| mousehole_policy::find(name).unwrap().colours();
    assert_eq!(["sfd", "excess", "rio-ps", "demotion", "lfp"].map(colours), [2, 3, 2, 3, 3]);
}
