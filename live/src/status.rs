//! `status`: says what runs at each device, whether it really runs, and what it counted.

use crate::deployment::Deployment;
use crate::error::Result;
use crate::explain::Rule;
use crate::human::{
    format_bytes, format_count, format_number, format_percent, format_rate, format_span, format_table,
    format_waiting,
};
use crate::layout::{Count, Counters, DROP_REASONS, KEEP_DSCP, Settings};
use crate::observe::{Observed, observe};
use crate::qdisc::{self, Qdisc};
use crate::record::{Attachment, Record};
use crate::request::{Mode, Request};
use crate::{download, kernel, native, netlink, stop};
use mousehole_policy::{Colour, IS_STATIC};
use serde::{Serialize, Serializer};

/// The name and version of the JSON document's format.
pub const FORM: &str = "mousehole-live.status/1";

/// An agent that has not run for longer than this is a problem, s.
const AGENT_SILENT_S: f64 = 10.0;

/// The JSON document of `status --json`. Within one [`FORM`], fields may be added but are neither
/// renamed nor removed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document<'a> {
    /// [`FORM`].
    pub schema: &'static str,
    /// The devices of this namespace, in the order of their indexes.
    pub devices: &'a [Status],
}

/// The state of what a command started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The program is attached.
    Running,
    /// The record is there, but the program is not attached.
    Stopped,
    /// A command was killed before it was finished.
    Incomplete,
}

/// One device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// Its name.
    pub device: String,
    /// Its interface index.
    pub index: u32,
    /// Whether the program runs.
    pub state: State,
    /// What is wrong, one sentence each, with the remedy.
    pub problems: Vec<String>,
    /// What the record and the maps say; leftovers of a killed command have none.
    #[serde(flatten)]
    pub details: Option<Details>,
}

/// What the record and the maps of a device say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Details {
    /// `mark` or `up`.
    pub mode: Mode,
    /// The scheme or marker.
    pub scheme: String,
    /// Whether it only decides and counts.
    pub shadow: bool,
    /// Rate of the queue, as given; for `mark` that of the link. Null if it was not given.
    pub rate: Option<String>,
    /// Buffer of the queue, as given; null for `mark`.
    pub buffer: Option<String>,
    /// When it was started, seconds since 1970.
    pub since: u64,
    /// How long ago that was, s.
    pub running_s: u64,
    /// The command that started it.
    pub command: Vec<String>,
    /// How long ago `tune` last changed it, s; null if it never did.
    pub tuned_s: Option<u64>,
    /// The policies with the parameters in force, those of `tune` included. Empty when the device
    /// is gone, or has changed so much that they cannot be determined, which `problems` says then.
    pub rules: Vec<Rule>,
    /// The longest time that packets beyond a user's profile wait for tokens, s; null if they are
    /// policed.
    pub longest_wait_s: Option<f64>,
    /// Version of the command that started it.
    pub version: String,
    /// `tcx` or `clsact`; null before it was attached.
    pub attachment: Option<&'static str>,
    /// The kernel's number of the link; null under clsact.
    pub link_id: Option<u32>,
    /// The kernel's number of the program that is attached; null if none is.
    pub program_id: Option<u32>,
    /// The queue discipline at the device's root: kind and handle; null when the device is gone.
    pub root: Option<String>,
    /// Whether that queue discipline is the one that we added; null if we added none.
    pub root_is_ours: Option<bool>,
    /// Seconds until everything is taken back; null if nothing waits for confirmation.
    pub unconfirmed_s: Option<u64>,
    /// Whether the scheme needs an agent; null when the device is gone or its rules cannot be
    /// determined.
    pub agent_needed: Option<bool>,
    /// Seconds since the agent last ran; null if it never did.
    pub agent_seen_s: Option<f64>,
    /// The active slot of settings.
    pub active_slot: u32,
    /// What is done with long flows, as text.
    pub action: String,
    /// How many flows the flow table can hold.
    pub flows_most: u32,
    /// Counters since the start.
    pub counters: Counted,
    /// The counters of the native queue; null if none runs.
    pub native: Option<native::Counted>,
}

/// A number of packets and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
pub struct Amount {
    /// Packets on the wire.
    pub packets: u64,
    /// IP bytes.
    pub bytes: u64,
}

/// Amounts by name, in a fixed order; an object in JSON.
pub type Named = Vec<(&'static str, Amount)>;

/// Serialises named amounts as an object, in their order.
fn serialize_as_object<S: Serializer>(named: &Named, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(named.iter().copied())
}

/// The program's counters, by name.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct Counted {
    /// By kind of frame: `ipv4`, `ipv6`, `not-ip`, `malformed`. `fragments` and `super-packets` are
    /// counted among the former as well.
    #[serde(serialize_with = "serialize_as_object")]
    pub kinds: Named,
    /// By colour.
    #[serde(serialize_with = "serialize_as_object")]
    pub colours: Named,
    /// Dropped, by colour.
    #[serde(serialize_with = "serialize_as_object")]
    pub colours_dropped: Named,
    /// Dropped, by reason.
    #[serde(serialize_with = "serialize_as_object")]
    pub dropped: Named,
    /// Marked CE.
    pub ce_marked: Amount,
    /// Packets left alone because they were marked before they came here.
    pub already_marked: Amount,
    /// Packets held until they had tokens.
    pub held: Amount,
    /// The mean wait of these, s; null if there were none.
    pub mean_wait_s: Option<f64>,
    /// Flows that were new to the table.
    pub new_flows: u64,
    /// Packets that found no room in the table.
    pub without_state: u64,
    /// Packets that passed without a decision because a lock stayed taken.
    pub lock_busy: u64,
}

impl From<Count> for Amount {
    fn from(count: Count) -> Amount {
        Amount { packets: count.packets, bytes: count.bytes }
    }
}

impl From<&Counters> for Counted {
    fn from(counters: &Counters) -> Counted {
        let by_colour = |counts: &[Count]| {
            Colour::ALL.iter().zip(counts).map(|(colour, count)| (colour.name(), (*count).into())).collect()
        };
        Counted {
            kinds: vec![
                ("ipv4", counters.ipv4.into()),
                ("ipv6", counters.ipv6.into()),
                ("not-ip", counters.not_ip.into()),
                ("malformed", counters.malformed.into()),
                ("fragments", counters.fragments.into()),
                ("super-packets", counters.super_packets.into()),
            ],
            colours: by_colour(&counters.colour),
            colours_dropped: by_colour(&counters.colour_dropped),
            dropped: DROP_REASONS
                .iter()
                .zip(counters.dropped)
                .map(|(name, count)| (*name, count.into()))
                .collect(),
            ce_marked: counters.ce_marked.into(),
            already_marked: counters.already_marked.into(),
            held: counters.held.into(),
            mean_wait_s: (counters.held.packets > 0)
                .then(|| counters.held_ns as f64 / 1e9 / counters.held.packets as f64),
            new_flows: counters.new_flows,
            without_state: counters.without_state,
            lock_busy: counters.lock_busy,
        }
    }
}

/// Returns the status of one device and its downloads, or of all devices.
///
/// # Errors
/// A sentence when there is no BPF file system, or nothing of ours is at the device.
pub fn read_status(only: Option<&str>) -> Result<Vec<Status>> {
    Ok(observe(only)?.iter().map(inspect).collect())
}

/// The state of a device in the terms and exit statuses of the Monitoring Plugins' guidelines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// Everything runs as requested.
    Ok,
    /// It runs, and will be taken back unless it is confirmed.
    Warning,
    /// It does not run, or not as requested.
    Critical,
    /// It cannot be read.
    Unknown,
}

impl Health {
    /// Returns the guidelines' name for it.
    fn label(self) -> &'static str {
        ["OK", "WARNING", "CRITICAL", "UNKNOWN"][self as usize]
    }
}

/// Returns the worst health of one device or of all of this namespace, and a line for each. A
/// device without anything of ours is critical, and so is a namespace without any.
pub fn check_health(only: Option<&str>) -> (Health, Vec<String>) {
    let say = |health: Health, what: &str| format!("{} - {what}", health.label());
    let all = match observe(None) {
        Ok(all) => all,
        Err(failure) => return (Health::Unknown, vec![say(Health::Unknown, &failure.to_string())]),
    };
    let is_of = |one: &&Observed, name: &str| one.title() == name || one.title() == download::ifb_name(name);
    let wanted = all.iter().filter(|one| only.is_none_or(|name| is_of(one, name)));
    let judged: Vec<(Health, String)> = wanted.map(inspect).map(|one| judge(&one)).collect();
    if judged.is_empty() {
        let place = only.map_or("in this network namespace".into(), |name| format!("at {name}"));
        return (Health::Critical, vec![say(Health::Critical, &format!("nothing of ours is {place}"))]);
    }
    let worst = judged.iter().map(|(health, _)| *health).max().unwrap_or(Health::Critical);
    (worst, judged.iter().map(|(health, what)| say(*health, what)).collect())
}

/// Returns a device's health and its sentence: critical if it does not run or has a problem, a
/// warning while it waits for confirmation.
fn judge(one: &Status) -> (Health, String) {
    let what = one.details.as_ref().map_or(String::new(), |details| {
        let word = if details.mode == Mode::Mark { "mark" } else { "up" };
        let shadow = if details.shadow { ", shadow" } else { "" };
        format!("{word} {}{shadow}", details.scheme)
    });
    let waits = one.details.as_ref().and_then(|details| details.unconfirmed_s);
    match (one.state, one.problems.as_slice(), waits) {
        (State::Running, [], None) => {
            (Health::Ok, format!("{}: {what} runs since {}", one.device, format_span(running_s(one) as f64)))
        }
        (State::Running, [], Some(seconds)) => {
            let end = format!("is taken back in {seconds} s unless it is confirmed");
            (Health::Warning, format!("{}: {what} {end}", one.device))
        }
        (_, problems, _) => {
            let problems = if problems.is_empty() { "it does not run".into() } else { problems.join("; ") };
            (Health::Critical, format!("{}: {problems}", one.device))
        }
    }
}

/// Returns for how many seconds it has run; 0 without details.
fn running_s(one: &Status) -> u64 {
    one.details.as_ref().map_or(0, |details| details.running_s)
}

/// Returns the JSON document.
pub fn format_json(all: &[Status]) -> String {
    serde_json::to_string_pretty(&Document { schema: FORM, devices: all }).expect("plain data is written")
}

/// Returns the status of an observed device. What cannot be read is a problem in it, or `None`. The
/// user's policies are loaded for their parameters, except in a static build.
fn inspect(one: &Observed) -> Status {
    let (device, index) = (one.title(), one.index);
    match Present::read(one) {
        Ok(present) => Status {
            state: if present.is_running { State::Running } else { State::Stopped },
            problems: present.list_problems(),
            details: Some(present.describe()),
            device,
            index,
        },
        Err(killed) => Status {
            state: State::Incomplete,
            problems: vec![format!(
                "a command was killed {killed}; `mousehole-live down {device}` removes what it left"
            )],
            details: None,
            device,
            index,
        },
    }
}

/// What is at a device, by its record, its maps and the kernel.
struct Present<'a> {
    one: &'a Observed,
    record: &'a Record,
    active_slot: u32,
    settings: Settings,
    counters: Counters,
    is_running: bool,
    running_s: u64,
    qdiscs: Vec<Qdisc>,
    /// What the request is for the device as it is now; `Ok(None)` if that cannot be asked.
    deployment: Result<Option<Deployment>>,
    /// How long ago the agent last ran, s; `None` if it never did.
    agent_seen_s: Option<f64>,
}

impl<'a> Present<'a> {
    /// Reads it.
    ///
    /// # Errors
    /// The clause that says when a command was killed, if the record or the tables are incomplete.
    fn read(one: &'a Observed) -> std::result::Result<Present<'a>, &'static str> {
        let record = one.record.as_ref().ok_or("before it wrote what it would do")?;
        let tables = (one.place.control(), one.settings(), one.counters());
        let (Ok(control), Ok(settings), Ok(counters)) = tables else {
            return Err("before its tables were complete");
        };
        let agent = one.agent().unwrap_or_default();
        let agent_idle_ns = kernel::monotonic_ns().saturating_sub(agent.seen_ns);
        // A static build cannot load the user's own policies, so it cannot say their parameters, even if they run.
        let is_unknown = IS_STATIC && !record.request.policy.is_empty();
        let here = one.name.as_ref();
        Ok(Present {
            one,
            record,
            active_slot: control.active & 1,
            settings,
            counters,
            is_running: stop::is_running(&one.place, record),
            running_s: kernel::boot_s().saturating_sub(record.started_s),
            qdiscs: here.and_then(|_| netlink::list_qdiscs(one.index).ok()).unwrap_or_default(),
            deployment: if is_unknown { Ok(None) } else { one.deployment() },
            agent_seen_s: (agent.seen_ns > 0).then_some(agent_idle_ns as f64 / 1e9),
        })
    }

    /// Returns the queue discipline at the root; `None` if there is none or the device is gone.
    fn root(&self) -> Option<&Qdisc> {
        qdisc::find_root(&self.qdiscs)
    }

    /// Returns the root as `kind handle`; `None` as [`Present::root`].
    fn name_root(&self) -> Option<String> {
        self.root().map(|root| format!("{} {}", root.kind, root.handle))
    }

    /// Returns what is planned; `None` if that cannot be determined.
    fn plan(&self) -> Option<&Deployment> {
        self.deployment.as_ref().ok()?.as_ref()
    }

    /// Returns whether the program only decides and counts.
    fn is_shadow(&self) -> bool {
        self.settings.shadow != 0
    }

    /// Returns what is wrong, with the remedies; empty if nothing is.
    fn list_problems(&self) -> Vec<String> {
        let mut all: Vec<String> = self.find_stop().into_iter().collect();
        all.extend(self.find_other_root());
        all.extend(self.find_missing_tin());
        if let Some(why) = &self.record.paused {
            all.push(format!("it is paused and changes no packet: {why}"));
        }
        if let Some(by) = self.record.confirm_by.filter(|by| kernel::boot_s() > by + 5) {
            all.push(format!(
                "it waits for confirmation since {}, and its timer is gone; `mousehole-live confirm {}` or `down`",
                format_span((kernel::boot_s() - by) as f64),
                self.one.title()
            ));
        }
        all.extend(self.find_missing_fq());
        if let Err(failure) = &self.deployment {
            all.push(format!(
                "the parameters in force cannot be determined, as the device is now; {failure}"
            ));
        }
        all.extend(self.find_silent_agent());
        all
    }

    /// Returns why nothing runs, or why what runs is not complete; `None` if it runs as it should.
    fn find_stop(&self) -> Option<String> {
        let is_attached = self.record.attachment.is_some();
        let link = || kernel::read_pinned_link(&self.one.place.link());
        let what = match (self.is_running, self.one.name.is_some()) {
            (false, false) => "the device is gone or in another network namespace, so nothing runs",
            (false, true) if link().is_ok() => "the link was detached by somebody, so nothing runs",
            (false, true) if is_attached => "the program was removed by somebody, so nothing runs",
            (false, true) => "a command was killed before it attached the program",
            (true, false) => "the device moved to another network namespace and the program with it",
            (true, true) if !is_attached => "a command was killed after it attached the program",
            (true, true) => return None,
        };
        Some(format!("{what}; `mousehole-live down {}` removes what is left", self.one.title()))
    }

    /// Returns the problem that our queue discipline is not at the root any more, if so.
    fn find_other_root(&self) -> Option<String> {
        let handle = self.record.added_handle.as_ref()?;
        let is_gone = self.one.name.is_some() && self.root().is_none_or(|root| &root.handle != handle);
        is_gone.then(|| {
            format!(
                "the qdisc {handle} that belongs to it is gone, and at the root is {}; `down` and the command start afresh",
                self.name_root().unwrap_or("nothing".into())
            )
        })
    }

    /// Returns the problem that marks name a tin of a queue discipline that is not at the root, if so.
    fn find_missing_tin(&self) -> Option<String> {
        let (record, handle) = (self.record, self.settings.action.priority[1] & 0xffff_0000);
        let names_tin = record.request.mode == Mode::Mark
            && record.request.classes.is_empty()
            && record.added_handle.is_none()
            && handle != 0;
        let is_missing =
            names_tin && self.one.name.is_some() && self.root().is_none_or(|root| root.major() != handle);
        is_missing.then(|| {
            format!(
                "marks name a tin of {}, but at the root is {}, which ignores them; `down` and the command start afresh",
                qdisc::format_id(handle),
                self.name_root().unwrap_or("nothing".into())
            )
        })
    }

    /// Returns the problem that packets are to wait for tokens, but no queue discipline holds them,
    /// if so.
    fn find_missing_fq(&self) -> Option<String> {
        let is_held = self.settings.longest_wait_ms == 0
            || self.is_shadow()
            || !qdisc::find_departure_qdiscs(&self.qdiscs).is_empty();
        let root = self.root().map_or("nothing", |root| root.kind.as_str());
        // If our own queue discipline is gone, another problem says so already.
        (!is_held && self.one.name.is_some() && self.record.added_handle.is_none()).then(|| {
            format!(
                "packets are to wait for tokens, but at the root is {root} without fq, which sends them at once; `down` and the \
                 command start afresh"
            )
        })
    }

    /// Returns the problem that the scheme needs an agent, which does not run, if so.
    fn find_silent_agent(&self) -> Option<String> {
        // An agent that has just been started has not run yet either.
        let silent_s = self.agent_seen_s.unwrap_or(self.running_s as f64);
        let is_needed = self.is_running && self.plan().is_some_and(Deployment::needs_agent);
        (is_needed && silent_s > AGENT_SILENT_S).then(|| {
            let when = self.agent_seen_s.map_or("was never at work".into(), |seconds| {
                format!("was last at work {} ago", format_span(seconds))
            });
            format!(
                "the agent {when}; the program goes on with the values it has, and `mousehole-live agent {}` starts it",
                self.one.title()
            )
        })
    }

    /// Returns what the record and the maps say.
    fn describe(&self) -> Details {
        let (record, settings, place) = (self.record, &self.settings, &self.one.place);
        let request = &record.request;
        let is_root = |handle| self.root().is_some_and(|root| &root.handle == handle);
        Details {
            mode: request.mode,
            scheme: request.scheme.clone(),
            shadow: self.is_shadow(),
            rate: request.rate.clone(),
            buffer: (request.mode == Mode::Up).then(|| request.buffer.clone()),
            since: record.since,
            running_s: self.running_s,
            command: record.command.clone(),
            tuned_s: record.tuned.map(|at| kernel::boot_s().saturating_sub(at)),
            rules: self.plan().map(list_rules).unwrap_or_default(),
            longest_wait_s: (settings.longest_wait_ms > 0).then(|| f64::from(settings.longest_wait_ms) / 1e3),
            version: record.version.clone(),
            attachment: match record.attachment {
                Some(Attachment::Tcx) => Some("tcx"),
                Some(Attachment::Clsact { .. }) => Some("clsact"),
                None => place.link().exists().then_some("tcx"),
            },
            link_id: kernel::read_pinned_link(&place.link()).ok().map(|info| info.id),
            program_id: stop::find_program(place, record).filter(|_| self.is_running),
            root: self.name_root(),
            root_is_ours: record.added_handle.as_ref().map(is_root),
            unconfirmed_s: record.confirm_by.map(|by| by.saturating_sub(kernel::boot_s())),
            agent_needed: self.plan().map(Deployment::needs_agent),
            agent_seen_s: self.agent_seen_s,
            active_slot: self.active_slot,
            action: describe_action(request, self.is_shadow(), &settings.action)
                + &format_waiting(settings.longest_wait_ms, self.is_shadow()),
            flows_most: request.flows,
            counters: Counted::from(&self.counters),
            native: native::read_counters(place),
        }
    }
}

/// Returns the policies of a deployment with their parameters.
fn list_rules(deployment: &Deployment) -> Vec<Rule> {
    deployment.params().map(|params| Rule::new(params, None)).collect()
}

/// Returns what is done with packets of long flows, or by the queue with packets that it refuses. A
/// shadow changes nothing.
pub(crate) fn describe_action(request: &Request, shadow: bool, action: &crate::layout::Action) -> String {
    let queue = request.mode == Mode::Up && action.priority[1] == 0;
    let what = match (action.priority[1], action.dscp[1]) {
        _ if queue => "the queue drops or marks CE".into(),
        (0, KEEP_DSCP) => "nothing is changed".to_string(),
        (0, dscp) => format!("long flows get DSCP {dscp}"),
        (_, _) => {
            let given = action.priority.iter().filter(|priority| **priority != 0);
            let mut all: Vec<String> = given.map(|priority| qdisc::format_id(*priority)).collect();
            all.dedup();
            match action.priority[0] {
                0 => format!("long flows go to {}", all.join(", ")),
                _ => format!("colours go to {}", all.join(", ")),
            }
        }
    };
    let marks = match action.overrides {
        _ if queue => "",
        0 => "; marks of others are respected",
        _ => "; marks of others are replaced",
    };
    match shadow {
        true => "nothing is changed (shadow: it decides and counts only)".into(),
        false => format!("{what}{marks}"),
    }
}

/// Returns the lines of `status` for the terminal. `before` holds an earlier status and how many
/// seconds ago it was taken; with it, rates are shown.
pub fn format_text(all: &[Status], before: Option<(&[Status], f64)>) -> Vec<String> {
    if all.is_empty() {
        return vec![
            "nothing of ours is in this network namespace; `mousehole-live mark DEV` or `up DEV` starts it"
                .into(),
        ];
    }
    let mut lines = Vec::new();
    for one in all {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let earlier = before.and_then(|(all, seconds)| {
            let found = all.iter().find(|other| other.index == one.index)?;
            Some((&found.details.as_ref()?.counters, seconds))
        });
        lines.extend(format_device(one, earlier));
    }
    lines
}

/// Returns the lines about one device; without details only its problems. `before` holds earlier
/// counters and how many seconds ago they were read.
fn format_device(one: &Status, before: Option<(&Counted, f64)>) -> Vec<String> {
    let Some(details) = &one.details else {
        let mut lines = vec![format!("{}: incomplete", one.device)];
        lines.extend(one.problems.iter().map(|problem| format!("  PROBLEM   {problem}")));
        return lines;
    };
    let word = if details.mode == Mode::Mark { "mark" } else { "up" };
    let queue = match (&details.rate, &details.buffer) {
        (Some(rate), Some(buffer)) => format!(" at {rate}, buffer {buffer}"),
        (Some(rate), None) => format!(" for a link of {rate}"),
        _ => String::new(),
    };
    let shadow = if details.shadow { ", shadow" } else { "" };
    let state = match one.state {
        State::Running => format!("running for {}", format_span(details.running_s as f64)),
        _ => "NOT RUNNING".to_string(),
    };
    let mut lines = vec![format!("{}: {word} {}{queue}{shadow}: {state}", one.device, details.scheme)];
    lines.extend(one.problems.iter().map(|problem| format!("  PROBLEM   {problem}")));
    if let Some(seconds) = details.unconfirmed_s.filter(|seconds| *seconds > 0) {
        lines.push(format!(
            "  WAITING   taken back in {seconds} s unless `mousehole-live confirm {}` comes first",
            one.device
        ));
    }
    let (program, words) =
        details.command.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let program = program.rsplit('/').next().unwrap_or_default();
    let tuned =
        details.tuned_s.map_or(String::new(), |ago| format!(" (tuned {} ago)", format_span(ago as f64)));
    lines.push(format!("  command   {program} {}{tuned}", words.join(" ")));
    lines.extend(details.rules.iter().map(|rule| format!("  in force  {}", rule.format_settings())));
    let link = match (details.attachment, details.link_id) {
        (Some(kind), Some(id)) => format!("{kind} link {id}"),
        (Some(kind), None) => kind.to_string(),
        (None, _) => "not attached".to_string(),
    };
    let program = details.program_id.map_or(String::new(), |id| format!(", program {id}"));
    let root = match (&details.root, details.root_is_ours) {
        (Some(root), Some(true)) => format!(", root qdisc {root} (ours)"),
        (Some(root), _) => format!(", root qdisc {root}"),
        (None, _) => String::new(),
    };
    lines.push(format!("  attached  {link}{program}{root}, settings slot {}", details.active_slot));
    lines.push(format!("  action    {}", details.action));
    let agent = match (details.agent_needed, details.agent_seen_s) {
        (Some(false), None) => Some("no agent needed".to_string()),
        (None, None) => None,
        (Some(true), None) => Some("NOT SEEN, but needed".to_string()),
        (_, Some(seconds)) => Some(format!("last at work {} ago", format_span(seconds))),
    };
    lines.extend(agent.map(|agent| format!("  agent     {agent}")));
    lines.extend(details.native.as_ref().map(|counted| format!("  queue     {}", format_native(counted))));
    lines.extend(format_counters(&details.counters, before));
    lines
}

/// Returns the counters of a native queue, for people; reasons of drops and faults that are 0 are
/// left out.
fn format_native(counted: &native::Counted) -> String {
    let mut parts = vec![format!("sent {} packets", format_number(counted.sent.iter().sum()))];
    let rest = [
        ("marked CE", counted.marked),
        ("dropped early", counted.dropped_early),
        ("dropped for want of room", counted.dropped_forced),
        ("dropped for want of memory", counted.without_memory),
        ("answers at fault: the policy stalls", counted.faults),
    ];
    parts.extend(
        rest.iter()
            .filter(|(_, count)| *count > 0)
            .map(|(what, count)| format!("{} {what}", format_number(*count))),
    );
    parts.join(", ")
}

/// Returns the table of counters without uninformative rows of zeros, and the sentences below it.
/// `before` holds earlier counters and how many seconds ago they were read.
fn format_counters(now: &Counted, before: Option<(&Counted, f64)>) -> Vec<String> {
    let mut rows = vec![vec!["  ".to_string(), "packets".into(), "bytes".into(), "dropped".into()]];
    if before.is_some() {
        rows[0].extend(["packets/s".to_string(), "rate".into()]);
    }
    let mut row = |name: &str, amount: Amount, dropped: Option<u64>, earlier: Option<(Amount, f64)>| {
        let mut cells = vec![
            format!("  {name}"),
            format_number(amount.packets),
            format_bytes(amount.bytes as f64),
            dropped.map_or(String::new(), |packets| match packets {
                0 => "0".into(),
                _ => format!("{} ({})", format_number(packets), format_percent(packets, amount.packets)),
            }),
        ];
        if let Some((earlier, seconds)) = earlier {
            let per_second = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds.max(1e-3);
            cells.push(format_number(per_second(amount.packets, earlier.packets).round() as u64));
            cells.push(format_rate((per_second(amount.bytes, earlier.bytes) * 8.0).round()));
        }
        rows.push(cells);
    };
    let names = ["IPv4", "IPv6", "not IP", "malformed", "in fragments", "in super-packets"];
    for (index, (_, amount)) in now.kinds.iter().enumerate() {
        if amount.packets > 0 || index == 0 {
            row(
                names[index],
                *amount,
                None,
                before.map(|(before, seconds)| (before.kinds[index].1, seconds)),
            );
        }
    }
    for (index, (name, amount)) in now.colours.iter().enumerate() {
        if amount.packets > 0 || index < 2 {
            let dropped = Some(now.colours_dropped[index].1.packets);
            row(name, *amount, dropped, before.map(|(before, seconds)| (before.colours[index].1, seconds)));
        }
    }
    let mut lines = format_table(&rows, &[0]);
    let reasons: Vec<String> = now
        .dropped
        .iter()
        .filter(|(_, amount)| amount.packets > 0)
        .map(|(name, amount)| format!("{} {}", format_number(amount.packets), name.replace('-', " ")))
        .collect();
    if !reasons.is_empty() {
        lines.push(format!("  drops     {}", reasons.join(", ")));
    }
    let mut rest = vec![format_count(now.new_flows, "new flow")];
    if let Some(seconds) = now.mean_wait_s {
        rest.push(format!(
            "{} held back for tokens, {} each on average",
            format_count(now.held.packets, "packet"),
            format_span(seconds)
        ));
    }
    for (packets, what) in [
        (now.ce_marked.packets, "marked CE"),
        (now.already_marked.packets, "left alone because somebody had marked them"),
        (now.without_state, "without room in the table of flows"),
        (now.lock_busy, "passed undecided while another CPU held a lock"),
    ] {
        if packets > 0 {
            rest.push(format!("{} {what}", format_count(packets, "packet")));
        }
    }
    lines.push(format!("  also      {}", rest.join(", ")));
    lines
}

/// Returns the status of a device for the tests of this module and others.
#[cfg(test)]
pub(crate) fn sample() -> Status {
    let count = |packets: u64| Count { packets, bytes: packets * 1000 };
    let counters = Counters {
        ipv4: count(1200),
        malformed: count(3),
        colour: [count(900), count(300), count(0)],
        colour_dropped: [count(0), count(30), count(0)],
        dropped: [count(10), count(0), count(20), count(0)],
        already_marked: count(1),
        held: count(4),
        held_ns: 6_000_000_000,
        new_flows: 1,
        ..Counters::default()
    };
    let details = Details {
        mode: Mode::Up,
        scheme: "s-sfd".into(),
        shadow: false,
        rate: Some("1mbit".into()),
        buffer: Some("20p".into()),
        since: 1_700_000_000,
        running_s: 8040,
        command: ["mousehole-live", "up", "wan"].map(String::from).to_vec(),
        tuned_s: Some(90),
        rules: vec![Rule::sample()],
        longest_wait_s: None,
        version: "0.1.0".into(),
        attachment: Some("tcx"),
        link_id: Some(12),
        program_id: Some(431),
        root: Some("tbf 6d48:".into()),
        root_is_ours: Some(true),
        unconfirmed_s: Some(42),
        agent_needed: Some(true),
        agent_seen_s: Some(3.2),
        active_slot: 1,
        action: "the queue drops or marks CE".into(),
        flows_most: 1024,
        counters: Counted::from(&counters),
        native: None,
    };
    let problems = vec!["the sky is low".into()];
    Status { device: "wan".into(), index: 7, state: State::Running, problems, details: Some(details) }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::layout::Action;

    #[test]
    fn screen__says_what_runs_and_what_it_counted() {
        assert_eq!(
            format_text(&[sample()], None),
            [
                "wan: up s-sfd at 1mbit, buffer 20p: running for 2 h 14 min",
                "  PROBLEM   the sky is low",
                "  WAITING   taken back in 42 s unless `mousehole-live confirm wan` comes first",
                "  command   mousehole-live up wan (tuned 1 min 30 s ago)",
                "  in force  sfd: th = 30 kB, timeout = 1 s",
                "  attached  tcx link 12, program 431, root qdisc tbf 6d48: (ours), settings slot 1",
                "  action    the queue drops or marks CE",
                "  agent     last at work 3.2 s ago",
                "             packets   bytes    dropped",
                "  IPv4         1,200  1.2 MB",
                "  malformed        3    3 kB",
                "  green          900  900 kB          0",
                "  yellow         300  300 kB  30 (10 %)",
                "  drops     10 early, 20 full buffer",
                "  also      1 new flow, 4 packets held back for tokens, 1.5 s each on average, 1 packet left alone because somebody had marked them",
            ]
        );
    }

    #[test]
    fn watch__adds_rates_per_second() {
        let (before, mut now) = (sample(), sample());
        let counters = &mut now.details.as_mut().unwrap().counters;
        counters.colours[1].1.packets += 100;
        counters.colours[1].1.bytes += 125_000;
        let lines = format_text(&[now], Some((&[before], 2.0)));
        let yellow = lines.iter().find(|line| line.starts_with("  yellow")).unwrap();
        assert!(yellow.ends_with("50  500 kbit/s"), "{yellow}");
    }

    #[test]
    fn json__has_counters_by_name() {
        let parsed: serde_json::Value = serde_json::from_str(&format_json(&[sample()])).unwrap();
        assert_eq!(parsed["schema"], FORM);
        let device = &parsed["devices"][0];
        assert_eq!((&device["state"], &device["mode"]), (&"running".into(), &"up".into()));
        assert_eq!(device["counters"]["kinds"]["malformed"]["packets"], 3);
        assert_eq!(device["counters"]["colours_dropped"]["yellow"]["bytes"], 30_000);
        assert_eq!(device["counters"]["dropped"]["full-buffer"]["packets"], 20);
        assert_eq!(device["unconfirmed_s"], 42);
    }

    #[test]
    fn health__is_the_worst_of_what_is_there() {
        let with = |change: fn(&mut Status)| {
            let mut one = sample();
            one.problems.clear();
            one.details.as_mut().unwrap().unconfirmed_s = None;
            change(&mut one);
            judge(&one)
        };
        assert_eq!(with(|_| {}), (Health::Ok, "wan: up s-sfd runs since 2 h 14 min".into()));
        let waits = with(|one| one.details.as_mut().unwrap().unconfirmed_s = Some(42));
        assert_eq!(waits.1, "wan: up s-sfd is taken back in 42 s unless it is confirmed");
        assert_eq!(
            with(|one| one.problems.push("no root".into())),
            (Health::Critical, "wan: no root".into())
        );
        assert_eq!(with(|one| one.state = State::Stopped).0, Health::Critical);
        assert!(Health::Unknown > Health::Critical && waits.0 == Health::Warning);
    }

    #[test]
    fn nothing_here__is_said_with_what_starts_it() {
        assert!(format_text(&[], None)[0].starts_with("nothing of ours"));
    }

    #[test]
    fn actions__are_described_in_words() {
        let mark = Request::new(Mode::Mark);
        let dscp = Action { dscp: [KEEP_DSCP, 1, 1], ..Action::NONE };
        assert_eq!(
            describe_action(&mark, false, &dscp),
            "long flows get DSCP 1; marks of others are respected"
        );
        let tin = Action { priority: [0, 0x8001_0001, 0x8001_0001], overrides: 1, ..Action::NONE };
        assert_eq!(
            describe_action(&mark, false, &tin),
            "long flows go to 8001:1; marks of others are replaced"
        );
        assert!(describe_action(&mark, true, &dscp).contains("shadow"));
        assert_eq!(format_waiting(0, false) + &format_waiting(2000, true), "", "policed, or a shadow");
        assert_eq!(
            format_waiting(1500, false),
            "; packets beyond a user's profile wait for tokens, at most 1.5 s"
        );
        assert_eq!(
            describe_action(&Request::new(Mode::Up), false, &Action::NONE),
            "the queue drops or marks CE"
        );
    }
}
