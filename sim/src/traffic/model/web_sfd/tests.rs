#![allow(non_snake_case)]
use super::*;
use crate::traffic::model::{Model, build_model};
use crate::units::{Dur, Rate};
use serde_json::{Value, json};

const MSS: u32 = 1460;

/// Returns drawn object sizes, bytes.
fn draw_sizes(model: &WebSfd, count: u32) -> Vec<u64> {
    let draws = model.draws(11, 0);
    (0..count).map(|k| draws.object(u64::from(k), 0, 1).bytes).collect()
}

#[test]
fn object__shares_of_the_paper() {
    let sizes = draw_sizes(&WebSfd::default(), 200_000);
    let short = sizes.iter().filter(|&&bytes| bytes <= 15_000).count() as f64 / 2e5;
    assert!((short - 0.907).abs() < 0.002, "P(X < 15 KB) = 0.907, got {short}");
    let total: u64 = sizes.iter().sum();
    let short_bytes: u64 = sizes.iter().filter(|&&bytes| bytes <= 15_000).sum();
    let share = short_bytes as f64 / total as f64;
    assert!((0.22..0.32).contains(&share), "about 0.26 with a cap of 20 MB, got {share}");
    assert!(sizes.iter().all(|bytes| bytes % 1000 == 0 && *bytes <= 20_000_000));
}

#[test]
fn means__agree_with_closed_forms() {
    let model = WebSfd::default();
    assert!((model.mean_objects() - 2.81).abs() < 0.005, "max(1, floor) gives 2.81");
    assert!((WebSfd::literal().mean_objects() - 3.53).abs() < 0.005, "ceil gives 3.53");
    assert!((model.mean_pages() - 100.5).abs() < 0.01);
    let plain = WebSfd { size_rounding: SizeRounding::Byte, cap_bytes: 2_000_000_000, ..WebSfd::default() };
    let gap = 12_000.0 * libm::pow(1.0 + 2e9 / 2400.0, -0.2);
    assert!((plain.mean_payload() - (12_000.0 - gap + 0.5)).abs() < 1.0);
}

#[test]
fn draws__have_the_means_of_table_2() {
    let draws = WebSfd::default().draws(5, 3);
    let mean = |of: &dyn Fn(u64) -> f64| (0..100_000).map(of).sum::<f64>() / 1e5;
    let near =
        |value: f64, expected: f64| assert!((value / expected - 1.0).abs() < 0.015, "{value} for {expected}");
    near(mean(&|k| draws.session_gap(k).as_secs()), 15.0);
    near(mean(&|k| draws.think(k, 2).as_secs()), 10.0);
    near(mean(&|k| draws.object(k, 1, 2).gap.as_secs()), 0.01);
    near(mean(&|k| f64::from(draws.pages(k))), draws.model().mean_pages());
    near(mean(&|k| f64::from(draws.page(k, 7).objects)), draws.model().mean_objects());
    assert_eq!(draws.object(9, 9, 0).gap, Dur::ZERO);
    assert!((0..1000).all(|k| draws.page(k, 0).server < 5 && draws.client(k) < 5));
}

/// Returns the mean wire bytes of drawn objects, counted segment by segment.
fn mean_drawn_wire_bytes(model: &WebSfd, count: u32) -> f64 {
    let wire = |bytes: u64| bytes + 40 * bytes.div_ceil(u64::from(MSS)) + 40;
    let total: u64 =
        draw_sizes(model, count).iter().flat_map(|&bytes| model.transfers(bytes)).map(wire).sum();
    total as f64 / f64::from(count)
}

#[test]
fn load__formula_agrees_with_draws() {
    for size_rounding in [SizeRounding::Byte, SizeRounding::Packet] {
        for transform in [Transform::None, Transform::Nl, Transform::L2s] {
            // A low cap, so that the mean of draws settles.
            let model = WebSfd { size_rounding, transform, cap_bytes: 200_000, ..WebSfd::default() };
            let formula = model.mean_wire_bytes_per_session(MSS) / model.mean_pages() / model.mean_objects();
            let drawn = mean_drawn_wire_bytes(&model, 200_000);
            assert!(
                (drawn / formula - 1.0).abs() < 0.02,
                "{size_rounding:?} {transform:?}: {drawn} for {formula}"
            );
        }
    }
}

#[test]
fn load__whole_sessions_offer_the_requested_load() {
    let model = WebSfd { cap_bytes: 100_000, pages_per_session: 5.0, ..WebSfd::default() };
    let rate = Rate(3_000_000);
    let model = model.with_load(0.7, rate, MSS).unwrap();
    assert!((model.offered_load(rate, MSS) - 0.7).abs() < 1e-12);
    let draws = model.draws(1, 1);
    let wire = |bytes: u64| (bytes + 40 * bytes.div_ceil(u64::from(MSS)) + 40) as f64;
    let session = |session: u64| -> f64 {
        let pages = (0..draws.pages(session)).map(|page| (page, draws.page(session, page).objects));
        let objects = pages.flat_map(|(page, objects)| (0..objects).map(move |object| (page, object)));
        objects.map(|(page, object)| wire(draws.object(session, page, object).bytes)).sum()
    };
    let time: f64 = (0..20_000).map(|k| draws.session_gap(k).as_secs()).sum();
    let load = (0..20_000).map(session).sum::<f64>() * 8.0 / time / rate.0 as f64;
    assert!((load / 0.7 - 1.0).abs() < 0.03, "{load}");
}

#[test]
fn load__of_table_2_is_above_table_3() {
    // 64 % of 3 Mb/s with real-valued counts, 69 % with counts rounded up.
    let literal = WebSfd::literal().offered_load(Rate(3_000_000), 1000);
    assert!((0.66..0.82).contains(&literal), "{literal}");
    assert!(WebSfd::default().offered_load(Rate(3_000_000), 1000) < literal);
}

#[test]
fn load__transforms_keep_the_session_rate() {
    let rate = Rate(3_000_000);
    let nl = WebSfd { transform: Transform::Nl, ..WebSfd::default() };
    let plain = WebSfd::default().session_rate_for_load(0.5, rate, MSS);
    assert_eq!(nl.session_rate_for_load(0.5, rate, MSS), plain);
    assert!(nl.with_load(0.5, rate, MSS).unwrap().offered_load(rate, MSS) < 0.25);
}

#[test]
fn transfers__of_each_transform() {
    let with = |transform, bytes| -> Vec<u64> {
        WebSfd { transform, ..WebSfd::default() }.transfers(bytes).collect()
    };
    assert_eq!(with(Transform::None, 40_000), [40_000]);
    assert_eq!(with(Transform::Nl, 15_000), [15_000]);
    assert!(with(Transform::Nl, 15_001).is_empty());
    assert_eq!(with(Transform::L2s, 40_000), [15_000, 15_000, 10_000]);
    assert_eq!(with(Transform::L2s, 15_000), [15_000]);
}

#[test]
fn draws__depend_on_replication_and_place_only() {
    let (one, again, other) =
        (WebSfd::default().draws(1, 0), WebSfd::default().draws(1, 0), WebSfd::default().draws(1, 1));
    assert_eq!(one.object(3, 4, 5), again.object(3, 4, 5));
    let all = |draws: &Draws| {
        (0..50).map(|k| (draws.object(k, 0, 1), draws.page(k, 1), draws.session_gap(k))).collect::<Vec<_>>()
    };
    assert_ne!(all(&one), all(&other));
    assert_ne!(one.object(3, 4, 5), one.object(3, 5, 4));
}

#[test]
fn initial_sessions__follow_littles_law() {
    let model = WebSfd::default();
    let counts: Vec<f64> =
        (0..400).map(|replication| model.draws(1, replication).initial_sessions() as f64).collect();
    let mean = counts.iter().sum::<f64>() / 400.0;
    let expected = model.mean_session_s() / model.inter_session_s;
    assert!((mean / expected - 1.0).abs() < 0.03, "{mean} for {expected}");
    let variance = counts.iter().map(|count| libm::pow(count - mean, 2.0)).sum::<f64>() / 399.0;
    assert!((variance / mean - 1.0).abs() < 0.3, "a Poisson number, variance {variance}, mean {mean}");
    assert_eq!(WebSfd::literal().draws(1, 0).initial_sessions(), 0);
}

#[test]
fn by_name__takes_parameters_and_names_faults() {
    let Ok(Model::WebSfd(model)) = build_model("web:sfd", &json!({"inter_session_s": 9, "transform": "l2s"}))
    else {
        panic!("web:sfd is a web model")
    };
    assert_eq!((model.inter_session_s, model.transform), (9.0, Transform::L2s));
    let fault = |name: &str, params: Value| build_model(name, &params).unwrap_err().to_string();
    for model in ["poisson", "web:sfd"] {
        let unknown = fault(model, json!({"shap": 1.3}));
        assert!(
            unknown.starts_with("params: there is no parameter \"shap\"; the parameters are "),
            "{unknown}"
        );
        assert!(unknown.ends_with("; did you mean \"shape\"?"), "{unknown}");
    }
    let shape = fault("web:sfd", json!({"shape": 0.9}));
    assert_eq!(shape, "params.shape: 0.9 is not allowed; it must be from 1.001 to 100");
    let kind = fault("web:sfd", json!({"shape": "steep"}));
    assert_eq!(kind, "params.shape: not allowed is the text \"steep\", it must be a number");
    assert!(fault("web:sfd", json!({"transform": "x"})).starts_with("params.transform: "));
    assert_eq!(fault("web:sfd", json!([1])), "params: [1] is not allowed; it must be a table of parameters");
    let name = fault("web:sdf", Value::Null);
    assert!(name.starts_with("model: there is no model \"web:sdf\"; the models are "), "{name}");
    assert!(name.ends_with("; did you mean \"web:sfd\"?"), "{name}");
    assert!(build_model("web:sfd-literal", &Value::Null).unwrap().params()["cold_start"].as_bool().unwrap());
}
