//! The virtual FIFO of `policy/include/mousehole/virtual_fifo.h`, through `policy/tests/parts/*.c`.

use mousehole_policy::{Backlog, COLOURS, Colour, NEVER, View, virtual_fifo_params};
use std::ffi::c_void;

unsafe extern "C" {
    fn mh_test_virtual_fifo_bytes() -> u32;
    fn mh_test_virtual_fifo_tx_ns(params: *const c_void, wire_bytes: u64) -> u64;
    fn mh_test_virtual_fifo_settle(fifo: *mut c_void, now_ns: u64, departures: *mut Departures);
    fn mh_test_virtual_fifo_backlog(
        params: *const c_void,
        fifo: *const c_void,
        view: *const View,
        backlog: *mut Backlog,
    );
    fn mh_test_virtual_fifo_admit(params: *const c_void, fifo: *mut c_void, view: *const View) -> u64;
}

/// `struct mh_virtual_fifo_departures`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub struct Departures {
    pub packets: [u32; COLOURS],
    order: [u8; 4],
    pub last_ns: [u64; COLOURS],
}

impl Departures {
    /// Returns the colours of the departed packets with the time of each colour's last departure,
    /// in ns and in that order.
    pub fn colours(&self) -> impl Iterator<Item = (Colour, u64)> {
        let ordered = self.order[..COLOURS].iter().map(|&colour| Colour::ALL[usize::from(colour)]);
        let departed = ordered.filter(|colour| self.packets[colour.index()] > 0);
        departed.map(|colour| (colour, self.last_ns[colour.index()]))
    }
}

/// A virtual FIFO with its parameters.
pub struct VirtualFifo {
    params: Vec<u64>,
    fifo: Vec<u64>,
}

/// Most packets that wait in it.
pub const CAPACITY: usize = (1 << 12) - 1;

impl VirtualFifo {
    /// Returns an empty virtual FIFO; without a burst it is a transmitter, with one a token bucket.
    pub fn new(rate_bps: u64, overhead_bytes: u32, burst_bytes: u32) -> VirtualFifo {
        let bytes = virtual_fifo_params(rate_bps, overhead_bytes, burst_bytes);
        let words = bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes")));
        // SAFETY: the function only returns a size.
        let fifo_bytes = unsafe { mh_test_virtual_fifo_bytes() } as usize;
        VirtualFifo { params: words.collect(), fifo: vec![0; fifo_bytes.div_ceil(8)] }
    }

    /// Returns the transmission time of a packet of so many bytes on the wire, in ns.
    pub fn tx_ns(&self, wire_bytes: u64) -> u64 {
        // SAFETY: the parameters are those of set-up.
        unsafe { mh_test_virtual_fifo_tx_ns(self.params.as_ptr().cast(), wire_bytes) }
    }

    /// Forgets the packets that have started by `now_ns`; returns those that have started since the
    /// last call. Times must not fall.
    pub fn settle(&mut self, now_ns: u64) -> Departures {
        // Nothing of this stays: C fills in all but the last entry of the order.
        let mut departures =
            Departures { packets: [u32::MAX; COLOURS], order: [u8::MAX; 4], last_ns: [u64::MAX; COLOURS] };
        // SAFETY: the state is as many bytes as C says, zeros at first.
        unsafe { mh_test_virtual_fifo_settle(self.fifo.as_mut_ptr().cast(), now_ns, &mut departures) };
        departures
    }

    /// Returns what an arrival finds at the settled time; [`VirtualFifo::settle`] must come before.
    pub fn backlog(&self, view: &View) -> Backlog {
        // Nothing of this stays, either.
        let mut backlog = Backlog {
            bytes: u64::MAX,
            idle_since_ns: 1,
            colour_bytes: [u64::MAX; COLOURS],
            packets: u32::MAX,
            colour_packets: [u32::MAX; COLOURS],
        };
        // SAFETY: parameters and state as above.
        unsafe {
            let (params, fifo) = (self.params.as_ptr().cast(), self.fifo.as_ptr().cast());
            mh_test_virtual_fifo_backlog(params, fifo, view, &mut backlog);
        }
        backlog
    }

    /// Admits an arrival at the settled time and counts it as waiting until then; returns when it
    /// starts in ns, `None` if there is no room for it.
    pub fn admit(&mut self, view: &View) -> Option<u64> {
        // SAFETY: parameters and state as above.
        let start_ns = unsafe {
            mh_test_virtual_fifo_admit(self.params.as_ptr().cast(), self.fifo.as_mut_ptr().cast(), view)
        };
        (start_ns != NEVER).then_some(start_ns)
    }
}
