//! The lines that install a scheme on one direction of a link or on both, with remarks on what was simulated.

use crate::setting::Installation;
use crate::texts::{rate_text, significant};
use serde::{Deserialize, Serialize};

/// Heading of the lines for downloads.
pub const TO_CLIENTS: &str = "# download direction: DEV is the device towards the clients";
/// Heading of the lines for uploads.
pub const TO_PROVIDER: &str = "# upload direction: DEV is the device towards the provider";
/// Remark on the rate in the commands where the scheme is on the line itself.
pub const AT_THE_LINE: &str =
    "# the rate is the line's, as simulated; before a modem take less: --shape 95% simulates that";

/// The line of a modem that the scheme sends into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModemLine {
    /// Its rate in bit/s; of one that varies the mean.
    pub rate_bps: u64,
    /// Whether it varies.
    pub varies: bool,
}

/// One direction of a link, and what installs the scheme there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Direction {
    /// Whether it is that from clients to servers.
    pub is_upload: bool,
    /// Rate at which the scheme sends, bit/s.
    pub rate_bps: u64,
    /// The modem behind, if there is one.
    pub modem: Option<ModemLine>,
    /// Commands and remarks.
    pub lines: Vec<String>,
}

/// Returns what installs a scheme on these directions, of which there are one or two; downloads
/// come first.
///
/// The lines of each of two directions follow a remark on its device. Where the rate is that of a
/// shaper before a modem, the remark also says what was simulated, and one direction has it too.
/// Without such a shaper a last remark says that the rate is the line's, if a command has a rate.
pub fn join_directions(place: &str, mut directions: Vec<Direction>) -> Installation {
    directions.sort_by_key(|one| one.is_upload);
    let (is_alone, is_shaped) = (directions.len() == 1, directions.iter().any(|one| one.modem.is_some()));
    let mut lines = Vec::new();
    for one in directions {
        if !is_alone || one.modem.is_some() {
            lines.push(direction_heading(&one));
        }
        lines.extend(one.lines);
    }
    if !is_shaped && lines.iter().any(|line| has_rate(line)) {
        lines.push(AT_THE_LINE.to_owned());
    }
    Installation { place: place.to_owned(), lines }
}

/// Returns the heading of the commands for one direction; before a modem with the share of the line's rate.
fn direction_heading(one: &Direction) -> String {
    let head = if one.is_upload { TO_PROVIDER } else { TO_CLIENTS };
    let Some(line) = one.modem else { return head.to_owned() };
    let mean = if line.varies { "mean of " } else { "" };
    let share = significant(100.0 * one.rate_bps as f64 / line.rate_bps as f64, 4);
    format!("{head}; {share} % of the line's {mean}{}, as it was simulated", rate_text(line.rate_bps as f64))
}

/// Returns whether a command has a rate: `rate` or `bandwidth`, with or without hyphens, before
/// another word. Remarks have none.
fn has_rate(line: &str) -> bool {
    let mut words: Vec<&str> = line.split(' ').collect();
    words.pop();
    let name = |word: &&str| matches!(word.trim_start_matches('-'), "rate" | "bandwidth");
    !line.starts_with('#') && words.iter().any(name)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns a direction in which CAKE sends at 19 Mbit/s, perhaps before a modem of this rate.
    fn direction(is_upload: bool, modem: Option<u64>) -> Direction {
        let modem = modem.map(|rate_bps| ModemLine { rate_bps, varies: false });
        let lines = vec!["tc qdisc replace dev DEV root cake bandwidth 19mbit".to_owned()];
        Direction { is_upload, rate_bps: 19_000_000, modem, lines }
    }

    #[test]
    fn join_directions__names_the_device_of_each_direction_and_the_rate() {
        let found = join_directions("Linux", vec![direction(true, None), direction(false, None)]);
        assert_eq!(found.lines.len(), 5);
        assert_eq!(
            [&*found.lines[0], &*found.lines[2], &*found.lines[4]],
            [TO_CLIENTS, TO_PROVIDER, AT_THE_LINE]
        );
        let found = join_directions("Linux", vec![direction(false, None)]);
        assert_eq!(found.lines[1..], [AT_THE_LINE]);
        let found = join_directions("Linux", vec![direction(false, Some(20_000_000))]);
        assert_eq!(found.lines[0], format!("{TO_CLIENTS}; 95 % of the line's 20 Mb/s, as it was simulated"));
        assert_eq!(found.lines.len(), 2);
    }

    #[test]
    fn has_rate__wants_a_command() {
        assert!(has_rate("mousehole-live up --dev DEV --rate 5mbit"));
        assert!(!has_rate("# rate 5mbit") && !has_rate("fq_codel limit 5") && !has_rate("the rate"));
    }
}
