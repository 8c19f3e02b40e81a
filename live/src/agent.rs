//! The agent: runs what is too slow to run for every packet. It sweeps the flow table and lets the
//! policy adapt.
//!
//! The policy's slow steps run here, natively, on the agent's copy of the state. The program in the
//! kernel reads only what they publish (policy.h, "Packets and slow steps"): the agent writes it to
//! the inactive slot and then makes that slot active. Without the agent, packets use the values
//! published last; `status` says since when.

use crate::bpf::Map;
use crate::deployment::has_slow_steps;
use crate::device::Device;
use crate::error::{Failure, Result};
use crate::home::{self, Place};
use crate::kernel;
use crate::layout::{Agent, Plain as _, STATE};
use crate::observe::{read_account, visit_entries};
use crate::record::{Attachment, Record};
use crate::request::{Request, Via};
use crate::{namespace, stop};
use aya::maps::{MapData, RingBuf};
use mousehole_policy::{Counts, Params, Policy, State};
use std::io;
use std::thread;
use std::time::Duration;

/// The longest sleep: ended flows are fetched this often even if no slow step is due.
const MOST_SLEEP: Duration = Duration::from_secs(1);

/// Starts the agent of a device as a background process and does not wait for it. Returns its
/// process number.
///
/// # Errors
/// A sentence when the process cannot be started. A fault of the agent itself is not reported.
pub fn spawn(name: &str) -> Result<u32> {
    crate::detach::spawn(&["agent", name])
}

/// Runs the agent of a device in this process, which holds the device's agent lock meanwhile. It
/// ends without error once the program is gone, the record cannot be read, or another agent takes
/// over. With a tcx link, the calling thread leaves its network namespace.
///
/// # Errors
/// A sentence when nothing runs at the device, it needs no agent or has one, or a map cannot be
/// used.
pub fn run(name: &str) -> Result<()> {
    let device = Device::find(name)?;
    let place = stop::find(name)?.ok_or_else(|| stop::nothing_here(name))?;
    let alone = home::lock_service(&place.agent_lock())?;
    // A link reports that its device is gone; a filter has to be looked up at the device, in its namespace.
    if place.record()?.attachment == Some(Attachment::Tcx) {
        namespace::leave();
    }
    let mut sweeper: Option<Sweeper> = None;
    loop {
        let Ok(record) = place.record() else { return Ok(()) };
        // A program that was started there since has its own agent.
        if !stop::is_running(&place, &record) || !home::is_lock_valid(&alone) {
            return Ok(());
        }
        // `tune` changed the request: the parameters differ, the state stays.
        let state = sweeper.take_if(|old| old.request != record.request).map(Sweeper::into_state);
        let one = match &mut sweeper {
            Some(one) => one,
            empty => empty.insert(Sweeper::new(&place, &device, &record, state)?),
        };
        let wait = one.step(kernel::monotonic_ns())?;
        thread::sleep(wait.min(MOST_SLEEP));
    }
}

/// Runs the slow steps of the policy at one device.
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
    /// Returns the sweeper of a running device. It starts with `state`, else with a new state; what
    /// an earlier agent published is taken over.
    ///
    /// # Errors
    /// A sentence when the policy needs no agent, the request cannot be planned any more, or a map
    /// cannot be opened.
    pub fn new(place: &Place, device: &Device, record: &Record, state: Option<State>) -> Result<Sweeper> {
        // How packets are marked does not matter here, and the agent may be unable to see the queue.
        let mut unseen = record.clone();
        (unseen.request.via, unseen.request.classes) = (Some(Via::Dscp), Vec::new());
        let deployment = unseen.deployment(device, None)?;
        let params = deployment.marker.filter(|params| has_slow_steps(params.policy()));
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
        sweeper.adopt_published()?;
        Ok(sweeper)
    }

    /// Returns the state, so that a sweeper with other parameters can go on with it.
    pub fn into_state(self) -> State {
        self.state
    }

    /// Copies the values that an earlier agent published into the state; does nothing if no agent
    /// has published.
    ///
    /// # Errors
    /// A sentence when a map cannot be read.
    fn adopt_published(&mut self) -> Result<()> {
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

    /// Reports ended flows to the policy and, if a step is due at `now_ns` (CLOCK_MONOTONIC),
    /// expires flows, runs the policy's control and publishes the result. Returns how long it takes
    /// until the next step is due, at least 1 ms after one that ran.
    ///
    /// # Errors
    /// A sentence when a map cannot be read or written.
    pub fn step(&mut self, now_ns: u64) -> Result<Duration> {
        self.drain_ended();
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

    /// Reports to the policy each flow whose entry the kernel's program restarted, and empties the
    /// ring buffer of them. Does nothing for a program without `ml_ended`.
    fn drain_ended(&mut self) {
        let Some(ring) = &mut self.ended else { return };
        while let Some(item) = ring.next() {
            self.policy.flow_end(&self.params, &State::from_bytes(&item), &mut self.state);
        }
    }

    /// Zeroes the entries of expired flows and calls the policy's `flow_end` for each. Returns the
    /// number of the other flows by class, as the first of two passes finds them; a flow that sends
    /// between the passes is neither expired nor counted.
    ///
    /// # Errors
    /// A sentence when the table cannot be read or written.
    fn sweep(&mut self, now_ns: u64) -> Result<Counts> {
        let (mut counts, mut expired) = (Counts { flows: [0; 4] }, Vec::new());
        visit_entries(&self.flows, |index, entry| {
            let flow = self.read_flow_state(entry);
            match self.policy.expired(&self.params, &flow, now_ns) {
                true => expired.push(index),
                false => self.policy.count_flow(&self.params, &flow, &self.state, &mut counts),
            }
        })
        .map_err(|error| Failure::system("the table of flows cannot be read", &error))?;
        let free = vec![0; self.flows.value_size()];
        for index in expired {
            let index = index.to_ne_bytes();
            let Ok(Some(entry)) = self.flows.lookup(&index) else { continue };
            let flow = self.read_flow_state(&entry);
            // The flow may have sent packets since, or the entry may belong to another flow now.
            if read_account(&entry).packets() > 0 && self.policy.expired(&self.params, &flow, now_ns) {
                // A packet that arrives right now loses its count; it starts a new flow anyway.
                self.flows.update(&index, &free).map_err(|error| map_failure("ml_flows", &error))?;
                self.policy.flow_end(&self.params, &flow, &mut self.state);
            }
        }
        Ok(counts)
    }

    /// Returns the policy's state in an entry of the flow table.
    fn read_flow_state(&self, entry: &[u8]) -> State {
        State::from_bytes(&entry[STATE..][..self.policy.sizes().1])
    }

    /// Writes the published part of the state to the inactive slot, makes that slot active, and
    /// records `now_ns` as the time of the agent's last step.
    ///
    /// # Errors
    /// A sentence when a map cannot be read or written.
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

    /// Returns the active slot and the time of the last step from the map `ml_agent`; zeros if it
    /// is empty.
    fn read_agent(&self) -> Result<Agent> {
        let value = self.agent.lookup(&0u32.to_ne_bytes());
        Ok(Agent::read(&value.map_err(|error| map_failure("ml_agent", &error))?.unwrap_or_default()))
    }
}

/// Returns the failure of an access to a map.
fn map_failure(name: &str, error: &io::Error) -> Failure {
    Failure::system(format!("the map {name} cannot be used"), error)
}
