//! `check`: lists the obstacles to a marker or a queue at a device, with the command that removes
//! each.
//!
//! Nothing is changed: every command that is run only shows something, and the one program that is
//! loaded is attached nowhere. Each module inspects one subject. The functions that judge the
//! output of tools are pure, and are tested on recorded output.

mod features;
mod filters;
mod finding;
mod firewall;
mod link;
mod ours;
pub(crate) mod queue;

use self::features::Abilities;
pub use self::finding::{Finding, Rank};
use crate::deployment::Deployment;
use crate::device::Device;
use crate::error::{Failure, Result};
use crate::layout::{Action, KEEP_DSCP};
use crate::qdisc::{self, Qdisc};
use crate::request::{DEFAULT_HOST_SCHEME, Mode, Request};
use crate::{netlink, start};
use serde::Serialize;

/// A prediction of what a command would do at the device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Prospect {
    /// Whether it would succeed, as far as that is known without trying.
    pub possible: bool,
    /// What it would do, or why it would not.
    pub sentence: String,
    /// The kind of mark: `priority`, `dscp` or `class`; `None` for commands other than `mark`, and
    /// if it would not succeed.
    pub via: Option<&'static str>,
    /// The default scheme or marker.
    pub scheme: String,
    /// The DSCP of long flows; `None` if it is unchanged.
    pub dscp: Option<u8>,
    /// Class or tin of long flows, such as `8001:1`; `None` if it is unchanged.
    pub class: Option<String>,
}

impl Prospect {
    /// Returns a prospect without marks.
    fn new(possible: bool, scheme: &str, sentence: String) -> Prospect {
        Prospect { possible, sentence, via: None, scheme: scheme.into(), dscp: None, class: None }
    }
}

/// All findings about a device and the predictions of commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: &'static str,
    /// The device's name.
    pub device: String,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What `mark` would do.
    pub mark: Prospect,
    /// What `up` would do.
    pub up: Prospect,
    /// What `host --shape` would do.
    pub shape: Prospect,
}

/// The name and version of the JSON document's format.
pub const FORMAT: &str = "mousehole-live.check/1";

/// Inspects a device. Returns lines for the user, or with `as_json` one line of JSON.
///
/// # Errors
/// As [`inspect_device`].
pub fn check(name: &str, as_json: bool) -> Result<Vec<String>> {
    let report = inspect_device(name)?;
    if as_json {
        let text = serde_json::to_string(&report)
            .map_err(|error| Failure::new(format!("the report is no JSON; {error}")))?;
        return Ok(vec![text]);
    }
    let mut lines: Vec<String> = report.findings.iter().map(Finding::format_line).collect();
    lines.push(format!("mark {name}: {}", report.mark.sentence));
    lines.push(format!("up {name}: {}", report.up.sentence));
    lines.push(format!("host {name} --shape: {}", report.shape.sentence));
    Ok(lines)
}

/// Inspects a device and predicts what `mark`, `up` and `host --shape` would do. Runs nft and
/// ethtool and probes the kernel, but changes nothing at the device. Without the rights to load
/// programs, all three predictions refuse.
///
/// # Errors
/// A sentence when there is no such device or its queue disciplines cannot be listed.
pub fn inspect_device(name: &str) -> Result<Report> {
    let device = Device::find(name)?;
    let (mut findings, Abilities { may_load, missing_qdiscs }) = features::inspect();
    let running = if may_load { ours::inspect(&device, &mut findings) } else { None };
    let all = netlink::list_qdiscs(device.index)?;
    findings.extend(queue::inspect(name, &all, &queue::list_leaves(&netlink::list_classes(device.index))));
    let root = qdisc::find_root(&all).cloned();
    let links = link::list_links();
    findings.extend(link::inspect(name, &links));
    findings.extend(link::inspect_offloads(name));
    findings.extend(filters::inspect_programs(&device, running));
    findings.extend(filters::inspect(&device, &all, &links));
    findings.extend(firewall::inspect(name, link::is_layered(name, &links)));
    for finding in &mut findings {
        finding.cure = finding.cure.take().map(|cure| cure.replace("DEV", name));
    }
    let refusal = match (may_load, running) {
        (false, _) => Some("would refuse without root".to_string()),
        (_, Some(_)) => Some(format!(
            "would refuse, because the device is in use; `mousehole-live down {name}` ends that"
        )),
        _ => None,
    };
    let mark = predict_mark(&device, root.as_ref(), refusal.clone());
    let without = |kind: &str| {
        let is_missing = missing_qdiscs.contains(&kind);
        refusal
            .clone()
            .or_else(|| is_missing.then(|| format!("would refuse, because {}", qdisc::format_missing(kind))))
    };
    let up = predict_up(&device, root.as_ref(), without("tbf"));
    // An existing `fq` is enough.
    let refusal = if qdisc::find_departure_qdiscs(&all).is_empty() { without("fq") } else { refusal };
    let shape = predict_shape(&device, &all, refusal);
    Ok(Report { format: FORMAT, device: name.to_string(), findings, mark, up, shape })
}

/// Predicts `host --shape`; `refusal` is why it would fail, if that is known. `all` are the
/// device's queue disciplines.
fn predict_shape(device: &Device, all: &[Qdisc], refusal: Option<String>) -> Prospect {
    let scheme = DEFAULT_HOST_SCHEME;
    let root = qdisc::find_root(all);
    let (possible, sentence) = match (refusal, root.filter(|qdisc| !qdisc.is_default())) {
        (Some(refusal), _) => (false, refusal),
        (None, _) if !qdisc::find_departure_qdiscs(all).is_empty() => (
            true,
            format!(
                "would attach {scheme}; packets beyond a user's profile would wait in the fq that is there"
            ),
        ),
        (None, None) => {
            (true, format!("would attach {scheme}, and put an fq at the root, in which packets wait"))
        }
        (None, Some(foreign)) => match start::save_qdisc(device, foreign) {
            Err(failure) => (false, format!("would refuse; {failure}")),
            Ok(_) => (
                true,
                format!(
                    "would with --replace attach {scheme}, and put an fq in the place of {} {}, which `down` puts back",
                    foreign.kind, foreign.handle
                ),
            ),
        },
    };
    Prospect { possible, sentence, via: None, scheme: scheme.into(), dscp: None, class: None }
}

/// Predicts `mark` without options; `refusal` is why it would fail, if that is known.
fn predict_mark(device: &Device, root: Option<&Qdisc>, refusal: Option<String>) -> Prospect {
    let request = Request::new(Mode::Mark);
    let prospect = |possible, sentence| Prospect::new(possible, &request.scheme, sentence);
    if let Some(refusal) = refusal {
        return prospect(false, refusal);
    }
    let deployment = Deployment::new(&request, device, root);
    match deployment.and_then(|one| start::refuse_unread_marks(device, &request).map(|()| one)) {
        Err(failure) => prospect(false, format!("would refuse; {failure}")),
        Ok(deployment) => {
            let Action { priority, dscp, .. } = deployment.action;
            let class = (priority[1] != 0).then(|| qdisc::format_id(priority[1]));
            let dscp = (dscp[1] != KEEP_DSCP).then_some(dscp[1]);
            let (via, how) = match (&class, dscp) {
                (Some(class), _) => {
                    ("priority", format!("go to CAKE's Bulk tin by priority {class}, and no byte changes"))
                }
                (None, Some(dscp)) => ("dscp", format!("get DSCP {dscp}{}", label_dscp(dscp))),
                (None, None) => ("dscp", "are counted".to_string()),
            };
            let sentence = format!("would attach {}; flows beyond it {how}", request.scheme);
            Prospect { via: Some(via), dscp, class, ..prospect(true, sentence) }
        }
    }
}

/// Predicts `up` with a rate of 10 Mbit/s as an example; `refusal` is why it would fail, if that is
/// known.
fn predict_up(device: &Device, root: Option<&Qdisc>, refusal: Option<String>) -> Prospect {
    let request = Request { rate: Some("10mbit".into()), ..Request::new(Mode::Up) };
    let scheme = &request.scheme;
    let prospect = |possible, sentence| Prospect::new(possible, scheme, sentence);
    if let Some(refusal) = refusal {
        return prospect(false, refusal);
    }
    if let Err(failure) = Deployment::new(&request, device, root) {
        return prospect(false, format!("would refuse; {failure}"));
    }
    let ours =
        format!("{scheme} in front of a token bucket of --rate at the root, buffer {}", request.buffer);
    match root.filter(|qdisc| !qdisc.is_default()) {
        None => prospect(true, format!("would put {ours}")),
        Some(foreign) => match start::save_qdisc(device, foreign) {
            Err(failure) => prospect(false, format!("would refuse; {failure}")),
            Ok(_) => prospect(
                true,
                format!(
                    "would with --replace put {ours}, in the place of {} {}, which `down` puts back",
                    foreign.kind, foreign.handle
                ),
            ),
        },
    }
}

/// Returns the name of DSCP LE, for the end of a text; empty for others.
fn label_dscp(dscp: u8) -> &'static str {
    if dscp == 1 { " (LE)" } else { "" }
}
