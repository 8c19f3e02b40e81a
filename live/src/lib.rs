//! Mousehole in the Linux kernel: runs the simulator's policies as eBPF programs at a device's
//! egress.
//!
//! A policy header decides; everything here parses, looks up, calls and acts. [`start`] attaches
//! programs and queue disciplines and [`stop`] removes them, [`home`] stores what outlives a
//! command, [`kernel`] loads and attaches.

pub mod agent;
pub mod bpf;
pub mod changes;
pub mod check;
pub mod confirm;
pub mod deployment;
pub mod detach;
pub mod device;
pub mod download;
pub mod error;
pub mod explain;
mod flow_table;
pub mod flows;
pub mod guard;
pub mod home;
pub mod human;
pub mod kept;
pub mod kernel;
pub mod layout;
pub mod metrics;
pub mod namespace;
pub mod native;
pub mod native_queue;
pub mod netlink;
pub mod object;
pub mod observe;
pub mod persist;
mod put;
pub mod qdisc;
pub mod record;
pub mod request;
pub mod setup;
pub mod spared;
pub mod start;
pub mod status;
pub mod stop;
pub mod trial;
pub mod tune;
mod types;
