//! Any bytes: the reader is chosen by what they look like.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::check_traffic;

fuzz_target!(init: mousehole_fuzz::seeds::write("any_traffic"), |data: &[u8]| {
    check_traffic(&[("any", data)]);
});
