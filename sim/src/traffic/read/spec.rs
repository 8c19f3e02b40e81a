//! Formats of logs as data: a file of a few lines names the fields of a row and their meanings.
//!
//! `read/formats/*.toml` has the known formats; users give others with `--format`. docs/traffic.md describes the keys.

use crate::error::{Error, Result, did_you_mean};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// The syntax of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lines {
    /// Cells between commas, semicolons or tabs, below a header or in a fixed order.
    Delimited,
    /// Words between spaces, below a header or in a fixed order; quotation marks and brackets hold words together.
    Words,
    /// Objects of JSON, one after the other or in an array.
    Json,
    /// W3C Extended Log File Format: words or cells below a line `#Fields:`.
    W3c,
}

/// The meaning of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowKind {
    /// A request, whose source is the client. Rows are independent of each other.
    Request,
    /// Both directions of a flow, whose source is the client.
    Flow,
    /// The bytes that the source sent, and perhaps those that it received. Rows of the same ends belong together,
    /// whichever sent.
    Direction,
}

impl RowKind {
    /// Returns the name that files of formats use.
    pub fn name(self) -> &'static str {
        match self {
            RowKind::Request => "request",
            RowKind::Flow => "flow",
            RowKind::Direction => "direction",
        }
    }
}

/// The order of day and month in dates with slashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dates {
    /// Day first.
    #[default]
    Dmy,
    /// Month first.
    Mdy,
}

/// A format, as its file describes it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Short name for reports.
    pub name: String,
    /// Title for messages.
    pub title: String,
    /// The syntax of rows.
    pub lines: Lines,
    /// The meaning of a row.
    #[serde(default = "default_row")]
    pub row: RowKind,
    /// Cells in their order, if no header names them: text with `{field}` where a field stands, `{}` for any other.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Text that ends the prefix which a line may have before its first cell, such as syslog's.
    #[serde(default)]
    pub after: String,
    /// Names by which the format is recognised, in addition to those of `fields`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Patterns of cells by which a line without a header is recognised; `*` is any text, `|` separates alternatives.
    #[serde(default)]
    pub looks: BTreeMap<String, String>,
    /// Patterns of cells that a row must have to be read; a pattern after `!` must not fit.
    #[serde(default)]
    pub only: BTreeMap<String, String>,
    /// Patterns of cells of rows that did not cross the network.
    #[serde(default)]
    pub cached: BTreeMap<String, String>,
    /// Bytes of headers that sizes include for each TCP packet; 12 less for one of UDP.
    #[serde(default)]
    pub header: u64,
    /// Unit of numbers that are times: `s`, `ms`, `us` or `ns`; by their size if it is not given.
    #[serde(default)]
    pub time_unit: String,
    /// Unit of durations, seconds if it is not given.
    #[serde(default)]
    pub duration_unit: String,
    /// Order of day and month in dates such as 3/7/2017.
    #[serde(default)]
    pub dates: Dates,
    /// A remark that readers of results should see.
    #[serde(default)]
    pub note: String,
    /// Why files of this format are refused, and what to give instead.
    #[serde(default)]
    pub refuse: String,
    /// Field by field the name of its column or its path in the object; `|` separates alternatives, `+` joins
    /// columns, and a `?` at the end marks one that may be absent.
    #[serde(default)]
    pub fields: BTreeMap<String, String>,
}

/// Returns the default of `row`.
fn default_row() -> RowKind {
    RowKind::Request
}

/// Meanings of fields. Their numbers are indices of [`FIELDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Start,
    End,
    Duration,
    Source,
    SourcePort,
    Destination,
    DestinationPort,
    Protocol,
    Service,
    Flags,
    Sent,
    SentPackets,
    Received,
    ReceivedPackets,
    Total,
    Rtt,
}

/// Names of fields in files of formats.
pub const FIELDS: [&str; 16] = [
    "start",
    "end",
    "duration",
    "source",
    "source_port",
    "destination",
    "destination_port",
    "protocol",
    "service",
    "flags",
    "sent",
    "sent_packets",
    "received",
    "received_packets",
    "total",
    "rtt",
];

macro_rules! embedded {
    ($($name:literal),+ $(,)?) => { [$(include_str!(concat!("formats/", $name, ".toml"))),+] };
}

/// The files of the known formats. If several fit, the one that needs most names wins, then the first.
const EMBEDDED: [&str; 50] = embedded![
    "suricata",
    "suricata-netflow",
    "caddy",
    "traefik",
    "cloudflare",
    "nginx-json",
    "nfdump-json",
    "nfdump-1.6",
    "nfdump-1.7",
    "nfdump-1.6-q",
    "nfdump-1.7-q",
    "nfdump-pipe",
    "nfdump-text",
    "aws-vpc",
    "aws-vpc-2",
    "gcp-vpc",
    "pmacct",
    "ntopng",
    "nprobe",
    "ipfix",
    "goflow2",
    "argus",
    "ctu-13",
    "unsw-nb15",
    "cic-ids",
    "cic-python",
    "silk",
    "wireshark-conversations",
    "squid",
    "haproxy-http",
    "haproxy-tcp",
    "alb",
    "elb",
    "s3",
    "iis",
    "cloudfront",
    "w3c",
    "wireshark-packets",
    "tshark-fields",
    "nprobe-untimed",
    "softflowd",
    "argus-short",
    "suricata-other",
    "ns-2",
    "ns-2-wireless",
    "ns-3",
    "tcpdump-text",
    "tshark-text",
    "tshark-json",
    "argus-text",
];

static KNOWN: LazyLock<Vec<Arc<Spec>>> = LazyLock::new(|| {
    let parse = |text: &&str| Spec::parse("formats", text).ok().map(Arc::new);
    EMBEDDED.iter().filter_map(parse).collect()
});

/// Returns the known formats, in their order of preference, parsed at the first call.
pub fn known_formats() -> &'static [Arc<Spec>] {
    &KNOWN
}

impl Spec {
    /// Parses the text of a format's file; `path` is for errors.
    ///
    /// # Errors
    /// [`Error::Row`] for text that is no such TOML, and [`Error::File`] for keys that do not fit together.
    pub fn parse(path: &str, text: &str) -> Result<Spec> {
        let spec: Spec = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count() as u64);
            let problem = error.message().lines().next().unwrap_or("not TOML").to_string();
            Error::Row { file: path.to_string(), line, problem }
        })?;
        spec.check().map_err(|problem| Error::file(path, problem))?;
        Ok(spec)
    }

    /// Checks that columns, fields and units fit together. A format that is refused needs no fields.
    ///
    /// # Errors
    /// A sentence about the first fault.
    fn check(&self) -> std::result::Result<(), String> {
        let named = self.columns.iter().flat_map(|template| placeholders(template));
        let fields: Vec<&str> = self.fields.keys().map(String::as_str).chain(named).collect();
        if !self.columns.is_empty() && !self.fields.is_empty() {
            return Err("columns and fields are both given; give columns where no header names them".into());
        }
        if let Some(name) = self.fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
            let hint = did_you_mean(name, FIELDS);
            return Err(format!("fields.{name} is no field; fields are {}{hint}", FIELDS.join(", ")));
        }
        for (key, unit) in [("time_unit", &self.time_unit), ("duration_unit", &self.duration_unit)] {
            if !matches!(unit.as_str(), "" | "s" | "ms" | "us" | "ns") {
                return Err(format!("{key} \"{unit}\" is not allowed; s, ms, us or ns is"));
            }
        }
        if !self.refuse.is_empty() {
            return Ok(());
        }
        let has = |name: &str| fields.contains(&name);
        if !has("start") && !has("end") {
            return Err("no field start or end, so it is not known when a row was".into());
        }
        if !["sent", "received", "total"].into_iter().any(has) {
            return Err("no field sent, received or total, so rows have no bytes".into());
        }
        let has_ends = ["source", "source_port", "destination", "destination_port"].into_iter().all(has);
        if self.row == RowKind::Direction && !has_ends {
            return Err(
                "row = \"direction\" needs source, source_port, destination and destination_port".into()
            );
        }
        Ok(())
    }
}

/// Returns the names between braces in a template, without empty ones.
pub fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|part| part.split('}').next()).filter(|name| !name.is_empty())
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn known_formats__every_file_is_sound_short_and_named_once() {
        for text in EMBEDDED {
            let spec = Spec::parse("formats", text).unwrap();
            assert!(text.lines().count() <= 25, "{}", spec.name);
        }
        let names: BTreeSet<&str> = known_formats().iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names.len(), EMBEDDED.len());
    }

    #[test]
    fn parse__explains_faults() {
        let head = "name = \"x\"\ntitle = \"X\"\nlines = \"delimited\"\n";
        let fault = |rest: &str| Spec::parse("my.toml", &format!("{head}{rest}")).unwrap_err().to_string();
        assert!(fault("[fields]\nstrat = \"t\"").contains("did you mean \"start\""));
        assert!(fault("[fields]\nstart = \"t\"").contains("rows have no bytes"));
        assert!(fault("colour = 1").starts_with("my.toml:4: unknown field `colour`"));
        assert!(fault("row = \"direction\"\n[fields]\nstart = \"t\"\nsent = \"b\"").contains("needs source"));
        assert!(fault("time_unit = \"h\"").contains("time_unit \"h\" is not allowed"));
    }
}
