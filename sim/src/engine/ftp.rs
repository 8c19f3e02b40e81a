//! Users who fetch or send one file after the other, at fixed times, or one without end.

use super::connection::{Open, Payload};
use super::source::{NO_TAG, Wishes};
use crate::flow::Class;
use crate::traffic::model::ftp::FtpDraws;
use crate::units::{Dur, Time};

/// All flows of the users; a token or tag is a flow.
pub struct Ftp {
    draws: FtpDraws,
    /// Files begun, by flow.
    begun: Vec<u32>,
}

impl Ftp {
    /// Nobody has begun yet.
    pub fn new(draws: FtpDraws) -> Ftp {
        let begun = vec![0; draws.model().flows() as usize];
        Ftp { draws, begun }
    }

    /// Every flow begins at its time.
    pub fn begin(&mut self, wishes: &mut Wishes) {
        for flow in 0..self.draws.model().flows() {
            wishes.wake.push((Time::ZERO + self.draws.start(flow), flow));
        }
    }

    /// A flow's next file begins.
    pub fn wake(&mut self, flow: u32, now: Time, wishes: &mut Wishes) {
        let number = self.begun[flow as usize];
        self.begun[flow as usize] += 1;
        let model = self.draws.model();
        let restarts = model.period_s > 0.0;
        let (host, upload) = model.host_of_flow(flow);
        wishes.open.push(Open {
            key: u64::from(flow) << 32 | u64::from(number),
            client: host,
            server: host,
            payload: match model.endless {
                true => Payload::Endless,
                false => Payload::Single(self.draws.bytes(flow, number)),
            },
            tag: if restarts || model.endless { NO_TAG } else { flow },
            class: Class::Bulk,
            upload,
            ..Open::default()
        });
        if restarts && !model.endless {
            wishes.wake.push((now + Dur::from_secs(model.period_s), flow));
        }
    }

    /// A file has arrived; the next comes after a pause.
    pub fn finished(&mut self, flow: u32, now: Time, wishes: &mut Wishes) {
        wishes.wake.push((now + self.draws.pause(flow, self.begun[flow as usize]), flow));
    }
}
