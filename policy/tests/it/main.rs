//! Integration tests of the policies: one binary, so that the crate is linked once.
#![allow(non_snake_case)]

mod arithmetic;
mod cases;
mod codel;
mod common;
mod demotion;
mod descriptions;
mod functions;
mod golden;
mod lfp;
mod load;
mod properties;
mod reference_models;
mod rio_ps;
mod setup;
mod shred;
mod shred_edge;
mod size_history;
mod token_buckets;
mod window_marker;
