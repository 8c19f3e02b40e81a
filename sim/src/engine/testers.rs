//! Testers of responsiveness: they fill the line with long-lived flows and send probes within and outside them.

use super::commands::{Commands, ConnectionSource, NO_TAG};
use super::connection::{Open, Payload};
use crate::flow::Class;
use crate::traffic::model::responsiveness::{INTERVAL, TestDraws};
use crate::units::{Dur, Time};

/// Actions of a test when it is woken: its token modulo [`ACTIONS`].
const ADD_LOAD: u32 = 0;
const PROBE_FOREIGN: u32 = 1;
const PROBE_SELF: u32 = 2;
const ACTIONS: u32 = 3;

/// Bit of the keys of foreign probes.
const FOREIGN: u64 = 1 << 31;

/// All tests of a run.
pub struct Testers {
    draws: TestDraws,
    gap: Dur,
    /// How often each test has done each action.
    done: Vec<[u32; ACTIONS as usize]>,
}

impl Testers {
    /// Returns the tests before their first connections; each sends a probe of either kind every `gap`.
    pub fn new(draws: TestDraws, gap: Dur) -> Testers {
        let done = vec![[0; ACTIONS as usize]; draws.model().test_count() as usize];
        Testers { draws, gap, done }
    }

    /// Opens load-generating connection `number` of a test. The next one follows after
    /// [`INTERVAL`]; after the last one the first probes follow, the self probe half a gap later.
    fn add_load(&self, test: u32, number: u32, now: Time, commands: &mut Commands) {
        let (host, upload) = self.draws.model().host_of_test(test);
        commands.open.push(Open {
            key: load_key(test, number),
            client: host,
            server: host,
            payload: Payload::LongLived,
            tag: NO_TAG,
            class: Class::Bulk,
            upload,
            ..Open::default()
        });
        let next = now + INTERVAL;
        if number + 1 < self.draws.model().connections {
            commands.wake.push((next, test * ACTIONS + ADD_LOAD));
        } else {
            commands.wake.push((next, test * ACTIONS + PROBE_FOREIGN));
            commands.wake.push((next + Dur(self.gap.0 / 2), test * ACTIONS + PROBE_SELF));
        }
    }

    /// Adds the command to open a connection for foreign probe `number` of a test, whose server
    /// answers at once; nothing is scheduled.
    fn probe_foreign(&self, test: u32, number: u32, commands: &mut Commands) {
        let model = self.draws.model();
        let (host, _) = model.host_of_test(test);
        commands.open.push(Open {
            key: u64::from(test) << 32 | FOREIGN | u64::from(number),
            client: host,
            server: host,
            payload: Payload::Probe { tls_bytes: model.tls_bytes, record: 0 },
            tag: NO_TAG,
            class: Class::Web,
            server_think: Some(Dur::ZERO),
            ..Open::default()
        });
    }
}

impl ConnectionSource for Testers {
    /// Schedules the first connection of every test.
    fn begin(&mut self, commands: &mut Commands) {
        let starts = (0..self.done.len() as u32).map(|test| (Time::ZERO + self.draws.start(test), test));
        commands.wake.extend(starts.map(|(at, test)| (at, test * ACTIONS + ADD_LOAD)));
    }

    /// Adds load, or sends a probe and schedules the next of its kind; `token` names test and
    /// action.
    fn wake(&mut self, token: u32, now: Time, commands: &mut Commands) {
        let (test, action) = (token / ACTIONS, token % ACTIONS);
        let done = &mut self.done[test as usize][action as usize];
        let number = *done;
        *done += 1;
        match action {
            ADD_LOAD => return self.add_load(test, number, now, commands),
            PROBE_FOREIGN => self.probe_foreign(test, number, commands),
            _ => commands.probes.push(load_key(test, self.draws.connection(test, number))),
        }
        commands.wake.push((now + self.gap, token));
    }
}

/// Returns the key of a load-generating connection.
fn load_key(test: u32, number: u32) -> u64 {
    u64::from(test) << 32 | u64::from(number)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::traffic::model::FlowDirection;
    use crate::traffic::model::responsiveness::Responsiveness;

    /// Returns what a test opens and asks for until `end`, in seconds, with the times in seconds.
    fn play_test(model: Responsiveness, end: f64) -> Vec<(f64, String)> {
        let mut testers = Testers::new(TestDraws::new(model, 1), Dur::from_millis(400));
        let (mut commands, mut all) = (Commands::default(), Vec::new());
        testers.begin(&mut commands);
        while let Some(&(at, token)) = commands.wake.iter().min() {
            if at >= Time::ZERO + Dur::from_secs(end) {
                break;
            }
            commands.wake.retain(|wake| *wake != (at, token));
            testers.wake(token, at, &mut commands);
            let opened = commands.open.drain(..).map(|open| match open.payload {
                Payload::LongLived if open.upload => format!("load up {:x}", open.key),
                Payload::LongLived => format!("load {:x}", open.key),
                payload => format!("{payload:?}"),
            });
            all.extend(opened.map(|what| (at.as_secs(), what)));
            all.extend(commands.probes.drain(..).map(|key| (at.as_secs(), format!("self {key:x}"))));
        }
        all
    }

    /// Returns a test without random start.
    fn responsiveness(direction: FlowDirection, connections: u32) -> Responsiveness {
        Responsiveness { direction, connections, start_spread_s: 0.0, ..Responsiveness::default() }
    }

    #[test]
    fn test__loads_first_and_alternates_probes() {
        let found = play_test(responsiveness(FlowDirection::Down, 2), 2.7);
        let times: Vec<f64> = found.iter().map(|(at, _)| *at).collect();
        assert_eq!(times, [0.0, 1.0, 2.0, 2.2, 2.4, 2.6]);
        assert_eq!([&*found[0].1, &*found[1].1], ["load 0", "load 1"]);
        assert!(found[2].1.starts_with("Probe { tls_bytes: 4000") && found[3].1.starts_with("self"));
        assert!(found[4].1.starts_with("Probe") && found[5].1.starts_with("self"));
    }

    #[test]
    fn test__loads_both_directions_at_once() {
        let found = play_test(responsiveness(FlowDirection::Both, 1), 0.5);
        let what: Vec<&str> = found.iter().map(|(_, what)| what.as_str()).collect();
        assert_eq!(what, ["load 0", "load up 100000000"]);
    }
}
