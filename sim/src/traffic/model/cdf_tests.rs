#![allow(non_snake_case)]
use super::*;
use crate::rng::{Purpose, Stream};

const TABLE: &str =
    "# a tenth of all flows has exactly 500 B\n500 0.1\n1000 0.5 // half\n\n1000 0.6\n21000, 1\n";

/// Parses a table in bytes, which must be sound.
fn parse(text: &str) -> Cdf {
    Cdf::parse("sizes.cdf", text, 1.0).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn quantile__interpolates_between_rows() {
    let cdf = parse(TABLE);
    let expected =
        [(0.0, 500), (0.05, 500), (0.1, 500), (0.3, 750), (0.55, 1000), (0.6, 1000), (0.8, 11_000)];
    for (u, bytes) in expected {
        assert!(cdf.quantile(u).abs_diff(bytes) <= 1, "{u}: {} for {bytes}", cdf.quantile(u));
    }
    assert_eq!(cdf.quantile(1.0 - 1e-12), 21_000);
    assert_eq!(cdf.mean(), 0.1 * 500.0 + 0.4 * 750.0 + 0.1 * 1000.0 + 0.4 * 11_000.0);
}

#[test]
fn parse__percentages_three_columns_and_a_mean_are_the_same_table() {
    let cdf = parse(TABLE);
    let same = |text: &str, unit: f64| {
        let other = Cdf::parse("other", text, unit).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(other.points.len(), cdf.points.len());
        for (one, two) in other.points.iter().zip(&cdf.points) {
            assert!((one.0 - two.0).abs() < 1e-9 && (one.1 - two.1).abs() < 1e-12, "{text}");
        }
    };
    same("500 10\n1000 50\n1000 60\n21000 100\n", 1.0);
    same("500\t10%\n1000\t50%\n1000\t60%\n21000\t100%\n", 1.0);
    same("0.5 1 0.1\n1 1 0.5\n1 1 0.6\n21 1 1\n", 1000.0);
    same("4850.0\n500 0.1\n1000 0.5\n1000 0.6\n21000 1\n", 1.0);
}

#[test]
fn means__agree_with_many_draws() {
    let cdf = parse(TABLE);
    let mut stream = Stream::new(4, Purpose::Size, 0);
    let (mut bytes, mut segments, count) = (0u64, 0u64, 200_000u64);
    for _ in 0..count {
        let size = cdf.quantile(stream.uniform());
        bytes += size;
        segments += size.div_ceil(1460);
    }
    let near = |drawn: u64, expected: f64| {
        let mean = drawn as f64 / count as f64;
        assert!((mean / expected - 1.0).abs() < 0.01, "{mean} for {expected}");
    };
    near(bytes, cdf.mean());
    near(segments, cdf.mean_segments(1460));
}

#[test]
fn mean_segments__is_the_sum_over_segments_of_the_share_of_larger_flows() {
    let cdf = parse(TABLE);
    let share_above = |bytes: f64| match bytes {
        bytes if bytes < 500.0 => 1.0,
        bytes if bytes < 1000.0 => 1.0 - 0.1 - 0.4 * (bytes - 500.0) / 500.0,
        bytes => 0.4 * (21_000.0 - bytes) / 20_000.0,
    };
    for mss in [1, 7, 250, 500, 1000, 1460, 20_999] {
        let starts = (0..).map(|n| f64::from(n * mss)).take_while(|bytes| *bytes < 21_000.0);
        let expected: f64 = starts.map(share_above).sum();
        let found = cdf.mean_segments(mss as u32);
        assert!((found / expected - 1.0).abs() < 1e-12, "{mss}: {found} for {expected}");
    }
    assert_eq!(cdf.mean_segments(21_000), 1.0);
}

#[test]
fn mean_segments__takes_no_longer_for_large_flows() {
    let found = parse("1 0\n1e12 1\n").mean_segments(1);
    assert!((found / 0.5e12 - 1.0).abs() < 1e-9, "{found}");
}

#[test]
fn parse__faults_name_the_line() {
    let says = |text: &str, line: u64, part: &str| {
        let error = Cdf::parse("a/sizes.cdf", text, 1.0).expect_err(text).to_string();
        assert!(error.starts_with(&format!("a/sizes.cdf:{line}: ")) && error.contains(part), "{error}");
    };
    says("", 1, "no row");
    says("# only a comment\n", 1, "no row");
    says("10 0.5\n20 x\n", 2, "\"x\" is no number");
    says("10 0.5\n20\n", 2, "1 columns");
    says("1 2 3 4\n", 1, "4 columns");
    says("10 0.5\n9 1\n", 2, "below the row before (10)");
    says("10 0.5\n20 0.4\n30 1\n", 2, "cumulative");
    says("10 0.5\n20 0.9\n", 2, "the last share is 0.9");
    says("-1 0.5\n20 1\n", 1, "-1 is not allowed");
    says("1 -0.5\n20 1\n", 1, "-0.5 is not allowed");
    says("0 0.5\n0 1\n", 2, "every size is 0");
    let missing = Cdf::read("no/such/file.cdf", 1.0).expect_err("no file").to_string();
    assert!(missing.starts_with("no/such/file.cdf: "), "{missing}");
}

/// In floats, 0.42 and its complement sum to a little more than 1.
#[test]
fn mean__never_exceeds_the_largest_size() {
    let one_size = Cdf::parse("one.cdf", "20000 0.42\n20000 1", 1.0).expect("a table");
    assert_eq!(one_size.mean(), 20_000.0);
    assert_eq!(one_size.mean_segments(1460), 14.0);
}
