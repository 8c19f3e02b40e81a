//! HAR files: whole, and entries in a file that is right.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{after, check_traffic};

fuzz_target!(init: mousehole_fuzz::seeds::write("har"), |data: &[u8]| {
    check_traffic(&[("a.har", data)]);
    check_traffic(&[("a.har", &[&after(b"{\"log\":{\"entries\":[", data)[..], b"]}}"].concat())]);
});
