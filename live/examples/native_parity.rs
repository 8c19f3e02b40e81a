//! Compares a queue header's decisions in the kernel with those in the simulator: the order and
//! time of every departure, every mark, and every drop.
//!
//! `native_parity compile FOLDER` compiles the queues by clang; `native_parity FOLDER PACKETS`
//! needs no compiler, but root and a kernel that accepts queue disciplines by struct_ops. The
//! simulator's host of queue headers serves arrivals at a link; then the same packets pass a dummy
//! device whose queue discipline is the same header, at the same times. Time and random numbers are
//! the test's (`ML_REPLAY`), and the compiled program records what left or was dropped, and when.
//! Each queue is also compared with one of another parameter, which must make a difference.

use libbpf_rs::{MapCore as _, MapFlags, MapType, ObjectBuilder};
use mousehole_live::native_queue::Native;
use mousehole_live::object::compile_native;
use mousehole_policy::{Bands, Colour, Params, View, Waits};
use mousehole_scheme::units::{Buffer, Rate};
use mousehole_scheme::{LinkContext, link_layer::Wire};
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::Path;
use std::process::{Command, ExitCode};

const DEVICE: &str = "mhparity";
const KIND: &str = "mh_parity";
/// `skb->priority` of the colours.
const PRIORITY: [u32; 3] = [0x10, 0x11, 0x12];
const LINK_HEADER: u32 = 14;
const RATE: Rate = Rate(10_000_000);
/// Parameters of a queue: name and value.
type Values = &'static [(&'static str, &'static str)];
/// Queues with their parameters, and one parameter that is one step off.
const QUEUES: [(&str, Values, (&str, &str)); 12] = [
    ("priority", &[], ("colours", "2")),
    ("priority", &[("shared", "false")], ("shared", "true")),
    ("priority", &[("pushout", "false")], ("pushout", "true")),
    ("priority-red", &[], ("red_maxp", "0.021")),
    ("codel", &[("ecn", "false")], ("interval", "100.001ms")),
    ("codel", &[("ecn", "false"), ("limit", "50p")], ("limit", "51p")),
    ("fq-codel", &[("ecn", "false")], ("quantum", "1499B")),
    // A buffer that is full in each phase of overload.
    ("fq-codel", &[("ecn", "false"), ("limit", "100p")], ("limit", "101p")),
    // A packet is ECN-capable or of L4S by its number.
    ("codel", &[], ("ecn", "false")),
    ("fq-codel", &[("limit", "200p")], ("ecn", "false")),
    ("priority-red", &[("ecn", "true")], ("ecn", "false")),
    ("dualpi2", &[], ("coupling", "2.001")),
];

/// A packet of the test.
#[derive(Debug, Clone, Copy)]
struct Packet {
    number: u32,
    view: View,
    is_marked: bool,
}

impl Waits for Packet {
    fn view(&self) -> View {
        self.view
    }

    fn mark(&mut self) {
        self.is_marked = self.view.flags & View::ECT != 0;
    }
}

/// An arrival.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    time_ns: u64,
    ip_bytes: u32,
    colour: u8,
}

/// How a packet ended: `struct ml_departure`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fate {
    time_ns: u64,
    number: u32,
    /// [`SENT`] and the like.
    end: u32,
}

/// Ends of a packet: `ML_SENT` and its successors.
const SENT: u32 = 0;
const LOST: u32 = 1;
const SENT_WITH_CE: u32 = 2;

/// An action of the test at a time: send a packet, or make the device ask for the next one.
#[derive(Debug, Clone, Copy)]
struct Event {
    time_ns: u64,
    arrival: Option<usize>,
}

/// Compares every queue and prints a line for each; fails if one differs.
fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [first, second] = words.as_slice() else {
        eprintln!("native_parity: it must be `compile FOLDER` or `FOLDER PACKETS`");
        return ExitCode::from(2);
    };
    if first == "compile" {
        return compile_queues(Path::new(second));
    }
    let (folder, packets) = (Path::new(first), second.parse().unwrap_or(100_000));
    let mut failed = 0;
    for (number, (name, values, change)) in QUEUES.into_iter().enumerate() {
        let arrivals = draw_arrivals(packets, number as u64 + 1);
        let params = parse_params(name, values);
        let mut other = values.to_vec();
        other.retain(|(name, _)| *name != change.0);
        other.push(change);
        let (events, expected) = simulate(&params, &arrivals);
        let (_, changed) = simulate(&self::parse_params(name, &other), &arrivals);
        let seen = match replay_in_kernel(folder, &params, &arrivals, &events) {
            Ok(seen) => seen,
            Err(error) => {
                println!("FAIL  {name} {values:?}: {error}");
                return ExitCode::FAILURE;
            }
        };
        let at = (0..expected.len().max(seen.len())).find(|at| expected.get(*at) != seen.get(*at));
        let count = |end: u32| expected.iter().filter(|fate| fate.end == end).count();
        let (drops, marks) = (count(LOST), count(SENT_WITH_CE));
        let is_noticed = changed != seen;
        let verdict = if at.is_none() && is_noticed { "pass" } else { "FAIL" };
        failed += u32::from(verdict == "FAIL");
        let (left, total) = (expected.len() - drops, arrivals.len());
        println!(
            "{verdict}  {name} {values:?}: {total} packets, {left} departures, {marks} marks, {drops} drops"
        );
        if let Some(at) = at {
            println!("      at {at}: simulator {:?}, kernel {:?}", expected.get(at), seen.get(at));
        }
        if !is_noticed {
            println!("      {change:?} changes nothing");
        }
    }
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Compiles the queues into files `NAME.o` of a folder by clang.
///
/// # Panics
/// If clang fails or the folder cannot be written.
fn compile_queues(folder: &Path) -> ExitCode {
    let names: BTreeSet<&str> = QUEUES.iter().map(|(name, ..)| *name).collect();
    for name in names {
        let policy = mousehole_policy::find(name).expect("a shipped policy");
        let object = compile_native(policy, &["-DML_REPLAY=1"]).unwrap_or_else(|error| panic!("{error}"));
        std::fs::write(folder.join(format!("{name}.o")), object).unwrap_or_else(|error| panic!("{error}"));
    }
    ExitCode::SUCCESS
}

/// Returns the parameters of a queue at the test's link.
fn parse_params(name: &str, values: &[(&str, &str)]) -> Params {
    let policy = mousehole_policy::find(name).expect("a shipped policy");
    let context = LinkContext {
        rate: RATE,
        bottleneck: RATE,
        buffer: Buffer::Packets(50),
        wire: Wire::plain(LINK_HEADER),
        seed: 0,
        link: 0,
    };
    Params::from_text(policy, values, &context.for_policies()).expect("the values are allowed")
}

/// Returns arrivals in phases of different load, so that the link is idle at times and full at
/// others. The same seed gives the same arrivals.
fn draw_arrivals(count: usize, seed: u64) -> Vec<Arrival> {
    let mut word = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move || {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        word >> 16
    };
    let mut time_ns = 1_000_000_000;
    (0..count)
        .map(|number| {
            // Mean size 770 bytes: 630 µs on the wire. Each 4,096 packets are a phase of another load.
            let mean_ns = [300_000, 620_000, 1_500_000][number / 4096 % 3];
            time_ns += next() % (2 * mean_ns);
            Arrival { time_ns, ip_bytes: 46 + (next() % 1455) as u32, colour: (next() % 3) as u8 }
        })
        .collect()
}

/// Serves arrivals in the simulator. Returns the test's actions in order, and how each packet
/// ended.
fn simulate(params: &Params, arrivals: &[Arrival]) -> (Vec<Event>, Vec<Fate>) {
    let mut bands = Bands::new(params.clone());
    let (mut events, mut fates) = (Vec::new(), Vec::new());
    let mut free_ns = 0;
    let mut is_sending = false;
    for (number, arrival) in arrivals.iter().enumerate() {
        while is_sending && free_ns <= arrival.time_ns {
            if bands.waiting().all().packets > 0 {
                events.push(Event { time_ns: free_ns, arrival: None });
            }
            is_sending = depart(&mut bands, &mut free_ns, &mut fates);
        }
        let now_ns = arrival.time_ns;
        events.push(Event { time_ns: now_ns, arrival: Some(number) });
        let mark = number as u32 + 1;
        let flags = [0, View::ECT, View::ECT, View::ECT | View::L4S][mark as usize & 3];
        let view = View::new(arrival.ip_bytes).with_colour(to_colour(arrival.colour)).with_flags(flags);
        let random = mark.wrapping_mul(2_654_435_761);
        let chance = ((random >> 27).wrapping_mul(0x9e37_79b9), random);
        let packet = Packet { number: mark, view, is_marked: false };
        bands.enqueue(packet, &view, chance, now_ns, |packet, _| {
            fates.push(Fate { time_ns: now_ns, number: packet.number, end: LOST });
        });
        if !is_sending {
            free_ns = now_ns;
            is_sending = depart(&mut bands, &mut free_ns, &mut fates);
        }
    }
    (events, fates)
}

/// Returns the colour with this number.
fn to_colour(number: u8) -> Colour {
    [Colour::Green, Colour::Yellow, Colour::Red][usize::from(number)]
}

/// Sends the next packet at `free_ns`, which becomes the end of its transmission, and appends what
/// became of packets to `fates`. Returns whether there was one to send.
fn depart(bands: &mut Bands<Packet>, free_ns: &mut u64, fates: &mut Vec<Fate>) -> bool {
    let now_ns = *free_ns;
    let mut dropped = Vec::new();
    let next = bands.dequeue(now_ns, |packet, _| dropped.push(packet.number));
    fates.extend(dropped.iter().map(|number| Fate { time_ns: now_ns, number: *number, end: LOST }));
    let Some((packet, ..)) = next else { return false };
    let end = if packet.is_marked { SENT_WITH_CE } else { SENT };
    fates.push(Fate { time_ns: now_ns, number: packet.number, end });
    *free_ns = now_ns + RATE.tx_time(u64::from(packet.view.ip_bytes + LINK_HEADER)).0;
    true
}

/// Replays the same events in the kernel, by the queue's object in `folder`, a device and a kind of
/// queue discipline that end with the call. Returns how each packet ended.
///
/// # Errors
/// A sentence when the kernel refuses a step.
fn replay_in_kernel(
    folder: &Path,
    params: &Params,
    arrivals: &[Arrival],
    events: &[Event],
) -> Result<Vec<Fate>, String> {
    let text = |error: &dyn std::fmt::Display| format!("{error:#}");
    let object =
        std::fs::read(folder.join(format!("{}.o", params.policy().name()))).map_err(|error| text(&error))?;
    let mut open = ObjectBuilder::default().open_memory(&object).map_err(|error| text(&error))?;
    for mut map in open.maps_mut() {
        if map.map_type() == MapType::StructOps {
            let start = map.initial_value_mut().expect("it has a first value");
            start[..16].fill(0);
            start[..KIND.len()].copy_from_slice(KIND.as_bytes());
        }
        if map.name() == "ml_departures" {
            map.set_max_entries(arrivals.len() as u32).map_err(|error| text(&error))?;
        }
    }
    let mut object = open.load().map_err(|error| text(&error))?;
    let native = Native::new(params, &BTreeMap::new()).map_err(|error| text(&error))?;
    let settings = native.settings(RATE, LINK_HEADER, PRIORITY, LINK_HEADER);
    let mut shown = Vec::new();
    for map in object.maps_mut() {
        let name = map.name().to_string_lossy().into_owned();
        if name == "ml_native_settings" {
            map.update(&0u32.to_ne_bytes(), &settings, MapFlags::ANY).map_err(|error| text(&error))?;
        }
        if name == "ml_replay" || name == "ml_departures" {
            let bytes = map.max_entries() as usize * map.value_size() as usize;
            shown.push((name, map_shared(map.as_fd().as_raw_fd(), bytes)?));
        }
    }
    let at = |wanted: &str| shown.iter().find(|(name, _)| name == wanted).expect("a replay has it").1;
    let (clock, departures) = (at("ml_replay").cast::<u64>(), at("ml_departures").cast::<Fate>());
    let mut ops =
        object.maps_mut().find(|map| map.map_type() == MapType::StructOps).expect("the object has one");
    let _link = ops.attach_struct_ops().map_err(|error| text(&error))?;
    let _device = Device::create()?;
    let sockets: Vec<Socket> = PRIORITY.iter().map(|one| Socket::open(*one)).collect::<Result<_, _>>()?;
    for event in events {
        // SAFETY: the map's memory is shared with the kernel and stays.
        unsafe { clock.write_volatile(event.time_ns) };
        match event.arrival {
            Some(number) => {
                let one = arrivals[number];
                sockets[usize::from(one.colour)].send(one.ip_bytes + LINK_HEADER, number as u32 + 1)?;
            }
            None => sockets[0].send(60, 0)?,
        }
    }
    // SAFETY: as above; the kernel's count is behind its clock.
    let count = unsafe { clock.add(1).read_volatile() } as usize;
    let all = (0..count.min(arrivals.len())).map(|index| {
        // SAFETY: there are as many entries as arrivals.
        unsafe { departures.add(index).read_volatile() }
    });
    Ok(all.collect())
}

/// Maps a BPF map into memory, for as long as the process lives.
///
/// # Errors
/// A sentence with the system's reason.
fn map_shared(map: i32, bytes: usize) -> Result<*mut u8, String> {
    // SAFETY: a new mapping of an open descriptor.
    let place = unsafe {
        libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED, map, 0)
    };
    if place == libc::MAP_FAILED { Err(describe_failure("mmap")) } else { Ok(place.cast()) }
}

/// Returns the last system error, after what failed.
fn describe_failure(what: &str) -> String {
    format!("{what}: {}", std::io::Error::last_os_error())
}

/// Runs a command, whose words are separated by blanks, and waits for it.
///
/// # Errors
/// A sentence with its standard error, or the system's reason.
fn run_command(line: &str) -> Result<(), String> {
    let mut words = line.split_whitespace();
    let done = Command::new(words.next().unwrap_or_default())
        .args(words)
        .output()
        .map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.success() { Ok(()) } else { Err(format!("{line}: {}", said.trim())) }
}

/// The device by which packets leave; dropping it removes it.
struct Device;

impl Device {
    /// Creates the device with the queue discipline, whose kind must be registered.
    ///
    /// # Errors
    /// A sentence with the command that failed; the device is removed then.
    fn create() -> Result<Device, String> {
        run_command(&format!("ip link add {DEVICE} type dummy"))?;
        let device = Device;
        run_command(&format!("ip link set {DEVICE} up"))?;
        run_command(&format!("tc qdisc replace dev {DEVICE} root {KIND}"))?;
        Ok(device)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        let _ = run_command(&format!("ip link del {DEVICE}")); // it may not have been made
    }
}

/// A socket that sends frames of one priority.
struct Socket {
    descriptor: i32,
    address: libc::sockaddr_ll,
}

impl Socket {
    /// Opens a socket for frames of this priority through the device, which must exist.
    ///
    /// # Errors
    /// A sentence with the system's reason.
    fn open(priority: u32) -> Result<Socket, String> {
        // SAFETY: the name ends in a zero byte; options have the sizes that are said.
        unsafe {
            let descriptor = libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0);
            let name = std::ffi::CString::new(DEVICE).expect("no zero byte");
            let mut address: libc::sockaddr_ll = std::mem::zeroed();
            address.sll_family = libc::AF_PACKET as u16;
            address.sll_protocol = 0x88b5_u16.to_be();
            address.sll_ifindex = libc::if_nametoindex(name.as_ptr()) as i32;
            // All packets that wait belong to it.
            for (option, value) in [(libc::SO_PRIORITY, priority), (libc::SO_SNDBUFFORCE, 1 << 24)] {
                let value = (&raw const value).cast();
                if descriptor < 0 || libc::setsockopt(descriptor, libc::SOL_SOCKET, option, value, 4) != 0 {
                    return Err(describe_failure("socket"));
                }
            }
            Ok(Socket { descriptor, address })
        }
    }

    /// Sends a frame of at most 1600 bytes with a mark. A full queue is no error.
    ///
    /// # Errors
    /// A sentence with the system's reason.
    fn send(&self, bytes: u32, mark: u32) -> Result<(), String> {
        let mut frame = [0u8; 1600];
        frame[12..14].copy_from_slice(&0x88b5_u16.to_be_bytes());
        let mut part = libc::iovec { iov_base: frame.as_mut_ptr().cast(), iov_len: bytes as usize };
        let mut control = [0u64; 3];
        // SAFETY: the message describes what lies here.
        let sent = unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_name = (&raw const self.address).cast_mut().cast();
            message.msg_namelen = size_of::<libc::sockaddr_ll>() as u32;
            (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(4) as usize;
            let head = libc::CMSG_FIRSTHDR(&raw const message);
            (*head).cmsg_level = libc::SOL_SOCKET;
            (*head).cmsg_type = libc::SO_MARK;
            (*head).cmsg_len = libc::CMSG_LEN(4) as usize;
            libc::CMSG_DATA(head).cast::<u32>().write_unaligned(mark);
            libc::sendmsg(self.descriptor, &raw const message, 0)
        };
        let is_full = std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOBUFS);
        if sent < 0 && !is_full { Err(describe_failure("sendmsg")) } else { Ok(()) }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // SAFETY: it is open and nobody else's.
        unsafe { libc::close(self.descriptor) };
    }
}
