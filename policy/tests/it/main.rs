//! Integration tests of the policies: one binary.
#![allow(non_snake_case)]

mod descriptions;
