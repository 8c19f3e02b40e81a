//! Captures: pcap in both byte orders and resolutions, and pcapng.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{check_traffic, prepend_header};

fuzz_target!(init: mousehole_fuzz::seeds::write_seeds("capture"), |data: &[u8]| {
    // A capture as it is, and its records after a header that is right.
    check_traffic(&[("capture", data)]);
    const HEADER: [u8; 24] = *b"\xd4\xc3\xb2\xa1\x02\0\x04\0\0\0\0\0\0\0\0\0\xff\xff\0\0\x01\0\0\0";
    check_traffic(&[("records", &prepend_header(&HEADER, data))]);
});
