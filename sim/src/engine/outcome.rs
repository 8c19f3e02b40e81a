//! The results of a run, and the conservation laws it must keep.

use super::commands::ConnectionSource;
use super::event::{Event, What};
use super::send_log::SendLog;
use super::world::World;
use crate::link::Link;
use crate::packet::Packet;
use crate::record::{
    ColourCounts, Count, DatagramRecord, FlowRecord, ProbeRecord, QueueRecord, TraceEvent, TraceRow,
    Transfer, ViewRecord,
};
use crate::series::Series;
use crate::traffic::connection::Script;
use crate::units::Time;

/// The results of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Measured transfers in order of their end; unfinished ones last.
    pub transfers: Vec<Transfer>,
    /// The queues of the bottleneck, down, then up; then of further links of a topology; last of modems by themselves,
    /// which count in the bottleneck's queues too.
    pub queues: Vec<QueueRecord>,
    /// Time series: adaptive values of markers and queues, then samples of links and senders.
    pub series: Vec<Series>,
    /// Scripts of the connections with several writes of a model; see [`crate::record::Template`].
    pub scripts: Vec<Script>,
    /// Packet trace, empty unless asked for.
    pub trace: Vec<TraceRow>,
    /// Packets that the only connection sent; empty except after [`World::with_send_log`].
    pub send_log: SendLog,
    /// Payload bytes that arrived at clients for the first time within the window.
    pub goodput_bytes: u64,
    /// The same at servers.
    pub goodput_up_bytes: u64,
    /// What each long-lived flow delivered.
    pub flows: Vec<FlowRecord>,
    /// What each datagram flow delivered and lost.
    pub datagrams: Vec<DatagramRecord>,
    /// What each viewer of streams saw.
    pub views: Vec<ViewRecord>,
    /// The probes of tests of responsiveness that began within the window.
    pub probes: Vec<ProbeRecord>,
    /// Data packets, none sent twice, that arrived after one of the same connection that was sent later.
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
    /// Packets still in the network at the end, for the end-to-end conservation law.
    pub in_flight: InFlight,
}

impl Outcome {
    /// Returns whether no packet was lost or invented: at every link, and from end to end.
    pub fn is_conserved(&self) -> bool {
        self.balance.iter().all(Balance::holds) && self.in_flight.holds()
    }
}

/// The end-to-end conservation law of a run: injected = delivered + dropped + in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// Packets in flight by the connections' accounts: injected − delivered − dropped.
    pub accounted: u64,
    /// Packets counted in the network: in scheduled events and in queues.
    pub counted: u64,
}

impl InFlight {
    /// Returns whether both counts agree.
    pub fn holds(&self) -> bool {
        self.accounted == self.counted
    }
}

/// The conservation law of one link over the whole run: arrived = dropped + sent + waiting.
///
/// On the fast path the waiting packets are those whose departures are scheduled for later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balance {
    /// Name of the link.
    pub link: String,
    /// Packets and bytes that arrived.
    pub arrived: (u64, u64),
    /// Dropped for whatever reason.
    pub dropped: (u64, u64),
    /// Left for transmission.
    pub sent: (u64, u64),
    /// Still waiting.
    pub waiting: (u64, u64),
}

impl Balance {
    /// Returns the totals of a link up to `now`, that time included. The link's counters are
    /// brought up to that time.
    pub fn from_link(link: &mut Link, now: Time) -> Balance {
        let mut balance = Balance {
            link: link.name.clone(),
            arrived: (0, 0),
            dropped: (0, 0),
            sent: (0, 0),
            waiting: (0, 0),
        };
        let add = |sum: &mut (u64, u64), part: Count| *sum = (sum.0 + part.packets, sum.1 + part.bytes);
        for colour in counts_at(link, now) {
            add(&mut balance.arrived, colour.arrived);
            add(&mut balance.dropped, colour.dropped());
            add(&mut balance.sent, colour.sent);
        }
        let (packets, bytes) = link.backlog(now);
        balance.waiting = (u64::from(packets), bytes);
        balance
    }

    /// Returns whether no packet or byte was lost or invented.
    pub fn holds(&self) -> bool {
        let parts = [self.dropped, self.sent, self.waiting];
        let packets: u64 = parts.iter().map(|part| part.0).sum();
        let bytes: u64 = parts.iter().map(|part| part.1).sum();
        self.arrived == (packets, bytes)
    }
}

impl World {
    /// Adds a line at the present time to the send log if there is one, or else to the packet
    /// trace. The caller checks whether a trace is asked for.
    #[cold]
    pub(super) fn trace_event(&mut self, event: TraceEvent, packet: Packet) {
        if let Some(log) = &mut self.send_log {
            return log.record(event, &packet, self.now);
        }
        let seq = i64::from(packet.seq) - i64::from(event == TraceEvent::Ack);
        let cwnd = self.live[packet.flow as usize].sender.cwnd();
        let row = TraceRow {
            at: self.now,
            event,
            flow: packet.flow,
            client: self.live[packet.flow as usize].open.client,
            seq,
            bytes: packet.bytes,
            colour: packet.colour,
            cwnd,
        };
        self.trace.push(row);
    }

    /// Ends the run once so much work waits at the slowest link that it stays busy to the end of
    /// the transfer; see [`super::send_log`]. Without a test for saturation, or after a repeated
    /// segment, the run goes on.
    pub(super) fn stop_when_saturated(&mut self, slot: u32) {
        let Some(SendLog { steady: Some(steady), has_repeats: false, .. }) = &self.send_log else { return };
        let work = self.setup.links[usize::from(steady.link)].unfinished_work(self.now);
        let enough = 2 * self.live[slot as usize].rtt.0 + u64::from(4 * steady.hops + 20) * steady.spacing.0;
        self.is_over = work.0 >= enough;
    }

    /// Begins the measured window: stores the counters of recorded links and their modems, and what
    /// long-lived flows have delivered.
    pub(super) fn open_window(&mut self) {
        for &number in self.setup.layout.recorded() {
            let link = &mut self.setup.links[usize::from(number)];
            self.at_window[usize::from(number)] = link.counts_before(self.now);
            if let Some(modem) = link.modem() {
                self.modems_at_window.push(modem.counts_before(self.now));
            }
        }
        for (slot, then) in &mut self.long_lived {
            *then = self.live[*slot as usize].receiver.next();
        }
    }

    /// Ends the measured window: records the queues and the long-lived flows. The run ends if no
    /// measured transfer, datagram or probe is outstanding.
    pub(super) fn close_window(&mut self) {
        self.window_is_over = true;
        let mut modems = Vec::new();
        for &number in self.setup.layout.recorded() {
            let (link, then) =
                (&mut self.setup.links[usize::from(number)], &self.at_window[usize::from(number)]);
            self.queues.push(queue_record(link, then, self.setup.window, self.now));
            if let Some(modem) = link.modem() {
                let then = self.modems_at_window.get(modems.len()).copied().unwrap_or_default();
                modems.push(queue_record(modem, &then, self.setup.window, self.now));
            }
        }
        self.queues.append(&mut modems);
        self.flows = self.long_lived.iter().map(|&(slot, then)| self.long_lived_record(slot, then)).collect();
        self.is_over = self.outstanding == 0;
    }

    /// Returns the record of the long-lived flow in `slot`, which had delivered `then` segments
    /// when the window began. Its bytes count whole segments that arrived in order.
    fn long_lived_record(&self, slot: u32, then: u32) -> FlowRecord {
        let live = &self.live[slot as usize];
        FlowRecord {
            key: live.open.key,
            client: live.open.client,
            source: live.open.source,
            upload: live.open.upload,
            misbehaves: live.open.misbehaves,
            bytes: u64::from(live.receiver.next() - then)
                * u64::from(self.setup.senders.params_at(live.tcp).mss),
        }
    }

    /// Returns the results at the end of the run. A window that has not ended ends now, and
    /// unfinished measured transfers are recorded as censored.
    pub(super) fn finish(mut self) -> Outcome {
        if !self.window_is_over {
            self.close_window();
        }
        for slot in 0..self.live.len() as u32 {
            let live = &self.live[slot as usize];
            if live.is_open && live.progress.is_measured && !live.progress.is_complete {
                self.record_transfer(slot, Time::NEVER);
            }
        }
        let now = self.now;
        let datagrams = self.datagram_records();
        let views = self.setup.source.views(now);
        let probes = self.probe_records();
        let series = self.collect_series();
        let in_flight = self.count_in_flight();
        let forward = counts_at(&mut self.setup.links[usize::from(self.setup.data_link)], now);
        Outcome {
            forward_packets: forward.iter().map(|counts| counts.sent.packets).sum(),
            in_flight,
            balance: self.setup.links.iter_mut().map(|link| Balance::from_link(link, now)).collect(),
            transfers: self.transfers,
            scripts: self.commands.scripts,
            queues: self.queues,
            series,
            trace: self.trace,
            send_log: self.send_log.unwrap_or_default(),
            goodput_bytes: self.goodput_bytes,
            goodput_up_bytes: self.goodput_up_bytes,
            flows: self.flows,
            datagrams,
            views,
            probes,
            reordered: self.reordered,
            ended: now,
            events: self.events,
            opened: self.opened,
            most_live: self.most_live,
        }
    }
}

impl World {
    /// Returns the packets in flight by the connections' accounts, and as counted in events and
    /// queues.
    fn count_in_flight(&mut self) -> InFlight {
        let accounted = self.path_states.iter().map(|path_state| u64::from(path_state.in_flight)).sum();
        let is_packet =
            |event: &&Event| matches!(event.what, What::Arrive | What::Data | What::Ack | What::Other);
        let travelling = self.wheel.events().filter(is_packet).count() as u64;
        let (now, links) = (self.now, self.setup.links.iter_mut());
        let queued: u64 = links.map(|link| u64::from(link.count_stored(now))).sum();
        InFlight { accounted, counted: travelling + queued }
    }

    /// Returns the time series of markers and queues, by link, then the samples, which are taken
    /// out of the world.
    fn collect_series(&mut self) -> Vec<Series> {
        let parts = self.setup.links.iter_mut().zip(&mut self.setup.markers);
        let named = parts.flat_map(|(link, marker)| {
            let all = marker.series().into_iter().chain(link.queue().series());
            let name = link.name.clone();
            all.map(move |series| Series { link: name.clone(), ..series }).collect::<Vec<_>>()
        });
        let mut all: Vec<Series> = named.collect();
        if let Some(sampling) = self.sampling.take() {
            let key = |place: usize| self.live[self.long_lived[place].0 as usize].open.key;
            all.extend(sampling.into_series(|link| self.setup.links[usize::from(link)].name.clone(), key));
        }
        all
    }
}

/// Returns the record of a link's queue over the measured window, which ends `now`; `then` are its
/// counts at the beginning.
fn queue_record(
    link: &mut Link,
    then: &[ColourCounts; 3],
    (begin, end): (Time, Time),
    now: Time,
) -> QueueRecord {
    let at_end = link.counts_before(now);
    QueueRecord {
        name: link.name.clone(),
        capacity: link.mean_rate(begin, end),
        colours: link.window_counts(then, &at_end),
        delay_s: link.counts.delay_s(),
        wire_bytes: link.wire_bytes(),
        busy: link.busy_time(),
        window_s: end.since(begin).as_secs(),
    }
}

/// Returns the counts of a link by colour; packets whose transmission starts by `now` count as
/// sent.
fn counts_at(link: &mut Link, now: Time) -> [ColourCounts; 3] {
    link.counts_before(Time(now.0.saturating_add(1)))
}
