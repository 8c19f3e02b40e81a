//! Zeek logs, tab-separated and JSON: rows after valid header lines, and everything fuzzed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{check_traffic, prepend_header};

fuzz_target!(init: mousehole_fuzz::seeds::write_seeds("zeek"), |data: &[u8]| {
    check_traffic(&[("zeek.log", data)]);
    const CONN: &[u8] = b"#fields\tts\tuid\tid.orig_h\tid.resp_h\tproto\tduration\torig_bytes\tresp_bytes\n";
    check_traffic(&[("conn.log", &prepend_header(CONN, data))]);
    check_traffic(&[("conn.json", &prepend_header(b"{\"ts\":1,\"uid\":", data))]);
});
