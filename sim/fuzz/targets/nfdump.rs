//! nfdump's CSV: whole, and rows after either header.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{after, check_traffic};

fuzz_target!(init: mousehole_fuzz::seeds::write("nfdump"), |data: &[u8]| {
    check_traffic(&[("flows.csv", data)]);
    check_traffic(&[("flows.csv", &after(b"ts,te,td,sa,da,sp,dp,pr,ipkt,ibyt,opkt,obyt\n", data))]);
    let newer = b"firstSeen,duration,proto,srcAddr,srcPort,dstAddr,dstPort,packets,bytes,flows\n";
    check_traffic(&[("flows.csv", &after(newer, data))]);
});
