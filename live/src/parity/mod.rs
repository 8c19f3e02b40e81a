//! The policies as the kernel runs them against the policies as everything else runs them.
//!
//! A [`Case`] is one set of parameters, one state and [`RECORDS`] calls, drawn at random with an eye to edges,
//! together with what the native build made of them. [`Kernel`] plays the same case to the eBPF build;
//! [`compare`] counts where outcomes or the last state differ. [`sensitivity`] shows that the comparison would
//! notice a parameter that is off by its smallest step.

mod case;
mod compare;
mod dice;
mod fields;
mod kernel;
mod plain;
mod policies;
pub mod sensitivity;

pub use case::{Call, Case, Entry, RECORDS, Record, Steps};
pub use compare::{Parity, compare};
pub use dice::Dice;
pub use fields::{Field, fields, size};
pub use kernel::{Kernel, Refusal, Run};
pub use policies::POLICIES;

/// The compiled programs, an ELF object.
pub const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/parity.bpf.o"));
