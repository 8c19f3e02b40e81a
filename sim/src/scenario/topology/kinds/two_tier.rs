//! SFD's second topology (Chen & Heidemann, section 4.3, Figure 11): a second tier of clients behind links
//! that are bottlenecks themselves.
//!
//! Servers – R1 – R0 – clients, and R0 – R2 – clients of the second tier. The figure with its rates and
//! delays is lost; the defaults of the second tier are chosen here, the rest is the simple topology's.

use super::super::spec::{Role, TopologySpec};
use super::pieces::{check_counts, make_hosts, make_link, with_scheme};
use crate::error::{Error, Result};
use crate::traffic::model::with_params;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Parameters of the two-tier topology.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TwoTier {
    rate: String,
    delay: String,
    buffer: String,
    servers: u32,
    clients: u32,
    access_rate: String,
    access_delay: String,
    tier_rate: String,
    tier_delay: String,
    tier_access_rates: Vec<String>,
    tier_access_delays: Vec<String>,
}

impl Default for TwoTier {
    /// Returns the simple topology with a second tier of nine clients.
    fn default() -> Self {
        let texts = |all: [&str; 3]| all.map(str::to_string).to_vec();
        TwoTier {
            rate: "3mbit".into(),
            delay: "20ms".into(),
            buffer: "50p".into(),
            servers: 5,
            clients: 5,
            access_rate: "10mbit".into(),
            access_delay: "10ms".into(),
            tier_rate: "2mbit".into(),
            tier_delay: "30ms".into(),
            tier_access_rates: texts(["500kbit", "1mbit", "2mbit"]),
            tier_access_delays: texts(["20ms", "60ms", "120ms"]),
        }
    }
}

/// Returns the topology. The scheme's queue is at every router towards the clients; R1 marks.
///
/// # Errors
/// [`Error::Field`] naming the parameter.
pub fn draw(params: &Value) -> Result<TopologySpec> {
    let kind = with_params(TwoTier::default(), params)?;
    check_counts(&[("servers", kind.servers), ("clients", kind.clients)])?;
    let buffer = Some(kind.buffer.as_str());
    let access = (kind.access_rate.as_str(), kind.access_delay.as_str(), buffer);
    let mut drawing = TopologySpec {
        bottleneck: Some("r1-r0".into()),
        links: vec![
            with_scheme(make_link("r1", "r0", &kind.rate, &kind.delay, buffer), true),
            with_scheme(make_link("r0", "r2", &kind.tier_rate, &kind.tier_delay, buffer), false),
        ],
        hosts: vec![make_hosts(Role::Server, "server", "r1", kind.servers, access)],
        ..TopologySpec::default()
    };
    let (rates, delays) = (&kind.tier_access_rates, &kind.tier_access_delays);
    if rates.is_empty() || delays.is_empty() {
        let field = if rates.is_empty() { "tier_access_rates" } else { "tier_access_delays" };
        let allowed = "at least one; there is a client for each pair of a rate and a delay";
        return Err(Error::field(field, "[]", allowed));
    }
    for client in 0..kind.clients {
        let name = format!("client{client}");
        drawing.links.push(with_scheme(make_link("r0", &name, access.0, access.1, buffer), false));
        drawing.clients.push(name);
    }
    for (index, (rate, delay)) in
        rates.iter().flat_map(|rate| delays.iter().map(move |delay| (rate, delay))).enumerate()
    {
        let name = format!("tier{index}");
        drawing.links.push(with_scheme(make_link("r2", &name, rate, delay, buffer), false));
        drawing.clients.push(name);
    }
    Ok(drawing)
}
