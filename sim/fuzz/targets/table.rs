//! Tables: CSV and TSV, whole, and rows after a header that is right.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{after, check_traffic};

fuzz_target!(init: mousehole_fuzz::seeds::write("table"), |data: &[u8]| {
    check_traffic(&[("table.csv", data)]);
    check_traffic(&[(
        "table.csv",
        &after(b"start,client,server,bytes,rtt_ms,conn_id,duration,proto\n", data),
    )]);
});
