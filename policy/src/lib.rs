//! The decisions of Mousehole: which colour a packet gets, whether a queue takes it, and which packet leaves next.
//!
//! Each algorithm is one C header in `include/mousehole/`, which the programs for the kernel compile as well. The
//! header describes itself (`policy.h`): its functions, its parameters and how they are set up. This crate finds the
//! descriptions, parses parameters, and calls the functions. It holds nothing about any one policy. The head of each
//! header gives formula, source, ranges and errors.
//!
//! The feature `native`, on by default, contains the parts that need an operating system: users' own headers, and files
//! and processes. Without it the crate compiles for `wasm32-unknown-unknown`, with the shipped policies alone.

// The checks of users' headers have no caller without the feature.
#![cfg_attr(not(feature = "native"), allow(dead_code))]

mod bands;
mod base;
mod calls;
mod counterpart;
mod fault;
mod ffi;
#[cfg(feature = "native")]
pub mod files;
mod full_buffer;
mod functions;
#[cfg(feature = "native")]
mod load;
#[cfg(feature = "native")]
mod own;
mod parameter;
mod params;
mod policy;
#[cfg(feature = "native")]
pub mod process;
mod queue;
pub mod units;
mod virtual_fifo;
mod waiting;

pub use bands::{Bands, Waits};
pub use base::{Application, Backlog, COLOURS, Colour, NEVER, Verdict, View};
pub use calls::{Answer, DropFn, MarkFn};
pub use counterpart::{Counterpart, CounterpartKind};
pub use fault::{Fault, take_fault};
pub use ffi::Counts;
pub use full_buffer::{FullBuffer, Limit};
pub use functions::{Arguments, Field, Function, Memory};
#[cfg(feature = "native")]
pub use load::{
    IS_STATIC, LoadError, c_compiler, check_defaults, headers_folder, lasting_headers_folder, load,
    load_description, name_policy,
};
#[cfg(feature = "native")]
pub use own::{begin_faults_with, forget_region, limit_calls, name_region};
pub use parameter::{Kind, Parameter, ParameterError, Value};
pub use params::{LinkContext, Params, Settings, State, gather_params};
pub use policy::{Key, Origin, Policy, PolicyKind, find, policies};
pub use queue::QueueFns;
pub use virtual_fifo::virtual_fifo_params;
pub use waiting::{Band, MOST_BANDS, Waiting};

/// Runs the README's example as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
