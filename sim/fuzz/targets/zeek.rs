//! Zeek logs, tab-separated and JSON: rows after header lines that are right, and everything fuzzed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{after, check_traffic};

fuzz_target!(init: mousehole_fuzz::seeds::write("zeek"), |data: &[u8]| {
    check_traffic(&[("zeek.log", data)]);
    const CONN: &[u8] = b"#fields\tts\tuid\tid.orig_h\tid.resp_h\tproto\tduration\torig_bytes\tresp_bytes\n";
    check_traffic(&[("conn.log", &after(CONN, data))]);
    check_traffic(&[("conn.json", &after(b"{\"ts\":1,\"uid\":", data))]);
});
