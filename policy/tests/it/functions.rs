//! Calls of every function by its name, and parameters as set-up is given them.

use mousehole_policy::{
    Arguments, Backlog, Counts, Function, LinkContext, NEVER, Params, Settings, Value, Verdict, View, find,
    policies,
};

#[test]
fn call__returns_what_the_typed_functions_return() {
    let sfd = find("sfd").unwrap();
    let params = Params::from_text(sfd, &[("th", "2p"), ("timeout", "1s")], &LinkContext::EXAMPLE).unwrap();
    let (mut flow, mut state) = (sfd.new_flow(), sfd.new_state());
    let with = Arguments {
        view: &View::new(1500),
        backlog: &Backlog::default(),
        counts: &Counts::default(),
        now_ns: 5,
        random: 0,
        hash: 0,
    };
    let colours = [0, 1, 2].map(|_| sfd.call(Function::Packet, &params, &mut flow, &mut state, with));
    assert_eq!(colours, [0, 0, 1]);
    let later = Arguments { now_ns: 1_000_000_006, ..with };
    assert_eq!(sfd.call(Function::Expired, &params, &mut flow, &mut state, later), 1);
    assert_eq!(sfd.call(Function::Control, &params, &mut flow, &mut state, later), 0); // not offered
    assert!(sfd.offers(Function::Expired) && !sfd.offers(Function::Control));
}

#[test]
fn call__returns_a_droppers_verdict() {
    let red = find("red").unwrap();
    let given = [("min", "1"), ("max", "2"), ("wq", "1")];
    let params = Params::from_text(red, &given, &LinkContext::EXAMPLE).unwrap();
    let (view, counts) = (View::new(1500), Counts::default());
    for (packets, verdict) in [(0, Verdict::Pass), (10, Verdict::Forced)] {
        let backlog = Backlog::new(packets, 1500 * u64::from(packets), NEVER);
        let with =
            Arguments { view: &view, backlog: &backlog, counts: &counts, now_ns: 5, random: 0, hash: 0 };
        let called = red.call(Function::Packet, &params, &mut red.new_flow(), &mut red.new_state(), with);
        assert_eq!(called, verdict as u64);
        let typed = red.dropper().unwrap().call(&params, &mut red.new_state(), &view, &backlog, 5, 0);
        assert_eq!(typed, verdict);
    }
}

#[test]
fn names__are_those_of_the_headers() {
    let names = Function::ALL.map(Function::name);
    let text = std::fs::read_to_string("include/mousehole/policy.h").unwrap();
    for name in names {
        assert!(text.contains(&format!("mh_name_{name}(")), "{name}");
    }
    assert_eq!(names.iter().collect::<std::collections::HashSet<_>>().len(), names.len());
}

/// As the header says: exactly 1 for a step, also for one without flows, and 0 for none.
#[test]
fn call__control_returns_one_for_a_step() {
    let rio_ps = find("rio-ps").unwrap();
    let params = Params::from_text(rio_ps, &[("t_c", "1s")], &LinkContext::EXAMPLE).unwrap();
    let (mut flow, mut state) = (rio_ps.new_flow(), rio_ps.new_state());
    let (view, backlog) = (View::new(1500), Backlog::default());
    let mut control = |flows, now_ns| {
        let with = Arguments {
            view: &view,
            backlog: &backlog,
            counts: &Counts { flows },
            now_ns,
            random: 0,
            hash: 0,
        };
        rio_ps.call(Function::Control, &params, &mut flow, &mut state, with)
    };
    assert_eq!(control([5, 1, 0, 0], 1), 1);
    assert_eq!(control([5, 1, 0, 0], 2), 0, "before the period has passed");
    assert_eq!(control([0; 4], 2_000_000_000), 1, "without flows");
}

#[test]
fn control__says_whether_it_took_a_step() {
    let rio_ps = find("rio-ps").unwrap();
    let params = Params::from_text(rio_ps, &[("t_c", "1s")], &LinkContext::EXAMPLE).unwrap();
    let (mut state, counts) = (rio_ps.new_state(), Counts { flows: [5, 1, 0, 0] });
    let steps = [1, 2, 2_000_000_000].map(|now_ns| rio_ps.control(&params, &mut state, &counts, now_ns));
    assert_eq!(steps, [true, false, true]);
    let sfd = find("sfd").unwrap();
    let params = Params::from_text(sfd, &[], &LinkContext::EXAMPLE).unwrap();
    assert!(!sfd.control(&params, &mut sfd.new_state(), &counts, 0), "not offered");
}

#[test]
fn offers__agrees_with_the_named_queries() {
    for policy in policies() {
        assert_eq!(policy.offers(Function::Departed), policy.tracks_departures(), "{}", policy.name());
        assert_eq!(policy.offers(Function::Shape), policy.shapes(), "{}", policy.name());
        assert_eq!(policy.offers(Function::Control), policy.adapts(), "{}", policy.name());
    }
}

#[test]
fn before_set_up__leaves_computed_fields_alone() {
    let sfd = find("sfd").unwrap();
    let settings = Settings::new(sfd);
    let (raw, complete) = (
        settings.before_set_up(&LinkContext::EXAMPLE).unwrap(),
        settings.for_link(&LinkContext::EXAMPLE).unwrap(),
    );
    assert_ne!(raw.bytes(), complete.bytes()); // the colour beyond the threshold
    assert_eq!(raw.number("th"), complete.number("th"));
    let red = find("red").unwrap();
    let shares =
        Params::from_text(red, &[("min", "10%"), ("max", "50%")], &LinkContext::EXAMPLE).unwrap().shares();
    assert_eq!(shares, 0b11);
}

#[test]
fn set_value__keeps_to_the_range() {
    let sfd = find("sfd").unwrap();
    let mut settings = Settings::new(sfd);
    settings.set_value("timeout", Value::Never).unwrap();
    settings.set_value("k", Value::Number(7.0)).unwrap();
    assert_eq!(settings.set_value("k", Value::Number(0.0)).unwrap_err().parameter, "k");
    let params = settings.for_link(&LinkContext::EXAMPLE).unwrap();
    assert_eq!((params.number("k"), params.number("timeout")), (7.0, NEVER as f64 / 1e9));
}

#[test]
fn field__locates_every_element() {
    let multi = find("multi-red").unwrap();
    let index = multi.parameters().iter().position(|parameter| parameter.name == "wq").unwrap();
    let field = multi.field(index);
    assert_eq!((field.bytes, field.count, field.stride), (8, 3, multi.sizes().0 / 3 / 8 * 8));
    let red = find("red").unwrap();
    for index in 0..red.parameters().len() {
        let field = red.field(index);
        assert_eq!((field.count, field.stride), (1, 0), "{}", red.parameters()[index].name);
    }
}
