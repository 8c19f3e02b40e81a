//! The surroundings of a cell (scenario, traffic and warm-up), and the answer's setting that follows from them.

use crate::account;
use crate::installing::{Bottleneck, Means, NO_LINK};
use mousehole_answer::comparison::Scheme;
use mousehole_answer::setting::{Modem, Setting};
use mousehole_sim::error::Result;
use mousehole_sim::scenario::lasting_call::demotes_calls;
use mousehole_sim::scenario::{self, LinkContext, Scenario};
use mousehole_sim::traffic::summary::Summary;
use mousehole_sim::units::Rate;
use serde::Deserialize;

/// The surroundings of a cell: scenario, traffic and warm-up.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Around {
    /// Name of the traffic.
    pub label: String,
    /// Length of a replication, as it was given.
    pub duration: String,
    /// The traffic that was given, and why ready-made traffic replaces it.
    pub instead_of: Option<String>,
    /// The baseline's scenario, filled in; its traffic is not read.
    pub scenario: Scenario,
    /// The buffer of the cell.
    pub buffer: String,
    /// Whether the data go from clients to servers.
    pub is_up: bool,
    /// The mean in bit/s of each direction whose rate varies.
    pub mean_rates: Means,
    /// The round-trip time of connections whose own is unknown, as it was given.
    pub rtt: Option<String>,
    /// The summary of the traffic; `None` if the scenario generates all of it.
    pub summary: Option<Summary>,
    /// Time before the measured window.
    pub warmup_s: f64,
    /// Time until the link is near its steady state.
    pub warmup_needed_s: Option<f64>,
}

impl Around {
    /// Returns the answer's setting of the cell, with the installation of each of these schemes or
    /// the reason why there is none, in their order.
    ///
    /// # Errors
    /// [`mousehole_sim::error::Error::Field`] for a text of the scenario, or a scheme, that cannot
    /// be parsed.
    pub fn make_setting(&self, schemes: &[Scheme]) -> Result<Setting> {
        let bottleneck = Bottleneck {
            scenario: &self.scenario,
            buffer: &self.buffer,
            is_up: self.is_up,
            means: &self.mean_rates,
        };
        let link = bottleneck.find_link()?;
        let way = |scheme: &Scheme| match &link {
            _ if scheme.is_ideal => Ok(Err(String::new())),
            Some(link) => Ok(link.list_lines(&scenario::Scheme::parse(&scheme.text)?)),
            None => Ok(Err(NO_LINK.to_owned())),
        };
        let ways: Vec<std::result::Result<_, String>> = schemes.iter().map(way).collect::<Result<_>>()?;
        let summary = self.summary.as_ref();
        let has_own_rtts = summary.is_some_and(|summary| summary.rtt_known > 0);
        Ok(Setting {
            label: self.label.clone(),
            duration: self.duration.clone(),
            instead_of: self.instead_of.clone(),
            left_out: summary.map(account::list_left_out).unwrap_or_default(),
            why_nothing: ways.iter().map(|way| way.clone().err().unwrap_or_default()).collect(),
            ways: ways.into_iter().map(std::result::Result::ok).collect(),
            demotes_calls: self.find_demoting(schemes, bottleneck.rate_bps()?)?,
            is_both_ways: link.as_ref().is_some_and(|link| link.other.is_some()),
            modem: self.find_modem(schemes),
            warmup_s: self.warmup_s,
            warmup_needed_s: self.warmup_needed_s,
            rate_bps: bottleneck.rate_bps()?.map(|rate_bps| rate_bps as f64),
            buffer_packets: link.map(|link| link.line.buffer_packets),
            rtt: self.rtt.clone().filter(|_| !has_own_rtts || self.scenario.link.ignore_trace_rtt),
            is_up: self.is_up,
            has_transfers: summary.is_none_or(|summary| summary.transfers > 0),
        })
    }

    /// Returns for each scheme whether its markers demote a call that lasts, as if it were a download; `false` for ideals, and
    /// for all schemes if the link's rate is unknown.
    ///
    /// The buffer is that of the example link, as markers see packets before they queue.
    ///
    /// # Errors
    /// [`mousehole_sim::error::Error::Field`] when a value of a scheme does not fit the link.
    fn find_demoting(&self, schemes: &[Scheme], rate_bps: Option<u64>) -> Result<Vec<bool>> {
        let Some(rate) = rate_bps.map(Rate) else { return Ok(vec![false; schemes.len()]) };
        let context = LinkContext { rate, bottleneck: rate, ..LinkContext::EXAMPLE };
        let demotes = |scheme: &Scheme| match scheme.is_ideal {
            true => Ok(false),
            false => demotes_calls(&scenario::Scheme::parse(&scheme.text)?, context),
        };
        schemes.iter().map(demotes).collect()
    }

    /// Returns the modem behind the shaper of the schemes, if the scenario has one. It has the
    /// rates and the buffer as they were given.
    fn find_modem(&self, schemes: &[Scheme]) -> Option<Modem> {
        let link = &self.scenario.link;
        let shape = link.shape.clone()?;
        Some(Modem {
            up_shape: link.up_shape.clone().unwrap_or_else(|| shape.clone()),
            shape,
            buffer: link.modem_buffer.as_ref().unwrap_or(&self.buffer).clone(),
            has_own_rates: schemes.iter().any(|one| one.text.contains('@')),
        })
    }
}
