//! `setup`: sets up both directions of a line by one command. Each direction gets a CAKE of its own
//! with the marker before it: uploads at the device, downloads at an IFB.

use crate::deployment::Cake;
use crate::download;
use crate::error::{Failure, Result};
use crate::request::{Request, User};
use crate::start::{Manner, rehearse, start};
use crate::stop;
use mousehole_scheme::install::line::{format_tc_rate, is_asymmetric};
use mousehole_scheme::units::{Rate, parse_rate};

/// The share of a line's upload rate that its CAKE gets, so that packets wait in CAKE and not in
/// the modem: a reading of the advice of tc-cake(8) and OpenWrt's wikis.
pub const UP_SHARE: f64 = 0.95;
/// The share of a line's download rate that its CAKE gets. It is smaller than that of uploads,
/// because downloads have passed the provider's queue before, and ours must stay the longer one.
pub const DOWN_SHARE: f64 = 0.90;

/// A line to the Internet, as the user describes it.
#[derive(Debug, Clone, Default)]
pub struct Line {
    /// The device towards the Internet.
    pub device: String,
    /// Rate of downloads; `None` if they are left alone.
    pub down: Option<String>,
    /// Rate of uploads; `None` if they are left alone.
    pub up: Option<String>,
    /// Whether the queues get exactly these rates, and not a little less.
    pub is_exact: bool,
    /// Whether the CAKE of uploads filters acknowledgements; `None` to decide by the line's rates
    /// ([`is_asymmetric`]).
    pub ack_filter: Option<bool>,
}

impl Line {
    /// Returns the device's name and the request for each direction that has a rate. Downloads come
    /// first, since more can go wrong there. `like` has the common options.
    ///
    /// # Errors
    /// A sentence when a rate is wrong, or none is given.
    pub fn plan_requests(&self, like: &Request) -> Result<Vec<(String, Request)>> {
        if self.down.is_none() && self.up.is_none() {
            return Err(Failure::new(
                "--down and --up are missing; they must be the rates of the line, at least one, such as --down 20mbit --up 1mbit",
            ));
        }
        let mut all = Vec::new();
        if let Some(text) = &self.down {
            let rate = Some(format_tc_rate(self.scale_rate("--down", text, DOWN_SHARE)?));
            let (download, user) = (Some(self.device.clone()), User::Destination);
            let request = Request { cake: true, rate, download, user, ..like.clone() };
            all.push((download::ifb_name(&self.device), request));
        }
        if let Some(text) = &self.up {
            let rate = Some(format_tc_rate(self.scale_rate("--up", text, UP_SHARE)?));
            let ack_filter = self.has_ack_filter()?;
            let request = Request { cake: true, ack_filter, rate, user: User::Source, ..like.clone() };
            all.push((self.device.clone(), request));
        }
        Ok(all)
    }

    /// Returns whether the CAKE of uploads filters acknowledgements; not by default if one rate is
    /// missing.
    ///
    /// # Errors
    /// A sentence when a rate is wrong.
    fn has_ack_filter(&self) -> Result<bool> {
        let of_rates = || match (&self.down, &self.up) {
            (Some(down), Some(up)) => Ok(is_asymmetric(parse_rate("--down", down)?, parse_rate("--up", up)?)),
            _ => Ok(false),
        };
        self.ack_filter.map_or_else(of_rates, Ok)
    }

    /// Returns the rate of a queue: `share` of the line's rate, at least 1 bit/s, or all of it if
    /// it is exact. `option` is for the error.
    ///
    /// # Errors
    /// A sentence when the text is no rate.
    fn scale_rate(&self, option: &str, text: &str, share: f64) -> Result<Rate> {
        let rate = parse_rate(option, text)?;
        match self.is_exact {
            true => Ok(rate),
            false => Ok(Rate(((rate.0 as f64 * share).round() as u64).max(1))),
        }
    }

    /// Returns the line for the user that says which rates the queues get and why. `requests` come
    /// from [`Line::plan_requests`].
    fn describe(&self, requests: &[(String, Request)]) -> String {
        let given = [(&self.down, "--down", DOWN_SHARE), (&self.up, "--up", UP_SHARE)];
        let given =
            given.into_iter().filter_map(|(text, option, share)| Some((text.as_ref()?, option, share)));
        let parts = requests.iter().zip(given).map(|((name, request), (text, option, share))| {
            let rate = request.rate.as_deref().unwrap_or_default();
            match self.is_exact {
                true => format!("{rate} at {name}"),
                false => format!("{rate} at {name} ({:.0} % of {option} {text})", share * 100.0),
            }
        });
        let rates = parts.collect::<Vec<_>>().join(", ");
        match self.is_exact {
            true => format!("{}: {rates}, as told", self.device),
            false => format!(
                "{}: {rates}, so that packets wait here and not in the modem or at the provider; --exact takes the rates as told",
                self.device
            ),
        }
    }
}

/// Sets up both directions, or with `is_rehearsal` only says what that would do. `like` has the
/// common options. Returns lines for the user.
///
/// # Errors
/// A sentence when one direction is not possible. What was started of the other is taken back, or
/// the sentence says why it cannot be.
pub fn setup(line: &Line, like: &Request, manner: &Manner, is_rehearsal: bool) -> Result<Vec<String>> {
    let requests = line.plan_requests(like)?;
    let mut lines = vec![line.describe(&requests)];
    // Both are checked before anything is changed.
    for (name, request) in &requests {
        // A shadow's options are checked as well.
        Cake::new(request)?;
        let plan = rehearse(name, request)?;
        if is_rehearsal {
            lines.extend(plan);
        }
    }
    if is_rehearsal {
        return Ok(lines);
    }
    for (at, (name, request)) in requests.iter().enumerate() {
        match start(name, request, manner) {
            Ok(more) => lines.extend(more),
            Err(failure) => {
                for (other, _) in &requests[..at] {
                    stop::stop_one(other)?;
                }
                return Err(explain_missing_cake(failure, &requests));
            }
        }
    }
    Ok(lines)
}

/// Adds to a failure for want of CAKE which commands shape without it; returns other failures
/// unchanged.
fn explain_missing_cake(failure: Failure, requests: &[(String, Request)]) -> Failure {
    let text = failure.to_string();
    if !text.contains("the kernel has no cake") {
        return failure;
    }
    let command = |(name, request): &(String, Request)| {
        let rate = request.rate.as_deref().unwrap_or_default();
        match &request.download {
            Some(of) => format!("`mousehole-live up {of} --download --rate {rate}`"),
            None => format!("`mousehole-live up {name} --rate {rate}`"),
        }
    };
    let commands: Vec<String> = requests.iter().map(command).collect();
    Failure::new(format!("{text}; to shape without it: {}", commands.join(" and ")))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::request::Mode;

    /// Returns a line with 20 Mbit/s downwards and 1 Mbit/s upwards.
    fn build_line(is_exact: bool) -> Line {
        let text = |text: &str| Some(text.to_string());
        Line { device: "wan0".into(), down: text("20mbit"), up: text("1mbit"), is_exact, ack_filter: None }
    }

    #[test]
    fn plan_requests__are_a_little_below_the_line() {
        let rates = |is_exact| {
            let all = build_line(is_exact).plan_requests(&Request::new(Mode::Mark)).unwrap();
            all.into_iter().map(|(name, request)| (name, request.rate.unwrap())).collect::<Vec<_>>()
        };
        let pair = |name: &str, rate: &str| (name.to_string(), rate.to_string());
        assert_eq!(rates(false), [pair("ifb-wan0", "18mbit"), pair("wan0", "950kbit")]);
        assert_eq!(rates(true), [pair("ifb-wan0", "20mbit"), pair("wan0", "1mbit")]);
    }

    #[test]
    fn plan_requests__filter_acknowledgements_of_uploads_on_asymmetric_lines() {
        let filters = |line: &Line| {
            let all = line.plan_requests(&Request::new(Mode::Mark)).unwrap();
            all.into_iter().map(|(_, request)| request.ack_filter).collect::<Vec<_>>()
        };
        assert_eq!(filters(&build_line(false)), [false, true]);
        let even = Line { up: Some("2500kbit".into()), ..build_line(false) };
        assert_eq!(filters(&even), [false, false]);
        assert_eq!(filters(&Line { ack_filter: Some(true), ..even }), [false, true]);
        assert_eq!(filters(&Line { ack_filter: Some(false), ..build_line(false) }), [false, false]);
        assert_eq!(
            filters(&Line { down: None, ..build_line(false) }),
            [false],
            "of the line's downloads nothing is known"
        );
    }

    #[test]
    fn plan_requests__of_one_direction_leave_the_other_alone() {
        let up = Line { down: None, ..build_line(false) };
        let all = up.plan_requests(&Request::new(Mode::Mark)).unwrap();
        assert_eq!(all.len(), 1);
        assert!(all[0].1.brings_cake() && all[0].1.download.is_none());
        assert_eq!(
            up.describe(&all),
            "wan0: 950kbit at wan0 (95 % of --up 1mbit), so that packets wait here and not in the modem or at the provider; \
             --exact takes the rates as told"
        );
    }

    #[test]
    fn rate__that_is_none_is_refused() {
        let fault =
            Line { up: Some("fast".into()), ..build_line(false) }.plan_requests(&Request::new(Mode::Mark));
        assert!(fault.unwrap_err().to_string().contains("--up"), "names the option");
        let none =
            Line { up: None, down: None, ..build_line(false) }.plan_requests(&Request::new(Mode::Mark));
        assert!(none.unwrap_err().to_string().starts_with("--down and --up are missing; they must be"));
    }
}
