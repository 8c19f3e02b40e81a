//! The agent: what is too slow for every packet. It sweeps the table of flows and lets the policy adapt.
//!
//! The policy's slow steps run here, natively, on a state of the agent's own. The program in the kernel reads only what
//! they publish (policy.h, "Packets and slow steps"): the agent writes it to the part that is not in force and then
//! makes it the one that is. Without the agent, packets keep the last published values; `status` says since when.

use crate::bpf::Map;
use crate::deployment::is_slow;
use crate::device::Device;
use crate::error::{Failure, Result};
use crate::home::{self, Place};
use crate::kernel;
use crate::layout::{Agent, Plain as _, STATE};
use crate::observe::{account, visit_all};
use crate::record::{Attachment, Record};
use crate::request::{Request, Via};
use crate::{namespace, stop};
use aya::maps::{MapData, RingBuf};
use mousehole_policy::{Counts, Params, Policy, State};
use std::io;
use std::thread;
use std::time::Duration;

/// How often flows that ended are fetched, although nothing else is due.
const MOST_SLEEP: Duration = Duration::from_secs(1);

/// Starts the agent of a device.
///
/// # Errors
/// A sentence when the process cannot be started.
pub fn spawn(name: &str) -> Result<u32> {
    crate::detach::spawn(&["agent", name])
}

/// Runs the agent of a device, until what it serves is gone.
///
/// # Errors
/// A sentence when nothing runs at the device, or it needs no agent.
pub fn run(name: &str) -> Result<()> {
    let device = Device::find(name)?;
    let place = stop::find(name)?.ok_or_else(|| stop::nothing(name))?;
    let alone = home::serve_alone(&place.agent_lock())?;
    // A link says itself when its device is gone; a filter has to be looked for at the device.
    if place.record()?.attachment == Some(Attachment::Tcx) {
        namespace::leave();
    }
    let mut sweeper: Option<Sweeper> = None;
    loop {
        let Ok(record) = place.record() else { return Ok(()) };
        // What was started meanwhile at the same place has an agent of its own.
        if !stop::is_running(&place, &record) || !home::is_in_force(&alone) {
            return Ok(());
        }
        // A changed request is a change by `tune`: other parameters, the same state.
        let state = sweeper.take_if(|old| old.request != record.request).map(Sweeper::into_state);
        let one = match &mut sweeper {
            Some(one) => one,
            empty => empty.insert(Sweeper::new(&place, &device, &record, state)?),
        };
        let wait = one.step(kernel::monotonic_ns())?;
        thread::sleep(wait.min(MOST_SLEEP));
    }
}

/// Sweeps one table.
pub struct Sweeper {
    request: Request,
    params: Params,
    policy: &'static Policy,
    state: State,
    flows: Map,
    published: Map,
    agent: Map,
    ended: Option<RingBuf<MapData>>,
    next_ns: u64,
}

impl Sweeper {
    /// Returns a sweeper of what a record describes; it goes on with `state` if one is given.
    ///
    /// # Errors
    /// A sentence when the policy needs no agent, or a map cannot be opened.
    pub fn new(place: &Place, device: &Device, record: &Record, state: Option<State>) -> Result<Sweeper> {
        // How the queue is told is not the agent's business, and the queue may be out of its sight.
        let mut unseen = record.clone();
        (unseen.request.via, unseen.request.classes) = (Some(Via::Dscp), Vec::new());
        let deployment = unseen.deployment(device, None)?;
        let params = deployment.marker.filter(|params| is_slow(params.policy()));
        let params = params.ok_or_else(|| Failure::new(format!("{} needs no agent", deployment.scheme)))?;
        let policy = params.policy();
        let ended = place.map("ml_ended");
        let mut sweeper = Sweeper {
            request: record.request.clone(),
            policy,
            state: state.unwrap_or_else(|| policy.new_state()),
            params,
            flows: place.open_map("ml_flows")?,
            published: place.open_map("ml_published")?,
            agent: place.open_map("ml_agent")?,
            ended: match ended.exists() {
                true => Some(
                    place
                        .open_map("ml_ended")?
                        .into_ring()
                        .map_err(|error| map_failure("ml_ended", &error))?,
                ),
                false => None,
            },
            next_ns: 0,
        };
        sweeper.adopt()?;
        Ok(sweeper)
    }

    /// Returns the state, for a sweeper with other parameters.
    pub fn into_state(self) -> State {
        self.state
    }

    /// Takes over what an earlier agent published.
    fn adopt(&mut self) -> Result<()> {
        let agent = self.read_agent()?;
        if agent.seen_ns == 0 {
            return Ok(());
        }
        let value = self.published.lookup(&(agent.active & 1).to_ne_bytes());
        let value = value.map_err(|error| map_failure("ml_published", &error))?.unwrap_or_default();
        let mut bytes = self.state.bytes();
        let range = self.policy.published();
        bytes[range.clone()].copy_from_slice(&value[..range.len()]);
        self.state = State::from_bytes(&bytes);
        Ok(())
    }

    /// Does what is due at `now_ns` and returns how long nothing else is.
    ///
    /// # Errors
    /// A sentence when a map cannot be read or written.
    pub fn step(&mut self, now_ns: u64) -> Result<Duration> {
        self.take_ended();
        if now_ns < self.next_ns {
            return Ok(Duration::from_nanos(self.next_ns - now_ns));
        }
        let counts = self.sweep(now_ns)?;
        self.policy.control(&self.params, &mut self.state, &counts, now_ns);
        self.publish(now_ns)?;
        let period_ns = self.policy.period_ns(&self.params).unwrap_or(1_000_000_000).max(1_000_000);
        self.next_ns = now_ns.saturating_add(period_ns);
        Ok(Duration::from_nanos(period_ns))
    }

    /// Notes the flows that ended by starting anew.
    fn take_ended(&mut self) {
        let Some(ring) = &mut self.ended else { return };
        while let Some(item) = ring.next() {
            self.policy.flow_end(&self.params, &State::from_bytes(&item), &mut self.state);
        }
    }

    /// Forgets expired flows and counts the others by class.
    fn sweep(&mut self, now_ns: u64) -> Result<Counts> {
        let (mut counts, mut expired) = (Counts { flows: [0; 4] }, Vec::new());
        visit_all(&self.flows, |index, entry| {
            let flow = self.flow_of(entry);
            match self.policy.expired(&self.params, &flow, now_ns) {
                true => expired.push(index),
                false => self.policy.count(&self.params, &flow, &self.state, &mut counts),
            }
        })
        .map_err(|error| Failure::system("the table of flows cannot be read", &error))?;
        let free = vec![0; self.flows.value_size()];
        for index in expired {
            let index = index.to_ne_bytes();
            let Ok(Some(entry)) = self.flows.lookup(&index) else { continue };
            let flow = self.flow_of(&entry);
            // It may have sent something since, or be another one now.
            if account(&entry).packets() > 0 && self.policy.expired(&self.params, &flow, now_ns) {
                // A packet in this very moment would lose what it counted; its flow is new by it anyway.
                self.flows.update(&index, &free).map_err(|error| map_failure("ml_flows", &error))?;
                self.policy.flow_end(&self.params, &flow, &mut self.state);
            }
        }
        Ok(counts)
    }

    /// Returns the policy's state in an entry of the table.
    fn flow_of(&self, entry: &[u8]) -> State {
        State::from_bytes(&entry[STATE..][..self.policy.sizes().1])
    }

    /// Writes what packets may read, beside what they read now, and lets them read that.
    fn publish(&mut self, now_ns: u64) -> Result<()> {
        let mut agent = self.read_agent()?;
        let other = agent.active & 1 ^ 1;
        let value = &self.state.bytes()[self.policy.published()];
        self.published
            .update(&other.to_ne_bytes(), value)
            .map_err(|error| map_failure("ml_published", &error))?;
        (agent.active, agent.seen_ns) = (other, now_ns);
        self.agent.update(&0u32.to_ne_bytes(), agent.bytes()).map_err(|error| map_failure("ml_agent", &error))
    }

    fn read_agent(&self) -> Result<Agent> {
        let value = self.agent.lookup(&0u32.to_ne_bytes());
        Ok(Agent::read(&value.map_err(|error| map_failure("ml_agent", &error))?.unwrap_or_default()))
    }
}

fn map_failure(name: &str, error: &io::Error) -> Failure {
    Failure::system(format!("the map {name} cannot be used"), error)
}
