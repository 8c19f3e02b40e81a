//! A dropper before a virtual FIFO, as a program in the kernel: the verifier accepts it in few steps, and it decides as the
//! same headers do natively. Prints why it was not run if programs cannot be loaded.

#![allow(non_snake_case, missing_docs)]
#![cfg(target_os = "linux")]

use aya::maps::{Array, Map};
use aya::programs::{SchedClassifier, TestRun as _, TestRunOptions};
use aya::{Ebpf, EbpfLoader, Pod};
use mousehole_policy::{
    Backlog, Colour, LinkContext, Params, State, Verdict, View, find, headers_folder, virtual_fifo_params,
};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use std::path::Path;
use std::process::Command;

/// The most instructions that the verifier may process, a tenth of its limit.
const MOST_VERIFIED: u32 = 100_000;

const ARRIVALS: usize = 20_000;
const RATE_BPS: u64 = 10_000_000;
const OVERHEAD: u32 = 14;
const BURST: u32 = 8_000;

unsafe extern "C" {
    fn mh_test_virtual_fifo_bytes() -> u32;
    fn mh_test_virtual_fifo_settle(fifo: *mut u64, now_ns: u64, departures: *mut Departures);
    fn mh_test_virtual_fifo_backlog(
        params: *const u64,
        fifo: *const u64,
        view: *const View,
        backlog: *mut Backlog,
    );
    fn mh_test_virtual_fifo_admit(params: *const u64, fifo: *mut u64, view: *const View) -> u64;
}

/// `struct mh_virtual_fifo_departures`.
#[derive(Default)]
#[repr(C)]
struct Departures {
    packets: [u32; 3],
    order: [u8; 4],
    last_ns: [u64; 3],
}

/// The native build of the virtual FIFO and the dropper.
struct Native {
    params: Params,
    state: State,
    fifo_params: Vec<u64>,
    fifo: Vec<u64>,
}

impl Native {
    /// Returns an empty FIFO of the test's rate before the dropper of these parameters, with a fresh state.
    fn new(params: Params) -> Native {
        let bytes = virtual_fifo_params(RATE_BPS, OVERHEAD, BURST);
        let words = bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes")));
        let fifo_params = words.collect();
        // SAFETY: the function only returns a size.
        let fifo = vec![0; (unsafe { mh_test_virtual_fifo_bytes() } as usize).div_ceil(8)];
        Native { state: params.policy().new_state(), params, fifo_params, fifo }
    }

    /// Plays an arrival and returns its verdict and when its transmission starts, ns; `u64::MAX` if it is dropped.
    fn arrive(&mut self, view: &View, now_ns: u64, random: u32) -> (u32, u64) {
        let (mut departures, mut backlog) = (Departures::default(), Backlog::default());
        let policy = self.params.policy();
        // SAFETY: parameters and state are as many bytes as C says.
        unsafe {
            mh_test_virtual_fifo_settle(self.fifo.as_mut_ptr(), now_ns, &mut departures);
            let (params, fifo) = (self.fifo_params.as_ptr(), self.fifo.as_ptr());
            mh_test_virtual_fifo_backlog(params, fifo, view, &mut backlog);
        }
        let colours = departures.order[..3].iter().map(|&colour| Colour::ALL[usize::from(colour)]);
        for colour in colours.filter(|colour| departures.packets[colour.index()] > 0) {
            let last_ns = departures.last_ns[colour.index()];
            policy.departed(&self.params, &mut self.state, colour, &backlog, last_ns);
        }
        let dropper = policy.dropper().expect("a dropper");
        let verdict = dropper.call(&self.params, &mut self.state, view, &backlog, now_ns, random);
        if verdict.drops() {
            return (verdict as u32, u64::MAX);
        }
        // SAFETY: as above.
        let start_ns =
            unsafe { mh_test_virtual_fifo_admit(self.fifo_params.as_ptr(), self.fifo.as_mut_ptr(), view) };
        (verdict as u32, start_ns)
    }
}

/// Compiles `c/queue.c` to an eBPF object for a dropper and returns its bytes; `None` without clang.
fn compile_object(name: &str, tracks: bool, folder: &Path) -> Option<Vec<u8>> {
    let path = folder.join(format!("{name}.o"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/queue.c");
    let clang = std::env::var("CLANG").unwrap_or_else(|_| "clang".into());
    let done = Command::new(clang)
        .args(["-target", "bpf", "-O2", "-g", "-mcpu=v3", "-fno-strict-aliasing", "-Wall", "-Werror"])
        .arg(format!("-DMH_QUEUE_HEADER=\"mousehole/{name}.h\""))
        .arg(format!("-DMH_QUEUE_NAME={name}"))
        .arg(format!("-DMH_QUEUE_TRACKS={}", u32::from(tracks)))
        .arg("-I")
        .arg(headers_folder().expect("a folder of headers"))
        .args(["-c", "-o"])
        .args([&path, &source])
        .output()
        .ok()?;
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(std::fs::read(&path).expect("clang has written it"))
}

/// Returns why programs cannot be loaded; `None` if they can.
fn find_obstacle() -> Option<String> {
    let options = mousehole_check::Options { records: 1000, kernel: true, seed: 1 };
    mousehole_check::check("application", &options).expect("a policy").kernel_not_run().map(Into::into)
}

/// `struct mh_queue_input` in words: parameters of `N` words, those of the FIFO, an arrival, and the answer.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Input<const N: usize>([u64; N]);

// SAFETY: words without padding.
unsafe impl<const N: usize> Pod for Input<N> {}

/// Asserts that the program in the kernel and the native build decide alike on random arrivals; prints why it was not run
/// if programs cannot be loaded. `N` is the number of words of `struct mh_queue_input`.
fn compare_builds<const N: usize>(name: &str, settings: &[(&str, &str)]) {
    if let Some(why) = find_obstacle() {
        println!("NOT RUN: {why}");
        return;
    }
    let policy = find(name).expect("a policy");
    let params = Params::from_text(policy, settings, &LinkContext::EXAMPLE).expect("valid");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object =
        compile_object(policy.c_name(), policy.tracks_departures(), folder.path()).expect("clang runs");
    let mut loaded: Ebpf = EbpfLoader::new().load(&object).expect("an object");
    let Some(Map::Array(map)) = loaded.take_map("mh_queue_input") else { panic!("no map") };
    let mut input: Array<_, Input<N>> = Array::try_from(Map::Array(map)).expect("so many words");
    let program: &mut SchedClassifier =
        loaded.program_mut("mh_queue").expect("a program").try_into().expect("for tc");
    program.load().unwrap_or_else(|error| panic!("{name} is refused: {error}"));
    let verified = program.info().expect("of a loaded program").verified_instruction_count();
    println!("{name}: {verified:?} instructions verified");
    assert!(verified.is_none_or(|verified| verified < MOST_VERIFIED), "{name}: {verified:?}");

    let mut native = Native::new(params);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let (mut now_ns, mut seen) = (0u64, [0; 4]);
    for at in 0..ARRIVALS {
        // Some 100 packets in a row, faster than the link, then a pause.
        now_ns +=
            if at % 100 == 0 { rng.random_range(0..80_000_000) } else { rng.random_range(0..1_100_000) };
        let view = View::new(rng.random_range(40..=1500))
            .with_segments(rng.random_range(0..=2))
            .with_colour(Colour::ALL[rng.random_range(0..3)])
            .with_flags(if rng.random() { View::ECT } else { 0 });
        let random: u32 = rng.random();
        let (verdict, start_ns) = native.arrive(&view, now_ns, random);
        let mut words = Input([0u64; N]);
        let bytes = native.params.bytes();
        let (params_words, _) = words.0.split_at_mut(bytes.len() / 8);
        for (word, bytes) in params_words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().expect("8 bytes"));
        }
        let fifo_at = bytes.len() / 8;
        let arrival_at = fifo_at + native.fifo_params.len();
        assert_eq!(arrival_at + 6, N, "words of struct mh_queue_input");
        words.0[fifo_at..arrival_at].copy_from_slice(&native.fifo_params);
        // SAFETY: a view is 16 bytes without padding.
        let viewed: [u64; 2] = unsafe { std::mem::transmute(view) };
        words.0[arrival_at..arrival_at + 4].copy_from_slice(&[viewed[0], viewed[1], random.into(), now_ns]);
        input.set(0, words, 0).expect("the map has one element");
        let program: &SchedClassifier =
            loaded.program("mh_queue").expect("a program").try_into().expect("for tc");
        let options = TestRunOptions { data_in: Some(&[0; 64]), repeat: 1, ..TestRunOptions::new() };
        assert_eq!(program.test_run(options).expect("it runs").return_value, 0);
        let answer = input.get(&0, 0).expect("the map has one element").0;
        assert_eq!([answer[N - 2], answer[N - 1]], [verdict.into(), start_ns], "{name}: arrival {at}");
        seen[verdict as usize] += 1;
    }
    let verdicts = [Verdict::Pass, Verdict::Mark, Verdict::Early, Verdict::Forced];
    assert!(verdicts.iter().all(|verdict| seen[*verdict as usize] > 20), "{name}: {seen:?}");
}

#[test]
fn red_before_a_virtual_fifo__decides_as_natively() {
    compare_builds::<25>(
        "red",
        &[("min", "2"), ("max", "9"), ("wq", "0.2"), ("gentle", "false"), ("ecn", "true")],
    );
}

#[test]
fn multi_red_before_a_virtual_fifo__decides_as_natively() {
    let lines = [("green_min", "4"), ("green_max", "20"), ("yellow_min", "2"), ("yellow_max", "9")];
    let rest = [("red_min", "1"), ("red_max", "5"), ("wq", "0.2"), ("ecn", "true")];
    compare_builds::<50>("multi-red", &[&lines[..], &rest].concat());
}
