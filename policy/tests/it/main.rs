//! Integration tests of the policies: one binary, so that the crate is linked once.
#![allow(non_snake_case)]

mod arithmetic;
mod cases;
mod common;
mod descriptions;
mod golden;
mod reference_models;
