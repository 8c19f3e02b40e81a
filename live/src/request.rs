//! A user's request: options of the command line, keys of a file, and part of the record.

use crate::error::{Failure, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What runs at the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// A marker before the queue that is there.
    Mark,
    /// Markers and a queue of our own.
    Up,
}

/// The kind of mark by which a marker informs the queue behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// `skb->priority`, which CAKE reads as a tin: no byte of the packet changes.
    Priority,
    /// The DSCP, for queues and networks behind.
    Dscp,
    /// `skb->priority`, which HTB reads as a class.
    Class,
}

/// Whose address makes a user, for policies that keep a state for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum User {
    /// The sender's: uploads.
    Source,
    /// The receiver's: downloads, at an IFB or on the LAN's side.
    Destination,
}

/// How the program is attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Attach {
    /// As tcx where the kernel has it, else as clsact.
    Auto,
    /// As a tcx link: kernel 6.6 and later.
    Tcx,
    /// As a filter under clsact.
    Clsact,
}

/// Everything that a user can ask for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Request {
    /// What runs at the device.
    pub mode: Mode,
    /// The scheme as `mousehole compare` writes it; without a queue for `mark`.
    pub scheme: String,
    /// Headers of the user's own policies.
    #[serde(default)]
    pub policy: Vec<PathBuf>,
    /// The kind of mark; by default what the queue there can read.
    #[serde(default)]
    pub via: Option<Via>,
    /// The device whose downloads it is for, through an IFB of ours; `None` for the device's own
    /// egress.
    #[serde(default)]
    pub download: Option<String>,
    /// Whether a marker installs a CAKE of its own at the link's rate. Downloads always get one
    /// unless a kind of mark is given.
    #[serde(default)]
    pub cake: bool,
    /// Whether that CAKE drops acknowledgements that a newer one makes superfluous (tc-cake(8): ack-filter).
    #[serde(default)]
    pub ack_filter: bool,
    /// The link layer whose overhead CAKE counts, by its name in `mousehole compare`.
    #[serde(default)]
    pub link_layer: Option<String>,
    /// Classes of HTB for green, yellow and red, such as `1:10`.
    #[serde(default)]
    pub classes: Vec<String>,
    /// One DSCP for packets that are not green; or those of yellow and red; or those of green,
    /// yellow and red.
    #[serde(default = "default_dscp")]
    pub dscp: String,
    /// Whether marks that others have set are replaced.
    #[serde(default, rename = "override")]
    pub overrides: bool,
    /// Rate of the queue; for a marker alone that of the link, of which its parameters may be
    /// shares.
    #[serde(default)]
    pub rate: Option<String>,
    /// Buffer of the queue.
    #[serde(default = "default_buffer")]
    pub buffer: String,
    /// Depth of the token bucket.
    #[serde(default)]
    pub burst: Option<String>,
    /// Bytes of each packet on the wire beyond its IP length.
    #[serde(default)]
    pub overhead: Option<u32>,
    /// Decide and count, change nothing.
    #[serde(default)]
    pub shadow: bool,
    /// The share of hosts that stay unmarked, such as `50%`, so that `status --ab` can compare them
    /// with the others.
    #[serde(default)]
    pub ab: Option<String>,
    /// The key by which these hosts are drawn.
    #[serde(default)]
    pub ab_key: Option<String>,
    /// Entries of the flow table.
    #[serde(default = "default_flows")]
    pub flows: u32,
    /// Whose address identifies a user.
    #[serde(default = "default_user")]
    pub user: User,
    /// Whether somebody else's queue discipline may be replaced.
    #[serde(default)]
    pub replace: bool,
    /// How the program is attached.
    #[serde(default = "default_attach")]
    pub attach: Attach,
    /// Whether super-packets are split before the program sees them.
    #[serde(default)]
    pub no_gso: bool,
    /// Whether the scheme's queue runs as a queue discipline itself, by struct_ops.
    #[serde(default)]
    pub native: bool,
    /// Initial window of this host's connections, segments; published thresholds of windows are
    /// scaled by it.
    #[serde(default)]
    pub initial_window: Option<u32>,
    /// The longest time that packets beyond a user's profile wait for tokens; without it they are
    /// policed.
    #[serde(default)]
    pub shape: Option<String>,
}

fn default_dscp() -> String {
    "le".into()
}

fn default_buffer() -> String {
    DEFAULT_BUFFER.into()
}

fn default_flows() -> u32 {
    DEFAULT_FLOWS
}

fn default_user() -> User {
    User::Source
}

fn default_attach() -> Attach {
    Attach::Auto
}

/// The marker of `mark`: docs/nobody-pays.md says why.
pub const DEFAULT_MARKER: &str = "excess";
/// The scheme of `up`.
pub const DEFAULT_SCHEME: &str = "rio-ps";
/// The scheme of `host`.
pub const DEFAULT_HOST_SCHEME: &str = "tcp-ds";
/// The DSCPs of `host`: three drop precedences of one class.
pub const DEFAULT_HOST_DSCP: &str = "af11,af12,af13";
/// The initial window of Linux, segments.
pub const DEFAULT_INITIAL_WINDOW: u32 = 10;
/// The buffer of `up`.
pub const DEFAULT_BUFFER: &str = "100p";
/// How long packets wait for tokens at most.
pub const DEFAULT_SHAPE: &str = "2s";
/// Flows in the table.
pub const DEFAULT_FLOWS: u32 = 65_536;

impl Request {
    /// Returns the request of a command without options.
    pub fn new(mode: Mode) -> Request {
        let scheme = if mode == Mode::Mark { DEFAULT_MARKER } else { DEFAULT_SCHEME };
        Request {
            mode,
            scheme: scheme.into(),
            policy: Vec::new(),
            via: None,
            download: None,
            cake: false,
            ack_filter: false,
            link_layer: None,
            classes: Vec::new(),
            dscp: default_dscp(),
            overrides: false,
            rate: None,
            buffer: default_buffer(),
            burst: None,
            overhead: None,
            shadow: false,
            ab: None,
            ab_key: None,
            flows: DEFAULT_FLOWS,
            user: User::Source,
            replace: false,
            attach: Attach::Auto,
            no_gso: false,
            native: false,
            initial_window: None,
            shape: None,
        }
    }

    /// Returns whether the marker is for a CAKE of our own, installed or not.
    pub fn is_for_own_cake(&self) -> bool {
        self.mode == Mode::Mark && (self.cake || (self.download.is_some() && self.leaves_way_to_queue()))
    }

    /// Returns whether a CAKE of our own is installed at the device; a shadow installs none.
    pub fn brings_cake(&self) -> bool {
        self.is_for_own_cake() && !self.shadow
    }

    /// Returns whether it is a marker without any option about the kind of mark: via, classes or
    /// DSCP.
    pub fn leaves_way_to_queue(&self) -> bool {
        let is_open = self.via.is_none() && self.classes.is_empty() && self.dscp == default_dscp();
        self.mode == Mode::Mark && is_open
    }

    /// Reads a TOML file of options: long options without their hyphens, such as `rate = "10mbit"`.
    /// A `mode` in it must be this one. Other keys have the defaults of [`Request::new`].
    ///
    /// # Errors
    /// A sentence that names the file, the line and what is wrong.
    pub fn read(path: &Path, mode: Mode) -> Result<Request> {
        let (text, mut table) = parse_file(path)?;
        let word = if mode == Mode::Mark { "mark" } else { "up" };
        if let Some(given) = table.get("mode")
            && given.as_str() != Some(word)
        {
            return Err(Failure::new(format!(
                "{}: mode is {given}, but this command is `{word}`",
                path.display()
            )));
        }
        table.insert("mode".into(), word.into());
        Request::from_table(path, &text, table, mode)
    }

    /// Reads a file as [`Request::read`] does; its `mode` must say whether it is for `mark` or
    /// `up`.
    ///
    /// # Errors
    /// As [`Request::read`], and when there is no mode.
    pub fn read_of_any_mode(path: &Path) -> Result<Request> {
        let (text, table) = parse_file(path)?;
        let mode = match table.get("mode").and_then(toml::Value::as_str) {
            Some("mark") => Mode::Mark,
            Some("up") => Mode::Up,
            _ => {
                let given = table.get("mode").map_or("missing".into(), |given| format!("is {given}"));
                let path = path.display();
                return Err(Failure::new(format!("{path}: mode {given}; it must be \"mark\" or \"up\"")));
            }
        };
        Request::from_table(path, &text, table, mode)
    }

    /// Returns the request in a file's table, with default values. `text` is the file's, for the
    /// line in an error.
    ///
    /// # Errors
    /// A sentence that names the file, the line if it is known, and what is wrong.
    fn from_table(path: &Path, text: &str, mut table: toml::Table, mode: Mode) -> Result<Request> {
        table.entry("scheme").or_insert_with(|| Request::new(mode).scheme.into());
        let lacks_scheme = text.parse::<toml::Table>().is_ok_and(|given| !given.contains_key("scheme"));
        // Parsed again from the text, so that an error has its line.
        let again = format!("{text}{}", if lacks_scheme { "\nscheme = ''" } else { "" });
        let whole = table.try_into::<Request>();
        whole.map_err(|error| match toml::from_str::<Request>(&again) {
            Err(other) if other.span().is_some() => toml_failure(path, &again, &other),
            _ => {
                Failure::new(format!("{}: {}", path.display(), error.message().trim_end().replace('\n', " ")))
            }
        })
    }
}

/// Returns the table of a file of options, without defaults.
///
/// # Errors
/// A sentence that names the file, the line and what is wrong.
pub fn read_table(path: &Path) -> Result<toml::Table> {
    parse_file(path).map(|(_, table)| table)
}

/// Returns the text of a TOML file and its table.
///
/// # Errors
/// A sentence that names the file, and for a fault in its text the line.
fn parse_file(path: &Path) -> Result<(String, toml::Table)> {
    let text =
        mousehole_policy::files::read_text(path).map_err(|error| Failure::system(path.display(), &error))?;
    let table = toml::from_str(&text).map_err(|error| toml_failure(path, &text, &error))?;
    Ok((text, table))
}

/// Returns the failure for an error in a TOML file: file, line and message. An error without a
/// position is given for line 1.
fn toml_failure(path: &Path, text: &str, error: &toml::de::Error) -> Failure {
    let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let what = error.message().trim_end().replace('\n', " ");
    Failure::new(format!("{}, line {line}: {what}", path.display()))
}

/// Returns the number of a DSCP: a name of the IANA registry, or 0 to 63.
///
/// # Errors
/// A sentence when it is neither, or a DSCP that CAKE serves before best effort.
pub fn parse_dscp(text: &str) -> Result<u8> {
    let lower = text.to_ascii_lowercase();
    let known = DSCP_NAMES.iter().find(|(name, _)| *name == lower).map(|(_, number)| *number);
    let number =
        known.or_else(|| lower.parse::<u8>().ok().filter(|number| *number < 64)).ok_or_else(|| {
            let names: Vec<&str> = DSCP_NAMES.iter().map(|(name, _)| *name).collect();
            Failure::new(format!(
                "--dscp is \"{text}\"; it must be one of {}, or a number from 0 to 63",
                names.join(", ")
            ))
        })?;
    match number {
        18 | 20 | 22 => Err(Failure::new(format!(
            "--dscp is \"{text}\", which CAKE takes for video and serves before best effort; use le, cs1 or af11 to af13"
        ))),
        number => Ok(number),
    }
}

/// Rejects the DSCPs of better service for packets that are not green.
///
/// # Errors
/// A sentence with the reason.
pub fn refuse_better_service(number: u8) -> Result<()> {
    let reason = match number {
        45 => "NQB, for flows that build no queue, and long ones do",
        46 => "EF, which networks serve first, before the short ones",
        _ => return Ok(()),
    };
    Err(Failure::new(format!(
        "--dscp gives long flows {number}, which is {reason}; use le, cs1 or af11 to af13"
    )))
}

/// Names of the IANA registry of DSCPs, without those that stand for better service than the
/// default.
const DSCP_NAMES: &[(&str, u8)] = &[
    ("le", 1),
    ("cs1", 8),
    ("af11", 10),
    ("af12", 12),
    ("af13", 14),
    ("af21", 18),
    ("af22", 20),
    ("af23", 22),
    ("cs0", 0),
];
