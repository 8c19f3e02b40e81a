//! Plans a request: works out the program, its settings, and the queue disciplines behind it.

use crate::device::Device;
use crate::error::{Failure, Result};
use crate::layout::{self, Action, COLOURS, KEEP_DSCP, Plain as _, Trial};
use crate::native_queue::Native;
use crate::object::{self, Combination, Named, Queue, resolve_include};
use crate::qdisc::Qdisc;
use crate::request::{self, Mode, Request, User, Via};
use crate::spared;
use mousehole_netlink::links;
use mousehole_policy::{Origin, Params, Policy, PolicyKind};
use mousehole_scheme::install::line::{FULL_PACKET, format_tc_rate};
use mousehole_scheme::install::{self, Line, LiveQueue};
use mousehole_scheme::link_layer::{LinkLayer, Wire};
use mousehole_scheme::units::{Buffer, Dur, Rate, parse_buffer, parse_dur, parse_rate, parse_size};
use mousehole_scheme::{LinkContext, Part, Scheme};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a policy's native code decided for a deployment, as plain data. With it and the program's
/// object, a request can be carried out without that code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decided {
    /// The scheme, as the shortest text that means the same.
    pub scheme: String,
    /// The parameters of its policies, as the program reads them.
    params: Vec<Vec<u8>>,
    /// Whether the program decides for a queue.
    has_queue: bool,
    /// How many classes our HTB at the device's root has; `None` without it.
    colours: Option<u32>,
    /// The native queue.
    native: Option<Native>,
}

impl Decided {
    /// Returns whether the scheme's queue runs as a native queue discipline.
    pub(crate) fn is_native(&self) -> bool {
        self.native.is_some()
    }
}

/// The program objects of a deployment.
#[derive(Debug)]
pub struct Objects {
    /// The program at the device's egress.
    pub egress: Vec<u8>,
    /// The program of the native queue.
    pub queue: Option<Vec<u8>>,
}

/// A request worked out for a device: what is loaded and attached.
#[derive(Debug)]
pub struct Deployment {
    /// The scheme, as the shortest text that means the same.
    pub scheme: String,
    pub(crate) combination: Combination,
    /// The native queue, as its program includes it.
    pub(crate) native: Option<Named>,
    /// Whether all policies are shipped ones.
    pub(crate) is_shipped: bool,
    pub(crate) marker: Option<Params>,
    pub(crate) user: Option<Params>,
    pub(crate) dropper: Option<Params>,
    /// What is done with packets of each colour.
    pub action: Action,
    /// The queue disciplines at the device's root.
    pub shaper: Shaper,
    /// The longest time that packets wait for tokens; `None` if they are policed.
    pub longest_wait: Option<Dur>,
    /// The hosts whose packets are left alone.
    pub trial: Trial,
}

/// The queue disciplines that a deployment installs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shaper {
    /// None.
    None,
    /// `fq`, which holds packets until their departure times.
    Departures,
    /// CAKE; the marker before it chooses the packets for its Bulk tin.
    Cake(Cake),
    /// A token bucket filter: the FIFO whose drops the program decides.
    Fifo(Fifo),
    /// HTB with a class for each colour, under strict priority.
    Classes {
        /// Rate, depth of the bucket, bytes on the wire beyond the IP length.
        fifo: Fifo,
        /// How many colours have a class.
        colours: u32,
    },
    /// A queue header as a queue discipline of its own.
    Native {
        /// Rate, buffer, bytes on the wire beyond the IP length. It has no bucket.
        fifo: Fifo,
        /// The queue.
        queue: Native,
    },
}

impl Shaper {
    /// Returns its rate and buffer; `None` if it has no queue of a given rate and buffer.
    pub fn fifo(&self) -> Option<&Fifo> {
        match self {
            Shaper::None | Shaper::Departures | Shaper::Cake(_) => None,
            Shaper::Fifo(fifo) | Shaper::Classes { fifo, .. } | Shaper::Native { fifo, .. } => Some(fifo),
        }
    }

    /// Returns whether it marks packets by twins of them.
    pub(crate) fn has_twins(&self) -> bool {
        matches!(self, Shaper::Native { queue, .. } if queue.marks)
    }

    /// Returns whether it has a rate that can be changed while packets wait.
    pub fn has_rate(&self) -> bool {
        !matches!(self, Shaper::None | Shaper::Departures)
    }
}

/// The options of our own CAKE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cake {
    /// The rate at which it sends.
    pub rate: Rate,
    /// What packets cost on the wire.
    pub(crate) cost: Cost,
    /// Whether packets have passed the bottleneck before it (tc-cake(8): ingress), so that its
    /// drops count as sent.
    pub(crate) is_download: bool,
    /// Whether it drops acknowledgements that a newer one makes superfluous.
    pub(crate) has_ack_filter: bool,
    /// Whether it looks up hosts behind NAT; it does if the kernel tracks connections.
    pub(crate) has_nat: bool,
}

/// How CAKE counts a packet's bytes on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cost {
    /// As Linux counts them.
    Unknown,
    /// The IP length and this many bytes.
    Overhead(u32),
    /// As this link layer sends them.
    Layer(&'static LinkLayer),
}

impl Cake {
    /// How it chooses tins: the lowest of four is Bulk.
    pub(crate) const DIFFSERV: &str = "diffserv4";

    /// Returns the CAKE that a request asks for. Reads /proc to see whether the kernel tracks
    /// connections.
    ///
    /// # Errors
    /// A sentence without a rate, or with a value that CAKE does not accept.
    pub fn new(request: &Request) -> Result<Cake> {
        let where_ = match &request.download {
            Some(_) => "downloads wait in a CAKE at the IFB",
            None => "the marker is for a CAKE of its own",
        };
        let Some(rate) = &request.rate else {
            return Err(Failure::new(format!(
                "--rate is missing; {where_}, which needs the rate of the line, a little less than it carries, such as --rate 19mbit"
            )));
        };
        let cost = match (&request.link_layer, request.overhead) {
            (Some(_), Some(_)) => {
                return Err(Failure::new(
                    "--link-layer and --overhead both say what a packet costs on the wire; give one of them",
                ));
            }
            (Some(name), None) => Cost::Layer(LinkLayer::find_layer("--link-layer", name)?),
            (None, Some(bytes @ 0..=255)) => Cost::Overhead(bytes),
            (None, Some(bytes)) => {
                return Err(Failure::new(format!("--overhead is {bytes}; it must be from 0 to 255")));
            }
            (None, None) => Cost::Unknown,
        };
        Ok(Cake {
            rate: parse_rate("--rate", rate)?,
            cost,
            is_download: request.download.is_some(),
            has_ack_filter: request.ack_filter,
            has_nat: Path::new("/proc/sys/net/netfilter/nf_conntrack_max").exists(),
        })
    }

    /// Returns its options in tc-cake(8)'s syntax.
    pub fn format_options(&self) -> String {
        let nat = if self.has_nat { " nat" } else { "" };
        let ingress = if self.is_download { " ingress" } else { "" };
        let filter = if self.has_ack_filter { " ack-filter" } else { "" };
        let cost = match self.cost {
            Cost::Unknown => String::new(),
            Cost::Overhead(bytes) => format!(" overhead {bytes}"),
            Cost::Layer(layer) => format!(" {}", layer.keyword),
        };
        format!("bandwidth {} {}{nat}{ingress}{filter}{cost}", format_tc_rate(self.rate), Cake::DIFFSERV)
    }
}

/// A FIFO with a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fifo {
    /// Rate of the link.
    pub rate: Rate,
    /// Buffer.
    pub buffer: Buffer,
    /// Depth of the token bucket, bytes on the wire.
    pub burst: u32,
    /// Bytes on the wire beyond the IP length.
    pub overhead: u32,
}

impl Fifo {
    /// Returns it as an upload line of the scheme's install plan; a buffer in bytes is given in
    /// packets of full size.
    fn to_line(self) -> Line {
        let buffer_packets = match self.buffer {
            Buffer::Packets(packets) => u64::from(packets),
            Buffer::Bytes(bytes) => bytes / FULL_PACKET,
        };
        Line {
            rate: self.rate,
            buffer_packets,
            wire: Wire::plain(self.overhead),
            is_upload: true,
            burst: None,
        }
    }
}

/// Handle of our queue disciplines.
pub const HANDLE: &str = "6d48:";
/// The handle as a number.
pub(crate) const MAJOR: u32 = 0x6d48 << 16;
/// CAKE's Bulk tin, the first of diffserv3, diffserv4 and diffserv8.
const BULK: u32 = 1;
/// The horizon of `fq`, s: it drops packets that are to leave later than that.
const LONGEST_WAIT_S: f64 = 10.0;

impl Deployment {
    /// Works out a request for a device. `root` is the device's root queue discipline. Headers of
    /// the user's policies are loaded, which runs their native code.
    ///
    /// # Errors
    /// A sentence when the scheme, a policy or a value is not possible here.
    pub fn new(request: &Request, device: &Device, root: Option<&Qdisc>) -> Result<Deployment> {
        refuse_cake_options(request)?;
        for path in &request.policy {
            mousehole_scheme::load_policy(path)?;
        }
        let fifo = plan_fifo(request, device)?;
        let scheme = parse_scheme(request)?;
        let mut set_up = scheme.set_up(LinkContext {
            rate: fifo.rate,
            bottleneck: fifo.rate,
            buffer: fifo.buffer,
            wire: Wire::plain(fifo.overhead),
            seed: 0,
            link: 0,
        })?;
        let dropper = set_up.pop().flatten();
        let mut parts = scheme.parts();
        let (queue, values) = parts.pop().expect("a scheme has a queue");
        let parts: Vec<Part> = parts.into_iter().map(|(part, _)| part).collect();
        let mut deployment = Deployment::from_markers(request, &scheme, &parts, set_up)?;
        match request.mode {
            Mode::Mark => deployment.set_marks(request, device, root)?,
            Mode::Up if request.native => {
                deployment.set_native_queue(queue, &values, dropper, fifo, is_ifb(request, device))?;
            }
            Mode::Up => {
                let queue = install::place_queue(queue, &values, !parts.is_empty(), &fifo.to_line());
                deployment.set_queue(queue.map_err(Failure::new)?, dropper, fifo)?;
            }
        }
        if let Some(text) = &request.shape {
            deployment.set_wait(text, request)?;
        }
        let is_shipped = deployment.params().all(|params| *params.policy().origin() == Origin::Shipped);
        deployment.is_shipped = is_shipped;
        Ok(deployment)
    }

    /// Returns the deployment of a scheme's markers, `parts`, whose parameters are `set_up`; it has
    /// no queue yet and changes no packet.
    ///
    /// # Errors
    /// A sentence when the markers cannot be placed, or do not fit the request.
    fn from_markers(
        request: &Request,
        scheme: &Scheme,
        parts: &[Part],
        mut set_up: Vec<Option<Params>>,
    ) -> Result<Deployment> {
        let markers = install::place_markers(parts, &request.scheme).map_err(Failure::new)?;
        let mut params_at = |position: Option<usize>| position.and_then(|position| set_up[position].take());
        let (mut marker, user) = (params_at(markers.flow), params_at(markers.user));
        if let (Some(segments), Some(params)) = (request.initial_window, &mut marker) {
            scale_windows(params, segments)?;
        }
        let include = |params: &Option<Params>| {
            params.as_ref().map(|params| resolve_include(params.policy())).transpose()
        };
        let combination =
            Combination { marker: include(&marker)?, user: include(&user)?, queue: Queue::None };
        let trial = spared::plan_trial(request)?;
        if trial != Trial::NONE && marker.is_none() {
            return Err(Failure::new("--ab compares flows, and --marker names no marker of flows"));
        }
        Ok(Deployment {
            scheme: if request.mode == Mode::Mark { request.scheme.clone() } else { scheme.to_string() },
            combination,
            native: None,
            is_shipped: true,
            marker,
            user,
            dropper: None,
            action: Action::NONE,
            shaper: Shaper::None,
            longest_wait: None,
            trial,
        })
    }

    /// Sets what a `mark` does with colours; `root` is the device's root queue discipline.
    ///
    /// # Errors
    /// A sentence when there is no marker, or the kind of mark is not possible here.
    fn set_marks(&mut self, request: &Request, device: &Device, root: Option<&Qdisc>) -> Result<()> {
        if self.marker.is_none() && self.user.is_none() {
            return Err(Failure::new("--marker names no marker"));
        }
        self.action = plan_action(request, root, &device.name)?;
        self.shaper = plan_cake(request)?;
        Ok(())
    }

    /// Sets the queue of an `up --native`: a header, whose parameters are `params`.
    ///
    /// # Errors
    /// A sentence when the queue is no header, cannot be one of the kernel's, or marks packets at an IFB.
    fn set_native_queue(
        &mut self,
        queue: Part,
        values: &BTreeMap<&'static str, String>,
        params: Option<Params>,
        fifo: Fifo,
        is_ifb: bool,
    ) -> Result<()> {
        let Some(params) = params.filter(|params| params.policy().kind() == PolicyKind::Queue) else {
            return Err(Failure::new(format!(
                "--native runs queues that are headers, such as lfp, pias and those of your own, and {} decides what a FIFO takes; \
                 leave --native out",
                queue.name()
            )));
        };
        let queue = Native::new(&params, values)?;
        if queue.marks && is_ifb {
            return Err(Failure::new(format!(
                "--native cannot run {}, which marks packets, at an IFB, since a clone of a packet is not received there; give \
                 ecn=false if the queue has that parameter",
                queue.name
            )));
        }
        self.native = Some(resolve_include(params.policy())?);
        self.shaper = Shaper::Native { fifo, queue };
        self.dropper = Some(params);
        set_classes(&mut self.action, COLOURS as u32);
        Ok(())
    }

    /// Replaces the shaper by an `fq`, in which packets beyond a user's profile wait. `text` is
    /// that of `--shape`.
    ///
    /// # Errors
    /// A sentence for `up`, for a scheme without a profile of users that shapes, and for a wait out
    /// of range.
    fn set_wait(&mut self, text: &str, request: &Request) -> Result<()> {
        if request.mode == Mode::Up || !self.user.as_ref().is_some_and(|params| params.policy().shapes()) {
            return Err(Failure::new(format!(
                "--shape holds packets to a user's traffic profile, and the scheme \"{}\" has none here; tcp-ds and tcp-ds-r have \
                 one",
                request.scheme
            )));
        }
        (self.longest_wait, self.shaper) = (Some(parse_wait(text)?), Shaper::Departures);
        Ok(())
    }

    /// Sets the queue of an `up`: a FIFO whose drops the program decides, or classes of HTB.
    /// `params` are the dropper's.
    ///
    /// # Errors
    /// A sentence when the dropper's header has no path that can be included.
    fn set_queue(&mut self, queue: LiveQueue, params: Option<Params>, fifo: Fifo) -> Result<()> {
        self.shaper = Shaper::Fifo(fifo);
        match queue {
            LiveQueue::Dropper => {
                self.combination.queue = params
                    .as_ref()
                    .map_or(Ok(Queue::None), |params| resolve_include(params.policy()).map(Queue::Dropper))?;
                self.dropper = params;
            }
            LiveQueue::DropTail => self.combination.queue = Queue::DropTail,
            LiveQueue::Classes(colours) => {
                self.shaper = Shaper::Classes { fifo, colours };
                set_classes(&mut self.action, colours);
            }
        }
        Ok(())
    }

    /// Returns what the policies' native code was needed for.
    pub fn decided(&self) -> Decided {
        Decided {
            scheme: self.scheme.clone(),
            params: self.program_params().map(Params::bytes).collect(),
            has_queue: self.combination.queue != Queue::None,
            colours: match self.shaper {
                Shaper::Classes { colours, .. } => Some(colours),
                Shaper::None
                | Shaper::Departures
                | Shaper::Cake(_)
                | Shaper::Fifo(_)
                | Shaper::Native { .. } => None,
            },
            native: match &self.shaper {
                Shaper::Native { queue, .. } => Some(queue.clone()),
                _ => None,
            },
        }
    }

    /// Returns its program objects: the built-in ones, or else compiled now.
    ///
    /// # Errors
    /// A sentence when clang is missing, too old, or rejects one.
    pub fn objects(&self) -> Result<Objects> {
        Ok(Objects {
            egress: object::find_or_compile(&self.combination)?,
            queue: self
                .native
                .as_ref()
                .map(|queue| object::find_or_compile_native(queue, &[]))
                .transpose()?,
        })
    }

    /// Returns whether its marker has slow steps, which an agent runs.
    pub fn needs_agent(&self) -> bool {
        self.marker.as_ref().is_some_and(|params| has_slow_steps(params.policy()))
    }

    /// Returns the program's settings and everything else that is installed, as plain data without
    /// the policies.
    pub(crate) fn plan(&self) -> Plan {
        Plan {
            decided: self.decided(),
            action: self.action,
            shaper: self.shaper.clone(),
            longest_wait: self.longest_wait,
            trial: self.trial,
            needs_agent: self.needs_agent(),
        }
    }

    /// Returns the settings as the program reads them.
    pub fn settings(&self, request: &Request, device: &Device) -> Vec<u8> {
        self.plan().settings(request, device)
    }

    /// Returns a line for each policy, in the scheme's order, with the parameters that are in
    /// force; counts are those scaled by the initial window.
    ///
    /// # Errors
    /// As [`Scheme::parse`], if the scheme's text cannot be parsed again.
    pub fn format_parameters(&self) -> Result<Vec<String>> {
        let text = match &self.shaper {
            Shaper::None | Shaper::Departures | Shaper::Cake(_) => format!("{}|droptail", self.scheme),
            Shaper::Fifo(_) | Shaper::Classes { .. } | Shaper::Native { .. } => self.scheme.clone(),
        };
        let (parts, mut running) = (Scheme::parse(&text)?.parts(), self.params());
        let is_native = matches!(self.shaper, Shaper::Native { .. });
        let policies = parts
            .into_iter()
            .filter(|(part, _)| matches!(part, Part::Policy(_)) && (is_native || !part.is_scheduler()));
        let line = |(part, values): (Part, std::collections::BTreeMap<&str, String>)| {
            let params = running.next();
            let is_count = |name: &str| {
                part.parameters()
                    .iter()
                    .any(|one| one.name == name && one.kind == mousehole_policy::Kind::Count)
            };
            // Counts may have been scaled by the initial window.
            let value = |(name, text): (&&str, &String)| match params.filter(|_| is_count(name)) {
                Some(params) => format!("{name}={}", params.number(name)),
                None => format!("{name}={text}"),
            };
            format!("{}: {}", part.name(), values.iter().map(value).collect::<Vec<_>>().join(", "))
        };
        Ok(policies.map(line).collect())
    }

    /// Returns its policies: marker, marker of users, dropper or native queue.
    pub fn policies(&self) -> Vec<&'static Policy> {
        self.params().map(Params::policy).collect()
    }

    /// Returns the parameters of the policies that the program at the egress runs, in the order of
    /// its settings.
    fn program_params(&self) -> impl Iterator<Item = &Params> {
        let dropper = self.dropper.as_ref().filter(|_| !matches!(self.shaper, Shaper::Native { .. }));
        [self.marker.as_ref(), self.user.as_ref(), dropper].into_iter().flatten()
    }

    /// Returns the parameters of all its policies.
    pub(crate) fn params(&self) -> impl Iterator<Item = &Params> {
        [&self.marker, &self.user, &self.dropper].into_iter().flatten()
    }
}

/// Everything that is installed in addition to the program, with the program's settings.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) decided: Decided,
    pub(crate) action: Action,
    pub(crate) shaper: Shaper,
    pub(crate) longest_wait: Option<Dur>,
    pub(crate) trial: Trial,
    pub(crate) needs_agent: bool,
}

impl Plan {
    /// Works out a request for a device as it is now, from what native code decided before. No
    /// policy is called.
    ///
    /// # Errors
    /// A sentence when a value is not possible here.
    pub(crate) fn new(
        decided: Decided,
        request: &Request,
        device: &Device,
        root: Option<&Qdisc>,
    ) -> Result<Plan> {
        let fifo = plan_fifo(request, device)?;
        let longest_wait = request.shape.as_ref().map(|text| parse_wait(text)).transpose()?;
        let mut plan = Plan {
            action: Action::NONE,
            shaper: Shaper::None,
            longest_wait,
            trial: spared::plan_trial(request)?,
            needs_agent: false,
            decided,
        };
        match (request.mode, plan.decided.colours, &plan.decided.native) {
            (Mode::Mark, ..) => {
                plan.action = plan_action(request, root, &device.name)?;
                plan.shaper = plan_cake(request)?;
            }
            (Mode::Up, _, Some(queue)) => {
                plan.shaper = Shaper::Native { fifo, queue: queue.clone() };
                set_classes(&mut plan.action, COLOURS as u32);
            }
            (Mode::Up, None, None) => plan.shaper = Shaper::Fifo(fifo),
            (Mode::Up, Some(colours), None) => {
                plan.shaper = Shaper::Classes { fifo, colours };
                set_classes(&mut plan.action, colours);
            }
        }
        if longest_wait.is_some() {
            plan.shaper = Shaper::Departures;
        }
        Ok(plan)
    }

    /// Returns the settings as the program reads them: `struct ml_settings`, then the parameters of
    /// each policy and of the FIFO, each aligned to 8 bytes.
    pub(crate) fn settings(&self, request: &Request, device: &Device) -> Vec<u8> {
        let (unit, count) = match self.shaper {
            Shaper::Fifo(Fifo { buffer: Buffer::Packets(packets), .. }) => {
                (layout::PACKETS, u64::from(packets))
            }
            Shaper::Fifo(Fifo { buffer: Buffer::Bytes(bytes), .. }) => (layout::BYTES, bytes),
            Shaper::None
            | Shaper::Departures
            | Shaper::Cake(_)
            | Shaper::Classes { .. }
            | Shaper::Native { .. } => (layout::PACKETS, 0),
        };
        let flag = |flag: u32, is_set: bool| if is_set { flag } else { 0 };
        let first = layout::Settings {
            shadow: u32::from(request.shadow),
            link_header_bytes: device.link_header_bytes,
            flags: flag(layout::USER_IS_DESTINATION, request.user == User::Destination)
                | flag(layout::HAS_TWINS, self.shaper.has_twins()),
            longest_wait_ms: self.longest_wait.map_or(0, |wait| (wait.as_secs() * 1000.0).ceil() as u32),
            limit: layout::Limit { count, unit, reserved: 0 },
            action: self.action,
            trial: self.trial,
        };
        let mut bytes = first.bytes().to_vec();
        for params in &self.decided.params {
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            bytes.extend(params);
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        if self.decided.has_queue
            && let Shaper::Fifo(fifo) = self.shaper
        {
            bytes.extend(mousehole_policy::virtual_fifo_params(fifo.rate.0, fifo.overhead, fifo.burst));
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }
}

/// Returns whether a deployment is at an IFB: of a device's downloads, or one that is there.
fn is_ifb(request: &Request, device: &Device) -> bool {
    request.download.is_some()
        || links::find(&device.name).is_some_and(|link| link.kind.as_deref() == Some("ifb"))
}

/// Fails if the request has options of our own CAKE but installs none.
fn refuse_cake_options(request: &Request) -> Result<()> {
    let values = [("ack_filter", request.ack_filter), ("link_layer", request.link_layer.is_some())];
    match values.into_iter().find(|(_, is_given)| *is_given && !request.is_for_own_cake()) {
        Some((key, _)) => Err(Failure::new(format!(
            "{key} is for the CAKE that `mark` brings with cake = true, and none is brought here"
        ))),
        None => Ok(()),
    }
}

/// Returns the CAKE that a marker installs; no shaper if it installs none.
fn plan_cake(request: &Request) -> Result<Shaper> {
    match request.brings_cake() {
        true => Cake::new(request).map(Shaper::Cake),
        false => Ok(Shaper::None),
    }
}

/// Sets the priority of each colour so that its packets go to its class of our queue discipline.
fn set_classes(action: &mut Action, colours: u32) {
    for (colour, priority) in action.priority.iter_mut().enumerate() {
        *priority = MAJOR | class_minor(colour as u32, colours);
    }
}

/// Returns the longest wait that the text of `--shape` gives.
///
/// # Errors
/// A sentence when it is not a duration from 1 ms to [`LONGEST_WAIT_S`].
fn parse_wait(text: &str) -> Result<Dur> {
    let wait = parse_dur("--shape", text)?;
    match (0.001..=LONGEST_WAIT_S).contains(&wait.as_secs()) {
        true => Ok(wait),
        false => Err(Failure::new(format!(
            "--shape is \"{text}\"; the longest wait must be from 1ms to {LONGEST_WAIT_S}s, such as 2s"
        ))),
    }
}

/// Returns whether a scheme ends in a dropper that reads senders' windows, so that it must run
/// where the senders are. The headers in `policies` are loaded first.
///
/// # Errors
/// A sentence when a header cannot be loaded. A scheme that cannot be parsed gives `false`;
/// [`Deployment::new`] says what is wrong with it.
pub fn has_queue_that_reads_windows(scheme: &str, policies: &[PathBuf]) -> Result<bool> {
    for path in policies {
        mousehole_scheme::load_policy(path)?;
    }
    let is_one = |policy: &&'static Policy| policy.kind() == PolicyKind::Dropper && policy.reads_hints();
    Ok(Scheme::parse(scheme).is_ok_and(|scheme| scheme.policies().iter().any(is_one)))
}

/// Returns the minor number of the class of a colour (0 is green); colours beyond the last class
/// share it. `colours` is at least 1.
pub fn class_minor(colour: u32, colours: u32) -> u32 {
    0x10 + colour.min(colours - 1)
}

/// Parses the scheme of a request; a `mark` has a FIFO behind its markers.
///
/// # Errors
/// A sentence when it is no scheme, has a rate of its own, or shares of a rate that is not given.
fn parse_scheme(request: &Request) -> Result<Scheme> {
    let scheme = Scheme::parse(&match request.mode {
        Mode::Mark => format!("{}|droptail", request.scheme),
        Mode::Up => request.scheme.clone(),
    })?;
    if let Some(shape) = scheme.shape() {
        return Err(Failure::new(format!(
            "the scheme \"{}\" has a rate; give --rate in place of @{shape}",
            request.scheme
        )));
    }
    if request.rate.is_none() {
        install::refuse_shares_of_a_rate(&scheme)?.map_err(Failure::new)?;
    }
    Ok(scheme)
}

/// Returns the FIFO of a request, with defaults from the device. A marker has none, but its
/// parameters may be shares of the rate.
///
/// # Errors
/// A sentence when a value is missing or out of range.
fn plan_fifo(request: &Request, device: &Device) -> Result<Fifo> {
    let rate = match (&request.rate, request.mode) {
        (Some(rate), _) => parse_rate("--rate", rate)?,
        // A marker's parameters do not depend on the rate then.
        (None, Mode::Mark) => LinkContext::EXAMPLE.rate,
        (None, Mode::Up) => {
            return Err(Failure::new(
                "--rate is missing; it must be the rate of the link, a little less than what it carries, \
                                     such as --rate 9500kbit",
            ));
        }
    };
    let buffer = parse_buffer("--buffer", &request.buffer, rate, Dur::from_secs(0.1))?;
    let least = device.mtu + device.link_header_bytes;
    let burst = match &request.burst {
        Some(text) => parse_size("--burst", text)?,
        // One millisecond at the rate, so that timers do not limit it, but at least a few packets or a large one.
        None => (rate.0 / 8 / 1000).max(8000).max(u64::from(least)),
    };
    // A marker has no bucket.
    let is_used = request.mode == Mode::Up || request.burst.is_some();
    if is_used && !(u64::from(least)..=1 << 30).contains(&burst) {
        return Err(Failure::new(format!(
            "--burst is {burst} bytes; it must be from {least} (a frame of {}) to 1073741824",
            device.name
        )));
    }
    let overhead = request.overhead.unwrap_or(device.link_header_bytes);
    // CAKE knows how much of a frame Linux counts, and corrects for it.
    if !request.is_for_own_cake() && (overhead < device.link_header_bytes || overhead > 255) {
        return Err(Failure::new(format!(
            "--overhead is {overhead}; it must be from {} (the link header of {}) to 255",
            device.link_header_bytes, device.name
        )));
    }
    Ok(Fifo { rate, buffer, burst: burst as u32, overhead })
}

/// Multiplies a marker's window thresholds by the initial window, in segments, up to 65535. The
/// published thresholds are for senders whose initial window is one segment (Noureddine & Tobagi,
/// section VI.C). Does nothing for a marker that reads no windows, or if any threshold differs from
/// its default.
///
/// # Errors
/// A sentence when the policy rejects a scaled threshold.
fn scale_windows(params: &mut Params, segments: u32) -> Result<()> {
    let policy = params.policy();
    let is_threshold =
        |parameter: &&mousehole_policy::Parameter| parameter.kind == mousehole_policy::Kind::Count;
    let published = policy.parameters().iter().filter(is_threshold);
    let all: Vec<(&str, f64)> =
        published.filter_map(|one| Some((one.name, one.default.parse().ok()?))).collect();
    if policy.reads_hints() && all.iter().all(|(name, value)| params.number(name) == *value) {
        // Larger thresholds come last in the table. Setting them first keeps the order valid in between.
        for (name, value) in all.into_iter().rev() {
            let scaled = (value * f64::from(segments)).min(65535.0);
            params.set_number(name, scaled).map_err(|error| Failure::new(error.to_string()))?;
        }
    }
    Ok(())
}

/// Returns how packets are marked: as the request says, else by priority before a CAKE at the root
/// or of ours, else by class if the request names classes, else by DSCP.
pub(crate) fn choose_via(request: &Request, root: Option<&Qdisc>) -> Via {
    request.via.unwrap_or(match root.map_or("", |qdisc| qdisc.kind.as_str()) {
        _ if request.brings_cake() => Via::Priority,
        "cake" => Via::Priority,
        _ if !request.classes.is_empty() => Via::Class,
        _ => Via::Dscp,
    })
}

/// Returns the DSCP or priority that packets of each colour get. `device` is for the error.
///
/// # Errors
/// A sentence when the root cannot read the mark, or a DSCP or class is wrong.
pub(crate) fn plan_action(request: &Request, root: Option<&Qdisc>, device: &str) -> Result<Action> {
    let kind = root.map_or("", |qdisc| qdisc.kind.as_str());
    let via = choose_via(request, root);
    let mut action = Action { overrides: u8::from(request.overrides), ..Action::NONE };
    match via {
        Via::Priority if request.brings_cake() => action.priority = [0, MAJOR | BULK, MAJOR | BULK],
        Via::Priority => {
            let cake = root.filter(|qdisc| qdisc.kind == "cake").ok_or_else(|| {
                // Somebody's own queue discipline is never to be replaced.
                let first = match root.is_none_or(Qdisc::is_default) {
                    true => format!(
                        ", or `tc qdisc replace dev {device} root cake bandwidth RATE diffserv4` first"
                    ),
                    false => String::new(),
                };
                Failure::new(format!(
                    "--via priority names a tin of CAKE, but the root of {device} is {}; use --via dscp{first}",
                    if kind.is_empty() { "without a queue discipline" } else { kind }
                ))
            })?;
            if cake.cake.diffserv == "besteffort" {
                return Err(Failure::new(format!(
                    "CAKE at {device} has one tin (besteffort); `tc qdisc change dev {device} root cake diffserv4` gives it a \
                     Bulk tin"
                )));
            }
            action.priority = [0, cake.major() | BULK, cake.major() | BULK];
        }
        Via::Dscp => {
            let all: Vec<u8> = request
                .dscp
                .split(',')
                .map(|text| request::parse_dscp(text.trim()))
                .collect::<Result<_>>()?;
            action.dscp = match all[..] {
                [long] => [KEEP_DSCP, long, long],
                [yellow, red] => [KEEP_DSCP, yellow, red],
                [green, yellow, red] => [green, yellow, red],
                _ => {
                    return Err(Failure::new(format!(
                        "--dscp is \"{}\"; it must be one DSCP (for what is not green), two (yellow, red) or three (green, \
                         yellow, red)",
                        request.dscp
                    )));
                }
            };
            action.dscp[1..].iter().try_for_each(|number| request::refuse_better_service(*number))?;
        }
        Via::Class => {
            let all: Vec<u32> =
                request.classes.iter().map(|text| parse_class_option(text)).collect::<Result<_>>()?;
            action.priority = match all[..] {
                [long] => [0, long, long],
                [yellow, red] => [0, yellow, red],
                [green, yellow, red] => [green, yellow, red],
                _ => {
                    return Err(Failure::new(
                        "--classes has no class; it must be one (for long flows), two (yellow, red) or three (green, yellow, \
                         red), such as --classes 1:30",
                    ));
                }
            };
        }
    }
    Ok(action)
}

/// Returns the number of a class that `--classes` names.
///
/// # Errors
/// A sentence when the text is no class.
fn parse_class_option(text: &str) -> Result<u32> {
    parse_class(text).ok_or_else(|| {
        Failure::new(format!("--classes has \"{text}\"; a class is MAJOR:MINOR in hexadecimal, such as 1:30"))
    })
}

/// Returns the number of a class, `MAJOR:MINOR` in hexadecimal, as `skb->priority` holds it; `None`
/// for other text.
pub(crate) fn parse_class(text: &str) -> Option<u32> {
    text.split_once(':').and_then(|(major, minor)| {
        let major = u32::from_str_radix(major, 16).ok().filter(|number| (1..=0xffff).contains(number))?;
        let minor = u32::from_str_radix(minor, 16).ok().filter(|number| (1..=0xffff).contains(number))?;
        Some(major << 16 | minor)
    })
}

/// Returns whether a policy has slow steps, whose results packets read.
pub fn has_slow_steps(policy: &Policy) -> bool {
    !policy.published().is_empty()
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns an Ethernet device.
    fn device() -> Device {
        Device { name: "w0".into(), index: 1, namespace: 1, address: None, link_header_bytes: 14, mtu: 1500 }
    }

    #[test]
    fn new__refuses_values_of_a_cake_that_nobody_brings() {
        let refuse = |request: Request| {
            let failure = Deployment::new(&request, &device(), None).unwrap_err().to_string();
            assert!(failure.ends_with("with cake = true, and none is brought here"), "{failure}");
        };
        refuse(Request { ack_filter: true, ..Request::new(Mode::Mark) });
        refuse(Request { link_layer: Some("ethernet".into()), ..Request::new(Mode::Up) });
        let rate = Some("5mbit".to_string());
        let own = Request { cake: true, ack_filter: true, rate, ..Request::new(Mode::Mark) };
        assert!(Deployment::new(&own, &device(), None).is_ok());
    }

    #[test]
    fn plan__of_what_was_decided_is_that_of_the_policies() {
        let text = |text: &str| Some(text.to_string());
        let up = |scheme: &str| Request {
            scheme: scheme.into(),
            rate: text("5mbit"),
            buffer: "40kB".into(),
            user: User::Destination,
            ..Request::new(Mode::Up)
        };
        let mark = |scheme: &str| Request { scheme: scheme.into(), ..Request::new(Mode::Mark) };
        for request in [
            up("rio-ps"),
            up("droptail"),
            up("lfp|priority"),
            Request { native: true, ..up("pias") },
            Request { native: true, ..up("fq-codel(ecn=false)") },
            mark("sfd(th=30kB)"),
            Request { shadow: true, dscp: "af11,af12,af13".into(), ..mark("sfd") },
            Request { shape: text("1500ms"), initial_window: Some(10), ..mark("tcp-ds") },
        ] {
            let deployment = Deployment::new(&request, &device(), None).unwrap();
            let kept = serde_json::to_string(&deployment.decided()).unwrap();
            let plan = Plan::new(serde_json::from_str(&kept).unwrap(), &request, &device(), None).unwrap();
            assert_eq!(
                plan.settings(&request, &device()),
                deployment.settings(&request, &device()),
                "{request:?}"
            );
            assert_eq!(
                (&plan.shaper, plan.action, plan.longest_wait),
                (&deployment.shaper, deployment.action, deployment.longest_wait),
                "{request:?}"
            );
        }
    }
}
