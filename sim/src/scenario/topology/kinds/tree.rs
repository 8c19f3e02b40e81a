//! The 800-host tree (Noureddine & Tobagi, section II, Figure 1): users' links converge at two levels of
//! routers before the bottleneck, mirrored behind it.
//!
//! The paper gives rates, counts and round-trip times, but not the links' delays. Here every user's link, every
//! first-level link and the bottleneck have 1 ms, and the rest of the round-trip time lies on the second-level
//! links. Router n of the second level has time n on both sides, and user n of one side talks to user n of
//! the other, so that each path has one of the times exactly.

use super::super::spec::{Role, TopologySpec};
use super::pieces::{check_counts, format_nanoseconds, make_hosts, make_link, with_scheme};
use crate::error::{Error, Result, quote};
use crate::traffic::model::with_params;
use crate::units::{Dur, parse_dur};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Parameters of the tree.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tree {
    rate: String,
    buffer: String,
    users: u32,
    first_routers: u32,
    user_rate: String,
    first_rate: String,
    second_rate: String,
    user_buffer: String,
    first_buffer: String,
    second_buffer: String,
    rtts: Vec<String>,
}

impl Default for Tree {
    /// Returns the paper's tree: 400 users on each side.
    fn default() -> Self {
        Tree {
            rate: "100mbit".into(),
            buffer: "500p".into(),
            users: 10,
            first_routers: 8,
            user_rate: "1500kbit".into(),
            first_rate: "10mbit".into(),
            second_rate: "45mbit".into(),
            user_buffer: "64p".into(),
            first_buffer: "64p".into(),
            second_buffer: "250p".into(),
            rtts: ["20ms", "40ms", "80ms", "120ms", "200ms"].map(str::to_string).to_vec(),
        }
    }
}

/// Delay of every link but those of the second level.
const HOP: Dur = Dur::from_millis(1);

/// Returns the topology. The scheme runs where streams meet: towards and over the bottleneck. The
/// first routers mark.
///
/// # Errors
/// [`Error::Field`] naming the parameter.
pub fn draw(params: &Value) -> Result<TopologySpec> {
    let kind = with_params(Tree::default(), params)?;
    check_counts(&[("users", kind.users), ("first_routers", kind.first_routers)])?;
    let [buffer, user, first, second] =
        [&kind.buffer, &kind.user_buffer, &kind.first_buffer, &kind.second_buffer].map(|b| Some(b.as_str()));
    let hop = format_nanoseconds(HOP.0);
    let mut drawing = TopologySpec {
        bottleneck: Some("left-right".into()),
        paired: Some(true),
        links: vec![with_scheme(make_link("left", "right", &kind.rate, &hop, buffer), false)],
        ..TopologySpec::default()
    };
    if !(1..=1000).contains(&kind.rtts.len()) {
        return Err(Error::field("rtts", format!("{} times", kind.rtts.len()), "from 1 to 1000"));
    }
    for (group, text) in kind.rtts.iter().enumerate() {
        let delay = format_nanoseconds(second_delay(text)?);
        let (above, below) = (format!("left{group}"), format!("right{group}"));
        drawing.links.push(with_scheme(make_link(&above, "left", &kind.second_rate, &delay, second), false));
        drawing.links.push(make_link("right", &below, &kind.second_rate, &delay, second));
        for router in 0..kind.first_routers {
            let (from, to) = (format!("left{group}.{router}"), format!("right{group}.{router}"));
            drawing.links.push(with_scheme(make_link(&from, &above, &kind.first_rate, &hop, first), true));
            drawing.links.push(make_link(&below, &to, &kind.first_rate, &hop, first));
            let way = (kind.user_rate.as_str(), hop.as_str(), user);
            let name = |side: &str| format!("{side}{group}.{router}.");
            drawing.hosts.push(make_hosts(Role::Server, &name("source"), &from, kind.users, way));
            drawing.hosts.push(make_hosts(Role::Client, &name("sink"), &to, kind.users, way));
        }
    }
    Ok(drawing)
}

/// Returns the delay of a second-level link in nanoseconds, so that a path with two of them and
/// five hops of 1 ms each way has the round-trip time `rtt`.
///
/// # Errors
/// [`Error::Field`] naming `rtts` for a time that is malformed or below 10 ms.
fn second_delay(rtt: &str) -> Result<u64> {
    let way = parse_dur("rtts", rtt)?;
    match way.0 / 2 {
        half if half >= 5 * HOP.0 => Ok((half - 5 * HOP.0) / 2),
        _ => Err(Error::field("rtts", quote(rtt), "at least 10ms each")),
    }
}
