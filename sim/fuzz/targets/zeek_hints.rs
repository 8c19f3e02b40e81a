//! A fuzzed ssl.log and quic.log together with a valid conn.log.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::seeds::CONN;
use mousehole_fuzz::{check_traffic, prepend_header};

fuzz_target!(init: mousehole_fuzz::seeds::write_seeds("zeek_hints"), |data: &[u8]| {
    check_traffic(&[("ssl.log", data), ("conn.log", CONN.as_bytes())]);
    let header = b"#separator \\x09\n#path\tquic\n#fields\tts\tuid\tid.orig_h\tid.resp_h\tclient_protocol\n";
    check_traffic(&[("quic.log", &prepend_header(header, data)), ("conn.log", CONN.as_bytes())]);
});
