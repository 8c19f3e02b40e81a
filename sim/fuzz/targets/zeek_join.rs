//! A fuzzed http.log joined with a valid conn.log.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::check_traffic;
use mousehole_fuzz::seeds::CONN;

fuzz_target!(init: mousehole_fuzz::seeds::write_seeds("zeek_join"), |data: &[u8]| {
    check_traffic(&[("http.log", data), ("conn.log", CONN.as_bytes())]);
});
