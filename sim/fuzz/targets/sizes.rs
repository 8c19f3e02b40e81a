//! Files of flow sizes: value and cumulative share, in bytes and in segments.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::check_error;
use mousehole_sim::traffic::model::cdf::Cdf;

fuzz_target!(init: mousehole_fuzz::seeds::write_seeds("sizes"), |data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for unit_bytes in [1.0, 1460.0] {
        match Cdf::parse("fuzz.cdf", text, unit_bytes) {
            Ok(sizes) => check_sizes(&sizes),
            Err(error) => check_error(&error),
        }
    }
});

/// Checks that sizes are at least a byte and never fall with the share, and that their mean lies
/// among them.
fn check_sizes(sizes: &Cdf) {
    let drawn = [0.0, 0.1, 0.5, 0.9, 0.999_999].map(|share| sizes.quantile(share));
    assert!(drawn[0] >= 1 && drawn.is_sorted(), "{drawn:?}");
    let largest = sizes.quantile(1.0) as f64;
    assert!((0.0..=largest).contains(&sizes.mean()), "{} of {largest}", sizes.mean());
    assert!(
        (1.0..=largest).contains(&sizes.mean_segments(1460)),
        "{} of {largest}",
        sizes.mean_segments(1460)
    );
}
