//! What installs a scheme on the links of a plan.

use mousehole_answer::comparison::Scheme;
use mousehole_answer::installation::{Direction, ModemLine, joined};
use mousehole_answer::setting::Installation;
use mousehole_scheme::install::{self, Line};
use mousehole_sim::scenario::Plan;
use mousehole_sim::scenario::spec::Ends;
use mousehole_sim::scenario::topology::PlannedLink;
use mousehole_sim::units::Buffer;

/// Returns how Linux or a common router installs a scheme at these ends of a plan's line.
///
/// # Errors
/// Why nothing does, as a clause; of an ideal nothing is said.
pub fn install_at(scheme: &Scheme, ends: Ends, plan: &Plan) -> Result<Installation, String> {
    let (Some(parsed), false) = (&scheme.parsed, scheme.is_ideal) else { return Err(String::new()) };
    let mut directions = Vec::new();
    let mut place = "";
    for (number, link) in plan.links.iter().enumerate().take(2) {
        let is_upload = number == 1;
        if !(if is_upload { ends.has_up() } else { ends.has_down() }) {
            continue;
        }
        let way = install::plan(parsed, &line(link, plan, is_upload))?;
        if place.is_empty() {
            place = way.place.name();
        }
        directions.push(direction(link, is_upload, way.lines));
    }
    Ok(joined(place, directions))
}

/// Returns a buffer in full packets.
pub(crate) fn full_packets(buffer: Buffer) -> u64 {
    match buffer {
        Buffer::Packets(packets) => u64::from(packets),
        Buffer::Bytes(bytes) => bytes / install::line::FULL_PACKET,
    }
}

fn line(link: &PlannedLink, plan: &Plan, is_upload: bool) -> Line {
    let (rate, buffer, wire) = match &link.shaper {
        Some(shaper) => (shaper.rate, shaper.buffer, shaper.wire),
        None => (link.rate, link.buffer, link.wire),
    };
    let burst = plan.scenario.link.burst.is_some().then_some(link.burst);
    Line { rate, buffer_packets: full_packets(buffer).max(1), wire, is_upload, burst }
}

fn direction(link: &PlannedLink, is_upload: bool, lines: Vec<String>) -> Direction {
    let modem = link.shaper.map(|_| ModemLine { rate_bps: link.rate.0, varies: link.trace.is_some() });
    let rate = link.shaper.map_or(link.rate, |shaper| shaper.rate);
    Direction { is_upload, rate_bps: rate.0, modem, lines }
}
