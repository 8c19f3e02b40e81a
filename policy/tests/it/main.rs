//! Integration tests of the policies: one binary, so that the crate is linked once.
#![allow(non_snake_case)]

mod cases;
mod common;
mod descriptions;
