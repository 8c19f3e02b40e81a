//! The sources of a run for applications, and the combination of sources with a mix and misbehaving senders.

use super::mix;
use super::plan::Plan;
use crate::engine::Apps;
use crate::engine::connection::{Open, Payload};
use crate::engine::ftp::Ftp;
use crate::engine::misbehaving::Misbehaving;
use crate::engine::mix::Mix;
use crate::engine::source::{List, Source, Starts};
use crate::engine::testers::Testers;
use crate::engine::viewers::Viewers;
use crate::flow::Class;
use crate::rng::mix as hash;
use crate::traffic::Traffic;
use crate::traffic::model::datagrams::Senders;
use crate::traffic::model::ftp;
use crate::traffic::model::responsiveness::{Responsiveness, TestDraws};
use crate::traffic::model::stream::{Viewing, ViewingDraws};
use crate::traffic::model::telnet::{Keystrokes, Telnet};
use crate::traffic::model::{FlowDirection, Model};
use crate::units::{Dur, Time};
use std::sync::Arc;

/// Returns the seed of source `number` of a run; that of source 0 is the run's. It depends on the
/// two numbers only.
pub fn derive_seed(seed: u64, number: u16) -> u64 {
    if number == 0 { seed } else { seed ^ hash(u64::from(number) | 1 << 20) }
}

/// Returns one source for everything that the run plays: the main source, the `entries` of the mix,
/// numbered from 1, and the rules of misbehaviour applied to all. With a mix, a main source without
/// traffic is left out.
pub fn combine_sources(
    plan: &Plan,
    main: Source,
    entries: Vec<Source>,
    traffic: &Arc<Traffic>,
    seed: u64,
) -> Source {
    let spec = &plan.scenario.traffic;
    let all = if entries.is_empty() {
        main
    } else {
        let main = mix::has_main(spec).then_some((0, main));
        Source::Mix(Mix::new(main.into_iter().chain((1..).zip(entries)).collect()))
    };
    match &plan.misbehaviour {
        Some(rules) => {
            Source::Misbehaving(Box::new(Misbehaving::new(all, rules.clone(), seed, traffic.clone())))
        }
        None => all,
    }
}

/// Returns a source without traffic.
pub fn no_traffic() -> Source {
    Source::List(List::new(Arc::default()))
}

/// Returns the source of users who fetch or send files, under a run's seed.
pub fn ftp_users(model: &ftp::Ftp, seed: u64) -> Source {
    Source::Ftp(Ftp::new(model.draws(seed)))
}

/// Returns the source of viewers of streams, under a run's seed; they are recorded within the
/// window.
pub fn viewers(model: &Viewing, seed: u64, window: (Time, Time)) -> Source {
    Source::Viewers(Viewers::new(ViewingDraws::new(model.clone(), seed), window))
}

/// Returns the source of testers of responsiveness, under a run's seed. Their probes take their
/// share of the slower direction that is loaded.
pub fn testers(plan: &Plan, model: &Responsiveness, seed: u64) -> Source {
    let [down, up] = [false, true].map(|upload| plan.load_rate(upload));
    let capacity = match model.direction {
        FlowDirection::Down => down,
        FlowDirection::Up => up,
        FlowDirection::Both => down.min(up),
    };
    Source::Testers(Testers::new(TestDraws::new(model.clone(), seed), model.probe_gap(capacity)))
}

/// Returns the source of remote logins, one for each user; adds the rules of their keystrokes to
/// `apps`.
pub fn telnet_sessions(plan: &Plan, model: &Telnet, seed: u64, apps: &mut Apps) -> Source {
    let rules = Payload::Keystrokes(apps.keystrokes.len() as u32);
    let (bytes, request_bytes) = keystroke_payloads(plan, model);
    apps.keystrokes.push(Keystrokes { bytes, interval_s: model.interval_s, seed });
    let session = |user: u32| {
        let open = Open {
            key: u64::from(user),
            client: model.first_host + user,
            server: model.first_host + user,
            payload: rules,
            class: Class::Interactive,
            request_bytes,
            server_think: Some(Dur::ZERO),
            ..Open::default()
        };
        (Time::ZERO + model.start(seed, user), open)
    };
    Source::Starts(Starts::new((0..model.users).map(session).collect()))
}

/// Returns the payload of an echo and of a keystroke, in bytes: the model's packets less the
/// headers of the first TCP, which must be shorter.
pub fn keystroke_payloads(plan: &Plan, model: &Telnet) -> (u64, u16) {
    let (echo, typed) = (
        model.packet_bytes - plan.senders.first().header,
        model.packet_bytes - plan.senders.first().ack_bytes,
    );
    (u64::from(echo), typed as u16)
}

/// Returns the source of flows of datagrams, drawn by `seed`; adds the flows to `apps`, by whose
/// indices the source's payloads refer to them.
pub fn datagram_flows(senders: &Senders, seed: u64, apps: &mut Apps) -> Source {
    let mut opens = Vec::new();
    for (begin, stream) in senders.draw_streams(seed) {
        let open = Open {
            key: u64::from(begin.flow),
            client: begin.client,
            server: begin.server,
            payload: Payload::Datagrams(apps.streams.len() as u32),
            class: begin.class,
            upload: begin.upload,
            ..Open::default()
        };
        apps.streams.push(stream);
        opens.push((Time::ZERO + begin.at, open));
    }
    Source::Starts(Starts::new(opens))
}

impl Plan {
    /// Returns the payload of echo and keystroke if source `number` is remote logins; otherwise
    /// `None`.
    pub(super) fn find_keystroke(&self, number: u16) -> Option<(u64, u16)> {
        self.models().find_map(|(known, model)| match model {
            Model::Telnet(telnet) if known == number => Some(keystroke_payloads(self, telnet)),
            _ => None,
        })
    }
}
