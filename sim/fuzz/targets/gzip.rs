//! Compressed files.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{check_traffic, prepend_header};

fuzz_target!(init: mousehole_fuzz::seeds::write_seeds("gzip"), |data: &[u8]| {
    check_traffic(&[("x.gz", data)]);
    check_traffic(&[("x.gz", &prepend_header(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], data))]);
});
