//! Remarks on a cell: where no difference can be expected, and where parameters do not fit the link.

use crate::comparison::{Cell, Scheme};
use crate::quantities::Link;
use crate::reduction::Facts;
use crate::setting::Setting;
use crate::sizes::{Role, size_text};
use crate::statistics::LEAST_REPLICATIONS;
use crate::statistics::sums::mean;
use crate::statistics::transient::mser;
use crate::texts::{count_text, share_text, significant};
use mousehole_scheme::install::line::threshold_packets;
use mousehole_scheme::units::{parse_dur, parse_rate};

/// Below this load, schemes differ little or not at all.
pub const UNLOADED: f64 = 0.3;
/// A transient is mentioned if the mean without it differs by more than this share.
const NOTICED_TRANSIENT: f64 = 0.05;
/// With short transfers in fewer parts of the windows, no transient is searched for: MSER needs ten.
const LEAST_PARTS: usize = 10;
/// From this share of packets of the same colour on, a remark says that a marker has no effect.
const ONE_COLOUR: f64 = 0.99;
/// From this share of the link on, a user's traffic profile is too large: five users may claim all of it.
const LARGE_PROFILE: f64 = 0.2;
/// If more than this share of the packets exceeds the traffic profiles, they protect little.
const EXCEEDED_PROFILE: f64 = 0.5;
/// Where the buffer is not known in packets: thresholds below this share of the baseline's utilisation …
const USED_LESS: f64 = 0.95;
/// … and of its mean queue are reported as too low.
const SHORT_QUEUE: f64 = 0.25;
/// Below this share of the buffer, the highest threshold in packets is reported as too low.
const LOW_THRESHOLD: f64 = 0.25;
/// Packets of the buffer in which SHRED's paper has its thresholds (section 5.1).
const SHRED_BUFFER: f64 = 225.0;
/// Packets of ns-2's default buffer, in which the other papers set their thresholds.
const NS2_BUFFER: f64 = 50.0;
/// With fewer connections in a capture that are larger than the bandwidth-delay product, a remark says so.
const FEW_LARGE: u64 = 30;
const PROFILE_NOTE: &str = "The default profiles are the paper's, for 400 users on links of 45 to 175 Mbit/s. Give \
    shares of the link that suit the number of its users, such as high_rate=2%,med_rate=4%.";
/// How schemes call CoDel's interval.
const CODEL_INTERVALS: [&str; 2] = ["interval", "rtt"];
/// From this number of intervals on, a round trip is reported as too long for CoDel.
const LONG_RTT: f64 = 2.0;

/// Returns the remarks on a cell, one or two sentences each. Empty if there is nothing to remark.
pub fn list_notes(cell: &Cell, setting: &Setting) -> Vec<String> {
    let [data, back] = cell.peak_utilisations();
    let achieved = cell.runs[cell.baseline()].iter().map(|run| run.load.achieved.unwrap_or(0.0));
    let load = achieved.fold(data.max(back), f64::max);
    let mut notes: Vec<String> = note_use_of_link(cell, setting, load).into_iter().collect();
    notes.extend(note_transient(cell, setting));
    notes.extend(note_missing_short(cell));
    notes.extend(note_few_large(cell, setting));
    for scheme in &cell.plan.schemes {
        let remarks = scheme.parsed.iter().flat_map(mousehole_scheme::Scheme::remarks);
        notes.extend(remarks.map(|remark| format!("{}: {remark}.", scheme.text)));
    }
    notes.extend(note_idle_thresholds(cell));
    notes.extend(note_low_thresholds(cell, setting.buffer_packets));
    notes.extend(note_single_colour(cell));
    notes.extend(note_misfit_profiles(cell, setting.rate_bps));
    notes.extend(note_short_intervals(cell, setting.rtt.as_deref()));
    if load >= UNLOADED {
        notes.extend(note_same_as_baseline(cell)); // with an idle link this is no news
    }
    let unfinished = select_names(cell, |scheme| cell.has_bounds(scheme));
    if !unfinished.is_empty() {
        notes.push(format!(
            "Under {} more than 1 % of the transfers of some size were unfinished when the run ended. They count with \
             their age at that time, so these means are lower bounds (≥).",
            unfinished.join(", ")
        ));
    }
    notes
}

/// Returns a remark on a link that is hardly used, or whose other direction is the busier one; None
/// otherwise. `load` is the highest of utilisations and achieved loads.
fn note_use_of_link(cell: &Cell, setting: &Setting, load: f64) -> Option<String> {
    let ([data, back], ways) =
        (cell.peak_utilisations(), if setting.is_up { ["up", "down"] } else { ["down", "up"] });
    let [down, up] = if setting.is_up { [back, data] } else { [data, back] }.map(|used| significant(used, 2));
    let loads = format!("used to {down} down, {up} up");
    if load < UNLOADED {
        let more = if cell.plan.in_rounds {
            "Let the programs do more, or give"
        } else {
            "Give a load, such as --load 0.9, or"
        };
        let delays = ["queue_delay_mean_s", "uplink_queue_delay_mean_s"];
        let waits = delays.into_iter().flat_map(|name| cell.read_scheme_values(cell.baseline(), name));
        let wait_ms = significant(1000.0 * waits.fold(f64::NAN, f64::max), 2);
        return Some(format!(
            "The link is hardly loaded ({loads}; packets wait {wait_ms} ms on average), so no scheme can make much of \
             a difference. {more} a lower rate."
        ));
    }
    (cell.busier_link() == Link::WayBack).then(|| {
        format!(
            "The {} direction is the busier one ({loads}); the delay of the queue in the first table is its own.",
            ways[1]
        )
    })
}

/// Returns a remark where there is no steady state, where the windows begin before it, or where
/// MSER finds a transient in them; None otherwise.
pub fn note_transient(cell: &Cell, setting: &Setting) -> Option<String> {
    let plan = &cell.plan;
    let load = plan.load.or_else(|| cell.runs[cell.baseline()].first().and_then(|run| run.load.achieved));
    if let Some(load) = load.filter(|load| *load >= 1.0) {
        let lengths = if plan.in_rounds { "the run" } else { "warm-up and window" };
        return Some(format!(
            "At a load of {} there is no steady state: queues and times grow as long as the run lasts, so every number \
             depends on the length of {lengths}.",
            significant(load, 3)
        ));
    }
    let warmup_s = setting.warmup_s;
    if let Some(needed_s) = setting.warmup_needed_s.filter(|needed_s| *needed_s > 1.05 * warmup_s) {
        return Some(format!(
            "At this load, large transfers let the link near its steady state only after about {needed_s:.0} s. The \
             windows begin after {warmup_s:.0} s; --warmup makes it longer."
        ));
    }
    let shares: Vec<f64> = cell.schemes().map(|scheme| transient_share(cell, scheme)).collect();
    let beyond = |least: &dyn Fn(f64) -> bool| select_names(cell, |scheme| least(shares[scheme])).join(", ");
    let late = beyond(&|share| share > 0.0);
    if late.is_empty() {
        return None;
    }
    let unsettled = beyond(&|share| share >= 0.5);
    if !unsettled.is_empty() {
        return Some(format!(
            "Under {unsettled} the search for a transient (MSER) ends in the second half of the windows: at {} they are \
             too short to show whether there is a steady state. Give a longer --duration.",
            setting.duration
        ));
    }
    let worst = shares.iter().copied().fold(0.0, f64::max) * plan.window_s;
    Some(if plan.in_rounds {
        format!(
            "Under {late} the first {worst:.0} s of the runs still belong to the transient (MSER), and count; programs \
             that run for longer make less of it."
        )
    } else {
        format!(
            "Under {late} the first {worst:.0} s of the windows still belong to the transient (MSER). Give --warmup \
             {:.0}s or more.",
            warmup_s + worst
        )
    })
}

/// Returns the share of the windows that belongs to the transient by MSER; 0 if its removal changes
/// little, or with too few replications or parts of a window.
///
/// It is 0.5 or more where no steady state was reached. A part of a window in which a replication
/// has no short transfers counts by the others; one that no replication has is left out.
pub fn transient_share(cell: &Cell, scheme: usize) -> f64 {
    let runs = &cell.runs[scheme];
    let parts = runs.first().map_or(0, |run| run.short_by_time.len());
    let known =
        |part: usize| runs.iter().map(move |run| run.short_by_time[part]).filter(|time| time.is_finite());
    let indices: Vec<usize> = (0..parts).filter(|part| known(*part).next().is_some()).collect();
    if runs.len() < LEAST_REPLICATIONS || indices.len() < LEAST_PARTS {
        return 0.0;
    }
    let mean_of = |part: usize| known(part).fold(0.0, |sum, time| sum + time) / known(part).count() as f64;
    let series: Vec<f64> = indices.iter().map(|part| mean_of(*part)).collect();
    let first = mser(&series);
    let is_noticed = first > 0 && (mean(&series[first..]) / mean(&series) - 1.0).abs() > NOTICED_TRANSIENT;
    if is_noticed { indices[first] as f64 / parts as f64 } else { 0.0 }
}

/// Says over how many replications means and changes are, if some have no short transfer under the
/// baseline; None if all or none have one.
fn note_missing_short(cell: &Cell) -> Option<String> {
    let times = cell.bucket_values(cell.baseline(), cell.bucket_index(Role::Short), "response_mean_s");
    let (having, all) = (times.iter().filter(|time| time.is_finite()).count(), cell.plan.replications);
    (having > 0 && having < all as usize).then(|| {
        let short = size_text(cell.plan.short_bytes as f64);
        format!(
            "Only {having} of {all} replications had a transfer ≤ {short}; means and changes of these transfers are over \
             those."
        )
    })
}

/// Says which way means lean if a capture that is laid over itself has few large connections.
///
/// To meet the load, the copies of such a capture bring more short transfers in the place of large ones. Nothing is said
/// of a capture of datagrams alone.
fn note_few_large(cell: &Cell, setting: &Setting) -> Option<String> {
    let capture = cell.capture.as_ref()?;
    if !setting.has_transfers
        || capture.is_fitted
        || cell.capture_share() == 0.0
        || capture.large >= FEW_LARGE
    {
        return None;
    }
    Some(format!(
        "The capture has only {} larger than the bandwidth-delay product ({}). Such connections are rare, but carry much \
         of a link's load. A capture that lacks them makes schemes that hold long transfers back look worse for short \
         ones. The intervals allow for that, the means do not; give a longer capture.",
        count_text(capture.large as i64, "connection"),
        size_text(capture.pipe_bytes)
    ))
}

/// Names the schemes whose thresholds caused less than 1 % as many drops and marks as the full
/// buffer. None without any.
fn note_idle_thresholds(cell: &Cell) -> Option<String> {
    let has_threshold =
        |scheme: usize| cell.plan.schemes[scheme].parameters().iter().any(|(name, _)| name.ends_with("min"));
    let idle = select_names(cell, |scheme| has_threshold(scheme) && has_few_early_drops(&cell.runs[scheme]));
    (!idle.is_empty()).then(|| {
        format!(
            "Under {} almost no packet was dropped early or marked: with a buffer of {}, the average queue stays below \
             the thresholds, so nearly all drops are those of a full buffer. Give a larger buffer or lower thresholds; \
             thresholds in % of the buffer scale with it.",
            idle.join(", "),
            cell.plan.buffer
        )
    })
}

/// Returns whether early drops and marks together are less than 1 % of the drops of a full buffer.
fn has_few_early_drops(runs: &[Facts]) -> bool {
    let total = |name: &str| {
        runs.iter().flat_map(|run| &run.colours).map(|colour| colour.count(name)).sum::<u64>() as f64
    };
    total("early") + total("marked") < 0.01 * total("forced")
}

/// Names the schemes whose thresholds are far below the buffer, and offers shares of the buffer.
/// None without any.
fn note_low_thresholds(cell: &Cell, buffer_packets: Option<u64>) -> Option<String> {
    let is_low = |scheme: usize| {
        has_thresholds_in_packets(&cell.plan.schemes[scheme]) && is_far_below(cell, scheme, buffer_packets)
    };
    let low: Vec<usize> = cell.schemes().filter(|scheme| is_low(*scheme)).collect();
    if low.is_empty() {
        return None;
    }
    let text = |scheme: usize| format!("{} {}", cell.name(scheme), share_text(utilisation(cell, scheme)));
    let used: Vec<String> = low.iter().copied().chain([cell.baseline()]).map(text).collect();
    let packets = buffer_packets.map(|packets| format!(" ({packets} packets)")).unwrap_or_default();
    let names: Vec<&str> = low.iter().map(|scheme| cell.name(*scheme)).collect();
    let note = format!(
        "The thresholds of {} are numbers of packets, as in the papers, and far below the buffer of {}{packets}, so long \
         transfers are held back early. The link was used: {}.",
        names.join(", "),
        cell.plan.buffer,
        used.join(", ")
    );
    let forms: Vec<String> =
        low.iter().filter_map(|scheme| scale_thresholds(&cell.plan.schemes[*scheme])).collect();
    let shares = format!(" As the same shares of the buffer: --schemes '{}'.", forms.join(","));
    Some(if forms.is_empty() { note } else { note + &shares })
}

/// Returns whether the highest threshold is a small part of the buffer; where the buffer is not
/// known in packets, whether the link and its queue are used less than under the baseline.
fn is_far_below(cell: &Cell, scheme: usize, buffer_packets: Option<u64>) -> bool {
    if let Some(packets) = buffer_packets {
        let upper = upper_thresholds(&cell.plan.schemes[scheme]);
        let highest = upper.iter().map(|value| threshold_packets(value, packets)).max().unwrap_or(0);
        return (highest as f64) < LOW_THRESHOLD * packets as f64;
    }
    let queue = |scheme: usize| mean(&cell.read_scheme_values(scheme, "queue_mean_packets"));
    let (own, other) = (utilisation(cell, scheme), utilisation(cell, cell.baseline()));
    own < USED_LESS * other && queue(scheme) < SHORT_QUEUE * queue(cell.baseline())
}

/// Returns the mean utilisation of the bottleneck under a scheme.
fn utilisation(cell: &Cell, scheme: usize) -> f64 {
    mean(&cell.read_scheme_values(scheme, "utilisation"))
}

/// Returns the scheme's text with its thresholds as shares of the buffer; None for a scheme of several parts.
///
/// The shares are those that the thresholds have of the buffer in the paper's experiments.
fn scale_thresholds(scheme: &Scheme) -> Option<String> {
    if scheme.text.contains('|') {
        return None;
    }
    let (name, given) = scheme.text.split_once('(').unwrap_or((&scheme.text, ""));
    let whole = if scheme.name == "shred" { SHRED_BUFFER } else { NS2_BUFFER };
    let given = given.strip_suffix(')').unwrap_or(given).split(',').filter(|item| !item.is_empty());
    let others = given.filter(|item| !is_threshold(item.split('=').next().unwrap_or(""))).map(str::to_owned);
    let share = |(name, value): (String, String)| match value.parse::<f64>() {
        _ if value.ends_with('%') => format!("{name}={value}"),
        Ok(packets) => format!("{name}={}%", significant(100.0 * packets / whole, 3)),
        Err(_) => {
            let packets: f64 = value.trim_end_matches('p').parse().unwrap_or(f64::NAN);
            format!("{name}={}%", significant(100.0 * packets / whole, 3))
        }
    };
    let thresholds = scheme.parameters().into_iter().filter(|(name, _)| is_threshold(name));
    let all: Vec<String> = others.chain(thresholds.map(share)).collect();
    Some(format!("{name}({})", all.join(",")))
}

/// Returns whether a parameter is a threshold: `min`, `max`, or a name that ends with `_min` or `_max`.
fn is_threshold(parameter: &str) -> bool {
    let name = parameter.trim();
    ["min", "max"].contains(&name) || name.ends_with("_min") || name.ends_with("_max")
}

/// Returns the upper thresholds of a scheme, each in packets or in percent of the buffer.
fn upper_thresholds(scheme: &Scheme) -> Vec<String> {
    let is_upper = |name: &str| name == "max" || name.ends_with("_max");
    scheme.parameters().into_iter().filter(|(name, _)| is_upper(name)).map(|(_, value)| value).collect()
}

/// Returns whether a scheme has upper thresholds that are all numbers of packets, and that it does not adapt (`auto`).
fn has_thresholds_in_packets(scheme: &Scheme) -> bool {
    let upper = upper_thresholds(scheme);
    let is_automatic = scheme.parameters().contains(&("auto".to_owned(), "true".to_owned()));
    !upper.is_empty() && !upper.iter().any(|value| value.ends_with('%')) && !is_automatic
}

/// Returns a remark for each scheme whose marker gave nearly all packets the same colour.
fn note_single_colour(cell: &Cell) -> Vec<String> {
    let is_marked = |scheme: &usize| {
        let parsed = cell.plan.schemes[*scheme].parsed.as_ref();
        parsed.is_some_and(mousehole_scheme::Scheme::gives_colours)
    };
    let note = |scheme: usize| {
        let shares = colour_shares(&cell.runs[scheme]);
        // The first of equal shares.
        let (colour, share) = shares.into_iter().rev().max_by(|one, other| one.1.total_cmp(&other.1))?;
        (share >= ONE_COLOUR).then(|| {
            format!(
                "Under {} the marker gave {} % of the packets the same colour ({colour}), so it could not favour any of \
                 them.",
                cell.name(scheme),
                significant(100.0 * share, 3)
            )
        })
    };
    cell.schemes().filter(is_marked).filter_map(note).collect()
}

/// Names the schemes whose traffic profiles do not fit the link, or not the traffic; None without
/// any, or if the rate is unknown.
fn note_misfit_profiles(cell: &Cell, rate_bps: Option<f64>) -> Option<String> {
    let rate_bps = rate_bps?;
    let misfit = |scheme: usize| {
        let parameters = cell.plan.schemes[scheme].parameters();
        let value =
            |name: &str| parameters.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        let (high, med) = (value("high_rate")?, value("med_rate")?);
        let share = compute_share(high, rate_bps) + compute_share(med, rate_bps);
        let shares = colour_shares(&cell.runs[scheme]);
        let red = shares.iter().find(|(name, _)| *name == "red").map_or(0.0, |(_, share)| *share);
        let why = explain_misfit(cell.name(scheme), share, red)?;
        let (name, share) = (cell.name(scheme), significant(100.0 * share, 3));
        Some(format!("{name} ({high} green and {med} yellow per user, {share} % of the link): {why}"))
    };
    let misfits: Vec<String> = cell.schemes().filter_map(misfit).collect();
    (!misfits.is_empty())
        .then(|| format!("Traffic profiles that do not fit: {}. {PROFILE_NOTE}", misfits.join("; ")))
}

/// Returns why a profile of `share` of the link does not fit, None if it does; `red` is the share of red packets.
fn explain_misfit(scheme: &str, share: f64, red: f64) -> Option<String> {
    if share >= LARGE_PROFILE {
        let users =
            if share < 1.0 { format!("{} users", (1.0 / share).ceil()) } else { "a single user".to_owned() };
        return Some(format!("{users} can fill the link with protected packets"));
    }
    // Under er-tbm, a packet is red only if it exceeds the profile.
    let other = if scheme.starts_with("er-tbm") { "" } else { " or were red by the scheme's own rule" };
    (red > EXCEEDED_PROFILE)
        .then(|| format!("{:.0} % of the packets exceeded the profile{other}", 100.0 * red))
}

/// Returns the share that a rate, given as text, has of `whole_bps`; a percentage is that share. NaN for other text.
fn compute_share(rate: &str, whole_bps: f64) -> f64 {
    match rate.strip_suffix('%') {
        Some(percent) => percent.parse().unwrap_or(f64::NAN) / 100.0,
        None => parse_rate("rate", rate).map_or(f64::NAN, |rate| rate.0 as f64 / whole_bps),
    }
}

/// Returns the share of each colour among the packets that arrived, over all runs; empty if none
/// did.
fn colour_shares(runs: &[Facts]) -> Vec<(&str, f64)> {
    let colours = runs.first().map_or(&[][..], |run| &run.colours);
    let arrived = |index: usize| runs.iter().map(|run| run.colours[index].arrived).sum::<u64>();
    let total: u64 = (0..colours.len()).map(arrived).sum();
    let share = |(index, colour)| {
        let colour: &crate::reduction::Colour = colour;
        (colour.name.as_str(), arrived(index) as f64 / total as f64)
    };
    if total == 0 { Vec::new() } else { colours.iter().enumerate().map(share).collect() }
}

/// Names the schemes whose CoDel has an interval of less than half the round trip, which it takes
/// for a standing queue (RFC 8289, section 4.3); None without any, or if the round trip is unknown.
fn note_short_intervals(cell: &Cell, rtt: Option<&str>) -> Option<String> {
    let rtt = rtt?;
    let seconds = |text: &str| parse_dur("rtt", text).map_or(f64::NAN, |span| span.as_secs());
    let (mut fitting, mut given) = (Vec::new(), String::new());
    for scheme in &cell.plan.schemes {
        for (name, value) in scheme.parameters() {
            let is_interval = CODEL_INTERVALS.contains(&name.rsplit('.').next().unwrap_or(&name));
            if is_interval && seconds(rtt) > LONG_RTT * seconds(&value) {
                let is_bare = !scheme.text.contains(['|', '(']);
                let joined = if is_bare { format!("({name}={rtt})") } else { format!(" with {name}={rtt}") };
                fitting.push(format!("{}{joined}", scheme.text));
                given = value;
            }
        }
    }
    (!fitting.is_empty()).then(|| {
        format!(
            "CoDel's interval is {given} where round trips take {rtt}, so it drops before senders can react. RFC 8289 \
             (4.3) asks for the longest round trip: compare {}.",
            fitting.join(", ")
        )
    })
}

/// Names the schemes under which every replication had the same mean as under the baseline.
///
/// Replications without a transfer have nothing to compare. None without such a scheme.
fn note_same_as_baseline(cell: &Cell) -> Option<String> {
    let values = |scheme: usize| cell.bucket_values(scheme, cell.bucket_index(Role::All), "response_mean_s");
    let base = values(cell.baseline());
    let is_same = |scheme: usize| {
        let equal = |(own, other): (&f64, &f64)| own == other || (own.is_nan() && other.is_nan());
        scheme != cell.baseline() && values(scheme).iter().zip(&base).all(equal)
    };
    let same = select_names(cell, |scheme| base.iter().any(|time| time.is_finite()) && is_same(scheme));
    (!same.is_empty()).then(|| {
        format!(
            "{} did exactly the same as {} in every {}: with this traffic and buffer, no decision differed.",
            same.join(", "),
            cell.plan.baseline,
            cell.plan.unit().name()
        )
    })
}

/// Returns the names of the schemes for which `holds` is true.
fn select_names(cell: &Cell, holds: impl Fn(usize) -> bool) -> Vec<&str> {
    cell.schemes().filter(|scheme| holds(*scheme)).map(|scheme| cell.name(scheme)).collect()
}

impl Cell {
    /// Returns whether under a scheme so many transfers of some bucket are unfinished that its mean
    /// is only a bound.
    pub fn has_bounds(&self, scheme: usize) -> bool {
        (0..self.plan.buckets().len()).any(|index| self.count_transfers(scheme, index).is_bound())
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::reduction::Colour;
    use crate::tests_support::{facts, make_cell};

    /// Returns the scheme of a text.
    fn scheme(text: &str) -> Scheme {
        Scheme::from(text.to_owned())
    }

    /// Returns the facts of a run with so many packets of each colour, of which none is dropped.
    fn coloured(counts: &[(&str, u64)]) -> Facts {
        let colour = |(name, arrived): &(&str, u64)| Colour {
            name: (*name).to_owned(),
            arrived: *arrived,
            drops: Vec::new(),
            dropped: 0,
            marked: 0,
            sent: *arrived,
        };
        Facts { colours: counts.iter().map(colour).collect(), ..facts(1.0, 10.0) }
    }

    #[test]
    fn explain_misfit__of_traffic_profiles() {
        let said = |scheme, share, red| explain_misfit(scheme, share, red).unwrap_or_default();
        assert_eq!(said("tcp-ds", 0.25, 0.0), "4 users can fill the link with protected packets");
        assert_eq!(said("appl", 1.5, 0.0), "a single user can fill the link with protected packets");
        assert_eq!(said("er-tbm", 0.015, 0.77), "77 % of the packets exceeded the profile");
        assert!(said("appl", 0.015, 0.77).ends_with("by the scheme's own rule"));
        assert_eq!(said("er-tbm", 0.015, 0.3), "");
    }

    #[test]
    fn colour_shares__are_of_what_arrived() {
        let runs = [coloured(&[("green", 1), ("red", 2)]), coloured(&[("green", 0), ("red", 1)])];
        assert_eq!(colour_shares(&runs), [("green", 0.25), ("red", 0.75)]);
        assert_eq!(colour_shares(&[]), []);
    }

    #[test]
    fn note_single_colour__is_said_of_schemes_with_a_marker_by_the_catalogue() {
        let schemes =
            ["droptail", "red", "sfd", "sfd|cake(tins=colour)", "shred-edge|shred", "ct-bytes|priority"];
        let given: Vec<_> = schemes.iter().map(|text| (*text, 1.0, 10.0)).collect();
        let cell = make_cell(&given, |_, _| coloured(&[("green", 996), ("yellow", 4), ("red", 0)]));
        let said: Vec<String> = note_single_colour(&cell);
        let named =
            |note: &String| note.split(" the marker gave 99.6 % ").next().unwrap_or_default().to_owned();
        let names: Vec<String> = said.iter().map(named).collect();
        assert_eq!(names, ["Under sfd", "Under sfd|cake(tins=colour)", "Under ct-bytes|priority"]);
        let mixed = make_cell(&given, |_, _| coloured(&[("green", 900), ("yellow", 100), ("red", 0)]));
        assert!(note_single_colour(&mixed).is_empty());
    }

    #[test]
    fn has_thresholds_in_packets__of_schemes() {
        let cases =
            [("red(min=8,max=24)", true), ("lfp", true), ("red", false), ("rio-ps", false), ("ared", false)];
        for (text, is_so) in cases {
            assert_eq!(has_thresholds_in_packets(&scheme(text)), is_so, "{text}");
        }
        assert!(!has_thresholds_in_packets(&scheme("droptail")));
    }

    #[test]
    fn scale_thresholds__keeps_the_papers_shares_of_its_buffer() {
        let cases = [
            ("red(min=8,max=24)", "red(min=16%,max=48%)"),
            ("red(min=5,max=15,maxp=0.02)", "red(maxp=0.02,min=10%,max=30%)"),
            ("sfd(th=3kB,in_max=30,out_max=24)", "sfd(th=3kB,in_min=20%,in_max=60%,out_min=16%,out_max=48%)"),
            ("shred", "shred(min=13.3%,max=40%)"),
        ];
        for (text, scaled) in cases {
            assert_eq!(scale_thresholds(&scheme(text)).as_deref(), Some(scaled));
            assert!(!has_thresholds_in_packets(&scheme(scaled)), "{scaled}");
        }
        assert_eq!(scale_thresholds(&scheme("sfd|multi-red")), None);
    }
}
