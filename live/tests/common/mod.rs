//! Shared by the tests of programs in the kernel: loading, settings, test runs on one packet
//! (`BPF_PROG_TEST_RUN`), maps.
//!
//! A packet is always run with a context, since the kernel takes wire_len, gso_segs and gso_size
//! from it.

#![allow(dead_code, missing_docs)]

pub mod frame;

use mousehole_live::bpf::{self, Map, TestRun};
use mousehole_live::kernel::{Loaded, Maps, load};
use mousehole_live::layout::{
    ACCOUNT, Action, BYTES, Counters, Flow, Key, Limit, PACKETS, Plain as _, STATE, Settings, Transfer, Trial,
};
use mousehole_policy::{LinkContext, Params, find};
use std::os::fd::BorrowedFd;
use std::sync::OnceLock;

/// `struct __sk_buff`, the context of a packet.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct Context {
    pub len: u32,
    pub pkt_type: u32,
    pub mark: u32,
    pub queue_mapping: u32,
    pub protocol: u32,
    pub vlan: [u32; 3],
    pub priority: u32,
    pub ingress_ifindex: u32,
    pub ifindex: u32,
    pub tc_index: u32,
    pub cb: [u32; 5],
    pub hash: u32,
    pub tc_classid: u32,
    pub data: [u32; 2],
    pub napi_id: u32,
    pub addresses: [u32; 11],
    pub ports: [u32; 2],
    pub data_meta: u32,
    pub flow_keys: u64,
    pub tstamp: u64,
    pub wire_len: u32,
    pub gso_segs: u32,
    pub sk: u64,
    pub gso_size: u32,
    pub tstamp_type: u32,
    pub hwtstamp: u64,
}

const _: () = assert!(size_of::<Context>() == 192);

/// A program's verdict to continue with the next program, which sends the packet.
pub const NEXT: u32 = u32::MAX;
/// A program's verdict to drop the packet.
pub const DROP: u32 = 2;

/// A packet after the run: the verdict, its bytes, its context.
#[derive(Debug)]
pub struct Outcome<'a> {
    pub verdict: u32,
    pub frame: &'a [u8],
    pub context: Context,
}

/// A loaded program, with a buffer for a packet.
pub struct Harness {
    pub loaded: Loaded,
    out: Vec<u8>,
}

/// Returns why the kernel cannot load programs here; `None` if it can. It is tried once in a
/// process.
pub fn find_obstacle() -> Option<&'static str> {
    static WHY: OnceLock<Option<String>> = OnceLock::new();
    WHY.get_or_init(|| {
        // r0 = 0; exit
        let loaded = bpf::load_instructions(c"probe", &[0xb7, 0x95]);
        loaded.err().map(|error| format!("the kernel loads no programs here: {error}"))
    })
    .as_deref()
}

/// Returns whether programs can be loaded; otherwise prints why the test is not run.
pub fn can_run() -> bool {
    match find_obstacle() {
        None => true,
        Some(why) => {
            println!("NOT RUN: {why}");
            false
        }
    }
}

/// Returns a policy's parameters on the example link, with these values.
///
/// # Panics
/// For an unknown policy or a value that is not allowed.
pub fn params(policy: &str, given: &[(&str, &str)]) -> Params {
    Params::from_text(find(policy).expect("a shipped policy"), given, &LinkContext::EXAMPLE)
        .expect("valid parameters")
}

/// The settings of a program, with every part open to tests.
#[derive(Debug, Clone)]
pub struct Config {
    pub first: Settings,
    pub params: Vec<Params>,
    /// Parameters of the virtual FIFO; empty for a program that only marks.
    pub fifo: Vec<u8>,
}

impl Config {
    /// Returns settings for Ethernet frames that change nothing.
    pub fn new(params: &[Params]) -> Config {
        let first = Settings {
            shadow: 0,
            link_header_bytes: 14,
            flags: 0,
            longest_wait_ms: 0,
            limit: Limit { count: 0, unit: PACKETS, reserved: 0 },
            action: Action::NONE,
            trial: Trial::NONE,
        };
        Config { first, params: params.to_vec(), fifo: Vec::new() }
    }

    /// Sets a FIFO with a buffer of `packets` packets, or of `bytes` bytes if `packets` is 0.
    pub fn with_fifo(mut self, rate_bps: u64, overhead: u32, burst: u32, packets: u32, bytes: u64) -> Config {
        self.fifo = mousehole_policy::virtual_fifo_params(rate_bps, overhead, burst);
        (self.first.limit.unit, self.first.limit.count) = match packets {
            0 => (BYTES, bytes),
            packets => (PACKETS, packets.into()),
        };
        self
    }

    /// Sets the DSCP of each colour.
    pub fn with_dscp(mut self, dscp: [u8; 3]) -> Config {
        self.first.action.dscp = dscp;
        self
    }

    /// Returns the settings as the program reads them.
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.first.bytes().to_vec();
        for part in self.params.iter().map(Params::bytes).chain([self.fifo.clone()]) {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            bytes.extend(part);
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }
}

/// Returns the ns per packet of `repeat` runs of a program on one frame, measured by the kernel.
/// Maps change as by real packets.
///
/// # Panics
/// When the kernel refuses the run.
pub fn time_runs(program: BorrowedFd, frame: &[u8], mut context: Context, repeat: u32) -> u32 {
    let run = TestRun { frame, out: &mut [], context: as_bytes(&mut context), repeat };
    bpf::run_test(program, run).unwrap_or_else(|error| panic!("{error}")).duration_ns
}

impl Harness {
    /// Loads a built-in program, such as `sfd-none-red`, with these settings. The flow table has
    /// `flows` entries; nothing is pinned or attached.
    ///
    /// # Panics
    /// When there is no such program or the kernel rejects it.
    pub fn load_built_in(name: &str, flows: u32, config: &Config) -> Harness {
        let object = mousehole_live::object::find_built_in(name).unwrap_or_else(|| {
            panic!("{name} is not built in; these are: {:?}", mousehole_live::object::list_built_in())
        });
        Harness::load(&object, flows, config)
    }

    /// Loads an object with these settings in both slots. The flow table has `flows` entries;
    /// nothing is pinned or attached.
    ///
    /// # Panics
    /// When the kernel rejects it.
    pub fn load(object: &[u8], flows: u32, config: &Config) -> Harness {
        let notes_transfers = config.first.trial != Trial::NONE;
        let loaded = load(object, Maps { place: None, reuse: false, flows, notes_transfers })
            .unwrap_or_else(|error| panic!("{error}"));
        let harness = Harness { loaded, out: vec![0; 1 << 16] };
        harness.write_settings(config);
        harness
    }

    /// Returns the program's descriptor.
    pub fn program(&self) -> BorrowedFd<'_> {
        self.loaded.program()
    }

    /// Writes both slots of settings.
    ///
    /// # Panics
    /// When the kernel refuses.
    pub fn write_settings(&self, config: &Config) {
        for index in 0..2 {
            self.loaded.write("ml_settings", index, &config.to_bytes()).expect("settings can be written");
        }
    }

    /// Runs the program on a frame once; its maps change as by a real packet. The outcome's frame
    /// is valid until the next run.
    ///
    /// # Panics
    /// When the kernel refuses the run.
    pub fn run(&mut self, frame: &[u8], context: Context) -> Outcome<'_> {
        match self.try_run(frame, context) {
            Ok((verdict, bytes, context)) => Outcome { verdict, frame: &self.out[..bytes], context },
            Err(error) => panic!("a frame of {} bytes: {error}", frame.len()),
        }
    }

    /// Runs the program on a frame. Returns the verdict, the frame's length in the buffer, and the
    /// context.
    fn try_run(&mut self, frame: &[u8], mut context: Context) -> std::io::Result<(u32, usize, Context)> {
        let run = TestRun { frame, out: &mut self.out, context: as_bytes(&mut context), repeat: 0 };
        let tested = bpf::run_test(self.loaded.program(), run)?;
        Ok((tested.verdict, tested.bytes, context))
    }

    /// Returns the ns per packet of `repeat` runs on one frame, measured by the kernel.
    pub fn time_runs(&mut self, frame: &[u8], context: Context, repeat: u32) -> u32 {
        time_runs(self.program(), frame, context, repeat)
    }

    /// Returns the counters, summed over the CPUs.
    pub fn counters(&self) -> Counters {
        let map = self.map("ml_counters");
        let all = map.lookup_percpu(&0u32.to_ne_bytes()).expect("counters can be read");
        let mut sum = Counters::default();
        all.expect("an array has its entries").iter().for_each(|one| sum.add(&Counters::read(one)));
        sum
    }

    /// Returns the flows of the table in the order of its entries: key, counters, and the policy's
    /// state.
    pub fn flows(&self) -> Vec<(Key, Flow, Vec<u8>)> {
        let map = self.map("ml_flows");
        map.keys()
            .filter_map(|index| {
                let entry = map.lookup(&index).expect("the table can be read")?;
                let account = Flow::read(&entry[ACCOUNT..]);
                (account.packets() > 0).then(|| (Key::read(&entry), account, entry[STATE..].to_vec()))
            })
            .collect()
    }

    /// Returns the recorded transfers, in the order of the flow table.
    pub fn transfers(&self) -> Vec<Transfer> {
        let map = self.map("ml_transfers");
        let values = map.keys().filter_map(|index| map.lookup(&index).expect("it can be read"));
        values.map(|value| Transfer::read(&value)).filter(|transfer| transfer.began_ms > 0).collect()
    }

    /// Returns a map by its name.
    pub fn map(&self, name: &str) -> &Map {
        self.loaded.map(name)
    }
}

/// Returns the bytes of a context, which the kernel may overwrite.
fn as_bytes(context: &mut Context) -> &mut [u8] {
    // SAFETY: the struct is numbers without gaps, and any bytes are numbers.
    unsafe { std::slice::from_raw_parts_mut(std::ptr::from_mut(context).cast(), size_of::<Context>()) }
}
