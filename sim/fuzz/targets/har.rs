//! HAR files: whole, and entries in a valid file.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{check_traffic, prepend_header};

fuzz_target!(init: mousehole_fuzz::seeds::write_seeds("har"), |data: &[u8]| {
    check_traffic(&[("a.har", data)]);
    check_traffic(&[("a.har", &[&prepend_header(b"{\"log\":{\"entries\":[", data)[..], b"]}}"].concat())]);
});
