//! Integration tests of the policies: one binary, so that the crate is linked once.
#![allow(non_snake_case)]

mod cases;
mod cases_tokens;
mod common;
mod demotion;
mod golden;
mod lfp;
mod properties;
mod rio_ps;
mod shred;
mod shred_edge;
mod size_history;
mod token_buckets;
mod twins;
mod window_marker;
