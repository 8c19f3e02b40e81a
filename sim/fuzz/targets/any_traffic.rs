//! Any bytes: the reader is chosen by their content.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::check_traffic;

fuzz_target!(init: mousehole_fuzz::seeds::write_seeds("any_traffic"), |data: &[u8]| {
    check_traffic(&[("any", data)]);
});
