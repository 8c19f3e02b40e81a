//! One flow over the path of `oracle/tcl/a_tcp.tcl`, with time added up as in ns-2: in 64-bit floats.
//!
//! The engine counts nanoseconds and has one event a hop. Where two events fall into one instant, ns-2's order
//! is that of rounding errors of 1e-16 s, which nanoseconds cannot show. Here the same sender and receiver run on
//! links of ns-2's arithmetic: a transmission ends at `now + 8 size / rate`, its packet arrives at
//! `now + (8 size / rate + delay)`, each an event, equal floats in the order of scheduling. A difference between
//! the engine and ns-2 that does not appear here is such a tie and nothing else.

use mousehole_sim::engine::layout::{DOWN, UP};
use mousehole_sim::packet::{Kind, Packet};
use mousehole_sim::record::TraceEvent;
use mousehole_sim::scenario::Plan;
use mousehole_sim::scenario::topology::PlannedLink;
use mousehole_sim::tcp::profile::Opening;
use mousehole_sim::tcp::receiver::{AckFields, Reply};
use mousehole_sim::tcp::{Params, Receiver, Sender};
use mousehole_sim::units::{Buffer, Dur, Rate, Time, parse_dur, parse_rate};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Time in s, event, segment, bytes.
pub type Row = (f64, TraceEvent, i64, u16);

/// Events; links by number.
#[derive(Debug, Clone, Copy)]
enum What {
    /// A packet has crossed a link.
    Arrive(usize, Packet),
    /// A transmitter is free.
    Free(usize),
    /// A timer of the sender, of the receiver; stale unless it is the latest.
    Retransmit(u64),
    Acknowledge(u64),
}

/// A drop-tail queue and a transmitter.
struct Line {
    rate: f64,
    delay_s: f64,
    /// Packets in the queue and in transmission.
    limit: usize,
    /// Arrivals to lose.
    lost: Vec<u64>,
    arrivals: u64,
    waiting: VecDeque<Packet>,
    busy: bool,
}

impl Line {
    /// Returns an idle line with room for 10,000 packets that loses none.
    fn new(rate: Rate, delay: Dur) -> Line {
        // ns-2 reads "20ms" as 20 times 0.001.
        let delay_s = delay.0 as f64 / 1e6 * 1e-3;
        let rate = rate.0 as f64;
        Line {
            rate,
            delay_s,
            limit: 10_000,
            lost: Vec::new(),
            arrivals: 0,
            waiting: VecDeque::new(),
            busy: false,
        }
    }

    /// Returns the line of a planned link with its losses; a buffer in bytes counts as endless.
    fn from_planned(link: &PlannedLink) -> Line {
        let limit = match link.buffer {
            Buffer::Packets(packets) => packets as usize,
            Buffer::Bytes(_) => usize::MAX,
        };
        Line { limit, lost: link.fault.drop.clone(), ..Line::new(link.rate, link.delay) }
    }

    /// Counts an arrival; returns whether it is lost or finds no room.
    fn loses_arrival(&mut self) -> bool {
        let number = self.arrivals;
        self.arrivals += 1;
        self.lost.contains(&number) || self.waiting.len() + 1 >= self.limit
    }
}

/// Numbers of the lines: data over the first two, acknowledgements back over the others.
const LAST: usize = 1;
const BACK: usize = 2;
const HOME: usize = 3;

/// A timer: its deadline in nanoseconds, and how often it was set.
#[derive(Default)]
struct Alarm {
    deadline: Option<Time>,
    set: u64,
}

/// The path, its two ends and the events to come.
struct Path {
    params: Params,
    lines: [Line; 4],
    sender: Sender,
    receiver: Receiver,
    retransmit: Alarm,
    acknowledge: Alarm,
    now: f64,
    /// Bits of a time, which sort as the times do, and the order of scheduling.
    turns: BinaryHeap<Reverse<(u64, usize)>>,
    events: Vec<What>,
    rows: Vec<Row>,
}

/// Returns the packet trace of the only connection of a plan, which sends `bytes`, until `end_s`,
/// in order of time. Without access links in the plan they have 100 Mb/s and 1 ms.
///
/// # Errors
/// Those of the access links' texts.
pub fn trace_connection(plan: &Plan, bytes: u64, end_s: f64) -> mousehole_sim::error::Result<Vec<Row>> {
    let access = plan.scenario.access.as_ref();
    let rate = parse_rate("access.rate", access.map_or("100mbit", |access| &access.rate))?;
    let delay = parse_dur("access.delay", access.map_or("1ms", |access| &access.delay))?;
    let [down, up] = [DOWN, UP].map(|number| Line::from_planned(&plan.links[usize::from(number)]));
    let params = plan.senders.first().clone();
    let mut path = Path {
        lines: [Line::new(rate, delay), down, up, Line::new(rate, delay)],
        sender: Sender::new(&params, params.tick_phase.unwrap_or_default()),
        receiver: Receiver::default(),
        retransmit: Alarm::default(),
        acknowledge: Alarm::default(),
        now: 0.0,
        turns: BinaryHeap::new(),
        events: Vec::new(),
        rows: Vec::new(),
        params,
    };
    let syn = u32::from(path.params.opening == Opening::OneWaySyn);
    path.sender.write(path.params.segments(bytes) + syn, Time::ZERO, &path.params);
    path.send_segments();
    path.run(end_s);
    Ok(path.rows)
}

impl Path {
    /// Handles events in order of time until `end_s` or until there are none.
    fn run(&mut self, end_s: f64) {
        while let Some(Reverse((bits, number))) = self.turns.pop() {
            self.now = f64::from_bits(bits);
            if self.now > end_s {
                return;
            }
            self.handle_event(self.events[number]);
        }
    }

    /// Handles an event: a packet moves on, or a timer fires and its end sends. Stale timers are
    /// ignored.
    fn handle_event(&mut self, what: What) {
        match what {
            What::Free(line) => {
                self.lines[line].busy = false;
                self.transmit(line);
            }
            What::Arrive(LAST, packet) => self.receive_data(&packet),
            What::Arrive(HOME, packet) => self.receive_ack(&packet),
            What::Arrive(line, packet) => self.enqueue(line + 1, packet),
            What::Retransmit(set) if set == self.retransmit.set => {
                self.retransmit.deadline = None;
                self.sender.handle_timeout(self.time(), &self.params);
                self.send_segments();
            }
            What::Acknowledge(set) if set == self.acknowledge.set => {
                self.acknowledge.deadline = None;
                let fields = self.receiver.handle_timeout(&self.params);
                self.send_ack(fields);
            }
            What::Retransmit(_) | What::Acknowledge(_) => {}
        }
    }

    /// Schedules an event `after_s` seconds from now, behind those of the same time.
    fn schedule(&mut self, after_s: f64, what: What) {
        self.turns.push(Reverse(((self.now + after_s).to_bits(), self.events.len())));
        self.events.push(what);
    }

    /// Returns the present time, rounded to nanoseconds.
    fn time(&self) -> Time {
        Time((self.now * 1e9).round() as u64)
    }

    /// Adds a row to the trace, at the present time; an ACK has the number of the last segment
    /// acknowledged.
    fn record_row(&mut self, event: TraceEvent, packet: &Packet) {
        let seq = i64::from(packet.seq) - i64::from(event == TraceEvent::Ack);
        self.rows.push((self.now, event, seq, packet.bytes));
    }

    /// Queues a packet on a line and starts an idle transmitter, unless the line loses the packet.
    /// Only the loss of data on the bottleneck is recorded.
    fn enqueue(&mut self, line: usize, packet: Packet) {
        if self.lines[line].loses_arrival() {
            if line == LAST {
                self.record_row(TraceEvent::Drop, &packet);
            }
            return;
        }
        self.lines[line].waiting.push_back(packet);
        if !self.lines[line].busy {
            self.transmit(line);
        }
    }

    /// Starts the next transmission of a line and schedules its end and the packet's arrival;
    /// nothing happens if no packet waits.
    fn transmit(&mut self, number: usize) {
        let line = &mut self.lines[number];
        let Some(packet) = line.waiting.pop_front() else { return };
        line.busy = true;
        let transmission_s = 8.0 * f64::from(packet.bytes) / line.rate;
        let through_s = transmission_s + line.delay_s;
        self.schedule(through_s, What::Arrive(number, packet));
        self.schedule(transmission_s, What::Free(number));
    }

    /// Records data that reaches the sink, and sends an acknowledgement or sets the timer of a
    /// delayed one.
    fn receive_data(&mut self, packet: &Packet) {
        self.record_row(TraceEvent::Receive, packet);
        match self.receiver.handle_data(packet, self.sender.cwnd(), self.time(), &self.params) {
            Reply::Now(fields) => self.send_ack(fields),
            Reply::Later => self.arm_receiver(),
        }
    }

    /// Sends an acknowledgement.
    fn send_ack(&mut self, fields: AckFields) {
        let blocks = fields.sacks.iter().filter(|block| block.length > 0).count() as u32;
        let options =
            if blocks > 0 { self.params.sack_bytes.0 + blocks * self.params.sack_bytes.1 } else { 0 };
        let mut packet = Packet::new(0, Kind::Ack, fields.next, (self.params.ack_bytes + options) as u16);
        packet.sacks = fields.sacks;
        self.arm_receiver();
        self.enqueue(BACK, packet);
    }

    /// Records an acknowledgement that reaches the sender, and sends what it releases.
    fn receive_ack(&mut self, packet: &Packet) {
        self.record_row(TraceEvent::Ack, packet);
        let fields = AckFields { next: packet.seq, sacks: packet.sacks, ece: false, marks: 0 };
        self.sender.handle_ack(&fields, self.time(), &self.params);
        self.send_segments();
    }

    /// Sends what may be sent and records it; timers are set before packets are scheduled.
    fn send_segments(&mut self) {
        self.arm_sender();
        while let Some(out) = self.sender.poll_transmit(self.time(), &self.params) {
            self.arm_sender();
            let packet = Packet::new(0, Kind::Data, out.seq, self.segment_bytes(out.seq));
            self.record_row(TraceEvent::Send, &packet);
            self.enqueue(0, packet);
        }
    }

    /// Returns the IP length of segment `seq` in bytes; all but a SYN are full.
    fn segment_bytes(&self, seq: u32) -> u16 {
        let params = &self.params;
        let bytes = match seq {
            0 if params.opening == Opening::OneWaySyn => params.ack_bytes,
            _ => params.mss + params.header_bytes(seq),
        };
        bytes as u16
    }

    /// Schedules the sender's timer if its deadline has moved; the event before becomes stale.
    fn arm_sender(&mut self) {
        let due = self.sender.poll_timeout();
        if let Some(after_s) = self.retransmit.move_to(due, self.now, &self.params) {
            self.schedule(after_s, What::Retransmit(self.retransmit.set));
        }
    }

    /// Schedules the timer of the delayed ACK if its deadline has moved; the event before becomes
    /// stale.
    fn arm_receiver(&mut self) {
        let due = self.receiver.poll_timeout();
        if let Some(after_s) = self.acknowledge.move_to(due, self.now, &self.params) {
            self.schedule(after_s, What::Acknowledge(self.acknowledge.set));
        }
    }
}

impl Alarm {
    /// Sets the timer to `due`; [`Time::NEVER`] stops it. Returns the seconds from `now_s` until
    /// then if an event must be scheduled, computed as ns-2 does: it multiplies ticks. `None` if
    /// the timer is stopped or set to that time already.
    fn move_to(&mut self, due: Time, now_s: f64, params: &Params) -> Option<f64> {
        let due = Some(due).filter(|due| *due != Time::NEVER);
        if due == self.deadline {
            return None;
        }
        self.deadline = due;
        self.set += 1;
        let span = due?.since(Time((now_s * 1e9).round() as u64));
        let (ticks, rest) = (span.0 / params.tick.0, span.0 % params.tick.0);
        let tick_s = params.tick.0 as f64 / 1e9;
        Some(if rest == 0 { ticks as f64 * tick_s } else { span.0 as f64 / 1e9 })
    }
}
