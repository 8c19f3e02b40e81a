//! The command `mousehole-live`. Its exit status is 0, or 2 after one sentence on standard error if
//! the input is wrong or nothing could be done. `status --check` has the statuses of monitoring
//! plugins.

use clap::{Args, Parser, Subcommand};
use mousehole_live::error::{Failure, Result};
use mousehole_live::request::{
    self, Attach, DEFAULT_BUFFER, DEFAULT_FLOWS, DEFAULT_HOST_DSCP, DEFAULT_HOST_SCHEME,
    DEFAULT_INITIAL_WINDOW, DEFAULT_MARKER, DEFAULT_SCHEME, DEFAULT_SHAPE, Mode, Request, User, Via,
};
use mousehole_live::setup::{self, DOWN_SHARE, Line, UP_SHARE};
use mousehole_live::start::{Manner, rehearse, start, upgrade};
use mousehole_live::status::{self, Status};
use mousehole_live::tune::{Changes, tune};
use mousehole_live::{
    agent, check, confirm, deployment, download, explain, flows, guard, kept, kernel, metrics, persist, stop,
    trial,
};
use mousehole_scheme::units::parse_dur;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Mark or queue a device's traffic by the policies that Mousehole simulates.
#[derive(Debug, Parser)]
#[command(name = "mousehole-live", version, disable_help_subcommand = true)]
struct Cli {
    #[command(subcommand)]
    command: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Tell what stands in the way at a device, and what the other commands would do; changes nothing
    Check {
        /// The device
        device: String,
        /// Print one document of JSON
        #[arg(long)]
        json: bool,
    },
    /// Both directions of a line: a CAKE at each end, and the marker before it
    Setup(SetupOptions),
    /// Mark long flows for the queue that is there, such as CAKE
    Mark(MarkOptions),
    /// Put a scheme's marker and queue at the device
    Up(UpOptions),
    /// Mark or queue what this host sends, by the state of its own TCP connections
    Host(HostOptions),
    /// Take everything back
    Down(DownOptions),
    /// Say what runs here, whether it really runs, and what it counted
    Status(StatusOptions),
    /// List the flows that sent the most
    Flows(FlowsOptions),
    /// Say what became of a flow, by which rule, or why it is not seen here
    Explain(ExplainOptions),
    /// Change parameters of what runs; flows and queue keep their state
    Tune(TuneOptions),
    /// Write units of systemd, so that what runs now comes back at boot
    Persist(PersistOptions),
    /// Confirm what was started
    Confirm {
        /// The device
        device: String,
    },
    /// Replace the running program by this version's; flows keep their state
    Upgrade {
        /// The device
        device: String,
    },
    /// Run the agent of a device in the foreground; `mark` and `up` start one by themselves
    Agent {
        /// The device
        device: String,
    },
    /// Start once what `persist` kept, without a compiler, where no guard runs
    Boot {
        /// The device
        device: String,
    },
    /// Keep what the files DEV.toml of a folder ask for, while devices and queues come and go
    Guard {
        #[arg(default_value = kept::FOLDER, help = "The folder of the files: the options' names, and mode = 'mark' or 'up'")]
        folder: PathBuf,
        /// Write OpenMetrics text to a file every 10 s
        #[arg(long, value_name = "FILE")]
        metrics: Option<PathBuf>,
    },
    #[command(hide = true)]
    Expire {
        device: String,
        #[arg(long)]
        since: u64,
        #[arg(long)]
        after: u64,
    },
}

#[derive(Debug, Args)]
struct Common {
    /// The device whose egress it is: the WAN for uploads, the LAN's side or an IFB for downloads
    device: String,
    /// Read options from a TOML file; flags given beside it win
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The header of a policy of your own, which the scheme may name
    #[arg(long, value_name = "HEADER")]
    policy: Vec<PathBuf>,
    /// Stand at the device's downloads: what comes in goes through an IFB that is made for this
    #[arg(long)]
    download: bool,
    /// Decide and count, change nothing
    #[arg(long)]
    shadow: bool,
    /// Say what would be done, and do nothing; needs no rights
    #[arg(long)]
    dry_run: bool,
    /// Take everything back after this time unless `confirm` comes first, such as 120s
    #[arg(long, value_name = "TIME")]
    confirm: Option<String>,
    #[arg(long, value_name = "N", help = format!("Flows in the table (default {DEFAULT_FLOWS})"))]
    flows: Option<u32>,
    /// Whose address makes a user, for policies that keep a state for each
    #[arg(long, value_enum)]
    user: Option<User>,
    /// How the program is attached
    #[arg(long, value_enum)]
    attach: Option<Attach>,
    /// Split super-packets before the program sees them
    #[arg(long)]
    no_gso: bool,
    /// Start no agent: something else runs it
    #[arg(long, hide = true)]
    no_agent: bool,
}

#[derive(Debug, Args)]
struct MarkOptions {
    #[command(flatten)]
    common: Common,
    #[arg(long, value_name = "MARKER", help = format!("The marker, as `mousehole compare` writes it (default {DEFAULT_MARKER})"))]
    marker: Option<String>,
    /// How packets are marked for the queue; by default as it can be: CAKE by priority, others by DSCP
    #[arg(long, value_enum)]
    via: Option<Via>,
    /// Classes of HTB: for long flows; or for yellow and red; or for green, yellow and red
    #[arg(long, value_name = "CLASS,..", value_delimiter = ',')]
    classes: Vec<String>,
    /// The DSCP of long flows (default le)
    #[arg(long, value_name = "DSCP")]
    dscp: Option<String>,
    /// The rate of the link, for markers whose parameters are shares of it, such as policer(high_rate=5%)
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// Replace marks that others have set
    #[arg(long = "override")]
    overrides: bool,
    /// Leave a random part of the hosts unmarked, such as 50%; `status --ab` compares them with the others
    #[arg(long, value_name = "PART")]
    ab: Option<String>,
    /// What --ab draws the hosts by, together with their addresses; give both directions the same (default: a random one)
    #[arg(long, value_name = "KEY", requires = "ab")]
    ab_key: Option<String>,
}

#[derive(Debug, Args)]
struct SetupOptions {
    /// The device towards the Internet
    device: String,
    /// What the line carries downwards, such as 20mbit
    #[arg(long, value_name = "RATE")]
    down: Option<String>,
    /// What the line carries upwards, such as 1mbit
    #[arg(long, value_name = "RATE")]
    up: Option<String>,
    #[arg(long, help = format!("Give the queues these rates; by default they get {:.0} % of --down and {:.0} % of --up, so that \
                                packets wait in them and not in the modem", DOWN_SHARE * 100.0, UP_SHARE * 100.0))]
    exact: bool,
    /// Whether the CAKE of uploads drops acknowledgements that a newer one makes superfluous; by default on lines whose --down
    /// is at least ten times --up
    #[arg(long, value_enum, value_name = "on|off")]
    ack_filter: Option<Switch>,
    #[arg(
        long,
        value_name = "LAYER",
        conflicts_with = "overhead",
        help = "What packets cost on the line: ethernet, docsis, vdsl, adsl, conservative, or another keyword of CAKE's"
    )]
    link_layer: Option<String>,
    /// Bytes of each packet on the line beyond its IP length
    #[arg(long, value_name = "BYTES")]
    overhead: Option<u32>,
    #[arg(long, value_name = "MARKER", help = format!("The marker, as `mousehole compare` writes it (default {DEFAULT_MARKER})"))]
    marker: Option<String>,
    #[arg(long, value_name = "N", help = format!("Flows in each table (default {DEFAULT_FLOWS})"))]
    flows: Option<u32>,
    /// Decide and count only: no CAKE is put there; downloads do pass an IFB, where they are counted
    #[arg(long)]
    shadow: bool,
    /// Say what would be done, and do nothing; needs no rights
    #[arg(long)]
    dry_run: bool,
    /// Take everything back after this time unless `confirm` comes first, such as 120s
    #[arg(long, value_name = "TIME")]
    confirm: Option<String>,
}

#[derive(Debug, Args)]
struct UpOptions {
    #[command(flatten)]
    common: Common,
    #[arg(long, value_name = "SCHEME", help = format!("The scheme, as `mousehole compare` writes it (default {DEFAULT_SCHEME})"))]
    scheme: Option<String>,
    /// The rate of the link, a little less than what it carries, such as 9500kbit
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    #[arg(long, value_name = "BUFFER", help = format!("The buffer, in packets or bytes (default {DEFAULT_BUFFER})"))]
    buffer: Option<String>,
    /// The depth of the token bucket (default: 1 ms of the rate, 8 kB and one frame at the least)
    #[arg(long, value_name = "SIZE")]
    burst: Option<String>,
    /// Bytes of each packet on the wire beyond its IP length (default: the device's link header)
    #[arg(long, value_name = "BYTES")]
    overhead: Option<u32>,
    /// Replace a qdisc of somebody else's; `down` puts it back
    #[arg(long)]
    replace: bool,
    /// Run the scheme's queue itself as the device's queue discipline, in place of HTB; kernel 6.16 and later
    #[arg(long)]
    native: bool,
}

#[derive(Debug, Args)]
struct HostOptions {
    #[command(flatten)]
    common: Common,
    #[arg(long, value_name = "SCHEME",
          help = format!("tcp-ds or tcp-ds-r: colours by the window, held to a profile; shred: a queue that spares small windows \
                          (default {DEFAULT_HOST_SCHEME})"))]
    scheme: Option<String>,
    #[arg(long, value_name = "SEGMENTS",
          help = format!("The initial window of this host's connections, by which the published thresholds are scaled; 1 leaves \
                          them (default {DEFAULT_INITIAL_WINDOW})"))]
    initial_window: Option<u32>,
    #[arg(long, value_name = "DSCP,..",
          help = format!("The DSCPs of green, yellow and red: three drop precedences of one class (default {DEFAULT_HOST_DSCP})"))]
    dscp: Option<String>,
    /// The rate of the link, for shred, and for profiles that are shares of it
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    #[arg(long, value_name = "BUFFER", help = format!("The buffer, for shred (default {DEFAULT_BUFFER})"))]
    buffer: Option<String>,
    #[arg(long, value_name = "TIME", num_args = 0..=1, default_missing_value = DEFAULT_SHAPE,
          help = format!("Packets beyond the profile wait for tokens, at most so long (default {DEFAULT_SHAPE}), and are not \
                          policed; puts fq at the root if it is not there"))]
    shape: Option<String>,
    /// Replace a qdisc of somebody else's; `down` puts it back
    #[arg(long)]
    replace: bool,
}

#[derive(Debug, Args)]
struct DownOptions {
    /// The device
    #[arg(required_unless_present = "all")]
    device: Option<String>,
    /// All devices of this network namespace
    #[arg(long, conflicts_with = "device")]
    all: bool,
}

#[derive(Debug, Args)]
struct StatusOptions {
    /// The device (default: all of this network namespace)
    device: Option<String>,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Repeat after so many seconds, with rates (default 2)
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2",
          value_parser = clap::value_parser!(u64).range(1..=86_400))]
    watch: Option<u64>,
    /// Write OpenMetrics text for node_exporter's textfile collector to a file
    #[arg(long, value_name = "FILE")]
    metrics: Option<PathBuf>,
    /// For monitoring: a line for each device, and the exit status 0 (OK), 1 (warning), 2 (critical) or 3 (unknown)
    #[arg(long, conflicts_with_all = ["json", "watch", "metrics"])]
    check: bool,
    /// Compare the transfers of marked and unmarked hosts, where `mark --ab` runs
    #[arg(long, conflicts_with_all = ["watch", "metrics", "check"])]
    ab: bool,
}

#[derive(Debug, Args)]
struct FlowsOptions {
    /// The device (default: all of this network namespace)
    device: Option<String>,
    /// How many flows are listed
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    top: u32,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ExplainOptions {
    /// ADDRESS, ADDRESS:PORT, [IPv6]:PORT, or two of them with a hyphen between
    flow: String,
    /// Look at this device only
    #[arg(long, value_name = "DEV")]
    device: Option<String>,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct PersistOptions {
    /// The device
    device: String,
    /// Remove the units
    #[arg(long)]
    remove: bool,
    /// Print the units, and write nothing
    #[arg(long, conflicts_with_all = ["remove", "now"])]
    print: bool,
    /// Enable and start them too; with --remove, disable and stop them
    #[arg(long)]
    now: bool,
    #[arg(long, value_name = "FOLDER", help = format!("Where the units are written (default {})", persist::UNITS))]
    directory: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct TuneOptions {
    /// The device
    device: String,
    /// The marker of `mark`, with other parameters
    #[arg(long, value_name = "MARKER", conflicts_with = "scheme")]
    marker: Option<String>,
    /// The scheme of `up`, with other parameters
    #[arg(long, value_name = "SCHEME")]
    scheme: Option<String>,
    /// The rate of the link, such as 9500kbit; scripts that measure the link call this
    #[arg(long, value_name = "RATE")]
    rate: Option<String>,
    /// The buffer, in packets or bytes
    #[arg(long, value_name = "BUFFER")]
    buffer: Option<String>,
    /// The depth of the token bucket
    #[arg(long, value_name = "SIZE")]
    burst: Option<String>,
    /// Bytes of each packet on the wire beyond its IP length
    #[arg(long, value_name = "BYTES")]
    overhead: Option<u32>,
    /// How packets are marked for the queue
    #[arg(long, value_enum)]
    via: Option<Via>,
    /// Classes of HTB, as in `mark`
    #[arg(long, value_name = "CLASS,..", value_delimiter = ',')]
    classes: Vec<String>,
    /// The DSCP of long flows
    #[arg(long, value_name = "DSCP")]
    dscp: Option<String>,
    /// Whether marks that others have set are replaced
    #[arg(long = "override", value_enum, value_name = "on|off")]
    overrides: Option<Switch>,
    /// Whether it decides and counts only
    #[arg(long, value_enum, value_name = "on|off")]
    shadow: Option<Switch>,
    /// How long packets wait for tokens at most, where `host --shape` has them wait
    #[arg(long, value_name = "TIME")]
    shape: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    On,
    Off,
}

impl TuneOptions {
    /// Returns the changes that the options ask for.
    ///
    /// # Errors
    /// A sentence when there are none.
    fn to_changes(&self) -> Result<Changes> {
        let is_on = |switch: Option<Switch>| switch.map(|switch| switch == Switch::On);
        let changes = Changes {
            scheme: self.marker.clone().or_else(|| self.scheme.clone()),
            named_marker: self.marker.is_some(),
            rate: self.rate.clone(),
            buffer: self.buffer.clone(),
            burst: self.burst.clone(),
            overhead: self.overhead,
            via: self.via,
            classes: self.classes.clone(),
            dscp: self.dscp.clone(),
            overrides: is_on(self.overrides),
            shadow: is_on(self.shadow),
            shape: self.shape.clone(),
        };
        match changes == Changes::default() {
            true => Err(Failure::new(format!(
                "nothing is to be changed at {}; name it, such as --rate 9500kbit or --marker 'sfd(th=50kB)'",
                self.device
            ))),
            false => Ok(changes),
        }
    }
}

impl Common {
    /// Returns the request of the configuration file and the common options, which win over it.
    /// Paths of headers become absolute.
    ///
    /// # Errors
    /// A sentence that names the file or option that is wrong.
    fn to_request(&self, mode: Mode) -> Result<Request> {
        let mut request = match &self.config {
            Some(path) => Request::read(path, mode)?,
            None => Request::new(mode),
        };
        request.policy.extend(self.policy.iter().cloned());
        for path in &mut request.policy {
            // Later commands and the agent run in other folders. A missing file is reported when it is read.
            *path = path.canonicalize().unwrap_or_else(|_| path.clone());
        }
        request.shadow |= self.shadow;
        request.no_gso |= self.no_gso;
        if request.shadow && request.no_gso {
            return Err(Failure::new(
                "--no-gso changes the device, and --shadow must not; leave one of them out",
            ));
        }
        set_if_given(&mut request.flows, &self.flows);
        set_if_given(&mut request.user, &self.user);
        set_if_given(&mut request.attach, &self.attach);
        if !(16..=1 << 24).contains(&request.flows) {
            return Err(Failure::new(format!(
                "--flows is {}; it must be from 16 to 16777216",
                request.flows
            )));
        }
        Ok(request)
    }

    /// Starts the request at the device or, with `--download`, at its IFB; with `--dry-run` it only
    /// says what that would do. Returns lines for the user.
    ///
    /// # Errors
    /// As [`start`] or [`rehearse`]; a sentence when `--confirm` is wrong.
    fn start_or_rehearse(&self, request: &Request) -> Result<Vec<String>> {
        let manner = self.to_manner()?;
        let mut request = request.clone();
        let name = match self.download {
            true => {
                request.download = Some(self.device.clone());
                // The users of downloads are the receivers.
                request.user = self.user.unwrap_or(User::Destination);
                download::ifb_name(&self.device)
            }
            false => self.device.clone(),
        };
        match self.dry_run {
            true => rehearse(&name, &request),
            false => start(&name, &request, &manner),
        }
    }

    /// Returns the options of a start that are not part of the request, with this process's command
    /// line.
    ///
    /// # Errors
    /// A sentence when `--confirm` is no duration from 1 s to 24 h.
    fn to_manner(&self) -> Result<Manner> {
        let confirm_s = self.confirm.as_ref().map(|text| parse_dur("--confirm", text)).transpose()?;
        let confirm_s = confirm_s.map(|time| time.as_secs().ceil() as u64);
        if confirm_s.is_some_and(|seconds| !(1..=86_400).contains(&seconds)) {
            return Err(Failure::new("--confirm must be from 1s to 24h, such as 120s"));
        }
        Ok(Manner { words: std::env::args().collect(), confirm_s, without_agent: self.no_agent })
    }
}

/// Replaces `value` if an option is given; else it stays.
fn set_if_given<T: Clone>(value: &mut T, given: &Option<T>) {
    if let Some(given) = given {
        *value = given.clone();
    }
}

impl SetupOptions {
    /// Sets up both directions of the line, or with `--dry-run` only says what that would do.
    /// Returns lines for the user.
    ///
    /// # Errors
    /// As [`setup::setup`]; a sentence when an option is wrong.
    fn start_or_rehearse(&self) -> Result<Vec<String>> {
        let common = Common {
            device: self.device.clone(),
            config: None,
            policy: Vec::new(),
            download: false,
            shadow: self.shadow,
            dry_run: self.dry_run,
            confirm: self.confirm.clone(),
            flows: self.flows,
            user: None,
            attach: None,
            no_gso: false,
            no_agent: false,
        };
        let mut like = common.to_request(Mode::Mark)?;
        set_if_given(&mut like.scheme, &self.marker);
        (like.link_layer, like.overhead) = (self.link_layer.clone(), self.overhead);
        let line = Line {
            device: self.device.clone(),
            down: self.down.clone(),
            up: self.up.clone(),
            is_exact: self.exact,
            ack_filter: self.ack_filter.map(|switch| switch == Switch::On),
        };
        setup::setup(&line, &like, &common.to_manner()?, self.dry_run)
    }
}

impl MarkOptions {
    /// Returns the request of `mark`: the configuration file's with these options over it. A key
    /// for `--ab` is drawn if none is given.
    fn to_request(&self) -> Result<Request> {
        let mut request = self.common.to_request(Mode::Mark)?;
        set_if_given(&mut request.scheme, &self.marker);
        set_if_given(&mut request.dscp, &self.dscp);
        request.via = self.via.or(request.via);
        request.rate = self.rate.clone().or(request.rate);
        if !self.classes.is_empty() {
            request.classes = self.classes.clone();
        }
        request.overrides |= self.overrides;
        request.ab = self.ab.clone().or(request.ab);
        request.ab_key = self.ab_key.clone().or(request.ab_key);
        if request.ab.is_some() && request.ab_key.is_none() {
            request.ab_key = Some(trial::draw_key()?);
        }
        Ok(request)
    }
}

impl UpOptions {
    /// Returns the request of `up`: the configuration file's with these options over it.
    fn to_request(&self) -> Result<Request> {
        let mut request = self.common.to_request(Mode::Up)?;
        set_if_given(&mut request.scheme, &self.scheme);
        set_if_given(&mut request.buffer, &self.buffer);
        request.rate = self.rate.clone().or(request.rate);
        request.burst = self.burst.clone().or(request.burst);
        request.overhead = self.overhead.or(request.overhead);
        request.replace |= self.replace;
        request.native |= self.native;
        Ok(request)
    }
}

impl HostOptions {
    /// Returns the request of `host`: an `up` if the scheme ends in a queue that reads windows,
    /// else a `mark` by DSCP. Headers of the user's policies are loaded, which runs their native
    /// code.
    ///
    /// # Errors
    /// A sentence when an option or a key of the file is wrong or does not belong to that scheme.
    fn to_request(&self) -> Result<Request> {
        let file = self
            .common
            .config
            .as_ref()
            .map(|path| request::read_table(path))
            .transpose()?
            .unwrap_or_default();
        let in_file = |name: &str| file.get(name).and_then(toml::Value::as_str).map(String::from);
        let scheme = self.scheme.clone().or(in_file("scheme")).unwrap_or(DEFAULT_HOST_SCHEME.into());
        let headers = file.get("policy").and_then(toml::Value::as_array).into_iter().flatten();
        let headers = headers.filter_map(toml::Value::as_str).map(PathBuf::from);
        let headers: Vec<PathBuf> = headers.chain(self.common.policy.iter().cloned()).collect();
        // A queue that reads windows must run here; colours are read by queues elsewhere.
        let is_queue = deployment::has_queue_that_reads_windows(&scheme, &headers)?;
        let foreign: &[&str] = match is_queue {
            true => &["via", "classes", "override", "dscp"],
            false => &["via", "classes", "override", "burst", "overhead"],
        };
        let is_given = |name: &str| file.contains_key(name) || (name == "dscp" && self.dscp.is_some());
        if let Some(name) = foreign.iter().find(|name| is_given(name)) {
            return Err(Failure::new(format!("{name} is no option of `host` with the scheme \"{scheme}\"")));
        }
        let mut request = self.common.to_request(if is_queue { Mode::Up } else { Mode::Mark })?;
        // `to_request` has rejected values of the file that are no text.
        request.scheme = scheme;
        let window = self.initial_window.or(request.initial_window).unwrap_or(DEFAULT_INITIAL_WINDOW);
        if !(1..=1000).contains(&window) {
            return Err(Failure::new(format!("--initial-window is {window}; it must be from 1 to 1000")));
        }
        request.initial_window = Some(window);
        if !is_queue {
            request.via = Some(Via::Dscp);
            request.dscp = self.dscp.clone().or(in_file("dscp")).unwrap_or_else(|| DEFAULT_HOST_DSCP.into());
        }
        request.rate = self.rate.clone().or(request.rate);
        set_if_given(&mut request.buffer, &self.buffer);
        request.shape = self.shape.clone().or(request.shape);
        request.replace |= self.replace;
        Ok(request)
    }
}

fn main() -> ExitCode {
    mousehole_policy::begin_faults_with("mousehole-live: ");
    let cli = Cli::parse();
    if let Verb::Status(StatusOptions { check: true, device, .. }) = &cli.command {
        let (health, lines) = status::check_health(device.as_deref());
        return print_lines(&lines).unwrap_or(ExitCode::from(health as u8));
    }
    match run_command(&cli.command) {
        Ok(lines) => print_lines(&lines).unwrap_or(ExitCode::SUCCESS),
        Err(failure) => {
            eprintln!("mousehole-live: {failure}");
            ExitCode::from(2)
        }
    }
}

/// Prints lines; returns the exit status 1 if standard output cannot be written.
fn print_lines(lines: &[String]) -> Option<ExitCode> {
    let mut out = std::io::stdout().lock();
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err().then_some(ExitCode::from(1))
}

/// Runs a command and returns the lines to print on standard output. `agent`, `guard` and `status
/// --watch` last until they are ended.
///
/// # Errors
/// The sentence for standard error.
fn run_command(verb: &Verb) -> Result<Vec<String>> {
    match verb {
        Verb::Check { device, json } => check::check(device, *json),
        Verb::Mark(options) => options.common.start_or_rehearse(&options.to_request()?),
        Verb::Setup(options) => options.start_or_rehearse(),
        Verb::Up(options) => options.common.start_or_rehearse(&options.to_request()?),
        Verb::Host(HostOptions { common: Common { download: true, .. }, .. }) => {
            Err(Failure::new("--download is no option of `host`, which is for what this machine sends"))
        }
        Verb::Host(options) => options.common.start_or_rehearse(&options.to_request()?),
        Verb::Down(DownOptions { all: true, .. }) => stop::stop_all(),
        Verb::Down(DownOptions { device, .. }) => stop::stop(device.as_deref().unwrap_or_default()),
        Verb::Status(StatusOptions { ab: true, device, json, .. }) => {
            let found = trial::read_reports(device.as_deref())?;
            Ok(if *json { vec![trial::format_json(&found)] } else { trial::format_text(&found) })
        }
        Verb::Status(options) => show_status(options),
        Verb::Flows(options) => {
            let tables = flows::read_flows(options.device.as_deref(), options.top as usize)?;
            Ok(if options.json { vec![flows::format_json(&tables)] } else { flows::format_text(&tables) })
        }
        Verb::Explain(options) => {
            let found = explain::explain(&options.flow, options.device.as_deref())?;
            Ok(if options.json { vec![explain::format_json(&found)] } else { explain::format_text(&found) })
        }
        Verb::Tune(options) => tune(&options.device, &options.to_changes()?),
        Verb::Persist(options) => {
            let manner = persist::Manner {
                remove: options.remove,
                print: options.print,
                now: options.now,
                directory: options.directory.clone(),
            };
            persist::persist(&options.device, &manner)
        }
        Verb::Confirm { device } => confirm::confirm(device),
        Verb::Upgrade { device } => upgrade(device),
        Verb::Agent { device } => agent::run(device).map(|()| Vec::new()),
        Verb::Guard { folder, metrics } => {
            guard::run(folder, metrics.as_deref(), &mut |line| eprintln!("mousehole-live: {line}"))
                .map(|()| Vec::new())
        }
        Verb::Boot { device } => guard::start_asked(device, Path::new(kept::FOLDER)),
        Verb::Expire { device, since, after } => confirm::expire(device, *since, *after).map(|()| Vec::new()),
    }
}

/// Returns the lines of `status`; with `--watch` it prints them again and again until output fails.
/// With `--metrics` each look writes that file.
///
/// # Errors
/// A sentence when the status cannot be read or the file cannot be written.
fn show_status(options: &StatusOptions) -> Result<Vec<String>> {
    let mut before: Option<(Vec<Status>, u64)> = None;
    loop {
        let (all, now_ns) = (status::read_status(options.device.as_deref())?, kernel::monotonic_ns());
        if let Some(path) = &options.metrics {
            metrics::write(path, &all)?;
        }
        let earlier = before.as_ref().map(|(all, then_ns)| (all.as_slice(), (now_ns - then_ns) as f64 / 1e9));
        let lines = match (options.json, &options.metrics) {
            (true, _) => vec![status::format_json(&all)],
            // A timer that writes metrics needs messages about failures only.
            (false, Some(_)) => Vec::new(),
            (false, None) => status::format_text(&all, earlier),
        };
        let Some(seconds) = options.watch else { return Ok(lines) };
        let mut out = std::io::stdout().lock();
        let is_screen = !options.json && options.metrics.is_none() && out.is_terminal();
        let clear = if is_screen { "\x1b[H\x1b[2J" } else { "" };
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        if write!(out, "{clear}{text}").and_then(|()| out.flush()).is_err() {
            return Ok(Vec::new());
        }
        drop(out);
        before = Some((all, now_ns));
        std::thread::sleep(Duration::from_secs(seconds));
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns the request of `host` with these options and a configuration file of this text.
    fn parse_host(line: &str, file: &str) -> Result<Request> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("host.toml");
        std::fs::write(&path, file).unwrap();
        let config = path.display().to_string();
        let words = ["mousehole-live", "host", "eth0", "--config", &config];
        let cli = Cli::try_parse_from(words.into_iter().chain(line.split_whitespace())).unwrap();
        let Verb::Host(options) = cli.command else { unreachable!("the line says so") };
        options.to_request()
    }

    #[test]
    fn file_of_host__is_read_and_flags_win() {
        let file = "scheme = 'tcp-ds-r'\ndscp = 'cs0,cs1,le'\ninitial-window = 4\nrate = '5mbit'\n";
        let request = parse_host("", file).unwrap();
        let facts =
            |request: &Request| (request.scheme.clone(), request.dscp.clone(), request.initial_window);
        assert_eq!(facts(&request), ("tcp-ds-r".into(), "cs0,cs1,le".into(), Some(4)));
        assert_eq!((request.mode, request.via), (Mode::Mark, Some(Via::Dscp)));
        let request =
            parse_host("--scheme tcp-ds --dscp 1,2,3 --initial-window 1 --rate 1mbit", file).unwrap();
        assert_eq!(facts(&request), ("tcp-ds".into(), "1,2,3".into(), Some(1)));
        assert_eq!(request.rate.as_deref(), Some("1mbit"));
        let request = parse_host("", "").unwrap();
        assert_eq!(facts(&request), ("tcp-ds".into(), "af11,af12,af13".into(), Some(10)));
    }

    #[test]
    fn queue_in_the_file_of_host__is_one() {
        let file = "scheme = 'shred'\nrate = '5mbit'\nburst = '20kB'\n";
        assert_eq!(parse_host("", file).unwrap().mode, Mode::Up);
        // The flag decides, and a marker has no bucket.
        let fault = parse_host("--scheme tcp-ds", file).unwrap_err().to_string();
        assert_eq!(fault, "burst is no option of `host` with the scheme \"tcp-ds\"");
        let fault = parse_host("--dscp 1,2,3", file).unwrap_err().to_string();
        assert_eq!(fault, "dscp is no option of `host` with the scheme \"shred\"");
    }

    #[test]
    fn faults_in_the_file_of_host__are_refused() {
        for (file, reason) in [
            ("via = 'class'\n", "via is no option of `host`"),
            ("classes = ['1:30']\n", "classes is no option of `host`"),
            ("override = true\n", "override is no option of `host`"),
            ("initial-window = 0\n", "--initial-window is 0; it must be from 1 to 1000"),
            ("scheme = 3\n", "line 1: invalid type"),
            ("dscp = 3\n", "line 1: invalid type"),
            ("shceme = 'tcp-ds'\n", "unknown field `shceme`"),
        ] {
            let fault = parse_host("", file).unwrap_err().to_string();
            assert!(fault.contains(reason) && !fault.contains('\n'), "{file}: {fault}");
        }
    }
}
