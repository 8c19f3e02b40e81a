//! The source of FTP users, who transfer files: one after the other, at fixed times, or a single one without end.

use super::commands::{Commands, ConnectionSource, NO_TAG};
use super::connection::{Open, Payload};
use crate::flow::Class;
use crate::traffic::model::ftp::FtpDraws;
use crate::units::{Dur, Time};

/// All flows of the users; tokens and tags are numbers of flows.
pub struct Ftp {
    draws: FtpDraws,
    /// Number of files begun, by flow.
    begun: Vec<u32>,
    /// Whether a flow's latest file is unfinished; maintained only with `skip`.
    busy: Vec<bool>,
}

impl Ftp {
    /// Returns the flows before their first files.
    pub fn new(draws: FtpDraws) -> Ftp {
        let flows = draws.model().flow_count() as usize;
        Ftp { draws, begun: vec![0; flows], busy: vec![false; flows] }
    }
}

impl ConnectionSource for Ftp {
    /// Schedules the first file of every flow.
    fn begin(&mut self, commands: &mut Commands) {
        for flow in 0..self.draws.model().flow_count() {
            commands.wake.push((Time::ZERO + self.draws.start(flow), flow));
        }
    }

    /// Opens a connection for the flow's next file; with `skip` the file is counted but not sent
    /// while the one before is unfinished. With a period, the wake-up of the file after it is added
    /// too. An endless flow is opened once.
    fn wake(&mut self, flow: u32, now: Time, commands: &mut Commands) {
        let number = self.begun[flow as usize];
        self.begun[flow as usize] += 1;
        let model = self.draws.model();
        let restarts = model.period_s > 0.0;
        if restarts && !model.endless {
            commands.wake.push((now + Dur::from_secs(model.period_s), flow));
        }
        if model.skip && std::mem::replace(&mut self.busy[flow as usize], true) {
            return;
        }
        let (host, upload) = model.host_of_flow(flow);
        commands.open.push(Open {
            key: u64::from(flow) << 32 | u64::from(number),
            client: host,
            server: host,
            payload: match model.endless {
                true => Payload::LongLived,
                false => Payload::Single(self.draws.bytes(flow, number)),
            },
            tag: if restarts && !model.skip || model.endless { NO_TAG } else { flow },
            class: Class::Bulk,
            upload,
            ..Open::default()
        });
    }

    /// Schedules the flow's next file after a pause. With `skip` it only records that the next
    /// period need not be skipped.
    fn connection_finished(&mut self, flow: u32, now: Time, commands: &mut Commands) {
        if self.draws.model().skip {
            self.busy[flow as usize] = false;
            return;
        }
        commands.wake.push((now + self.draws.pause(flow, self.begun[flow as usize]), flow));
    }
}
