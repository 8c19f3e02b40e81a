//! Samples a model's traffic as if no page met a queue, for inspection.

use super::Model;
use super::closed_loop::PageDraws;
use super::ftp::Ftp;
use super::open_loop::OpenLoop;
use super::poisson::Poisson;
use super::stream::{Viewing, ViewingDraws};
use super::telnet::{Keystrokes, Telnet};
use super::users::Fetch;
use crate::flow::Class;
use crate::traffic::Traffic;
use crate::traffic::connection::{Connection, HEADER_BYTES, Kind, Write};
use crate::units::{Dur, Time};

impl Model {
    /// Returns at most `count` connections of replication 0 under `seed`. Each page takes the time
    /// that the model assumes. The first starts at 0. Models of datagrams, tests of responsiveness and
    /// endless flows give none.
    pub fn sample(&self, seed: u64, count: usize) -> Traffic {
        let mut connections = match self {
            Model::Poisson(model) => sample_poisson(model, seed, count),
            Model::WebSfd(model) => {
                let draws = PageDraws::Sfd(model.draws(seed, 0));
                let sessions = draws.initial_sessions().max(20);
                sample_closed(&draws, sessions, model.mean_objects(), model.assumed_page_s, count)
            }
            Model::RioPs(model) => sample_users(&model.process(), seed, count),
            Model::Http(model) => sample_users(&model.process(), seed, count),
            Model::Shred(model) => sample_open(OpenLoop::Shred(model.draws(seed, 0)), count),
            Model::PackMime(model) => sample_open(OpenLoop::PackMime(Box::new(model.draws(seed, 0))), count),
            Model::Http2(model) => sample_open(OpenLoop::Http2(model.draws(seed, 0)), count),
            Model::Ftp(ftp) => sample_ftp(ftp, seed, count),
            Model::Telnet(telnet) => sample_telnet(telnet, seed, count),
            // Datagrams make no connections, and flows without end and probes have no size to show.
            Model::Responsiveness(_) => Vec::new(),
            Model::Udp(_) | Model::Voip(_) | Model::Game(_) | Model::VideoCall(_) => Vec::new(),
            Model::Viewing(viewing) => sample_viewing(viewing, seed, count),
        };
        connections.truncate(count);
        Traffic::from_connections(connections)
    }
}

/// Returns the first `count` connections of Poisson arrivals.
fn sample_poisson(model: &Poisson, seed: u64, count: usize) -> Vec<Connection> {
    let draws = model.draws(seed, 0);
    let mut at = Time::ZERO;
    (0..count as u64)
        .map(|number| {
            at += draws.gap(number);
            make_connection(at, draws.hosts(number), single_write(draws.bytes(number)))
        })
        .collect()
}

/// Returns the first connections of an open loop from arrival 0 on, at least `count` and whole arrivals.
fn sample_open(mut draws: OpenLoop, count: usize) -> Vec<Connection> {
    let (mut at, mut planned, mut connections) = (Time::ZERO, Vec::new(), Vec::with_capacity(count));
    for number in 0.. {
        let gap = draws.add_arrival(number, &mut planned);
        connections.extend(
            planned.drain(..).map(|one| make_connection(at, (one.client, one.server), one.script.writes)),
        );
        at += gap;
        if connections.len() >= count {
            break;
        }
    }
    connections
}

/// Returns connections of the users' pages, more than `count` on average.
fn sample_users(process: &super::users::Users, seed: u64, count: usize) -> Vec<Connection> {
    let draws = PageDraws::Users(process.draws(seed, 0));
    let per_page = if process.fetch == Fetch::Pipelined { 1.0 } else { process.objects.mean() };
    sample_closed(&draws, u64::from(process.users), per_page, process.assumed_page_s, count)
}

/// Returns the files of finite users by start, at least `count`, as if each were complete at once; endless flows have
/// no size to show.
fn sample_ftp(model: &Ftp, seed: u64, count: usize) -> Vec<Connection> {
    let (draws, flows) = (model.draws(seed), model.flow_count());
    let files = if model.endless { 0 } else { count.div_ceil(flows as usize) as u32 };
    let mut connections = Vec::with_capacity(count);
    for flow in 0..flows {
        let (host, upload) = model.host_of_flow(flow);
        let mut at = Time::ZERO + draws.start(flow);
        for number in 0..files {
            let file = make_connection(at, (host, host), single_write(draws.bytes(flow, number)));
            connections.push(Connection { class: Class::Bulk, upload, ..file });
            at += match model.period_s {
                0.0 => draws.pause(flow, number + 1),
                period => Dur::from_secs(period),
            };
        }
    }
    connections.sort_by_key(|connection| connection.start);
    connections
}

/// Returns each user's session, with 2 to 1000 keystrokes, about `count` in all.
fn sample_telnet(model: &Telnet, seed: u64, count: usize) -> Vec<Connection> {
    let keys = Keystrokes {
        bytes: u64::from(model.packet_bytes) - HEADER_BYTES,
        interval_s: model.interval_s,
        seed,
    };
    let typed = (count / model.users as usize).clamp(2, 1000) as u32;
    let session = |user: u32| {
        let writes = (0..typed).map(|number| Write {
            idle: if number == 0 { Dur::ZERO } else { keys.gap(u64::from(user), number) },
            bytes: keys.bytes,
        });
        let host = model.first_host + user;
        Connection {
            class: Class::Interactive,
            flow_class: None,
            ..make_connection(Time::ZERO + model.start(seed, user), (host, host), writes.collect())
        }
    };
    (0..model.users).map(session).collect()
}

/// Returns the segments of all viewers at the highest rate, one for each viewer in every segment's
/// play time.
fn sample_viewing(model: &Viewing, seed: u64, count: usize) -> Vec<Connection> {
    let draws = ViewingDraws::new(model.clone(), seed);
    let (bytes, step) = (model.segment_bytes(model.ladder_bps.len() - 1), Dur::from_secs(model.segment_s));
    let segments = count.div_ceil(model.viewers as usize) as u64;
    let one = |(viewer, segment): (u32, u64)| {
        let (at, host) = (Time::ZERO + draws.start(viewer), model.first_host + viewer);
        make_connection(at + Dur(step.0 * segment), (host, host), single_write(bytes))
    };
    let all = (0..segments).flat_map(|segment| (0..model.viewers).map(move |viewer| (viewer, segment)));
    let mut connections: Vec<Connection> = all.map(one).collect();
    connections.sort_by_key(|connection| connection.start);
    connections
}

/// Returns the connections of sessions in progress at the start, over enough pages of each that
/// there are more than `count` connections on average.
fn sample_closed(
    draws: &PageDraws,
    sessions: u64,
    connections_per_page: f64,
    assumed_page_s: f64,
    count: usize,
) -> Vec<Connection> {
    let pages = (count as f64 / sessions as f64 / connections_per_page).ceil() as u32 + 1;
    let mut connections = Vec::with_capacity(count * 2);
    for session in 0..sessions {
        let mut at = Time::ZERO + draws.residual_think(session);
        for number in 0..pages {
            let end = sample_page(draws, session, number, at, &mut connections);
            at = end + Dur::from_secs(assumed_page_s) + draws.think(session, number);
        }
    }
    connections.sort_by_key(|connection| connection.start);
    connections
}

/// Adds the connections of a page that is requested at `at`. Returns the time at which its last object is requested.
fn sample_page(
    draws: &PageDraws,
    session: u64,
    number: u32,
    at: Time,
    connections: &mut Vec<Connection>,
) -> Time {
    let (client, page) = (draws.client(session), draws.page(session, number));
    let hosts = (client, page.server);
    if draws.fetch() == Fetch::Pipelined {
        let script = draws.page_script(session, number, page.objects);
        connections.push(make_connection(at, hosts, script.writes));
        return at;
    }
    let mut request = at;
    for index in 0..page.objects {
        let object = draws.object(session, number, index);
        request += object.gap;
        let parts = (0..).map_while(|part| draws.part_bytes(object.bytes, part));
        connections.extend(parts.map(|bytes| make_connection(request, hosts, single_write(bytes))));
    }
    request
}

/// Returns a single write without a pause.
fn single_write(bytes: u64) -> Vec<Write> {
    vec![Write { idle: Dur::ZERO, bytes }]
}

/// Returns a TCP connection of these (client, server) hosts and writes: a download of class web, without RTT
/// and duration.
fn make_connection(start: Time, (client, server): (u32, u32), writes: Vec<Write>) -> Connection {
    Connection {
        start,
        client,
        server,
        rtt: None,
        duration: None,
        kind: Kind::Tcp,
        class: Class::Web,
        flow_class: None,
        upload: false,
        server_think: Default::default(),
        writes: writes.into(),
    }
}
