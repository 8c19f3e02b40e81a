//! A fuzzed ssl.log and quic.log beside a conn.log that is right.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::seeds::CONN;
use mousehole_fuzz::{after, check_traffic};

fuzz_target!(init: mousehole_fuzz::seeds::write("zeek_hints"), |data: &[u8]| {
    check_traffic(&[("ssl.log", data), ("conn.log", CONN.as_bytes())]);
    let header = b"#separator \\x09\n#path\tquic\n#fields\tts\tuid\tid.orig_h\tid.resp_h\tclient_protocol\n";
    check_traffic(&[("quic.log", &after(header, data)), ("conn.log", CONN.as_bytes())]);
});
