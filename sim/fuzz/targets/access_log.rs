//! Logs of web servers: whole, and the rest of a line with a valid beginning.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{check_traffic, prepend_header};

fuzz_target!(init: mousehole_fuzz::seeds::write_seeds("access_log"), |data: &[u8]| {
    check_traffic(&[("access.log", data)]);
    check_traffic(&[("access.log", &prepend_header(b"h - - [10/Oct/2000:13:55:36 -0700] \"GET /", data))]);
});
