//! A model's traffic written out as if no page met a queue, for looking at it.

use super::Model;
use super::poisson::Poisson;
use super::web_sfd::WebSfd;
use crate::flow::Class;
use crate::traffic::Traffic;
use crate::traffic::connection::{Connection, Kind, Write};
use crate::units::{Dur, Time};

impl Model {
    /// About `count` connections of replication 0 under `seed`; pages take the time the model assumes.
    pub fn sample(&self, seed: u64, count: usize) -> Traffic {
        let mut connections = match self {
            Model::WebSfd(web) => web_sample(web, seed, count),
            Model::Poisson(poisson) => poisson_sample(poisson, seed, count),
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
        writes: vec![Write { idle: Dur::ZERO, bytes }],
    }
}
