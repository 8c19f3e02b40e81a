#![allow(non_snake_case)]
use super::*;
use crate::rng::Purpose;

/// Returns the random stream of a number.
fn stream(number: u64) -> Stream {
    Stream::new(5, Purpose::Size, number)
}

/// Returns a bounded Pareto law of Guo and Matta's shape.
fn rio(low: f64, high: f64) -> Law {
    Law::BoundedPareto { low, high, shape: 1.2 }
}

/// Fails unless a value is within a relative tolerance of the expected one.
fn assert_near(value: f64, expected: f64, tolerance: f64) {
    assert!((value / expected - 1.0).abs() < tolerance, "{value} for {expected}");
}

/// Compares means of Guo and Matta's bounded Pareto sizes, in packets, with known values.
#[test]
fn bounded_pareto__has_the_known_means() {
    assert_near(rio(4.0, 200_000.0).mean_below(200_000.0), 21.24, 0.001);
    assert_near(rio(4.0, 500.0).mean_below(500.0), 14.91, 0.001);
    assert_near(rio(400.0, 200_000.0).mean_below(200_000.0), 1708.5, 0.001);
}

#[test]
fn bounded_pareto__draws_follow_the_survival_function() {
    let law = rio(4.0, 500.0);
    let draws: Vec<f64> = (0..100_000).map(|k| law.draw(&mut stream(k))).collect();
    assert!(draws.iter().all(|x| (4.0..=500.0).contains(x)));
    for x in [5.0, 10.0, 40.0, 200.0] {
        let share = draws.iter().filter(|draw| **draw > x).count() as f64 / 1e5;
        assert!((share - law.survival(x)).abs() < 0.005, "P(X > {x}) = {}, drawn {share}", law.survival(x));
    }
    assert_near(draws.iter().sum::<f64>() / 1e5, 14.91, 0.02);
}

/// SHRED's clamped mean is 7.49 KB and needs 8.04 packets of 1000 B.
#[test]
fn sizes__of_shred_have_the_known_means() {
    let law = Law::Lomax { mean: 10_000.0, shape: 1.2 };
    let sizes = Sizes { law, least: 12, cap: 2_000_000, unit: 1 };
    assert_near(sizes.mean(), 7490.0, 0.001);
    assert_near(sizes.mean_segments(1000), 8.04, 0.001);
    // H2: shares of objects of one, up to three and up to seven packets.
    for (packets, share) in [(1, 0.385), (3, 0.667), (7, 0.836)] {
        assert!((1.0 - sizes.survival(packets * 1000) - share).abs() < 0.001, "{packets}");
    }
}

#[test]
fn sizes__means_agree_with_draws_whatever_the_unit() {
    let law = Law::Lomax { mean: 12_000.0, shape: 1.2 };
    for unit in [1, 100, 500] {
        let sizes = Sizes { law, least: 700, cap: 50_000, unit };
        let draws: Vec<u64> = (0..100_000).map(|k| sizes.draw(stream(k))).collect();
        assert!(draws.iter().all(|bytes| bytes % unit == 0 && (700..=50_000).contains(bytes)));
        assert_near(draws.iter().sum::<u64>() as f64 / 1e5, sizes.mean(), 0.015);
        let wire = |bytes: &u64| bytes + 40 * (bytes.div_ceil(1460) + 1);
        assert_near(draws.iter().map(wire).sum::<u64>() as f64 / 1e5, sizes.mean_wire(1460), 0.015);
    }
    let fixed = Sizes { law, least: 10_000, cap: 10_000, unit: 1 };
    assert_eq!((fixed.draw(stream(1)), fixed.mean()), (10_000, 10_000.0));
}

#[test]
fn counts__means_agree_with_draws() {
    let pareto = |least, most| Count::Pareto { mean: 4.0, shape: 1.5, least, most };
    for count in
        [Count::Uniform(2, 7), Count::Exponential(3.0, 4096), pareto(1, 100), pareto(3, 100), pareto(4, 4)]
    {
        let draws: Vec<u32> = (0..100_000).map(|k| count.draw(stream(k))).collect();
        assert!(draws.iter().all(|n| *n >= 1));
        assert_near(f64::from(draws.iter().sum::<u32>()) / 1e5, count.mean(), 0.02);
    }
    assert_eq!(Count::Uniform(2, 7).mean(), 4.5);
    assert_near(Count::Exponential(3.0, 4096).mean(), 3.53, 0.001);
}
