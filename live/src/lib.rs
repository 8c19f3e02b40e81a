//! Mousehole in the Linux kernel.
//!
//! The policy headers are compiled for eBPF and loaded through libbpf. So far one thing is done with them:
//! [`parity`] plays the same packets to the native build and to the kernel's and compares every outcome.
//! Nothing is attached to a device.

pub mod parity;
