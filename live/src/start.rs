//! `mark`, `up` and `upgrade`: everything is planned and checked first and then put in place, in an
//! order in which each step can be undone.
//!
//! The order is: record, program and maps, link (from here on the program runs), queue disciplines.
//! If a step fails, those before it are undone in the same way as by `down`.

use crate::check::queue;
use crate::deployment::{self, Cake, Deployment, Fifo, HANDLE, MAJOR, Objects, Plan, Shaper};
use crate::device::Device;
use crate::download;
use crate::error::{Failure, Result};
use crate::home::{Home, Place};
use crate::kernel::{self, Loaded, Maps, boot_s};
use crate::layout::{Action, Transfer};
use crate::object;
use crate::put::{Put, Verb, What};
use crate::qdisc::Qdisc;
use crate::record::{Attachment, Record, Redirect, SCHEMA, SavedQdisc, digest_header, read_unix_s};
use crate::request::{Attach, Mode, Request, Via};
use crate::{agent, confirm, kept, native, netlink, qdisc, stop};
use mousehole_netlink::links;
use mousehole_scheme::units::{Buffer, Dur, Rate};

/// The options of a start that are not part of the request.
#[derive(Debug, Clone, Default)]
pub struct Manner {
    /// The command's arguments, for the record.
    pub words: Vec<String>,
    /// After how many seconds everything is taken back unless confirmed.
    pub confirm_s: Option<u64>,
    /// Whether no agent is started, because the caller runs the slow steps.
    pub without_agent: bool,
}

/// Carries out a request at a device: writes the record, loads and attaches the program, installs
/// queue disciplines, and starts the agent and the confirmation timer as needed. Leftovers of
/// killed commands and of devices that are gone are removed first. The user's policies are loaded,
/// which runs their native code. Returns lines for the user.
///
/// # Errors
/// A sentence when it is not possible; nothing has changed then, with two exceptions: the sentence
/// says that something cannot be taken back, or only the agent cannot be started. Then all else
/// stays, but with `download` the IFB is removed and only its record stays.
pub fn start(name: &str, request: &Request, manner: &Manner) -> Result<Vec<String>> {
    start_behind_redirect(name, request, |redirect| {
        let device = Device::find(name)?;
        let root = netlink::find_root(device.index)?;
        let deployment = Deployment::new(request, &device, root.as_ref())?;
        refuse_missing_support(request)?;
        start_plan(&device, root, request, redirect, &deployment.plan(), &deployment.objects()?, manner)
    })
}

/// Calls `start` with the redirection of downloads that the request asks for, if any. A stopped
/// program of ours at the IFB and leftovers are removed first. If `start` fails, the redirection is
/// removed again.
///
/// # Errors
/// That of `start`, or a sentence when the IFB is in use or the redirection is not possible.
fn start_behind_redirect(
    name: &str,
    request: &Request,
    start: impl FnOnce(Option<Redirect>) -> Result<Vec<String>>,
) -> Result<Vec<String>> {
    let Some(of) = &request.download else { return start(None) };
    if let Some((place, record)) =
        stop::find(name)?.and_then(|place| place.record().ok().map(|one| (place, one)))
    {
        refuse_running(&place, &record, name)?;
        stop::stop_one(name)?;
    }
    download::remove_leftovers(of)?;
    if request.brings_cake() {
        // Rejects wrong options before the IFB is created.
        Cake::new(request)?;
    }
    let redirect = download::redirect(of)?;
    let done = start(Some(redirect.clone()));
    if done.is_err() {
        // If the start failed because another one was faster, that one's record has its own redirection.
        let _ = download::take_back(&redirect);
    }
    done
}

/// Starts what `persist` saved of a request with the user's own policies; no compiler runs, and
/// none of their native code. Returns lines for the user.
///
/// # Errors
/// A sentence when nothing is saved, it was changed since, or it is not possible now. What has
/// changed then is as for [`start`].
pub fn start_persisted(name: &str, manner: &Manner) -> Result<Vec<String>> {
    let (kept, objects) = kept::read(name)?;
    refuse_missing_support(&kept.request)?;
    start_behind_redirect(name, &kept.request, |redirect| {
        let device = Device::find(name)?;
        let root = netlink::find_root(device.index)?;
        let plan = Plan::new(kept.decided, &kept.request, &device, root.as_ref())?;
        start_plan(&device, root, &kept.request, redirect, &plan, &objects, manner)
    })
}

/// Fails if the request needs a native queue and the kernel or this build has none. Other requests
/// are accepted.
fn refuse_missing_support(request: &Request) -> Result<()> {
    if request.native { native::refuse_missing_support() } else { Ok(()) }
}

/// Puts a plan in place: record, program, queue disciplines, then the agent and the confirmation
/// timer. `objects` are its programs; `root` is the device's root queue discipline. Returns lines
/// for the user. Takes the lock on our folder until the record is complete.
///
/// # Errors
/// A sentence when a step is not possible. What was done by then is taken back, or the sentence
/// says that it cannot be; but if only the agent cannot be started, all else stays.
fn start_plan(
    device: &Device,
    root: Option<Qdisc>,
    request: &Request,
    redirect: Option<Redirect>,
    plan: &Plan,
    objects: &Objects,
    manner: &Manner,
) -> Result<Vec<String>> {
    let name = &device.name;
    refuse_missing_classes(device, request, root.as_ref(), &plan.action)?;
    refuse_unread_marks(device, request)?;
    let home = Home::lock()?;
    let place = home.place(device);
    clear_leftovers(&place, name)?;
    let swept = stop::sweep_gone(&home)?;
    let needs_root = needs_root(device, request, plan)?;
    let replaced = match root.as_ref().filter(|_| needs_root) {
        Some(root) => save_replaced_root(device, root, request)?,
        None => None,
    };
    let mut record = Record {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION").into(),
        since: read_unix_s(),
        started_s: boot_s(),
        device: name.to_string(),
        index: device.index,
        namespace: device.namespace,
        address: device.address,
        command: manner.words.clone(),
        request: request.clone(),
        headers: request.policy.iter().map(|path| digest_header(path)).collect::<Result<_>>()?,
        attachment: None,
        link_id: None,
        layout: kernel::hash_layout(&objects.egress),
        redirect,
        replaced,
        added_handle: None,
        starting: true,
        gso_max_segs: None,
        confirm_by: manner.confirm_s.map(|seconds| boot_s() + seconds),
        tuned: None,
        paused: None,
    };
    if let Some(seconds) = manner.confirm_s {
        // The timer starts first, so that everything is taken back even if this process is killed.
        confirm::spawn(name, record.since, seconds)?;
    }
    place.create()?;
    let result = place
        .write_record(&record)
        .and_then(|()| attach_and_record(&place, device, request, plan, objects, &mut record, needs_root));
    let lines = match result {
        Ok(lines) => lines,
        Err(failure) => return Err(undo(&place, &record, failure)),
    };
    drop(home);
    let mut lines = lines;
    lines.extend(swept);
    if plan.needs_agent
        && !manner.without_agent
        && let Err(failure) = agent::spawn(name)
    {
        // Nothing would do the slow steps of the policy.
        let _home = Home::lock()?;
        return Err(undo(&place, &record, failure));
    }
    if let Some(seconds) = manner.confirm_s {
        lines.push(format!("taken back in {seconds} s unless `mousehole-live confirm {name}` comes first"));
    }
    Ok(lines)
}

/// Takes back what a start that failed has put in place; the caller holds the lock. Returns the failure, with what cannot
/// be taken back.
fn undo(place: &Place, record: &Record, failure: Failure) -> Failure {
    match stop::take_back(place, record) {
        Ok(_) => failure,
        Err(second) => Failure::new(format!("{failure}; and it cannot all be taken back: {second}")),
    }
}

/// Returns lines that say what [`start`] would do; changes nothing at the device. A program that is
/// not built in is compiled, and the native code of the user's policies runs.
///
/// # Errors
/// As [`start`], with the same sentences, for what can be known without trying.
pub fn rehearse(name: &str, request: &Request) -> Result<Vec<String>> {
    let (device, root) = match &request.download {
        // The IFB will be a new device without a queue discipline.
        Some(of) => {
            download::refuse_others(of)?;
            (Device { name: name.into(), ..Device::find(of)? }, None)
        }
        None => {
            let device = Device::find(name)?;
            let root = netlink::find_root(device.index)?;
            (device, root)
        }
    };
    let deployment = Deployment::new(request, &device, root.as_ref())?;
    let plan = deployment.plan();
    if request.download.is_none() {
        refuse_missing_classes(&device, request, root.as_ref(), &plan.action)?;
        refuse_unread_marks(&device, request)?;
    }
    refuse_missing_support(request)?;
    let objects = deployment.objects()?;
    // Without the right to read the folder, whether the device is in use stays unknown.
    let place = stop::find(name).ok().flatten();
    if let Some((place, record)) = place.and_then(|place| place.record().ok().map(|record| (place, record))) {
        refuse_running(&place, &record, name)?;
    }
    let needs_root = plan.shaper != Shaper::None && needs_root(&device, request, &plan)?;
    if let Some(root) = root.as_ref().filter(|_| needs_root) {
        save_replaced_root(&device, root, request)?;
    }
    let mut lines = describe(&device, request, &plan, &objects.egress, needs_root);
    if let Some(of) = &request.download {
        lines.extend(download::list_commands(of));
    }
    lines[0] = format!("{name}: {} would run, and nothing was changed", deployment.scheme);
    lines.push(format!(
        "program {} at the egress, attached as {}",
        deployment.combination.name(),
        describe_attachment(request)
    ));
    lines.extend(deployment.format_parameters()?);
    if request.no_gso {
        lines.push(format!("ip link set dev {name} gso_max_segs 1"));
    }
    if needs_root {
        let all = plan_qdiscs(Verb::Replace, &deployment.shaper, &device);
        lines.extend(all.iter().map(|one| one.format_command(Verb::Replace, name)));
    }
    Ok(lines)
}

/// Returns how a program would be attached, for the user.
fn describe_attachment(request: &Request) -> &'static str {
    match request.attach {
        Attach::Auto => "a tcx link, or where the kernel has none as a filter under clsact",
        Attach::Tcx => "a tcx link",
        Attach::Clsact => "a filter under clsact",
    }
}

/// Returns whether the plan installs a queue discipline at the device's root; a shadow installs
/// none.
///
/// # Errors
/// As [`has_departures`].
fn needs_root(device: &Device, request: &Request, plan: &Plan) -> Result<bool> {
    Ok(!request.shadow
        && match &plan.shaper {
            Shaper::None => false,
            Shaper::Departures => !has_departures(device, plan.longest_wait)?,
            Shaper::Cake(_) | Shaper::Fifo(_) | Shaper::Classes { .. } | Shaper::Native { .. } => true,
        })
}

/// Saves the root's queue discipline, which ours will replace; `None` for the kernel's default.
///
/// # Errors
/// A sentence when it may not be replaced or cannot be restored.
fn save_replaced_root(device: &Device, root: &Qdisc, request: &Request) -> Result<Option<SavedQdisc>> {
    match root.is_default() {
        true => Ok(None),
        false if request.replace => save_qdisc(device, root).map(Some),
        false if request.is_for_own_cake() => Err(foreign_root_failure(&device.name, root)),
        false => Err(Failure::new(format!(
            "{} has a qdisc of somebody's at its root, {} {}; --replace puts it aside and `down` puts it back, and \
             `mark` leaves it where it is",
            device.name, root.kind, root.handle
        ))),
    }
}

/// Returns the failure for a CAKE of our own where somebody else's queue discipline is.
fn foreign_root_failure(name: &str, root: &Qdisc) -> Failure {
    let (there, handle) = (&root.kind, &root.handle);
    let instead = match there.as_str() {
        "cake" => format!("`mousehole-live mark {name}` marks before it"),
        _ => format!(
            "`mousehole-live mark {name} --via dscp` marks before it, and `tc qdisc del dev {name} root` makes room if nothing \
             of yours needs it"
        ),
    };
    Failure::new(format!(
        "{name} has a qdisc of somebody's at its root, {there} {handle}, and a CAKE of ours replaces none; {instead}"
    ))
}

/// Replaces the running program by this version's at a device and its downloads, with the same
/// request; flows and other states stay if the maps fit. A native queue keeps its program. Returns
/// lines for the user.
///
/// # Errors
/// A sentence when nothing runs there, the maps do not fit or the kernel refuses; the former
/// program stays there, while a side before it has the new one.
pub fn upgrade(name: &str) -> Result<Vec<String>> {
    let sides: Vec<_> =
        download::list_sides(name).iter().map(|side| upgrade_device(side)).collect::<Result<_>>()?;
    Ok(sides.concat())
}

/// Does [`upgrade`] for one device, without its downloads.
///
/// # Errors
/// As [`upgrade`].
fn upgrade_device(name: &str) -> Result<Vec<String>> {
    let device = Device::find(name)?;
    let root = netlink::find_root(device.index)?;
    let home = Home::lock()?;
    let place = home.place(&device);
    if !place.exists() {
        return Err(Failure::new(format!(
            "nothing of ours is at {name}; `mark {name}` or `up {name}` starts it"
        )));
    }
    let mut record = place.record()?;
    let deployment = record.deployment(&device, root.as_ref())?;
    let bytes = object::find_or_compile(&deployment.combination)?;
    if kernel::hash_layout(&bytes) != record.layout {
        return Err(Failure::new(format!(
            "the maps of {name} do not fit this version's program; `down {name}` and the command `{}` start afresh",
            record.command.join(" ")
        )));
    }
    let (flows, notes_transfers) = (record.request.flows, record.request.ab.is_some());
    let maps = Maps { place: Some(&place), reuse: true, flows, notes_transfers };
    let loaded = kernel::load(&bytes, maps)?;
    loaded.replace(&place, device.index)?;
    record.version = env!("CARGO_PKG_VERSION").into();
    record.link_id = kernel::read_pinned_link(&place.link()).ok().map(|info| info.id);
    place.write_record(&record)?;
    Ok(vec![format!("{name}: the program was replaced, and flows kept their state")])
}

/// Fails if the place's program runs and its start has ended.
///
/// # Errors
/// A sentence that names the command that started it.
fn refuse_running(place: &Place, record: &Record, name: &str) -> Result<()> {
    match !record.starting && stop::is_running(place, record) {
        false => Ok(()),
        true => Err(Failure::new(format!(
            "{name} is in use since {} s, by `{}`; `mousehole-live down {name}` ends that",
            boot_s().saturating_sub(record.started_s),
            record.command.join(" ")
        ))),
    }
}

/// Removes what a killed command left at the place, if anything.
///
/// # Errors
/// A sentence when the device is in use or something cannot be removed.
fn clear_leftovers(place: &Place, name: &str) -> Result<()> {
    if !place.exists() {
        return Ok(());
    }
    match place.record() {
        Ok(record) => {
            refuse_running(place, &record, name)?;
            stop::take_back(place, &record).map(drop)
        }
        // Killed between the folder and the record: nothing can be attached yet.
        Err(_) => place.remove_pins().and_then(|()| place.remove()),
    }
}

/// Loads and attaches the program, installs the queue disciplines and sets the largest super-packet
/// if the request says so. It updates and writes the record before each step, so that `down` can
/// undo a start that was killed. Returns lines for the user.
///
/// # Errors
/// A sentence when a step fails; the steps before stay, and the caller undoes them.
fn attach_and_record(
    place: &Place,
    device: &Device,
    request: &Request,
    plan: &Plan,
    objects: &Objects,
    record: &mut Record,
    needs_root: bool,
) -> Result<Vec<String>> {
    let (flows, notes_transfers) = (request.flows, request.ab.is_some());
    let maps = Maps { place: Some(place), reuse: false, flows, notes_transfers };
    let loaded = kernel::load(&objects.egress, maps)?;
    write_settings(&loaded, &plan.settings(request, device))?;
    if request.no_gso {
        record.gso_max_segs = Some(read_gso_max_segs(&device.name)?);
        place.write_record(record)?;
        links::set_gso_max_segs(device.index, 1).map_err(|error| {
            Failure::system(format!("{}: gso_max_segs cannot be set", device.name), &error)
        })?;
    }
    if request.attach != Attach::Tcx {
        // The record must say whether clsact is ours even if this process is killed after adding it.
        let has_clsact = netlink::list_qdiscs(device.index)?.iter().any(|qdisc| qdisc.kind == "clsact");
        record.attachment = Some(Attachment::Clsact { added: !has_clsact });
        place.write_record(record)?;
    }
    let (attachment, link) = loaded.attach(device, request.attach, place)?;
    (record.attachment, record.link_id) = (Some(attachment), link);
    place.write_record(record)?;
    if needs_root {
        record.added_handle = Some(HANDLE.into());
        place.write_record(record)?;
        add_qdiscs(place, plan, objects, device)?;
    }
    record.starting = false;
    place.write_record(record)?;
    Ok(describe(device, request, plan, &objects.egress, needs_root))
}

/// Writes both slots of settings; the first is active in a program that was just loaded.
///
/// # Errors
/// A sentence when the kernel rejects it.
fn write_settings(loaded: &Loaded, settings: &[u8]) -> Result<()> {
    (0..2).try_for_each(|index| loaded.write("ml_settings", index, settings))
}

/// Returns what restores somebody else's root queue discipline; changes nothing.
///
/// # Errors
/// A sentence when it has children or classes that could not be restored.
pub(crate) fn save_qdisc(device: &Device, foreign: &Qdisc) -> Result<SavedQdisc> {
    let inner = netlink::list_qdiscs(device.index)?
        .iter()
        .filter(|qdisc| qdisc.parent.is_some() && !qdisc.is_default())
        .count();
    // Other kinds, such as fq_codel, list their flow queues as classes, which nobody created.
    let is_classful = matches!(
        foreign.kind.as_str(),
        "htb" | "hfsc" | "prio" | "drr" | "qfq" | "ets" | "mqprio" | "taprio" | "multiq"
    );
    if inner > 0 || (is_classful && !netlink::list_classes(device.index).is_empty()) {
        return Err(Failure::new(format!(
            "{} {} at {} has classes or qdiscs below it, which cannot be put back; remove it with `tc qdisc del dev {} root` if \
             you can make it again",
            foreign.kind, foreign.handle, device.name, device.name
        )));
    }
    Ok(SavedQdisc::new(foreign, netlink::save_root(device.index)?))
}

/// Fails if the request marks for classes that the device does not have; the kernel would ignore
/// them silently. A class with classes below it is accepted, since filters may be attached there,
/// and so is a tin of CAKE.
///
/// # Errors
/// A sentence that names the class and those that the device has, or says that the kernel does not
/// list queue disciplines.
pub(crate) fn refuse_missing_classes(
    device: &Device,
    request: &Request,
    root: Option<&Qdisc>,
    action: &Action,
) -> Result<()> {
    if request.mode != Mode::Mark || deployment::choose_via(request, root) != Via::Class {
        return Ok(());
    }
    let (name, made) = (&device.name, netlink::list_classes(device.index));
    let qdiscs = netlink::list_qdiscs(device.index)?;
    let cakes = qdiscs.iter().filter(|qdisc| qdisc.kind == "cake" && qdisc.major() != 0);
    let tins: Vec<u32> =
        cakes.flat_map(|cake| (1..=queue::count_tins(&cake.cake)).map(|tin| cake.major() | tin)).collect();
    let classes: Vec<u32> = queue::select_made(&made).map(|class| class.id).chain(tins.clone()).collect();
    let wanted = action.priority.iter().filter(|class| **class != 0);
    let Some(missing) = wanted.copied().find(|class| !classes.contains(class)) else { return Ok(()) };
    let tins = tins.into_iter().map(qdisc::format_id);
    let known: Vec<String> = queue::list_leaves(&made).into_iter().chain(tins).collect();
    let there = match known.is_empty() {
        true => format!("{name} has none; --via dscp needs none"),
        false => format!("the classes of {name} are {}", known.join(", ")),
    };
    Err(Failure::new(format!(
        "--classes names {}, which is no class here; {there}",
        qdisc::format_id(missing)
    )))
}

/// Fails if the request leaves the kind of mark to the device's queue, and that queue reads no
/// marks. A DSCP that nobody here reads gains nothing, and the next network may serve it last. A
/// shadow sets no marks and is accepted.
///
/// # Errors
/// A sentence with what helps.
pub(crate) fn refuse_unread_marks(device: &Device, request: &Request) -> Result<()> {
    if !request.leaves_way_to_queue() || request.shadow || request.brings_cake() {
        return Ok(());
    }
    let (name, all) = (&device.name, netlink::list_qdiscs(device.index)?);
    if queue::reads_marks(&all) {
        return Ok(());
    }
    let there = qdisc::find_root(&all).map_or("without a queue discipline", |root| &root.kind);
    let cake = match qdisc::find_root(&all).is_none_or(Qdisc::is_default) {
        true => format!("`{}` puts one there that does, ", queue::suggest_reader(name, &all)),
        false => String::new(),
    };
    let leaves = queue::list_leaves(&netlink::list_classes(device.index));
    let classes = match leaves.is_empty() {
        true => String::new(),
        false => format!("--classes names one of its classes ({}), ", leaves.join(", ")),
    };
    Err(Failure::new(format!(
        "nothing at {name} reads marks, since its root is {there}; {cake}{classes}--via dscp marks for the network behind, and \
         --shadow only counts"
    )))
}

/// Returns whether the device's queue disciplines already hold packets until their departure times.
///
/// # Errors
/// A sentence when they do, but not as long as `longest_wait`.
pub(crate) fn has_departures(device: &Device, longest_wait: Option<Dur>) -> Result<bool> {
    let all = netlink::list_qdiscs(device.index)?;
    let found = qdisc::find_departure_qdiscs(&all);
    let wait_us = longest_wait.map_or(0.0, |wait| wait.as_secs() * 1e6);
    let too_short = found.iter().find(|one| one.horizon_us.is_some_and(|us| f64::from(us) < wait_us));
    if let Some(fq) = too_short {
        let horizon_s = f64::from(fq.horizon_us.unwrap_or_default()) / 1e6;
        return Err(Failure::new(format!(
            "--shape lets packets wait up to {} s, but the fq {} at {} has a horizon of {horizon_s} s; give --shape {horizon_s}s \
             at the most, or the fq a longer horizon",
            wait_us / 1e6,
            fq.handle,
            device.name
        )));
    }
    Ok(!found.is_empty())
}

/// Installs the plan's queue disciplines; a native queue is loaded first.
///
/// # Errors
/// The kernel's reason; what was installed before it stays.
fn add_qdiscs(place: &Place, plan: &Plan, objects: &Objects, device: &Device) -> Result<()> {
    let (Shaper::Native { fifo, queue }, Some(object)) = (&plan.shaper, &objects.queue) else {
        return apply_qdiscs(Verb::Replace, &plan.shaper, device);
    };
    native::load(queue, object, place, fifo, plan.action.priority, device.link_header_bytes)?;
    place_at_root(What::Native(native::format_kind(place))).apply(Verb::Replace, &device.name, device.index)
}

/// Changes rates and limits of the installed queue disciplines; their packets stay.
///
/// # Errors
/// The kernel's reason; those before have changed then.
pub(crate) fn change_qdiscs(shaper: &Shaper, device: &Device) -> Result<()> {
    apply_qdiscs(Verb::Change, shaper, device)
}

/// Sends all queue disciplines and classes of a shaper to the kernel, in their order.
///
/// # Errors
/// The kernel's reason; those before stay installed or changed.
fn apply_qdiscs(verb: Verb, shaper: &Shaper, device: &Device) -> Result<()> {
    plan_qdiscs(verb, shaper, device).iter().try_for_each(|one| one.apply(verb, &device.name, device.index))
}

/// Returns the queue disciplines and classes of a shaper to install or to change, parents first;
/// none for a native queue, which has no tc(8) command.
fn plan_qdiscs(verb: Verb, shaper: &Shaper, device: &Device) -> Vec<Put> {
    match shaper {
        Shaper::None | Shaper::Native { .. } => Vec::new(),
        // Packets may wait for tokens for seconds; the default limit of 100 packets suits queues of milliseconds.
        Shaper::Departures if verb == Verb::Replace => vec![place_at_root(What::Fq { flow_limit: 1000 })],
        Shaper::Departures => Vec::new(),
        Shaper::Cake(cake) => vec![place_at_root(What::Cake(cake.clone()))],
        Shaper::Fifo(fifo) => {
            let (rate, burst, limit) = (fifo.rate, fifo.burst, compute_limit(fifo, device));
            vec![place_at_root(What::Tbf {
                rate,
                burst,
                limit,
                overhead: fifo.overhead - device.link_header_bytes,
            })]
        }
        Shaper::Classes { fifo, colours } => {
            let (burst, overhead) = (fifo.burst, fifo.overhead - device.link_header_bytes);
            // Each colour is guaranteed a hundredth of the rate, so that none starves.
            let least = Rate((fifo.rate.0 / 100).max(1000));
            let class = |parent: u32, id: u32, rate: Rate, priority: u32| {
                let what = What::HtbClass { rate, ceil: fifo.rate, burst, priority, overhead };
                Put { parent, handle: MAJOR | id, what }
            };
            let mut all = Vec::new();
            // HTB's own options cannot change, only those of its classes.
            if verb == Verb::Replace {
                all.push(place_at_root(What::Htb { default: deployment::class_minor(0, *colours) }));
            }
            all.push(class(MAJOR, 1, fifo.rate, 0));
            for colour in 0..*colours {
                let id = deployment::class_minor(colour, *colours);
                all.push(class(MAJOR | 1, id, least, colour));
                all.push(Put { parent: MAJOR | id, handle: 0, what: What::Fifo(fifo.buffer) });
            }
            all
        }
    }
}

/// Returns a queue discipline at the root, with our handle.
fn place_at_root(what: What) -> Put {
    Put { parent: netlink::TC_H_ROOT, handle: MAJOR, what }
}

/// Returns a limit for the kernel's FIFO, bytes, that the policy's own limit never lets it reach.
fn compute_limit(fifo: &Fifo, device: &Device) -> u32 {
    let frame = u64::from(device.mtu) + u64::from(fifo.overhead);
    let policy = match fifo.buffer {
        Buffer::Packets(packets) => u64::from(packets) * frame,
        Buffer::Bytes(bytes) => bytes * 2,
    };
    // A super-packet may be admitted when one packet still fits.
    (policy * 2 + (1 << 18)).min(u64::from(u32::MAX) / 2) as u32
}

/// Returns how many segments a super-packet of the device has at most.
///
/// # Errors
/// A sentence when the kernel does not say.
fn read_gso_max_segs(name: &str) -> Result<u32> {
    links::find(name)
        .and_then(|link| link.gso_max_segs)
        .ok_or_else(|| Failure::new(format!("{name}: the kernel does not report gso_max_segs")))
}

/// Returns lines for the user that say what was put in place, or would be. `bytes` is the program's
/// object; `needs_root` is as from [`needs_root`].
fn describe(device: &Device, request: &Request, plan: &Plan, bytes: &[u8], needs_root: bool) -> Vec<String> {
    let verb = if request.shadow { "decides and counts only (shadow)" } else { "runs" };
    let mut lines = vec![format!("{}: {} {verb}", device.name, plan.decided.scheme)];
    let transfer = if request.ab.is_some() { size_of::<Transfer>() } else { 0 };
    let entry = object::read_entry_bytes(bytes).unwrap_or(160) + transfer;
    let megabytes = f64::from(request.flows) * entry as f64 / 1e6;
    lines.push(format!("table of {} flows, {megabytes:.0} MB of kernel memory", request.flows));
    if let (Some(part), Some(key)) = (&request.ab, &request.ab_key) {
        lines.push(format!(
            "{part} of the hosts stay unmarked, drawn by the key {key}; `mousehole-live status --ab` compares them with the others"
        ));
    }
    if let Shaper::Classes { fifo, colours } = plan.shaper {
        let buffer = match fifo.buffer {
            Buffer::Packets(packets) => format!("{packets} packets"),
            Buffer::Bytes(bytes) => format!("{bytes} bytes"),
        };
        lines.push(format!("{colours} classes of HTB, each with a drop-tail buffer of {buffer} of its own, so nothing is pushed out"));
    }
    if let Shaper::Native { queue, .. } = &plan.shaper {
        lines.push(format!(
            "the queue {} is a queue discipline of its own, which holds the packets and shapes",
            queue.name
        ));
        if queue.marks {
            lines.push(
                "each ECN-capable packet waits there twice, as it is and with CE, and one of the two leaves"
                    .into(),
            );
        }
        let queues = links::find(&device.name).map_or(1, |link| link.queues);
        if queues > 1 {
            lines.push(format!(
                "the {queues} hardware queues of {} share it and its lock, since one rate holds for all",
                device.name
            ));
        }
    }
    if let Some(wait) = plan.longest_wait {
        let what = format!("packets beyond a user's profile wait for tokens, at most {} s", wait.as_secs());
        lines.push(match (request.shadow, needs_root) {
            (true, _) => format!("without --shadow {what}"),
            (false, true) => format!("{what}, in an fq of ours at the root"),
            (false, false) => format!("{what}, in the fq that is there"),
        });
    }
    if let Shaper::Cake(cake) = &plan.shaper {
        lines.push(format!("the qdisc of ours at its root: cake {}", cake.format_options()));
    }
    if request.mode == Mode::Mark && !request.shadow {
        let action = plan.action;
        lines.push(match action.priority[1] {
            0 => format!("long flows get DSCP {}; ECN bits are never touched", action.dscp[1]),
            priority => format!(
                "long flows go to {}{}; no byte of a packet changes",
                qdisc::format_id(priority),
                if matches!(plan.shaper, Shaper::Cake(_)) { ", CAKE's Bulk tin" } else { "" }
            ),
        });
    }
    lines
}
