//! Logs of the formats that files describe: whole, and rows below headers of flows and of requests. Also descriptions.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{check_traffic, prepend_header, seeds};
use mousehole_sim::traffic::read::Spec;

const HEADERS: [&[u8]; 5] = [
    b"ts,te,td,sa,da,sp,dp,pr,ipkt,ibyt,opkt,obyt\n",
    b"firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flags\n",
    b"ts,src,dst,sport,dport,proto,bytes\n",
    b"#Fields: date time c-ip sc-bytes time-taken\n",
    seeds::EVE.as_bytes(),
];

fuzz_target!(init: seeds::write_seeds("declared"), |data: &[u8]| {
    check_traffic(&[("log", data)]);
    for header in HEADERS {
        check_traffic(&[("log", &prepend_header(header, data))]);
    }
    if let Ok(text) = std::str::from_utf8(data) {
        drop(Spec::parse("format.toml", text));
    }
});
