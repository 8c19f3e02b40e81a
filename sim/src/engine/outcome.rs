//! What a run leaves, and the conservation laws it must keep.

use super::World;
use super::course::Course;
use super::layout::DOWN;
use crate::link::Link;
use crate::packet::Packet;
use crate::record::{Count, DatagramRecord, FlowRecord, QueueRecord, TraceEvent, TraceRow, Transfer};
use crate::series::Series;
use crate::traffic::connection::Script;
use crate::units::Time;

/// What a run leaves.
#[derive(Debug)]
pub struct Outcome {
    /// Measured transfers in order of their end; unfinished ones last.
    pub transfers: Vec<Transfer>,
    /// The queues of the bottleneck, data direction, then the other; then of further links of a topology.
    pub queues: Vec<QueueRecord>,
    /// What markers and queues noted over time.
    pub series: Vec<Series>,
    /// What connections of a model with several writes carried; see [`crate::record::Template`].
    pub scripts: Vec<Script>,
    /// Packet trace, empty unless asked for.
    pub trace: Vec<TraceRow>,
    /// What the only connection sent; empty but after [`World::follow`].
    pub course: Course,
    /// Payload bytes that arrived at clients for the first time within the window.
    pub goodput_bytes: u64,
    /// The same at servers.
    pub goodput_up_bytes: u64,
    /// What flows without end delivered.
    pub flows: Vec<FlowRecord>,
    /// What datagram flows met.
    pub datagrams: Vec<DatagramRecord>,
    /// Data packets that arrived after one sent later of the same connection, never sent twice.
    pub reordered: u64,
    /// Simulated time at the end.
    pub ended: Time,
    /// Events handled.
    pub events: u64,
    /// Data packets that left the bottleneck in the data direction.
    pub forward_packets: u64,
    /// Connections opened.
    pub opened: u64,
    /// The most connections alive at once.
    pub most_live: u64,
    /// Totals of the whole run by link, for the conservation laws.
    pub balance: Vec<Balance>,
}

/// The conservation law of one link over the whole run: arrived = dropped + sent + waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balance {
    /// Name of the link.
    pub link: String,
    /// Packets and bytes that arrived.
    pub arrived: (u64, u64),
    /// Dropped for whatever reason.
    pub dropped: (u64, u64),
    /// Left for transmission (on the fast path: promised).
    pub sent: (u64, u64),
    /// Still waiting.
    pub waiting: (u64, u64),
}

impl Balance {
    /// Whether nothing was lost or made.
    pub fn holds(&self) -> bool {
        let parts = [self.dropped, self.sent, self.waiting];
        let packets: u64 = parts.iter().map(|part| part.0).sum();
        let bytes: u64 = parts.iter().map(|part| part.1).sum();
        self.arrived == (packets, bytes)
    }
}

impl World {
    /// Adds a line to the packet trace.
    #[cold]
    pub(super) fn note(&mut self, event: TraceEvent, packet: Packet) {
        if let Some(course) = &mut self.course {
            return course.note(event, &packet, self.now);
        }
        let seq = i64::from(packet.seq) - i64::from(event == TraceEvent::Ack);
        let cwnd = self.live[packet.flow as usize].sender.cwnd();
        let row = TraceRow {
            at: self.now,
            event,
            flow: packet.flow,
            seq,
            bytes: packet.bytes,
            colour: packet.colour,
            cwnd,
        };
        self.trace.push(row);
    }

    /// The measured window begins.
    pub(super) fn open_window(&mut self) {
        // Only what is told: clearing the delays of a thousand links would touch a thousand histograms.
        for &number in self.setup.layout.recorded() {
            let link = &mut self.setup.links[usize::from(number)];
            self.at_window[usize::from(number)] = link.counts_at(self.now);
            link.counts.restart_delays();
        }
        for (slot, then) in &mut self.endless {
            *then = self.live[*slot as usize].receiver.next();
        }
    }

    /// The measured window ends: what the queues did in it is noted.
    pub(super) fn close_window(&mut self) {
        self.window_is_over = true;
        let (begin, end) = self.setup.window;
        let window_s = end.since(begin).as_secs();
        for &number in self.setup.layout.recorded() {
            let (link, then) =
                (&mut self.setup.links[usize::from(number)], &self.at_window[usize::from(number)]);
            let colours = link.counts_at(self.now);
            let counts = &link.counts;
            let [p50, p95, p99] = counts.delay_quantiles_s([0.5, 0.95, 0.99]);
            self.queues.push(QueueRecord {
                name: link.name.clone(),
                capacity: link.rate,
                colours: std::array::from_fn(|index| colours[index].since(then[index])),
                delay_s: [counts.delay_mean_s(), p50, p95, p99],
                window_s,
            });
        }
        self.flows = self.endless.iter().map(|&(slot, then)| self.delivered(slot, then)).collect();
        self.is_over = self.outstanding == 0;
    }

    /// What a flow without end has delivered since it had delivered `then` segments.
    fn delivered(&self, slot: u32, then: u32) -> FlowRecord {
        let live = &self.live[slot as usize];
        FlowRecord {
            key: live.open.key,
            client: live.open.client,
            source: live.open.source,
            upload: live.open.upload,
            cheats: live.open.cheats,
            bytes: u64::from(live.receiver.next() - then) * u64::from(self.setup.params.mss),
        }
    }

    /// Gathers what is left when nothing more happens.
    pub(super) fn finish(mut self) -> Outcome {
        if !self.window_is_over {
            self.close_window();
        }
        for slot in 0..self.live.len() as u32 {
            let live = &self.live[slot as usize];
            if live.is_open && live.progress.is_measured && !live.progress.is_complete {
                self.record(slot, Time::NEVER);
            }
        }
        let now = self.now;
        let datagrams = self.datagram_records();
        let series = self.series();
        let forward = &self.setup.links[usize::from(DOWN)].counts.colours;
        Outcome {
            forward_packets: forward.iter().map(|colour| colour.sent.packets).sum(),
            balance: self.setup.links.iter_mut().map(|link| balance(link, now)).collect(),
            transfers: self.transfers,
            scripts: self.wishes.scripts,
            queues: self.queues,
            series,
            trace: self.trace,
            course: self.course.unwrap_or_default(),
            goodput_bytes: self.goodput_bytes,
            goodput_up_bytes: self.goodput_up_bytes,
            flows: self.flows,
            datagrams,
            reordered: self.reordered,
            ended: now,
            events: self.events,
            opened: self.opened,
            most_live: self.most_live,
        }
    }
}

impl World {
    fn series(&mut self) -> Vec<Series> {
        let parts = self.setup.links.iter_mut().zip(&mut self.setup.markers);
        let named = parts.flat_map(|(link, marker)| {
            let all = marker.series().into_iter().chain(link.queue().series());
            let name = link.name.clone();
            all.map(move |series| Series { link: name.clone(), ..series }).collect::<Vec<_>>()
        });
        named.collect()
    }
}

fn balance(link: &mut Link, now: Time) -> Balance {
    let mut balance =
        Balance { link: link.name.clone(), arrived: (0, 0), dropped: (0, 0), sent: (0, 0), waiting: (0, 0) };
    let add = |sum: &mut (u64, u64), part: Count| *sum = (sum.0 + part.packets, sum.1 + part.bytes);
    for colour in &link.counts.colours {
        add(&mut balance.arrived, colour.arrived);
        add(&mut balance.sent, colour.sent);
        [colour.early, colour.forced, colour.fault, colour.policed]
            .into_iter()
            .for_each(|part| add(&mut balance.dropped, part));
    }
    if !link.promises_departures() {
        let (packets, bytes) = link.backlog(now);
        balance.waiting = (u64::from(packets), bytes);
    }
    balance
}
