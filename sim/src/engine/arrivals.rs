//! The source of an open-loop model: each arrival opens connections and schedules the next arrival.

use super::commands::{Commands, ConnectionSource};
use super::connection::Open;
use crate::flow::Class;
use crate::traffic::model::open_loop::OpenLoop;
use crate::traffic::model::planned::Planned;
use crate::units::Time;

/// Token of the next arrival. Other tokens are those of arrivals before the start: their number plus one.
const NEXT: u32 = 0;

/// The arrivals of a run.
pub struct Arrivals {
    draws: OpenLoop,
    next: u64,
    planned: Vec<Planned>,
}

impl Arrivals {
    /// Returns a source whose arrivals follow these draws. Nothing is scheduled before
    /// [`begin`](ConnectionSource::begin).
    pub fn new(draws: OpenLoop) -> Arrivals {
        Arrivals { next: draws.initial_arrivals(), draws, planned: Vec::new() }
    }
}

impl ConnectionSource for Arrivals {
    /// Asks to be woken after the residual time of each arrival in progress at the start. The first
    /// new arrival opens its connections at once, at time zero.
    fn begin(&mut self, commands: &mut Commands) {
        for number in 0..self.next {
            commands.wake.push((Time::ZERO + self.draws.residual_time(number), number as u32 + 1));
        }
        self.wake(NEXT, Time::ZERO, commands);
    }

    /// Opens the connections of an arrival. Token 0 is a new arrival: it is counted, and the one
    /// after it is scheduled.
    fn wake(&mut self, token: u32, now: Time, commands: &mut Commands) {
        let number = if token == NEXT { self.next } else { u64::from(token) - 1 };
        let gap = self.draws.add_arrival(number, &mut self.planned);
        if token == NEXT {
            self.next += 1;
            commands.wake.push((now + gap, NEXT));
        }
        for planned in self.planned.drain(..) {
            let page = planned.script.pages[0];
            let open = Open {
                key: planned.key,
                client: planned.client,
                server: planned.server,
                payload: commands.payload_for(planned.script),
                class: Class::Web,
                page: page.key,
                page_transfers: page.transfers,
                server_think: planned.server_think,
                ..Open::default()
            };
            commands.open.push(open);
        }
    }
}
