//! RIO-PS's topology (Guo & Matta, section IV, Figure 6): an edge, and two sets of clients behind a
//! bottleneck each.
//!
//! Servers – n0 – n3 – n1 – clients, and n3 – n2 – clients of the second set. n0 is the edge router that
//! marks, the links n3–n1 and n3–n2 are the bottlenecks and run the scheme, the others lose nothing. The
//! figure with its rates is lost: with the published buffers (in bandwidth-delay products) and goodputs,
//! 10 Mb/s and 80 ms fit the first experiment, 6 Mb/s for each of both links the second.

use super::super::spec::{Role, TopologyLink, TopologySpec};
use super::pieces::{check_counts, format_nanoseconds, make_hosts, make_link, with_scheme};
use crate::error::Result;
use crate::traffic::model::with_params;
use crate::units::parse_dur;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Parameters of the Y topology.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Y {
    rate: String,
    second_rate: String,
    rtt: String,
    buffer: String,
    servers: u32,
    clients: u32,
    second_clients: u32,
    access_rate: String,
}

impl Default for Y {
    /// Returns the first experiment's network, with ten hosts of each kind.
    fn default() -> Self {
        Y {
            rate: "10mbit".into(),
            second_rate: "10mbit".into(),
            rtt: "80ms".into(),
            buffer: "1.5bdp".into(),
            servers: 10,
            clients: 10,
            second_clients: 10,
            access_rate: "100mbit".into(),
        }
    }
}

/// Returns the topology. The one-way delay of a path is divided: half on the bottleneck, a quarter
/// before it, an eighth at each host.
///
/// # Errors
/// [`crate::error::Error::Field`] naming the parameter.
pub fn draw(params: &Value) -> Result<TopologySpec> {
    let kind = with_params(Y::default(), params)?;
    let second = (kind.second_clients > 0).then_some(("second_clients", kind.second_clients));
    let counts = [("servers", kind.servers), ("clients", kind.clients)];
    check_counts(&counts.into_iter().chain(second).collect::<Vec<_>>())?;
    let way = parse_dur("rtt", &kind.rtt)?.0 / 2;
    let ends = (kind.access_rate.as_str(), format_nanoseconds(way / 8));
    let ends = (ends.0, ends.1.as_str(), None);
    let buffer = Some(kind.buffer.as_str());
    let edge = make_link("n0", "n3", &kind.access_rate, &format_nanoseconds(way / 4), None);
    let mut drawing = TopologySpec {
        bottleneck: Some("n3-n1".into()),
        rtt: Some(kind.rtt.clone()),
        links: vec![
            TopologyLink { mark: Some(true), ..edge },
            with_scheme(make_link("n3", "n1", &kind.rate, &format_nanoseconds(way / 2), buffer), false),
            with_scheme(
                make_link("n3", "n2", &kind.second_rate, &format_nanoseconds(way / 2), buffer),
                false,
            ),
        ],
        hosts: vec![
            make_hosts(Role::Server, "server", "n0", kind.servers, ends),
            make_hosts(Role::Client, "first", "n1", kind.clients, ends),
        ],
        ..TopologySpec::default()
    };
    if kind.second_clients > 0 {
        drawing.hosts.push(make_hosts(Role::Client, "second", "n2", kind.second_clients, ends));
    }
    Ok(drawing)
}
