//! Tables: CSV and TSV, whole, and rows after a valid header.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{check_traffic, prepend_header};

fuzz_target!(init: mousehole_fuzz::seeds::write_seeds("table"), |data: &[u8]| {
    check_traffic(&[("table.csv", data)]);
    check_traffic(&[(
        "table.csv",
        &prepend_header(b"start,client,server,bytes,rtt_ms,conn_id,duration,proto\n", data),
    )]);
});
