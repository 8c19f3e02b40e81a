//! A model's traffic written out as if no page met a queue, for looking at it.

use super::Model;
use super::ftp::Ftp;
use super::poisson::Poisson;
use super::telnet::{Keystrokes, Telnet};
use super::web_sfd::WebSfd;
use crate::flow::Class;
use crate::traffic::Traffic;
use crate::traffic::connection::{Connection, HEADER_BYTES, Kind, Write};
use crate::units::{Dur, Time};

impl Model {
    /// About `count` connections of replication 0 under `seed`; pages take the time the model assumes.
    pub fn sample(&self, seed: u64, count: usize) -> Traffic {
        let mut connections = match self {
            Model::WebSfd(web) => web_sample(web, seed, count),
            Model::Poisson(poisson) => poisson_sample(poisson, seed, count),
            Model::Ftp(ftp) => ftp_sample(ftp, seed, count),
            Model::Telnet(telnet) => telnet_sample(telnet, seed, count),
            // Datagrams make no connections.
            Model::Udp(_) | Model::Voip(_) => Vec::new(),
        };
        connections.truncate(count);
        Traffic::from_connections(connections)
    }
}

fn poisson_sample(model: &Poisson, seed: u64, count: usize) -> Vec<Connection> {
    let draws = model.draws(seed, 0);
    let mut at = Time::ZERO;
    (0..count as u64)
        .map(|number| {
            at += draws.gap(number);
            let (client, server) = draws.hosts(number);
            connection(at, client, server, draws.bytes(number))
        })
        .collect()
}

/// Files of finite users, as if each arrived at once; flows without end have no size to show.
fn ftp_sample(model: &Ftp, seed: u64, count: usize) -> Vec<Connection> {
    let (draws, flows) = (model.draws(seed), model.flows());
    let files = if model.endless { 0 } else { count.div_ceil(flows as usize) as u32 };
    let mut connections = Vec::with_capacity(count);
    for flow in 0..flows {
        let (host, upload) = model.place(flow);
        let mut at = Time::ZERO + draws.start(flow);
        for number in 0..files {
            let file = connection(at, host, host, draws.bytes(flow, number));
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

/// Each user's session, with some keystrokes.
fn telnet_sample(model: &Telnet, seed: u64, count: usize) -> Vec<Connection> {
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
            writes: writes.collect(),
            ..connection(Time::ZERO + model.start(seed, user), host, host, 1)
        }
    };
    (0..model.users).map(session).collect()
}

/// Sessions found in progress at the start, followed for as long as it takes to see `count` connections.
fn web_sample(model: &WebSfd, seed: u64, count: usize) -> Vec<Connection> {
    let draws = model.draws(seed, 0);
    let sessions = draws.initial_sessions().max(20);
    let pages = (count as f64 / sessions as f64 / model.mean_objects()).ceil() as u32 + 1;
    let mut connections = Vec::with_capacity(count * 2);
    for session in 0..sessions {
        let mut at = Time::ZERO + draws.residual_think(session);
        for number in 0..pages {
            let page = draws.page(session, number);
            let mut request = at;
            for index in 0..page.objects {
                let object = draws.object(session, number, index);
                request += object.gap;
                let parts = model.transfers(object.bytes);
                connections.extend(
                    parts.map(|bytes| connection(request, draws.client(session), page.server, bytes)),
                );
            }
            at = request + Dur::from_secs(model.assumed_page_s) + draws.think(session, number);
        }
    }
    connections.sort_by_key(|connection| connection.start);
    connections
}

fn connection(start: Time, client: u32, server: u32, bytes: u64) -> Connection {
    Connection {
        start,
        client,
        server,
        rtt: None,
        kind: Kind::Tcp,
        class: Class::Web,
        upload: false,
        writes: vec![Write { idle: Dur::ZERO, bytes }],
    }
}
