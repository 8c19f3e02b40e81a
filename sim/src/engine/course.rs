//! The course of a transfer that has the path to itself: when each of its segments, and all before it, had arrived.
//!
//! A long transfer soon fills the bottleneck and never lets it run empty again; from then on its segments
//! arrive one transmission time apart, and nothing is left to find out. With `τ` for the time of a full segment
//! on the bottleneck and no slower link on the path, a segment is acknowledged at most `rtt + 5τ` after it left
//! the bottleneck, and each acknowledgement lets at least as many segments go as it covers, since nothing is
//! lost and the window only grows. So once `2·rtt + 20τ` of work waits, the bottleneck is busy until the last
//! segment has been sent. Acknowledgements come at most `2τ` apart, so no retransmission timer fires while its
//! least is above that.

use super::World;
use super::layout::{DOWN, End, Layout, UP};
use crate::link::Link;
use crate::tcp::Params;
use crate::units::{Dur, Time};

/// Arrivals of the segments of the only connection there is.
#[derive(Debug)]
pub(super) struct Course {
    arrivals: Vec<Time>,
    /// Time of a full segment on the bottleneck, where that is the slowest link.
    spacing: Option<Dur>,
    /// Number of the bottleneck.
    bottleneck: u16,
    /// The bottleneck is busy from this segment to the last.
    busy_from: Option<u32>,
}

impl Course {
    /// A course before its first segment.
    pub fn new(params: &Params, layout: &Layout, links: &[Link], upload: bool) -> Course {
        let (there, back) = if upload { (UP, DOWN) } else { (DOWN, UP) };
        let spacing = spacing(params, layout, links, there, back);
        Course { arrivals: Vec::new(), spacing, bottleneck: there, busy_from: None }
    }

    /// Every segment below `next` has arrived by `now`.
    fn arrived(&mut self, next: u32, now: Time) {
        self.arrivals.resize(next as usize, now);
    }

    /// The arrivals in order.
    pub fn into_arrivals(self) -> Vec<Time> {
        self.arrivals
    }

    /// Adds the segments below `end`, which arrive `spacing` apart.
    fn complete(&mut self, end: u32, spacing: Dur) {
        let last = *self.arrivals.last().expect("a segment has arrived");
        let left = u64::from(end).saturating_sub(self.arrivals.len() as u64);
        self.arrivals.extend((1..=left).map(|number| last + Dur(spacing.0 * number)));
    }
}

/// Time of a full segment on the bottleneck; `None` if another link is slower or a timer might fire between
/// two acknowledgements.
fn spacing(params: &Params, layout: &Layout, links: &[Link], there: u16, back: u16) -> Option<Dur> {
    let full = params.mss + params.header;
    let ack = params.ack_bytes + params.sack_bytes.0 + 3 * params.sack_bytes.1;
    let spacing = links[usize::from(there)].tx_time(full);
    let on_link =
        |(number, link): (usize, &Link)| link.tx_time(if number == usize::from(back) { ack } else { full });
    let on_end = |end| layout.private(end).1.map_or(Dur::ZERO, |rate| rate.tx_time(u64::from(full)));
    let slowest = links.iter().enumerate().map(on_link).chain(End::ALL.into_iter().map(on_end)).max()?;
    (slowest <= spacing && 4 * spacing.0 < params.min_rto.0).then_some(spacing)
}

impl World {
    /// Notes that every segment below `next` has arrived, and ends the run as soon as the rest is known.
    pub(super) fn follow_course(&mut self, slot: u32, next: u32) {
        let Some(course) = &mut self.course else { return };
        course.arrived(next, self.now);
        let live = &self.live[slot as usize];
        let Some(spacing) = course.spacing.filter(|_| live.sender.losses() == (0, 0)) else { return };
        match course.busy_from {
            None => {
                let work = self.setup.links[usize::from(course.bottleneck)].work(self.now);
                if work.0 >= 2 * live.rtt.0 + 20 * spacing.0 {
                    course.busy_from = Some(live.sender.sent_below());
                }
            }
            Some(from) if course.arrivals.len() > from as usize => {
                course.complete(live.progress.segments.1, spacing);
                self.is_over = true;
            }
            Some(_) => {}
        }
    }
}
