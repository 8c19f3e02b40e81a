//! Plans how to install a scheme on a link: commands for Linux, or thresholds for a router's WRED; or why nothing does it.
//!
//! Each part describes what installs it: in its header (`install`, `colours` and `key` of `policy.h`), or in its entry in
//! `parts/`. A plan combines them. `mousehole compare`, the documents and `mousehole-live` read this; nothing here touches a
//! file or a device.

pub mod line;
pub mod live;
pub mod wred;

use crate::catalogue::{Part, Role};
use crate::scheme::Scheme;
use crate::values::Values;
pub use line::{Install, Line, Qdisc};
pub use live::{LiveCommand, LiveQueue, Markers, Verb, place_markers, place_queue, refuse_shares_of_a_rate};
use live::{NATIVE, NOTHING_SCHEDULES};
pub use wred::WredProfile;
use wred::{LOWER_EFFORT, Texts};

/// DSCPs that CAKE's diffserv3 sorts into its tins Voice, Best Effort and Bulk: EF, the default, LE.
const TIN_DSCPS: [u8; 3] = [46, 0, LOWER_EFFORT];
/// The requirements of our programs.
const LIVE_NEEDS: &str = "Linux 6.1 or later and mousehole-live";

/// The requirements of a firewall's rule.
const FIREWALL_NEEDS: &str = "nftables with connection tracking";

/// The kind of system on which a scheme is installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Linux.
    Linux,
    /// A router with WRED, and Linux or a firewall before it that marks.
    Router,
}

impl Place {
    /// Returns its name in sentences.
    pub fn name(self) -> &'static str {
        match self {
            Place::Linux => "Linux",
            Place::Router => "a router with WRED",
        }
    }
}

/// The steps that install a scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The kind of system.
    pub place: Place,
    /// The lines to type or to configure there. DEV stands for the device; a line that begins with # is a remark.
    pub lines: Vec<String>,
    /// The command of `mousehole-live` in it, if there is one.
    pub live: Option<LiveCommand>,
    /// The profiles of a router's WRED, best colour first; none for other queues.
    pub wred: Vec<WredProfile>,
    /// The kernels and programs required.
    pub needs: Vec<String>,
}

/// Returns the installation of a scheme on a link, whose rate is already that of the scheme's shaper. It installs
/// nothing.
///
/// # Errors
/// The reason for which nothing installs it, in one sentence without a full stop.
pub fn plan(scheme: &Scheme, line: &Line) -> Result<Installation, String> {
    // The caller has set the line's rate to that of the shaper.
    let scheme = &scheme.without_shape();
    let mut parts = scheme.parts();
    let (queue, values) = parts.pop().expect("a scheme has a queue");
    let markers: Vec<Part> = parts.iter().map(|(part, _)| *part).collect();
    place_markers(&markers, &scheme.to_string())?;
    let reads_windows = |part: &Part| matches!(part, Part::Policy(policy) if policy.reads_hints());
    if reads_windows(&queue) {
        let command = LiveCommand::from_scheme(Verb::Host, scheme, line);
        return Ok(Installation::from_live(command, Vec::new()));
    }
    let verb = if markers.iter().any(reads_windows) { Verb::Host } else { Verb::Mark };
    let profiles = wred::wred_profiles(&markers, (queue, &values), line);
    if !profiles.is_empty() {
        return Ok(plan_before_router(scheme, &parts, profiles, verb, line));
    }
    let view = Values::new(queue.name(), queue.parameters(), &values);
    live::refuse_idle_classes(queue, &view, !markers.is_empty())?;
    let lines = queue.qdisc_lines(&view, line).transpose();
    let lines = lines.map_err(|reason| format!("the queue {} {reason}", queue.name()))?;
    let decided = place_queue(queue, &values, !markers.is_empty(), line);
    match (lines, decided) {
        // No marker runs before it, so that Linux's queue discipline is simpler than a program of ours.
        (Some(lines), decided) if markers.is_empty() => Ok(plan_queue(
            queue,
            lines,
            decided.ok().map(|_| LiveCommand::from_scheme(Verb::Up, scheme, line)),
        )),
        (Some(lines), decided) if verb == Verb::Host || decided.is_err() => {
            Ok(plan_before_qdisc(scheme, &parts, (queue, &view), lines, verb, line))
        }
        (_, Err(reason)) => Err(reason),
        (_, Ok(_)) if verb == Verb::Host => {
            let remark = format!(
                "# a queue at the bottleneck must distinguish AF11, AF12 and AF13, as a router's WRED does with one average \
                 (multi-red(mode=total)); nothing here sets up {} for them",
                queue.name()
            );
            let command = LiveCommand::from_markers(verb, scheme, line, &[]).expect("it has markers");
            Ok(Installation::from_live(command, vec![remark]))
        }
        (_, Ok(_)) => {
            let remark = explain_class_difference(queue, &view)
                .map(|words| format!("# not quite as it was simulated: {words}"));
            let least = line.wire.layer.filter(|layer| layer.mpu > 0).map(|layer| {
                format!(
                    "# on the link a packet takes at least {} bytes, which mousehole-live does not count",
                    layer.mpu
                )
            });
            let command = LiveCommand::from_scheme(Verb::Up, scheme, line);
            Ok(Installation::from_live(command, remark.into_iter().chain(least).collect()))
        }
    }
}

/// Returns a clause on how classes of HTB differ from a queue with these values; `None` if they do not.
fn explain_class_difference(queue: Part, values: &Values) -> Option<&'static str> {
    let has_red = values.has("wq");
    match (queue.has_classes() && values.flag("shared"), queue.has_classes() && has_red) {
        (true, true) => Some(
            "each class drops what does not fit a buffer of its own: no RED, and nothing is shared or pushed out",
        ),
        (true, false) => Some("each class has a buffer of its own, so nothing is shared or pushed out"),
        (false, true) => Some("each class drops what does not fit its buffer: no RED"),
        (false, false) => None,
    }
}

/// Returns the installation of a queue discipline of Linux, by `lines`, without a marker. If the lines have remarks on
/// differences and `live` is given, a last remark names that command, which has no differences.
fn plan_queue(queue: Part, mut lines: Vec<String>, live: Option<LiveCommand>) -> Installation {
    if let Some(command) = live.as_ref().filter(|_| lines.iter().any(|line| line.starts_with('#'))) {
        lines.push(format!("# as it was simulated: {}", command.line()));
    }
    Installation { place: Place::Linux, lines, live, wred: Vec::new(), needs: list_needs(queue) }
}

/// Returns the installation of a queue discipline of Linux, by `lines`, with markers before it: a firewall's rule if
/// one does what the only marker does, else `mousehole-live`.
fn plan_before_qdisc(
    scheme: &Scheme,
    markers: &[(Part, Texts)],
    (queue, values): (Part, &Values),
    mut lines: Vec<String>,
    verb: Verb,
    line: &Line,
) -> Installation {
    let tins = if values.has("tins") { values.text("tins") } else { "" };
    let dscps: &[u8] = match (tins, verb) {
        ("colour", _) => &TIN_DSCPS,
        // `mark` uses the DSCP of CAKE's Bulk tin by default.
        ("bulk", Verb::Host) => &[0, LOWER_EFFORT, LOWER_EFFORT],
        ("bulk", Verb::Mark) | (_, Verb::Up | Verb::Host) => &[],
        // This queue does not read marks, so they are for the network behind.
        (_, Verb::Mark) => &[LOWER_EFFORT],
    };
    if tins == "colour" {
        // The marks are for CAKE alone, so CAKE clears them.
        lines.iter_mut().for_each(|line| line.push_str(" wash"));
    }
    let mut needs = list_needs(queue);
    let command = LiveCommand::from_markers(verb, scheme, line, dscps);
    let typed = command.as_ref().map(LiveCommand::line).unwrap_or_default();
    match wred::firewall_rule(markers, line).filter(|_| tins == "bulk") {
        Some(rule) => {
            lines.insert(0, rule);
            needs.push(FIREWALL_NEEDS.into());
            lines.push(format!("# or in the place of the rule: {typed}"));
        }
        None => {
            lines.push(typed);
            needs.push(LIVE_NEEDS.into());
        }
    }
    lines.extend(scheme.remarks().into_iter().map(|remark| format!("# {remark}")));
    Installation { place: Place::Linux, lines, live: command, wred: Vec::new(), needs }
}

/// Returns the installation of WRED's profiles on a router, and of the markers before it; with two profiles a
/// firewall's rule may mark.
fn plan_before_router(
    scheme: &Scheme,
    markers: &[(Part, Texts)],
    profiles: Vec<WredProfile>,
    verb: Verb,
    line: &Line,
) -> Installation {
    let live = LiveCommand::from_markers(verb, scheme, line, &wred::profile_dscps(&profiles));
    let rule = wred::firewall_rule(markers, line).filter(|_| profiles.len() == 2);
    let needs = if rule.is_some() { FIREWALL_NEEDS } else { LIVE_NEEDS };
    let first = rule.or_else(|| live.as_ref().map(LiveCommand::line));
    let lines = first.into_iter().chain(profiles.iter().map(WredProfile::line)).collect();
    Installation { place: Place::Router, lines, live, wred: profiles, needs: vec![needs.into()] }
}

/// Returns the requirements of a queue: the kernel that has its queue discipline, if it has one.
fn list_needs(queue: Part) -> Vec<String> {
    let qdisc = |(kind, kernel)| format!("Linux {kernel} or later with the queue discipline {kind}");
    queue.qdisc().map(qdisc).into_iter().collect()
}

impl Installation {
    /// Returns the installation by one command of `mousehole-live`, with remarks after it.
    fn from_live(command: LiveCommand, remarks: Vec<String>) -> Installation {
        let lines = std::iter::once(command.line()).chain(remarks).collect();
        let needs = vec![LIVE_NEEDS.to_string()];
        Installation { place: Place::Linux, lines, live: Some(command), wred: Vec::new(), needs }
    }
}

/// Returns a phrase for a part's page that says what installs it; for a marker, the commands that run it.
pub fn describe(part: Part) -> String {
    let own =
        |verb: &str| format!("`mousehole-live {verb}`, {LIVE_NEEDS}").replace(" and mousehole-live", "");
    let qdisc = part.qdisc().map(|(kind, kernel)| format!("`tc qdisc … {kind}`, Linux {kernel} or later"));
    match part {
        Part::Policy(policy) if policy.reads_hints() => own("host"),
        Part::Policy(policy) if part.is_scheduler() && !part.has_classes() => {
            let native = if live::is_native(policy) {
                format!("; but {NATIVE} on few kernels")
            } else {
                String::new()
            };
            qdisc.unwrap_or_else(|| format!("nothing: it {NOTHING_SCHEDULES}{native}"))
        }
        Part::Policy(_) if part.role() == Role::Queue => {
            qdisc.into_iter().chain([own("up")]).collect::<Vec<_>>().join("; ")
        }
        Part::Policy(_) => match place_markers(&[part], part.name()) {
            Ok(_) => own("mark` and `mousehole-live up"),
            Err(reason) => format!("nothing: {reason}"),
        },
        Part::Native(native) => match native.install {
            Install::Nothing(reason) | Install::Simulated(reason) => format!("nothing: it {reason}"),
            Install::Fifo(_) => qdisc.into_iter().chain([own("up")]).collect::<Vec<_>>().join("; "),
            Install::Qdisc(_) => qdisc.unwrap_or_default(),
        },
    }
}
