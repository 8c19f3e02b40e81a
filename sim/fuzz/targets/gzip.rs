//! What is compressed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{after, check_traffic};

fuzz_target!(init: mousehole_fuzz::seeds::write("gzip"), |data: &[u8]| {
    check_traffic(&[("x.gz", data)]);
    check_traffic(&[("x.gz", &after(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], data))]);
});
