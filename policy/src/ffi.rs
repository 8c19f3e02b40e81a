//! Mirrors of `policy.h`: a policy's description as C lays it out. A test compares layout and constants with C's.

use crate::base::{Backlog, View};
use crate::waiting::RawWaiting;
use std::ffi::{CStr, c_char, c_void};

/// `MH_POLICY_ABI`.
pub(crate) const ABI: u32 = 7;
pub(crate) const MARKER: u32 = 1;
pub(crate) const DROPPER: u32 = 2;
pub(crate) const QUEUE: u32 = 3;
pub(crate) const PER_CONNECTION: u32 = 1;
pub(crate) const PER_USER: u32 = 2;
pub(crate) const RETURNS_HINT: u32 = 1;
pub(crate) const LEAST_IS_STRICTEST: u32 = 1;
pub(crate) const SEES_FULL_BUFFERS: u32 = 2;
pub(crate) const AT_EDGE_ONLY: u32 = 4;
pub(crate) const READS_COLOURS: u32 = 8;
pub(crate) const READS_HINTS: u32 = 16;
pub(crate) const READS_FLOWS: u32 = 32;
pub(crate) const READS_APPLICATIONS: u32 = 64;
pub(crate) const MARKS: u32 = 128;
pub(crate) const READS_POSITIONS: u32 = 256;
/// `MH_DISCARD`.
pub(crate) const DISCARD: u32 = 3;
/// `MH_CLASSES`.
pub(crate) const CLASSES: usize = 4;

/// `struct mh_parameter`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct RawParameter {
    pub name: *const c_char,
    pub value: *const c_char,
    pub meaning: *const c_char,
    pub source: *const c_char,
    pub choices: *const c_char,
    pub least: f64,
    pub most: f64,
    pub kind: u32,
    pub bits: u32,
    pub mask: u32,
    pub offset: u32,
    pub bytes: u32,
    pub count: u32,
    pub stride: u32,
}

/// `struct mh_link_context`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct RawLinkContext {
    pub rate_bps: f64,
    pub bottleneck_bps: f64,
    pub buffer_bytes: u64,
    pub buffer_packets: u64,
    pub shares: u64,
    pub parameters: *const RawParameter,
    pub parameter_count: u64,
}

/// `struct mh_fault`.
#[repr(C)]
pub(crate) struct RawFault {
    pub parameter: *const c_char,
    pub allowed: *const c_char,
}

/// `struct mh_reading`.
#[repr(C)]
pub(crate) struct RawReading {
    pub name: *const c_char,
    pub value: unsafe extern "C" fn(*const c_void, *const c_void) -> f64,
}

/// `struct mh_counts`: flows by class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Counts {
    /// Flows of each class.
    pub flows: [u32; CLASSES],
}

pub(crate) type SetupFn = unsafe extern "C" fn(*mut c_void, *const RawLinkContext) -> RawFault;
pub(crate) type DrawsFn = unsafe extern "C" fn(*const c_void) -> u32;
pub(crate) type MarkFn =
    unsafe extern "C" fn(*const c_void, *mut c_void, *mut c_void, *const View, u64, u32) -> u32;
pub(crate) type DropFn =
    unsafe extern "C" fn(*const c_void, *mut c_void, *const View, *const Backlog, u64, u32) -> u32;
pub(crate) type ExpiredFn = unsafe extern "C" fn(*const c_void, *const c_void, u64) -> u32;
pub(crate) type FlowEndFn = unsafe extern "C" fn(*const c_void, *const c_void, *mut c_void);
pub(crate) type RestartsFn = unsafe extern "C" fn(*const c_void, *const c_void, *const View, u64) -> u32;
pub(crate) type PeriodFn = unsafe extern "C" fn(*const c_void) -> u64;
pub(crate) type ClassifyFn = unsafe extern "C" fn(*const c_void, *const c_void, *const c_void) -> u32;
pub(crate) type ControlFn = unsafe extern "C" fn(*const c_void, *mut c_void, *const Counts, u64) -> u32;
pub(crate) type ShapeFn =
    unsafe extern "C" fn(*const c_void, *mut c_void, *mut c_void, *const View, u64) -> u64;
pub(crate) type DepartedFn = unsafe extern "C" fn(*const c_void, *mut c_void, u32, *const Backlog, u64);
pub(crate) type EnqueueFn =
    unsafe extern "C" fn(*const c_void, *mut c_void, *const RawWaiting, *const View, u32, u64, u32) -> u32;
pub(crate) type LeaveFn = unsafe extern "C" fn(*const c_void, *mut c_void, *const RawWaiting, u64) -> u32;

/// `struct mh_policy`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct RawPolicy {
    pub abi: u32,
    pub kind: u32,
    pub key: u32,
    pub returns: u32,
    pub flags: u32,
    pub params_bytes: u32,
    pub flow_bytes: u32,
    pub state_bytes: u32,
    pub parameter_count: u32,
    pub reading_count: u32,
    pub name: *const c_char,
    pub summary: *const c_char,
    pub source: *const c_char,
    pub detail: *const c_char,
    pub unread: *const c_char,
    pub parameters: *const RawParameter,
    pub readings: *const RawReading,
    pub setup: Option<SetupFn>,
    pub draws: Option<DrawsFn>,
    pub mark: Option<MarkFn>,
    pub drop: Option<DropFn>,
    pub expired: Option<ExpiredFn>,
    pub flow_end: Option<FlowEndFn>,
    pub period: Option<PeriodFn>,
    pub classify: Option<ClassifyFn>,
    pub control: Option<ControlFn>,
    pub shape: Option<ShapeFn>,
    pub departed: Option<DepartedFn>,
    pub restarts: Option<RestartsFn>,
    pub published_offset: u32,
    pub published_bytes: u32,
    pub colours: u32,
    pub install: *const c_char,
    pub bands: u32,
    pub enqueue: Option<EnqueueFn>,
    pub dequeue: Option<LeaveFn>,
    pub overflow: Option<LeaveFn>,
}

// SAFETY: a description is constant data and functions that keep no state of their own.
unsafe impl Sync for RawPolicy {}
// SAFETY: as above.
unsafe impl Send for RawPolicy {}

unsafe extern "C" {
    static mh_policies: [*const RawPolicy; 1]; // as long as `mh_policy_count` says
    static mh_policy_count: std::ffi::c_ulong;
}

/// Returns the descriptions of the shipped policies, in the order of their names.
pub(crate) fn shipped() -> &'static [&'static RawPolicy] {
    // SAFETY: build.rs writes a table of so many pointers to constant descriptions.
    unsafe { std::slice::from_raw_parts((&raw const mh_policies).cast(), mh_policy_count as usize) }
}

/// Returns a C string of a description, which lives for ever: empty for a null pointer, `?` if it is not UTF-8.
pub(crate) fn text(pointer: *const c_char) -> &'static str {
    if pointer.is_null() {
        return "";
    }
    // SAFETY: descriptions hold constant strings.
    unsafe { CStr::from_ptr(pointer) }.to_str().unwrap_or("?")
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::base::{Application, Colour, Verdict};
    use std::mem::offset_of;

    unsafe extern "C" {
        static mh_layout: [u32; 1];
        static mh_layout_length: u32;
        static mh_constants: [u32; 1];
        static mh_constants_length: u32;
    }

    macro_rules! layout {
        ($type:ty: $($field:ident),+) => {
            [vec![size_of::<$type>()], vec![$(offset_of!($type, $field)),+]].concat()
        };
    }

    #[test]
    fn layout__equals_c() {
        // SAFETY: the table has so many entries.
        let c = unsafe {
            std::slice::from_raw_parts((&raw const mh_layout).cast::<u32>(), mh_layout_length as usize)
        };
        let rust = [
            layout!(View: ip_bytes, segments, window_hint, colour, flags, application, dscp, sequence),
            layout!(Backlog: bytes, idle_since_ns, colour_bytes, packets, colour_packets),
            crate::full_buffer::layout(),
            crate::waiting::layout(),
            layout!(RawLinkContext: rate_bps, bottleneck_bps, buffer_bytes, buffer_packets, shares, parameters, parameter_count),
            layout!(RawParameter: name, value, meaning, source, choices, least, most, kind, bits, mask, offset, bytes, count, stride),
            layout!(RawPolicy: abi, kind, key, returns, flags, params_bytes, flow_bytes, state_bytes, parameter_count,
                reading_count, name, summary, source, detail, unread, parameters, readings, setup, draws, mark, drop,
                expired, flow_end, period, classify, control, shape, departed, restarts, published_offset, published_bytes,
                colours, install, bands, enqueue, dequeue, overflow),
        ]
        .concat();
        assert_eq!(c.iter().map(|&at| at as usize).collect::<Vec<_>>(), rust);
    }

    #[test]
    fn constants__equal_c() {
        // SAFETY: the table has so many entries.
        let c = unsafe {
            std::slice::from_raw_parts((&raw const mh_constants).cast::<u32>(), mh_constants_length as usize)
        };
        let colours = [Colour::Green as u32, Colour::Yellow as u32, Colour::Red as u32, DISCARD];
        let verdicts =
            [Verdict::Pass, Verdict::Mark, Verdict::Early, Verdict::Forced].map(|verdict| verdict as u32);
        let flags = [
            View::ECT,
            View::SYN,
            View::RETRANSMISSION,
            View::IN_RECOVERY,
            View::REVERSE,
            View::ACK,
            View::DATAGRAM,
            View::L4S,
        ];
        let (code_points, units) = ([u32::from(View::NQB)], [0, 1]);
        let applications =
            [Application::Unknown, Application::Interactive, Application::Web, Application::Bulk];
        let kinds: Vec<u32> = (0..13).collect();
        let rest = [MARKER, DROPPER, QUEUE, 0, PER_CONNECTION, PER_USER, 0, RETURNS_HINT, LEAST_IS_STRICTEST];
        let rust = [
            &[ABI][..],
            &colours,
            &verdicts,
            &flags.map(u32::from),
            &code_points,
            &units,
            &applications.map(|application| application as u32),
            &kinds,
            &rest,
            &[
                SEES_FULL_BUFFERS,
                AT_EDGE_ONLY,
                READS_COLOURS,
                READS_HINTS,
                READS_FLOWS,
                READS_APPLICATIONS,
                MARKS,
                READS_POSITIONS,
            ],
            &[CLASSES as u32],
            &crate::waiting::constants(),
        ]
        .concat();
        assert_eq!(c, rust);
    }
}
