//! The native parts: queues and markers that are not policies, one file for each family.
//!
//! They are the queues that people install today, ideals that cannot be deployed, and ns-2's queues. The simulator builds
//! them in `sim/src/scenario/build`.

pub mod adaptive_red;
mod cake;
mod droptail;
mod ideal;
pub mod ns2;
mod pie;
mod sfq;

use crate::native_part::NativePart;

/// Every native part.
pub const NATIVE_PARTS: &[&NativePart] = &[
    &droptail::DROPTAIL,
    &adaptive_red::ARED,
    &pie::PIE,
    &sfq::SFQ,
    &cake::CAKE,
    &ideal::SRPT,
    &ideal::LAS,
    &ideal::EMPTY,
    &ns2::NO_HINT,
    &ns2::NS2_SFD,
    &ns2::NS2_RED,
    &ns2::NS2_DSRED,
    &ns2::NS2_RIO,
];
