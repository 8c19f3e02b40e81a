//! Converts the engine's records of a run to those that `mousehole-answer` reduces to facts.

use mousehole_answer::quantities::{Kind, Quantity};
use mousehole_answer::reduction::{
    Codec, Colour, Datagrams, Facts, Flow, Link, Load, Played, Probe, Records, Transfer, View, reduce,
};
use mousehole_answer::sizes::Bucket;
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::engine::layout::{DOWN, UP};
use mousehole_sim::playback;
use mousehole_sim::record::{self, ColourCounts, QueueRecord};
use mousehole_sim::scenario::{Plan, RunResult};
use mousehole_sim::traffic::class::FlowClass;
use mousehole_sim::traffic::model::Model;
use mousehole_sim::traffic::waiting::Loop;
use mousehole_sim::units::Time;

/// Names of the colours, best first.
pub const COLOURS: [&str; 3] = ["green", "yellow", "red"];
/// Name of the source of the scenario's bulk flows.
pub const BULK: &str = "bulk";

/// Returns the facts of one run of a plan, with the quantities of `table` and the size classes `buckets`.
pub fn run_facts(run: &RunResult, plan: &Plan, buckets: &[Bucket], table: &[Quantity]) -> Facts {
    reduce(&convert_run(run, plan), buckets, table)
}

/// Returns the engine's records of a run as the answer's records; the link of the data comes first.
fn convert_run(run: &RunResult, plan: &Plan) -> Records {
    let sources = Sources::new(&run.sources, &run.groups);
    let mut kinds = vec![None; sources.names.len()];
    for (number, model) in plan.models() {
        kinds[sources.index(number, None)] = find_kind(model);
    }
    for (number, class, _) in &run.groups {
        kinds[sources.index(*number, Some(*class))] = find_recorded_kind(*class);
    }
    let needs =
        run.needs.iter().map(|(number, class, needs)| (sources.index(*number, *class), needs.clone()));
    let outcome = &run.outcome;
    let probes = outcome.probes.iter().map(|probe| {
        let [tcp_s, tls_s, http_s] = probe.stage_durations_s(outcome.ended);
        let source = sources.index(probe.source, None);
        Probe { source, is_foreign: probe.is_foreign, tcp_s, tls_s, http_s }
    });
    let window_s = plan.duration.as_secs();
    let flows = outcome.flows.iter().map(|flow| Flow {
        source: sources.index(flow.source, None),
        goodput_bps: flow.bytes as f64 * 8.0 / window_s,
    });
    let load = run.load;
    let is_up = plan.data_link == UP;
    let [down, up] = [DOWN, UP].map(|number| convert_link(&outcome.queues[usize::from(number)]));
    Records {
        transfers: convert_transfers(run, &sources),
        datagrams: outcome.datagrams.iter().map(|flow| convert_datagrams(flow, &sources)).collect(),
        flows: flows.collect(),
        views: outcome.views.iter().map(|view| convert_view(view, &sources)).collect(),
        probes: probes.collect(),
        links: if is_up { [up, down] } else { [down, up] },
        sources: sources.names.clone(),
        kinds,
        needs: needs.collect(),
        load: Load {
            target: load.target,
            native: load.native,
            copies: u64::from(load.copies),
            dilation: load.dilation,
            achieved: load.achieved,
            session_rate_per_s: load.session_rate,
            replay: load.replay.map(|replay: Loop| replay.name().to_owned()),
        },
        is_up,
        goodput_bps: if is_up { run.goodput_up_bps } else { run.goodput_bps },
        packets: outcome.forward_packets,
        reordered: outcome.reordered,
        window_begin_s: plan.window().0.as_secs(),
        window_end_s: plan.window().1.as_secs(),
        end_s: outcome.ended.as_secs(),
    }
}

/// Returns the transfers of a run, each with its ideal time.
fn convert_transfers(run: &RunResult, sources: &Sources) -> Vec<Transfer> {
    let convert = |(transfer, ideal_s): (&record::Transfer, &f64)| Transfer {
        key: transfer.key,
        write: transfer.write,
        bytes: transfer.bytes,
        object_bytes: transfer.object_bytes,
        object_key: transfer.object_key,
        source: sources.index(transfer.source, transfer.flow_class),
        upload: transfer.upload,
        misbehaves: transfer.misbehaves,
        start_s: transfer.start.as_secs(),
        first_data_s: convert_time(transfer.first_data),
        end_s: convert_time(transfer.end),
        ideal_s: *ideal_s,
        retransmits: transfer.retransmits,
        timeouts: transfer.timeouts,
        page: transfer.page,
        page_transfers: transfer.page_transfers,
    };
    run.outcome.transfers.iter().zip(&run.ideal_s).map(convert).collect()
}

/// Returns the record of a flow of datagrams; a delay that was not measured is `None`.
fn convert_datagrams(flow: &record::DatagramRecord, sources: &Sources) -> Datagrams {
    Datagrams {
        source: sources.index(flow.source, flow.flow_class),
        sent: flow.sent,
        received: flow.received,
        lost: flow.lost,
        late: flow.late,
        delay_p50_s: none_if_nan(flow.delay_s[1]),
        delay_p95_s: none_if_nan(flow.delay_s[2]),
        delay_p99_s: none_if_nan(flow.delay_s[3]),
        asked_s: flow
            .asked_s
            .iter()
            .map(|(percentile, delay_s)| (*percentile, none_if_nan(*delay_s)))
            .collect(),
        jitter_s: none_if_nan(flow.jitter_s),
        played: convert_played(flow.played),
    }
}

/// Returns the record of a viewer of a stream.
fn convert_view(view: &record::ViewRecord, sources: &Sources) -> View {
    View {
        source: sources.index(view.source, None),
        starts: view.starts,
        startup_s: view.startup_s,
        played_s: view.played_s,
        stalled_s: view.stalled_s,
        segments: view.segments,
        rate_bps: view.rate_bps,
    }
}

/// Returns the kind of application that a model plays, if the kind has quantities other than the times of transfers.
fn find_kind(model: &Model) -> Option<Kind> {
    if let Model::Udp(udp) = model {
        return udp.tunnel.then_some(Kind::Vpn);
    }
    match model.name() {
        "voip" => Some(Kind::Calls),
        "game" => Some(Kind::Games),
        "videocall" => Some(Kind::VideoCalls),
        "stream" => Some(Kind::Streams),
        "telnet" => Some(Kind::Logins),
        "responsiveness" => Some(Kind::Responsiveness),
        _ => None,
    }
}

/// Returns the kind of recorded flows; `None` if the kind's quantities cannot be measured in a recording, as viewers and
/// keystrokes are those of models. Of video calls, delay and loss are measured, frames are not.
pub fn find_recorded_kind(class: FlowClass) -> Option<Kind> {
    match class {
        FlowClass::Call => Some(Kind::Calls),
        FlowClass::Game => Some(Kind::Games),
        FlowClass::VideoCall => Some(Kind::VideoCalls),
        FlowClass::Vpn => Some(Kind::Vpn),
        _ => None,
    }
}

/// Returns the playback record of a flow of datagrams.
fn convert_played(played: record::Played) -> Played {
    match played {
        record::Played::Not => Played::Not,
        record::Played::Sound { codec, mouth_to_ear_s, packets, missing, gaps } => Played::Sound {
            codec: match codec {
                playback::Codec::G711 => Codec::G711,
                playback::Codec::G711Plc => Codec::G711Plc,
            },
            mouth_to_ear_s: none_if_nan(mouth_to_ear_s),
            packets,
            missing,
            gaps,
        },
        record::Played::Frames { frames, missing, freezes, length_s } => {
            Played::Frames { frames, missing, freezes, length_s }
        }
    }
}

/// Returns a number; `None` for NaN.
fn none_if_nan(number: f64) -> Option<f64> {
    Some(number).filter(|number| !number.is_nan())
}

/// Returns the record of a link and its queue.
fn convert_link(queue: &QueueRecord) -> Link {
    let [delay_mean_s, delay_p50_s, delay_p95_s, delay_p99_s] = queue.delay_s;
    let colours = queue.colours.iter().zip(COLOURS);
    Link {
        capacity_bps: queue.capacity.0 as f64,
        window_s: queue.window_s,
        utilisation: queue.utilisation(),
        colours: colours.map(|(counts, name)| convert_colour(name, counts)).collect(),
        delay_mean_s,
        delay_p50_s,
        delay_p95_s,
        delay_p99_s,
        mean_packets: queue.mean_packets(),
    }
}

/// Returns the packet counts of one colour.
fn convert_colour(name: &str, counts: &ColourCounts) -> Colour {
    let drops = DropReason::ALL.map(|reason| (reason.name().to_owned(), counts.dropped_for(reason).packets));
    Colour {
        name: name.to_owned(),
        arrived: counts.arrived.packets,
        drops: drops.to_vec(),
        dropped: counts.dropped().packets,
        marked: counts.marked.packets,
        sent: counts.sent.packets,
    }
}

/// The names of sources and of their classes, each once, and the index of a name by the number and class in the records.
struct Sources {
    indices: Vec<(u16, Option<FlowClass>, usize)>,
    names: Vec<String>,
}

impl Sources {
    /// Returns the sources `known`, by number, and the classes of sources that have several, in
    /// `groups`. Equal names share an index; that of [`BULK`] is 0.
    fn new(known: &[(u16, String)], groups: &[(u16, FlowClass, String)]) -> Sources {
        let mut names = vec![BULK.to_owned()]; // that of numbers without a name
        let mut indices = Vec::new();
        let sources = known.iter().map(|(number, name)| (*number, None, name));
        let groups = groups.iter().map(|(number, class, name)| (*number, Some(*class), name));
        for (number, class, name) in sources.chain(groups) {
            let index = names.iter().position(|other| other == name).unwrap_or(names.len());
            if index == names.len() {
                names.push(name.clone());
            }
            indices.push((number, class, index));
        }
        Sources { indices, names }
    }

    /// Returns the index of a source's name, or of its class if it has several; that of [`BULK`] for an unknown number.
    fn index(&self, number: u16, class: Option<FlowClass>) -> usize {
        let of = |class| self.indices.iter().find(|(other, own, _)| *other == number && *own == class);
        class.and_then(|class| of(Some(class))).or_else(|| of(None)).map_or(0, |(.., index)| *index)
    }
}

/// Returns a time in seconds; `None` for [`Time::NEVER`].
fn convert_time(at: Time) -> Option<f64> {
    (at != Time::NEVER).then(|| at.as_secs())
}
