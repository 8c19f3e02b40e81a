//! Logs of web servers: whole, and what follows a right beginning of a line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{after, check_traffic};

fuzz_target!(init: mousehole_fuzz::seeds::write("access_log"), |data: &[u8]| {
    check_traffic(&[("access.log", data)]);
    check_traffic(&[("access.log", &after(b"h - - [10/Oct/2000:13:55:36 -0700] \"GET /", data))]);
});
