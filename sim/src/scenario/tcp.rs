//! The `[tcp]` part of a scenario: a profile, and settings that replace some of its values.

use super::spec::TcpSpec;
use crate::error::{Error, IntoGiven, Result, quote};
use crate::tcp::profile::Opening;
use crate::tcp::senders::Share;
use crate::tcp::{Congestion, Params, Senders, Variant};
use crate::units::{Dur, parse_dur};

/// Greatest difference of the sum of senders' shares from 1; they are written in decimals.
const SHARES_TOLERANCE: f64 = 1e-6;

/// Returns the TCPs in force: one profile, or several with the share of connections that have each, as in
/// `linux:0.6,bbr:0.3,rfc:0.1`. The other fields of `spec` and the servers' think time hold for all of them.
///
/// # Errors
/// [`Error::Field`] naming a field that is out of range or that the profile does not have, or shares that are not
/// allowed.
pub(super) fn parse_senders(spec: &TcpSpec, server_think: Option<&str>) -> Result<Senders> {
    let mut all = Vec::new();
    for part in spec.profile.split(',').map(str::trim) {
        let (profile, share) = match part.split_once(':') {
            Some((profile, share)) => (profile.trim(), parse_share(part, share)?),
            None if spec.profile.contains(',') => {
                let allowed = "a profile and its share, such as linux:0.6";
                return Err(Error::field("tcp.profile", quote(part), allowed));
            }
            None => (part, 1.0),
        };
        let own = TcpSpec { profile: profile.into(), ..spec.clone() };
        let mut params = parse_params(&own)?;
        if let Some(text) = server_think {
            params.server_think = parse_server_think(text, profile, params.opening)?;
        }
        all.push(Share { profile: profile.into(), share, params });
    }
    check_shares(&spec.profile, &all)?;
    Ok(Senders::new(all))
}

/// The field of the servers' think time.
const SERVER_THINK: &str = "traffic.server_think";
/// The longest think time of servers.
const LONGEST_THINK: Dur = Dur::from_millis(60_000);

/// Parses the servers' think time, at most [`LONGEST_THINK`].
///
/// # Errors
/// [`Error::Field`] when it is malformed or too long, or when clients send no requests.
fn parse_server_think(text: &str, profile: &str, opening: Opening) -> Result<Dur> {
    if opening != Opening::Request {
        let with = format!("tcp.profile \"{profile}\", whose clients send no requests");
        return Err(Error::conflict(SERVER_THINK, quote(text), with, "leave it out"));
    }
    let think = parse_dur(SERVER_THINK, text)?;
    if think > LONGEST_THINK {
        return Err(Error::field(SERVER_THINK, quote(text), "a time up to 60s"));
    }
    Ok(think)
}

/// Parses the share of a profile, above 0 and at most 1; `part` is for errors.
///
/// # Errors
/// [`Error::Field`] naming `tcp.profile`.
fn parse_share(part: &str, share: &str) -> Result<f64> {
    match share.trim().parse() {
        Ok(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err(Error::field("tcp.profile", quote(part), "a share above 0, at most 1, such as linux:0.6")),
    }
}

/// Checks that shares sum to 1, that no profile comes twice, and that several profiles all follow
/// the RFCs. `given` is for errors.
///
/// # Errors
/// [`Error::Field`] naming `tcp.profile`.
fn check_shares(given: &str, all: &[Share]) -> Result<()> {
    let refuse = |allowed: &str| Err(Error::field("tcp.profile", quote(given), allowed));
    let sum: f64 = all.iter().map(|one| one.share).sum();
    if (sum - 1.0).abs() > SHARES_TOLERANCE {
        return refuse(&format!("shares that sum to 1; these sum to {}", (sum * 1e6).round() / 1e6));
    }
    let mut names: Vec<&str> = all.iter().map(|one| one.profile.as_str()).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return refuse("each profile once");
    }
    if all.len() > 1 && all.iter().any(|one| one.params.is_ns2()) {
        return refuse("the ns2 profiles alone: they change how a run orders its events");
    }
    Ok(())
}

/// Returns the profile's parameters with the scenario's changes.
///
/// # Errors
/// [`Error::Field`] naming `tcp.<field>`.
fn parse_params(spec: &TcpSpec) -> Result<Params> {
    let mut params = Params::find_profile(&spec.profile)?;
    set_sizes(&mut params, spec)?;
    set_ssthresh(&mut params, spec)?;
    set_timers(&mut params, spec)?;
    set_recovery(&mut params, spec)?;
    params.opening = parse_opening(params.opening, spec)?;
    Ok(params)
}

/// Sets the sizes and windows that the scenario names.
///
/// # Errors
/// [`Error::Field`] naming `tcp.<field>` for a number out of range.
fn set_sizes(params: &mut Params, spec: &TcpSpec) -> Result<()> {
    for (target, given, field, allowed) in [
        (&mut params.mss, spec.mss, "tcp.mss", 1..=9000),
        (&mut params.header, spec.header, "tcp.header", 0..=120),
        (&mut params.request_bytes, spec.request_bytes, "tcp.request_bytes", 0..=9000),
        (&mut params.initial_window, spec.initial_window, "tcp.initial_window", 1..=1000),
        (&mut params.receive_window, spec.receive_window, "tcp.receive_window", 1..=65_535),
    ] {
        let Some(value) = given else { continue };
        if !allowed.contains(&value) {
            return Err(Error::field(field, value, format!("from {} to {}", allowed.start(), allowed.end())));
        }
        *target = value;
    }
    Ok(())
}

/// Sets the first slow start threshold, in segments. In a profile that has one, it follows a
/// receive window that the scenario names; the window must be set before.
///
/// # Errors
/// [`Error::Field`] naming `tcp.initial_ssthresh` if it is 0.
fn set_ssthresh(params: &mut Params, spec: &TcpSpec) -> Result<()> {
    if spec.initial_ssthresh == Some(0) {
        return Err(Error::field("tcp.initial_ssthresh", 0, "at least 1 segment"));
    }
    if spec.receive_window.is_some() && params.initial_ssthresh.is_some() {
        params.initial_ssthresh = Some(params.receive_window);
    }
    params.initial_ssthresh = spec.initial_ssthresh.or(params.initial_ssthresh);
    Ok(())
}

/// Sets the timers, the clock's phase and the delay of ACKs that the scenario names; others stay.
///
/// # Errors
/// [`Error::Field`] naming `tcp.<field>`.
fn set_timers(params: &mut Params, spec: &TcpSpec) -> Result<()> {
    for (text, target, field) in [
        (&spec.initial_rto, &mut params.initial_rto, "tcp.initial_rto"),
        (&spec.min_rto, &mut params.min_rto, "tcp.min_rto"),
        (&spec.tick, &mut params.tick, "tcp.tick"),
    ] {
        if let Some(text) = text {
            *target = parse_dur(field, text)?;
        }
    }
    for (field, text, time) in
        [("tcp.tick", &spec.tick, params.tick), ("tcp.initial_rto", &spec.initial_rto, params.initial_rto)]
    {
        if time == Dur::ZERO {
            return Err(Error::field(field, quote(text.as_deref().unwrap_or("0s")), "longer than zero"));
        }
    }
    if let Some(phase) = spec.tick_phase_s.filter(|phase| !(0.0..=1e6).contains(phase)) {
        return Err(Error::field("tcp.tick_phase_s", phase, "a number of seconds from 0 to 1000000"));
    }
    params.tick_phase = spec.tick_phase_s.map(Dur::from_secs).or(params.tick_phase);
    match spec.delayed_ack.as_deref() {
        Some("off") => params.delayed_ack = None,
        Some(text) => params.delayed_ack = Some(parse_dur("tcp.delayed_ack", text)?),
        None => {}
    }
    Ok(())
}

/// Sets loss recovery and congestion control, and the settings that belong to them. PRR and RACK
/// need SACK and end without it.
///
/// # Errors
/// [`Error::Field`] naming `tcp.variant` or `tcp.congestion` where the profile does not have it.
fn set_recovery(params: &mut Params, spec: &TcpSpec) -> Result<()> {
    params.variant = spec.variant.unwrap_or(params.variant);
    if params.variant != Variant::Sack {
        (params.prr, params.rack) = (false, false);
    }
    if params.variant == Variant::Tahoe && !params.is_ns2() {
        return Err(Error::conflict(
            "tcp.variant",
            quote("tahoe"),
            profile_text(spec),
            "only the ns2 profiles have it",
        ));
    }
    set_congestion(params, spec)?;
    params.limited_transmit = spec.limited_transmit.unwrap_or(params.limited_transmit);
    params.whole_segments = spec.whole_segments.unwrap_or(params.whole_segments);
    params.ecn = spec.ecn.unwrap_or(params.ecn);
    Ok(())
}

/// Sets congestion control, with what BBR and Prague bring along. The ns2 profiles have only their
/// variant of Reno, and BBR needs RACK; the variant must be set before.
///
/// # Errors
/// [`Error::Field`] naming `tcp.congestion`.
fn set_congestion(params: &mut Params, spec: &TcpSpec) -> Result<()> {
    let congestion = spec.congestion.unwrap_or(params.congestion);
    let conflict = |name: &str, allowed: &str| {
        Err(Error::conflict("tcp.congestion", quote(name), profile_text(spec), allowed))
    };
    match congestion {
        Congestion::Cubic if params.is_ns2() => return conflict("cubic", "the ns2 profiles have reno only"),
        Congestion::Bbr if params.is_ns2() => return conflict("bbr", "the ns2 profiles have reno only"),
        Congestion::Bbr if !params.rack => {
            return conflict("bbr", "only linux and bbr with variant \"sack\" have RACK, which it needs");
        }
        Congestion::Bbr => *params = params.clone().with_bbr(),
        Congestion::Prague if params.is_ns2() => {
            return conflict("prague", "the ns2 profiles have reno only");
        }
        Congestion::Prague if spec.ecn == Some(false) => {
            return conflict("prague", "it needs ecn, which is set to false");
        }
        Congestion::Prague => *params = params.clone().with_prague(),
        _ if matches!(params.congestion, Congestion::Bbr | Congestion::Prague) => {
            let name = if congestion == Congestion::Cubic { "cubic" } else { "reno" };
            return conflict(name, "give profile = \"linux\" with it");
        }
        _ => params.congestion = congestion,
    }
    Ok(())
}

/// Returns the profile as it appears in errors.
fn profile_text(spec: &TcpSpec) -> String {
    format!("tcp.profile {}", quote(&spec.profile).into_given())
}

/// Returns the opening of connections: the profile's, or that of `tcp.syn` where ns-2's profiles leave the choice.
///
/// # Errors
/// [`Error::Field`] naming `tcp.syn` where the profile's clients send requests.
fn parse_opening(of_profile: Opening, spec: &TcpSpec) -> Result<Opening> {
    Ok(match (of_profile, spec.syn) {
        (Opening::OneWaySyn | Opening::None, Some(true)) => Opening::OneWaySyn,
        (Opening::OneWaySyn | Opening::None, Some(false)) => Opening::None,
        (Opening::Request, Some(syn)) => {
            let allowed = "only the ns2 profiles leave the choice";
            return Err(Error::conflict("tcp.syn", syn, profile_text(spec), allowed));
        }
        (opening, ..) => opening,
    })
}
