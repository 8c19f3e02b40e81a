//! Runs commands at both ends of a scenario's links, in real time.
#![allow(clippy::disallowed_types, reason = "the clock is real here, and nowhere else")]

use crate::Failure;
use crate::account::{Account, Lateness, Status, WayStatus};
use crate::driver::{Driver, Ends, Way};
use crate::flows::{Carried, Flows, Row};
use crate::header::{Header, set_ce};
use crate::lab::{Exit, Network, Program, Running, Side};
use crate::pcapng::{self, Entry, Pcapng};
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::engine::{Balance, InFlight, Outcome};
use mousehole_sim::error::{Error, quote};
use mousehole_sim::packet::Packet;
use mousehole_sim::record::{ColourCounts, FlowRecord, QueueRecord, Template, Transfer};
use mousehole_sim::scenario::{Emulation, Scenario, refuse_fault};
use mousehole_sim::series::Series;
use mousehole_sim::traffic::connection::{PageOf, Script};
use mousehole_sim::units::{Dur, Time};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sched::{sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::sys::signal::SigSet;
use nix::sys::time::TimeSpec;
use nix::unistd::Pid;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How long the command waits for the server's side to listen.
const PATIENCE: Dur = Dur::from_millis(5_000);
/// The time between two checks whether it does.
const LOOK: Dur = Dur::from_millis(10);
/// How long packets under way are awaited after the command has ended, in addition to a round trip.
const GRACE: Dur = Dur::from_millis(50);
/// The longest sleep; a cancellation is noticed after this at the latest.
const LONGEST_SLEEP: Dur = Dur::from_millis(50);
/// The shortest sleep until an event. At high rates several packets then leave at one wake-up,
/// which costs more than they do. A packet that arrives ends any sleep.
const SHORTEST_SLEEP: Dur = Dur(40_000);
/// If a sleep took this much too long, the thread moves to another processor.
const OVERSLEPT: Dur = Dur::from_millis(1);
/// The most packets that are read from one device before the other is polled.
const BATCH: usize = 64;
/// The thread's priority among real-time threads. The lowest one precedes all ordinary threads.
const PRIORITY: i32 = 1;
/// The allowed MTUs, from IPv6's least MTU to IP's largest packet.
const MTUS: std::ops::RangeInclusive<u16> = 1280..=65_535;
/// A flow that has not ended and lasted for more than this share of the run is long-lived.
const LONG_LIVED: f64 = 0.5;

/// The settings of a run.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The client's command with its arguments.
    pub command: Vec<String>,
    /// The server's command with its arguments.
    pub server: Option<Vec<String>>,
    /// The largest packet, bytes.
    pub mtu: u16,
    /// The longest duration after the client's command was started.
    pub duration: Option<Dur>,
    /// Host names that resolve to the server.
    pub names: Vec<String>,
    /// Whether to use a user namespace even as root.
    pub user_namespace: bool,
    /// A file for every packet and its verdict.
    pub pcapng: Option<PathBuf>,
}

/// What other threads may see and change while a run lasts.
#[derive(Debug, Default)]
pub struct Monitor {
    /// Set to end the run.
    pub cancel: AtomicBool,
    /// One status for each second; the reader removes them.
    pub statuses: Mutex<Vec<Status>>,
    /// The processes that hold the namespaces of the client's and of the server's side.
    pub holders: Mutex<Option<[i32; 2]>>,
}

/// The result of a run apart from its records.
#[derive(Debug)]
pub struct Finished {
    /// The account of the run.
    pub account: Account,
    /// How the client's command ended; `None` if it had not ended.
    pub exit: Option<Exit>,
    /// How the server's command ended; `None` if it had not ended.
    pub server_exit: Option<Exit>,
    /// Packets that are missing in the file of packets.
    pub left_out: u64,
}

/// Checks the scenario and the settings of a run, without starting anything.
///
/// # Errors
/// [`Failure::Input`] naming the field.
pub fn check(scenario: &Scenario, settings: &Settings) -> Result<(), Failure> {
    if !MTUS.contains(&settings.mtu) {
        let allowed = format!("from {} to {} bytes", MTUS.start(), MTUS.end());
        return Err(Error::field("mtu", settings.mtu, allowed).into());
    }
    for (field, words) in [("command", Some(&settings.command)), ("server", settings.server.as_ref())] {
        if words.is_some_and(Vec::is_empty) {
            return Err(Error::field(field, quote(""), "a command").into());
        }
    }
    Emulation::new(scenario)?;
    Ok(())
}

/// Runs the commands in namespaces of their own until the client's has ended, the duration is over
/// or `monitor` cancels the run; then everything in the namespaces is killed. Sets the monitor's
/// holders, adds a status each second, and gives the calling thread a real-time priority meanwhile,
/// if it may have one. Returns records in the simulator's form, and the account of the run.
///
/// # Errors
/// [`Failure::Input`] for an error in the input, [`Failure::System`] for a resource that the system
/// denies.
pub fn run(
    scenario: &Scenario,
    settings: &Settings,
    monitor: &Monitor,
) -> Result<(Outcome, Finished), Failure> {
    check(scenario, settings)?;
    let emulation = Emulation::new(scenario)?;
    let network =
        Network { mtu: settings.mtu, names: settings.names.clone(), user_namespace: settings.user_namespace };
    let pcapng = match &settings.pcapng {
        Some(path) => Some(Pcapng::create(path).map_err(|error| {
            Failure::Input(Error::file(path.display().to_string(), format!("cannot be written ({error})")))
        })?),
        None => None,
    };
    let words = settings.server.as_deref();
    let program = words.map(|words| Program::new(words, Side::Server, true)).transpose()?;
    let server = Running::start(Side::Server, program.as_ref(), &network)?;
    let client = Program::new(&settings.command, Side::Client, false)?;
    let client = Running::start(Side::Client, Some(&client), &network)?;
    *lock_unpoisoned(&monitor.holders) = Some([client.holder(), server.holder()]);
    let mut session = Session::new(emulation, [client, server], settings, pcapng);
    session.carry_packets(monitor)?;
    refuse_fault()?;
    session.finish()
}

/// Locks a mutex, even if a thread panicked while it held it.
fn lock_unpoisoned<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A buffer for a packet under way.
struct Frame {
    bytes: Box<[u8]>,
    length: usize,
    carried: Carried,
    /// When it was read.
    sent: Time,
}

/// Both devices and all packets between them.
struct Devices {
    /// The client's side, then the server's.
    sides: [Running; 2],
    frames: Vec<Frame>,
    free: Vec<u32>,
    flows: Flows,
    account: Account,
    /// The lateness since the last status.
    recent: Lateness,
    begun: Instant,
    began_ns: u64,
    pcapng: Option<Pcapng>,
}

impl Devices {
    /// Returns the time since the run began.
    fn now(&self) -> Time {
        Time(self.begun.elapsed().as_nanos() as u64)
    }

    /// Returns the side that receives the packets of a direction.
    fn receiver(&self, way: Way) -> &Running {
        &self.sides[if way == Way::Down { 0 } else { 1 }]
    }

    /// Returns the side that sends the packets of a direction.
    fn sender(&self, way: Way) -> &Running {
        self.receiver(way.opposite())
    }

    /// Queues a packet and its verdict for the file of packets, if there is one.
    fn write_to_file(&mut self, way: Way, packet: &Packet, verdict: &str, at: Time) {
        let Some(file) = &mut self.pcapng else { return };
        let frame = &self.frames[packet.tag() as usize];
        file.add(Entry {
            way,
            at_ns: self.began_ns + at.0,
            comment: pcapng::format_comment(packet.colour.name(), verdict, frame.sent, at),
            frame: frame.bytes[..frame.length].to_vec(),
        });
    }
}

impl Ends for Devices {
    /// Sets the packet's congestion mark if the link gave it one, writes it to the receiver's
    /// device, counts it and its lateness, and frees its buffer. A packet that the device does not
    /// take counts as delivered and as refused.
    fn deliver(&mut self, way: Way, packet: &Packet, due: Time) {
        let number = packet.tag() as usize;
        if packet.is_marked_here() {
            let length = self.frames[number].length;
            set_ce(&mut self.frames[number].bytes[..length]);
            self.account.way_mut(way).marked += 1;
        }
        let frame = &self.frames[number];
        let (length, carried) = (frame.length, frame.carried);
        let tun = self.receiver(way).tun.as_fd();
        let is_written = loop {
            match nix::unistd::write(tun, &frame.bytes[..length]) {
                Err(nix::errno::Errno::EINTR) => {}
                result => break result.is_ok(),
            }
        };
        let at = self.now();
        self.account.refused.write_failed += u64::from(!is_written);
        self.account.lateness.add(due, at);
        self.recent.add(due, at);
        let own = self.account.way_mut(way);
        own.delivered += 1;
        own.delivered_bytes += length as u64;
        self.flows.note_delivery(way, packet.flow, carried, at);
        let verdict = if packet.is_marked_here() { "marked" } else { "sent" };
        self.write_to_file(way, packet, verdict, at);
        self.free.push(number as u32);
    }

    /// Counts the packet as dropped and frees its buffer.
    fn drop(&mut self, way: Way, packet: &Packet, reason: DropReason, at: Time) {
        self.account.way_mut(way).dropped += 1;
        self.flows.note_drop(way, packet.flow);
        self.write_to_file(way, packet, reason.name(), at);
        self.free.push(packet.tag() as u32);
    }
}

/// A run: both links, both devices, and the state of its reports.
struct Session {
    driver: Driver,
    devices: Devices,
    rtt: Dur,
    mtu: usize,
    duration: Option<Dur>,
    has_server: bool,
    /// The counts of each direction at the last status.
    before: [[ColourCounts; 3]; 2],
    /// When the last status was taken.
    last_status: Time,
    /// How long the thread had run and waited for a processor when the run began, ns.
    schedule: Option<[u64; 2]>,
}

impl Session {
    /// Returns a run that has not carried a packet yet. Its clock starts now, and this thread gets
    /// a real-time priority if it may have one.
    fn new(
        emulation: Emulation,
        sides: [Running; 2],
        settings: &Settings,
        pcapng: Option<Pcapng>,
    ) -> Session {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let devices = Devices {
            sides,
            frames: Vec::new(),
            free: Vec::new(),
            flows: Flows::default(),
            account: Account { is_real_time: raise_priority(), ..Account::default() },
            recent: Lateness::default(),
            begun: Instant::now(),
            began_ns: since_1970.as_nanos() as u64,
            pcapng,
        };
        Session {
            rtt: emulation.rtt,
            driver: Driver::new(emulation),
            devices,
            mtu: usize::from(settings.mtu),
            duration: settings.duration,
            has_server: settings.server.is_some(),
            before: Default::default(),
            last_status: Time::ZERO,
            schedule: read_schedule(),
        }
    }

    /// Starts the server's command and, once it listens or after 5 s, the client's. Carries packets
    /// until the client's command has ended, and one round-trip time and [`GRACE`] longer. Stops
    /// earlier when the duration is over or `monitor` cancels the run. Adds a status to `monitor`
    /// each second.
    ///
    /// # Errors
    /// [`Failure::System`] when a command cannot be started or the wait for packets fails.
    fn carry_packets(&mut self, monitor: &Monitor) -> Result<(), Failure> {
        if self.has_server {
            self.devices.sides[1].release()?;
        }
        let mut released = None;
        let mut looked = Time::ZERO;
        let mut end = Time::NEVER;
        loop {
            let now = self.devices.now();
            self.driver.advance(now, &mut self.devices);
            if released.is_none() && now.since(looked) >= LOOK {
                looked = now;
                let server = &self.devices.sides[1];
                if !self.has_server
                    || server.exit.is_some()
                    || server.is_listening()
                    || now >= Time::ZERO + PATIENCE
                {
                    self.devices.sides[0].release()?;
                    released = Some(now);
                }
            }
            if now.since(self.last_status) >= Dur(1_000_000_000) {
                lock_unpoisoned(&monitor.statuses).push(self.take_status(now));
            }
            let limit = self.duration.zip(released).map_or(Time::NEVER, |(span, from)| from + span);
            if end == Time::NEVER && self.devices.sides[0].exit.is_some() {
                end = now + self.rtt + GRACE;
            }
            if now >= end.min(limit) || monitor.cancel.load(Ordering::Relaxed) {
                return Ok(());
            }
            let due = self.driver.next_due().unwrap_or(Time::NEVER).min(end).min(limit);
            let longest = if released.is_none() { LOOK } else { LONGEST_SLEEP };
            self.wait_for_events(due.since(self.devices.now()).max(SHORTEST_SLEEP).min(longest))?;
        }
    }

    /// Waits at most `most` for packets and for the ends of commands. Reads the packets and records
    /// the ends; returns early, without either, when a signal arrives. After a sleep that took far
    /// too long, the thread moves to another processor.
    ///
    /// # Errors
    /// [`Failure::System`] when the wait itself fails.
    fn wait_for_events(&mut self, most: Dur) -> Result<(), Failure> {
        let [client, server] = &self.devices.sides;
        // The socket of a command that has ended is not polled, since it would always be ready.
        /// Returns what to poll for the end of a side's command.
        fn control(side: &Running) -> PollFd<'_> {
            match side.exit {
                Some(_) => PollFd::new(side.tun.as_fd(), PollFlags::empty()),
                None => PollFd::new(side.control(), PollFlags::POLLIN),
            }
        }
        let mut poll = [
            PollFd::new(client.tun.as_fd(), PollFlags::POLLIN),
            PollFd::new(server.tun.as_fd(), PollFlags::POLLIN),
            control(client),
            control(server),
        ];
        let timeout = TimeSpec::new((most.0 / 1_000_000_000) as i64, (most.0 % 1_000_000_000) as i64);
        let before = Instant::now();
        let woken_by = ppoll(&mut poll, Some(timeout), None::<SigSet>);
        if before.elapsed() > Duration::from_nanos((most + OVERSLEPT).0) {
            change_processor();
        }
        match woken_by {
            Ok(0) | Err(nix::errno::Errno::EINTR) => return Ok(()),
            Ok(_) => {}
            Err(errno) => return Err(Failure::System(format!("ppoll: {}", errno.desc()))),
        }
        let ready = poll.map(|one| one.revents().is_some_and(|events| !events.is_empty()));
        for (way, is_ready) in [(Way::Up, ready[0]), (Way::Down, ready[1])] {
            if is_ready {
                self.read_packets(way);
            }
        }
        for (side, is_ready) in [(0, ready[2]), (1, ready[3])] {
            if is_ready && self.devices.sides[side].exit.is_none() {
                self.devices.sides[side].receive_exit();
            }
        }
        Ok(())
    }

    /// Reads up to [`BATCH`] packets of a direction and passes each to its link at the time when it
    /// was read; events due by then are handled first. A packet that is larger than the MTU or not
    /// IP is counted as refused.
    fn read_packets(&mut self, way: Way) {
        for _ in 0..BATCH {
            let number = self.take_free_frame();
            let tun = self.devices.sender(way).tun.as_raw_fd();
            let buffer = &mut self.devices.frames[number as usize].bytes;
            // SAFETY: the buffer is valid for its length.
            let got = unsafe { libc::read(tun, buffer.as_mut_ptr().cast(), buffer.len()) };
            let Some(length) = usize::try_from(got).ok().filter(|length| *length > 0) else {
                self.devices.free.push(number);
                return;
            };
            let now = self.devices.now();
            self.driver.advance(now, &mut self.devices);
            let frame = &self.devices.frames[number as usize];
            if length > self.mtu {
                self.devices.account.refused.too_large += 1;
                self.devices.free.push(number);
                continue;
            }
            let Some(header) = Header::read(&frame.bytes[..length]) else {
                self.devices.account.refused.not_ip += 1;
                self.devices.free.push(number);
                continue;
            };
            let entered = self.devices.flows.enter(way, &header, now);
            if let Some(flow) = entered.opened {
                self.driver.open(entered.packet.flow, &flow);
            }
            let frame = &mut self.devices.frames[number as usize];
            (frame.length, frame.carried, frame.sent) = (length, entered.carried, now);
            self.devices.account.way_mut(way).sent += 1;
            self.driver.send(way, entered.packet.with_tag(u64::from(number)), now);
        }
    }

    /// Returns the number of a buffer that holds no packet, a new one if none is free; the caller
    /// gives it back to `free`. It is one byte larger than the MTU, so that larger packets are
    /// noticed.
    fn take_free_frame(&mut self) -> u32 {
        let devices = &mut self.devices;
        devices.free.pop().unwrap_or_else(|| {
            let bytes = vec![0; self.mtu + 1].into_boxed_slice();
            devices.frames.push(Frame { bytes, length: 0, carried: Carried::default(), sent: Time::ZERO });
            devices.frames.len() as u32 - 1
        })
    }

    /// Returns the status since the last one, and begins the next interval.
    fn take_status(&mut self, now: Time) -> Status {
        let seconds = now.since(self.last_status).as_secs();
        self.last_status = now;
        let mut status = Status {
            at_s: now.as_secs(),
            late_most_s: self.devices.recent.max_s(),
            late_share: self.devices.recent.late_share(),
            ..Status::default()
        };
        self.devices.recent.clear();
        for way in Way::BOTH {
            let counts = self.driver.link(way).counts_before(Time(now.0 + 1));
            status.ways[way as usize] = WayStatus::from_counts(&self.before[way as usize], &counts, seconds);
            self.before[way as usize] = counts;
        }
        status
    }

    /// Ends both sides, which kills what still runs there, closes the file of packets and restores
    /// the thread's priority. Returns the records and the account of the run.
    ///
    /// # Errors
    /// [`Failure::System`] when the file of packets cannot be written.
    fn finish(mut self) -> Result<(Outcome, Finished), Failure> {
        let now = self.devices.now();
        let account = &mut self.devices.account;
        account.seconds = now.as_secs();
        if let (Some(begin), Some(end)) = (self.schedule, read_schedule()) {
            let [ran, waited] = [0, 1].map(|index| end[index].saturating_sub(begin[index]) as f64);
            account.cpu_share = if ran + waited > 0.0 { ran / (ran + waited) } else { 1.0 };
            account.cpu_use = ran / now.0.max(1) as f64;
        }
        restore_priority();
        let lost = [0, 1].map(|side| self.devices.sides[side].count_lost());
        self.devices.account.lost_in_devices = lost;
        let mut queues = Vec::new();
        let mut balance = Vec::new();
        for (way, name) in [(Way::Down, "down"), (Way::Up, "up")] {
            let stored = self.driver.link(way).count_stored(now);
            self.devices.account.way_mut(way).under_way =
                self.driver.under_way(way) as u64 + u64::from(stored);
            let link = self.driver.link(way);
            queues.push(record_queue(link, name, now));
            balance.push(Balance { link: name.into(), ..Balance::from_link(link, now) });
        }
        let series = self.collect_series();
        let Devices { sides: [client, server], flows, mut account, pcapng, .. } = self.devices;
        (account.flows, account.most_flows) = (flows.opened(), flows.most_live() as u64);
        let (exit, server_exit) = (client.exit, server.exit);
        drop((client, server));
        let left_out = match pcapng {
            Some(file) => {
                file.finish().map_err(|error| Failure::System(format!("the file of packets: {error}")))?
            }
            None => 0,
        };
        let records = Records { queues, balance, series, rtt: self.rtt };
        let outcome = collect_outcome(flows, &account, records, now);
        Ok((outcome, Finished { account, exit, server_exit, left_out }))
    }

    /// Returns the time series that markers and queues have recorded, those of the link to the
    /// client first.
    fn collect_series(&mut self) -> Vec<Series> {
        let mut all = Vec::new();
        for (way, name) in [(Way::Down, "down"), (Way::Up, "up")] {
            let own = self.driver.marker(way).series();
            let own = own.into_iter().chain(self.driver.link(way).queue().series());
            all.extend(own.map(|series| Series { link: name.into(), ..series }));
        }
        all
    }
}

/// Returns the simulator's record of a link's queue over the whole run.
fn record_queue(link: &mut mousehole_sim::link::Link, name: &str, now: Time) -> QueueRecord {
    QueueRecord {
        name: name.into(),
        capacity: link.mean_rate(Time::ZERO, now),
        colours: link.counts_before(Time(now.0 + 1)),
        delay_s: link.counts.delay_s(),
        wire_bytes: link.wire_bytes(),
        busy: None,
        window_s: now.as_secs(),
    }
}

/// The records of the links.
struct Records {
    queues: Vec<QueueRecord>,
    balance: Vec<Balance>,
    series: Vec<Series>,
    rtt: Dur,
}

/// Returns the records of a run in the simulator's form; `now` is its end. Flows that have not
/// ended and lasted for most of the run are long-lived, all other transfers are sorted by their
/// ends.
fn collect_outcome(flows: Flows, account: &Account, records: Records, now: Time) -> Outcome {
    let Records { queues, balance, series, rtt } = records;
    let opened = flows.opened();
    let most_live = flows.most_live() as u64;
    let (mut transfers, mut long_lived, mut scripts) = (Vec::new(), Vec::new(), Vec::new());
    let (mut goodput, mut goodput_up) = (0, 0);
    let rows = flows.finish(now);
    for rows in rows.chunk_by(|one, next| one.key == next.key) {
        for row in rows {
            *(if row.upload { &mut goodput_up } else { &mut goodput }) += row.bytes;
        }
        let is_long = |row: &Row| {
            row.end == Time::NEVER && now.since(row.start).as_secs() > LONG_LIVED * account.seconds
        };
        let (own, rest): (Vec<Row>, Vec<Row>) = rows.iter().copied().partition(|row| !is_long(row));
        long_lived.extend(rest.into_iter().map(|row| FlowRecord {
            key: row.key,
            client: row.client,
            source: FlowRecord::BULK,
            upload: row.upload,
            misbehaves: false,
            bytes: row.bytes,
        }));
        let template = (own.len() > 1).then(|| {
            let mut script = Script::default();
            for (number, row) in own.iter().enumerate() {
                let idle = if number == 0 { Dur::ZERO } else { row.start.since(own[number - 1].end) };
                script.push(idle, row.bytes.max(1), PageOf::default());
            }
            scripts.push(script);
            Template::Script(scripts.len() as u32 - 1)
        });
        let each = own.iter().enumerate();
        transfers.extend(each.map(|(number, row)| Transfer {
            rtt_ns: rtt.0,
            template,
            ..record_transfer(row, number as u32)
        }));
    }
    transfers.sort_by_key(|transfer: &Transfer| transfer.end);
    let forward_packets = queues.first().map_or(0, |queue| queue.sent().packets);
    let under_way = account.ways.iter().map(|way| way.under_way).sum();
    let accounted =
        account.ways.iter().map(|way| (way.sent - way.dropped).saturating_sub(way.delivered)).sum();
    Outcome {
        transfers,
        queues,
        series,
        scripts,
        trace: Vec::new(),
        send_log: Default::default(),
        goodput_bytes: goodput,
        goodput_up_bytes: goodput_up,
        flows: long_lived,
        datagrams: Vec::new(),
        views: Vec::new(),
        probes: Vec::new(),
        reordered: 0,
        ended: now,
        events: account.ways.iter().map(|way| way.sent).sum(),
        forward_packets,
        opened,
        most_live,
        balance,
        in_flight: InFlight { accounted, counted: under_way },
    }
}

/// Returns the simulator's record of a transfer; `write` is its number in the flow. Its round-trip
/// time and template are not set.
fn record_transfer(row: &Row, write: u32) -> Transfer {
    Transfer {
        flow_class: None,
        key: row.key,
        client: row.client,
        write,
        bytes: row.bytes,
        object_bytes: row.bytes,
        object_key: row.key,
        source: 0,
        upload: row.upload,
        misbehaves: false,
        start: row.start,
        first_data: row.first_data,
        first_byte: row.first_byte,
        end: row.end,
        rtt_ns: 0,
        path: 0,
        tcp: 0,
        retransmits: row.retransmits,
        timeouts: 0,
        dropped: row.dropped,
        is_quic: row.is_quic,
        template: None,
        page: 0,
        page_transfers: 0,
        service_ns: 0,
    }
}

/// Makes the kernel wake this thread on time, by its timer slack and, if allowed, a real-time
/// priority that its children do not inherit. Returns whether it has that priority.
fn raise_priority() -> bool {
    let _ = nix::sys::prctl::set_timerslack(1);
    let parameters = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: 0 is this thread; the parameters live.
    unsafe {
        libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameters) == 0
    }
}

/// Gives this thread ordinary priority again. The timer slack stays.
fn restore_priority() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // SAFETY: as above.
    let _ = unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const parameters) };
}

/// Moves this thread to another processor, if it may use several. Whatever kept it from running,
/// such as a kernel thread on a kernel without preemption, is likely to use the same processor the
/// next time.
fn change_processor() {
    let own = Pid::from_raw(0);
    if let (Ok(here), Ok(allowed)) = (sched_getcpu(), sched_getaffinity(own)) {
        let mut others = allowed;
        if others.unset(here).is_ok() && sched_setaffinity(own, &others).is_ok() {
            let _ = sched_setaffinity(own, &allowed);
        }
    }
}

/// Returns how long this thread has run and has waited for a processor, in ns; `None` if the kernel
/// does not count it.
fn read_schedule() -> Option<[u64; 2]> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
    Some([numbers.next()??, numbers.next()??])
}
