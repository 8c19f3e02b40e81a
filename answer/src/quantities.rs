//! The table of quantities: everything that a comparison measures, with its unit, its words and where it comes from.
//!
//! Columns of tables, charts, pages and JSON, measures of `tune` and of sweeps are derived from it. A quantity is
//! defined only here: nothing else knows its words, and nothing parses its name.

use crate::sizes::Role;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A text of the table: fixed here, or given by who adds a quantity.
pub type Text = Cow<'static, str>;

/// What a quantity is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Bits per second.
    BitsPerSecond,
    /// Packets.
    Packets,
    /// Between 0 and 1, given in percent.
    Share,
    /// Between 0 and 1, given as it is.
    Index,
    /// How many times as much.
    Times,
    /// A relative change: −0.3 is 30 % less.
    Change,
    /// A plain number.
    Number,
}

impl Unit {
    /// Returns the end of a column's name for this unit, such as `_s`; empty for shares, ratios and
    /// counts.
    pub fn suffix(self) -> &'static str {
        match self {
            Unit::Seconds => "_s",
            Unit::BitsPerSecond => "_bps",
            Unit::Packets => "_packets",
            _ => "",
        }
    }

    /// Returns whether the numbers cannot leave 0 to 1.
    pub fn is_share(self) -> bool {
        matches!(self, Unit::Share | Unit::Index)
    }

    /// Returns the words for an increase and a decrease.
    pub fn more_and_less(self) -> (&'static str, &'static str) {
        if self == Unit::Seconds { ("longer", "shorter") } else { ("higher", "lower") }
    }
}

/// What a quantity describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// The transfers of a size bucket.
    Bucket,
    /// A scheme: its links, and its transfers of a class.
    Scheme,
    /// An application: a source of traffic, pages, misbehaving senders, calls, long-lived flows.
    Application,
    /// The transfers of a class, counted.
    Count,
    /// Two schemes, of which one is compared with the other.
    Comparison,
    /// A run as a whole.
    Run,
}

/// A kind of application, by what its users feel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Telephone calls.
    Calls,
    /// Games.
    Games,
    /// Video calls.
    VideoCalls,
    /// Videos that come in segments.
    Streams,
    /// Remote logins.
    Logins,
    /// Tunnels of virtual private networks, of which nobody knows what is inside.
    Vpn,
    /// Tests of responsiveness.
    Responsiveness,
}

impl Kind {
    /// Every kind, in the order of columns.
    pub const ALL: [Kind; 7] = [
        Kind::Calls,
        Kind::Games,
        Kind::VideoCalls,
        Kind::Streams,
        Kind::Logins,
        Kind::Vpn,
        Kind::Responsiveness,
    ];

    /// Returns its name in columns and documents.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Calls => "calls",
            Kind::Games => "games",
            Kind::VideoCalls => "video_calls",
            Kind::Streams => "streams",
            Kind::Logins => "logins",
            Kind::Vpn => "vpn",
            Kind::Responsiveness => "responsiveness",
        }
    }

    /// Returns its name in a sentence, such as `video calls`.
    pub fn text(self) -> String {
        match self {
            Kind::Vpn => "VPN".to_owned(),
            _ => self.name().replace('_', " "),
        }
    }
}

/// Which way is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Less of it.
    Less,
    /// More of it.
    More,
    /// Neither way by itself.
    Neither,
}

/// A number of each transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OfTransfer {
    /// From the SYN or request to the last byte; so far, for an unfinished one.
    ResponseS,
    /// From the first data packet to the last byte.
    TransferS,
    /// Response time over the time alone on the same path.
    Slowdown,
    /// Payload over response time; finished transfers only.
    RateBps,
    /// Segments retransmitted.
    Retransmits,
    /// Retransmission timeouts.
    Timeouts,
}

/// How many numbers become one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statistic {
    /// The mean.
    Mean,
    /// A percentile, interpolated linearly.
    Percentile(f64),
    /// Jain's fairness index.
    JainIndex,
}

/// A link of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// The bottleneck.
    Bottleneck,
    /// The link in the other direction.
    WayBack,
}

/// A counter of a link within the measured window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OfLink {
    /// Share of the rate that was used.
    Utilisation,
    /// Share of arriving packets that were dropped, for any reason.
    LossShare,
    /// Share of arriving packets that were marked.
    MarkShare,
    /// Mean wait of packets.
    DelayMeanS,
    /// Median wait.
    DelayP50S,
    /// 95th percentile of the wait.
    DelayP95S,
    /// 99th percentile of the wait.
    DelayP99S,
    /// Mean number of waiting packets.
    MeanPackets,
}

/// A number of a whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OfRun {
    /// Payload that arrived at clients per second.
    GoodputBps,
    /// Share of data packets that overtook another of their flow.
    ReorderedShare,
}

/// Where a quantity's number comes from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A statistic of the transfers of a class; None is the bucket of the row, and for a scheme every transfer.
    Transfers(Option<Role>, OfTransfer, Statistic),
    /// A counter of a link.
    OfLink(Link, OfLink),
    /// A number of the run.
    OfRun(OfRun),
    /// Computed beside the table, from the applications' records or from other quantities.
    Elsewhere,
}

/// A table of the terminal and of the page in which a quantity is a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Table {
    /// Every size bucket.
    Bucket,
    /// Short transfers.
    Short,
    /// Long transfers.
    Long,
    /// The link.
    Link,
    /// Applications of no known kind.
    Application,
}

/// The words for a quantity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// Heading of a column, such as `p95`.
    pub short: Text,
    /// In a sentence, such as `95th percentile of the response time`.
    pub long: Text,
    /// Title of an axis, such as `response time, p95`.
    pub axis: Text,
}

/// One quantity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quantity {
    /// Its name without the unit, such as `response_p95`; with the subject it is unique.
    pub stem: Text,
    /// What it describes.
    pub subject: Subject,
    /// What it is measured in.
    pub unit: Unit,
    /// Its words.
    pub words: Words,
    /// Which way is better.
    pub better: Better,
    /// Number of values from which on it is given.
    pub least: u32,
    /// Where its number comes from.
    pub source: Source,
    /// How `tune` calls it, behind the class of transfers if it is of a bucket; None if it cannot be asked for.
    pub measure: Option<Text>,
    /// The tables in which it is a column.
    pub tables: Vec<Table>,
    /// The kinds of applications whose users feel it first.
    pub primary_of: Vec<Kind>,
    /// The kinds of applications whose users feel it first where nothing of them is known that they feel before, as of
    /// recorded video calls, whose frames nobody plays.
    pub stands_in_for: Vec<Kind>,
}

impl Quantity {
    /// Returns the name with its unit: that of the column, such as `response_p95_s`.
    pub fn name(&self) -> String {
        format!("{}{}", self.stem, self.unit.suffix())
    }

    /// Returns the names of the ends of its interval, such as `response_p95_low_s` and `response_p95_high_s`.
    pub fn ends(&self) -> (String, String) {
        let suffix = self.unit.suffix();
        (format!("{}_low{suffix}", self.stem), format!("{}_high{suffix}", self.stem))
    }

    /// Returns its words in a sentence about some transfers, such as `transfers > 150 kB`: those of a bucket, or of the
    /// class that it is about anyway.
    pub fn describe(&self, transfers: &str) -> String {
        match self.source {
            Source::Transfers(Some(class), _, _) => {
                self.words.long.replace(&format!("{} transfers", class.name()), transfers)
            }
            _ if self.subject == Subject::Count => self.words.long.replace("transfers", transfers),
            _ if self.subject == Subject::Bucket => format!("{} of {transfers}", self.words.long),
            _ => self.words.long.to_string(),
        }
    }

    /// Returns the class of transfers that its definition fixes; `None` if a comparison chooses it.
    pub fn class(&self) -> Option<Role> {
        match self.source {
            Source::Transfers(class, _, _) => class,
            _ => None,
        }
    }

    /// Returns whether it is a percentile, which a comparison gives only if every replication has it.
    pub fn is_percentile(&self) -> bool {
        matches!(self.source, Source::Transfers(_, _, Statistic::Percentile(_)))
    }
}

/// Returns every quantity in the order of columns and documents. Each name stands once for a
/// subject.
pub fn table() -> Vec<Quantity> {
    let mut all = list_buckets();
    all.extend(list_bottleneck());
    all.extend(list_way_back());
    all.extend(list_senders());
    all.extend(list_responses_and_datagrams());
    all.extend(list_conversations());
    all.extend(list_videos_and_logins());
    all.extend(list_rates());
    all.extend(list_counts());
    all.extend(list_comparisons());
    all.extend(list_runs());
    all
}

/// Returns a quantity that one value is enough for, and that has no source, measure, table or kind of application yet.
/// `words` are the short text, the long one and the title of the axis.
fn quantity(
    subject: Subject,
    stem: &'static str,
    unit: Unit,
    better: Better,
    words: [&'static str; 3],
) -> Quantity {
    let [short, long, axis] = words.map(Cow::Borrowed);
    let words = Words { short, long, axis };
    let (measure, tables, source) = (None, Vec::new(), Source::Elsewhere);
    let (primary_of, stands_in_for) = (Vec::new(), Vec::new());
    Quantity {
        stem: stem.into(),
        subject,
        unit,
        words,
        better,
        least: 1,
        source,
        measure,
        tables,
        primary_of,
        stands_in_for,
    }
}

impl Quantity {
    /// Sets the source: a statistic of the transfers of a class.
    fn measured_on(self, class: Option<Role>, what: OfTransfer, statistic: Statistic) -> Quantity {
        Quantity { source: Source::Transfers(class, what, statistic), ..self }
    }

    /// Sets the source: a counter of a link.
    fn counted_by(self, link: Link, counter: OfLink) -> Quantity {
        Quantity { source: Source::OfLink(link, counter), ..self }
    }

    /// Sets the source: a number of the run.
    fn read_from(self, number: OfRun) -> Quantity {
        Quantity { source: Source::OfRun(number), ..self }
    }

    /// Sets the least number of values.
    fn needs(self, least: u32) -> Quantity {
        Quantity { least, ..self }
    }

    /// Sets the name by which `tune` asks for it.
    fn asked_as(self, measure: &'static str) -> Quantity {
        Quantity { measure: Some(measure.into()), ..self }
    }

    /// Sets the tables in which it is a column.
    fn shown_in(self, tables: &[Table]) -> Quantity {
        Quantity { tables: tables.to_vec(), ..self }
    }

    /// Sets the kinds of applications whose users feel it first.
    fn felt_in(self, kinds: &[Kind]) -> Quantity {
        Quantity { primary_of: kinds.to_vec(), ..self }
    }

    /// Sets the kinds of applications whose users feel it where nothing is known that they feel before.
    fn stands_in(self, kinds: &[Kind]) -> Quantity {
        Quantity { stands_in_for: kinds.to_vec(), ..self }
    }
}

/// Returns what users of a kind of application feel first, if it is known, else the first known of those that stand in
/// for it; `None` without any.
pub fn find_first_felt(
    table: &[Quantity],
    kind: Kind,
    is_known: impl Fn(&Quantity) -> bool,
) -> Option<&Quantity> {
    let first = table.iter().find(|one| one.primary_of.contains(&kind));
    let stand_ins = table.iter().filter(|one| one.stands_in_for.contains(&kind));
    first.into_iter().chain(stand_ins).find(|one| is_known(one))
}

/// Returns whether users of a kind of application feel a quantity first: it is one of the first, or stands in for them
/// where the very first is not known.
pub fn is_felt_first(
    table: &[Quantity],
    kind: Kind,
    what: &Quantity,
    is_known: impl Fn(&Quantity) -> bool,
) -> bool {
    let stands_in = || !table.iter().find(|one| one.primary_of.contains(&kind)).is_some_and(is_known);
    what.primary_of.contains(&kind) || (what.stands_in_for.contains(&kind) && stands_in())
}

/// Returns what users of a kind of application feel, first to last.
pub fn list_felt(table: &[Quantity], kind: Kind) -> impl Iterator<Item = &Quantity> {
    let first = table.iter().filter(move |one| one.primary_of.contains(&kind));
    first.chain(table.iter().filter(move |one| one.stands_in_for.contains(&kind)))
}

/// Returns the quantities of the transfers in a size bucket.
fn list_buckets() -> Vec<Quantity> {
    use OfTransfer::{ResponseS, Slowdown, TransferS};
    use Statistic::{Mean, Percentile};
    use Table::{Bucket, Long, Short};
    let time = |stem, words| quantity(Subject::Bucket, stem, Unit::Seconds, Better::Less, words);
    vec![
        time("response_mean", ["mean", "mean response time", "mean response time"])
            .measured_on(None, ResponseS, Mean)
            .asked_as("mean")
            .shown_in(&[Bucket, Short, Long]),
        time("response_p50", ["p50", "median response time", "response time, median"])
            .measured_on(None, ResponseS, Percentile(50.0))
            .asked_as("p50")
            .shown_in(&[Bucket, Short]),
        time("response_p95", ["p95", "95th percentile of the response time", "response time, p95"])
            .measured_on(None, ResponseS, Percentile(95.0))
            .needs(20)
            .asked_as("p95")
            .shown_in(&[Bucket, Short]),
        time("response_p99", ["p99", "99th percentile of the response time", "response time, p99"])
            .measured_on(None, ResponseS, Percentile(99.0))
            .needs(100)
            .asked_as("p99")
            .shown_in(&[Bucket, Short]),
        quantity(
            Subject::Bucket,
            "slowdown_mean",
            Unit::Times,
            Better::Less,
            ["slowdown", "mean slowdown", "slowdown"],
        )
        .measured_on(None, Slowdown, Mean)
        .asked_as("slowdown")
        .shown_in(&[Bucket, Short, Long]),
        time("transfer_mean", ["transfer", "mean transfer time", "mean transfer time"])
            .measured_on(None, TransferS, Mean)
            .shown_in(&[Bucket]),
    ]
}

/// Returns what is counted at the bottleneck.
fn list_bottleneck() -> Vec<Quantity> {
    use Better::{Less, More, Neither};
    use Link::Bottleneck;
    let entry = |stem, unit, better, words| quantity(Subject::Scheme, stem, unit, better, words);
    vec![
        entry("utilisation", Unit::Share, More, ["utilised", "utilisation", "utilisation"])
            .counted_by(Bottleneck, OfLink::Utilisation)
            .asked_as("utilisation")
            .shown_in(&[Table::Link]),
        entry("goodput", Unit::BitsPerSecond, More, ["goodput", "goodput", "goodput"])
            .read_from(OfRun::GoodputBps)
            .shown_in(&[Table::Link]),
        entry("loss_share", Unit::Share, Less, ["lost", "share of packets lost", "packets lost"])
            .counted_by(Bottleneck, OfLink::LossShare)
            .shown_in(&[Table::Link]),
        entry("mark_share", Unit::Share, Neither, ["marked", "share of packets marked", "packets marked"])
            .counted_by(Bottleneck, OfLink::MarkShare)
            .shown_in(&[Table::Link]),
        entry(
            "queue_delay_mean",
            Unit::Seconds,
            Less,
            ["delay mean", "mean queueing delay", "mean queueing delay"],
        )
        .counted_by(Bottleneck, OfLink::DelayMeanS)
        .asked_as("queue mean"),
        entry(
            "queue_delay_p50",
            Unit::Seconds,
            Less,
            ["delay p50", "median queueing delay", "queueing delay, median"],
        )
        .counted_by(Bottleneck, OfLink::DelayP50S)
        .shown_in(&[Table::Link]),
        entry(
            "queue_delay_p95",
            Unit::Seconds,
            Less,
            ["delay p95", "95th percentile of the queueing delay", "queueing delay, p95"],
        )
        .counted_by(Bottleneck, OfLink::DelayP95S)
        .asked_as("queue p95")
        .shown_in(&[Table::Link]),
        entry(
            "queue_delay_p99",
            Unit::Seconds,
            Less,
            ["delay p99", "99th percentile of the queueing delay", "queueing delay, p99"],
        )
        .counted_by(Bottleneck, OfLink::DelayP99S)
        .asked_as("queue p99")
        .shown_in(&[Table::Link]),
        entry("queue_mean", Unit::Packets, Less, ["queue", "mean queue length", "mean queue length"])
            .counted_by(Bottleneck, OfLink::MeanPackets),
    ]
}

/// Returns the quantities of [`Link::WayBack`], the link in the other direction than the bottleneck.
fn list_way_back() -> Vec<Quantity> {
    use Better::{Less, More};
    use Link::WayBack;
    let entry = |stem, unit, better, words| quantity(Subject::Scheme, stem, unit, better, words);
    vec![
        entry(
            "uplink_utilisation",
            Unit::Share,
            More,
            ["way back utilised", "utilisation of the way back", "utilisation of the way back"],
        )
        .counted_by(WayBack, OfLink::Utilisation),
        entry(
            "uplink_queue_delay_mean",
            Unit::Seconds,
            Less,
            ["way back delay", "mean queueing delay on the way back", "mean queueing delay on the way back"],
        )
        .counted_by(WayBack, OfLink::DelayMeanS),
        entry(
            "uplink_queue_delay_p95",
            Unit::Seconds,
            Less,
            [
                "way back delay p95",
                "95th percentile of the queueing delay on the way back",
                "queueing delay on the way back, p95",
            ],
        )
        .counted_by(WayBack, OfLink::DelayP95S),
        entry(
            "uplink_loss_share",
            Unit::Share,
            Less,
            ["way back lost", "share of packets lost on the way back", "packets lost on the way back"],
        )
        .counted_by(WayBack, OfLink::LossShare),
    ]
}

/// Returns what senders achieve and repeat, over all sizes or those of long transfers.
fn list_senders() -> Vec<Quantity> {
    use Better::{Less, More};
    use OfTransfer::{RateBps, Retransmits, Timeouts};
    let entry = |stem, unit, better, words| quantity(Subject::Scheme, stem, unit, better, words);
    vec![
        entry(
            "jain_long",
            Unit::Index,
            More,
            ["Jain's index", "Jain's index of the rates of long transfers", "Jain's index"],
        )
        .measured_on(Some(Role::Long), RateBps, Statistic::JainIndex)
        .shown_in(&[Table::Long]),
        entry(
            "long_goodput",
            Unit::BitsPerSecond,
            More,
            ["mean rate", "mean rate of finished long transfers", "mean rate of long transfers"],
        )
        .measured_on(Some(Role::Long), RateBps, Statistic::Mean)
        .asked_as("long rate")
        .shown_in(&[Table::Long]),
        entry(
            "retransmits_per_transfer",
            Unit::Number,
            Less,
            [
                "retransmits",
                "mean number of retransmitted segments per transfer",
                "retransmitted segments per transfer",
            ],
        )
        .measured_on(None, Retransmits, Statistic::Mean),
        entry(
            "timeouts_per_transfer",
            Unit::Number,
            Less,
            ["timeouts", "mean number of retransmission timeouts per transfer", "timeouts per transfer"],
        )
        .measured_on(None, Timeouts, Statistic::Mean),
        entry(
            "reordered_share",
            Unit::Share,
            Less,
            ["reordered", "share of packets reordered", "packets reordered"],
        )
        .read_from(OfRun::ReorderedShare)
        .shown_in(&[Table::Link]),
    ]
}

/// Returns the figures of applications that wait for transfers, and those of datagrams.
fn list_responses_and_datagrams() -> Vec<Quantity> {
    use Better::Less;
    use Kind::{Calls, Games, VideoCalls, Vpn};
    use Unit::{Seconds, Share};
    let entry = |stem, unit, better, words| quantity(Subject::Application, stem, unit, better, words);
    let shown = &[Table::Application];
    vec![
        entry("response_mean", Seconds, Less, ["mean", "mean response time", "mean response time"])
            .shown_in(shown),
        entry("page_mean", Seconds, Less, ["mean page time", "mean time of a page", "mean page time"])
            .asked_as("page mean")
            .shown_in(shown),
        entry("delay_p50", Seconds, Less, ["delay p50", "one-way delay, median", "one-way delay, median"]),
        entry("delay_p95", Seconds, Less, ["delay p95", "one-way delay, p95", "one-way delay, p95"])
            .asked_as("delay p95")
            .shown_in(shown)
            .felt_in(&[Calls, Games, Vpn])
            .stands_in(&[VideoCalls]),
        entry("delay_p99", Seconds, Less, ["delay p99", "one-way delay, p99", "one-way delay, p99"])
            .asked_as("delay p99")
            .felt_in(&[Games]),
        entry("loss_share", Share, Less, ["lost", "datagrams lost", "datagrams lost"])
            .asked_as("lost")
            .shown_in(shown)
            .felt_in(&[Calls, Games, Vpn])
            .stands_in(&[VideoCalls]),
        entry(
            "late_share",
            Share,
            Less,
            ["later than 50 ms", "datagrams later than 50 ms, of those that arrived", "later than 50 ms"],
        )
        .asked_as("late")
        .felt_in(&[Games]),
        entry("jitter", Seconds, Less, ["jitter", "mean interarrival jitter (RFC 3550, 6.4.1)", "jitter"]),
    ]
}

/// Returns the figures of calls, games and video calls.
fn list_conversations() -> Vec<Quantity> {
    use Better::{Less, More};
    use Kind::{Calls, Games, VideoCalls};
    use Unit::{Number, Share};
    let entry = |stem, unit, better, words| quantity(Subject::Application, stem, unit, better, words);
    vec![
        entry(
            "mos",
            Number,
            More,
            ["MOS", "mean opinion score by the E-model (ITU-T G.107, Annex B)", "MOS"],
        )
        .asked_as("mos")
        .felt_in(&[Calls]),
        entry("rating", Number, More, ["R", "rating R of the E-model (ITU-T G.107)", "rating R"]),
        entry(
            "frames_missed_share",
            Share,
            Less,
            [
                "frames late or lost",
                "frames that are not complete at their playout point",
                "frames late or lost",
            ],
        )
        .asked_as("frames missed")
        .felt_in(&[VideoCalls]),
        entry(
            "freezes_per_minute",
            Number,
            Less,
            ["freezes", "freezes per minute (`freezeCount` of W3C webrtc-stats)", "freezes per minute"],
        )
        .asked_as("freezes")
        .felt_in(&[VideoCalls]),
        entry(
            "outcome_quality",
            Share,
            More,
            [
                "QoO",
                "Quality of Outcome by the profile of its kind (draft-ietf-ippm-qoo)",
                "Quality of Outcome",
            ],
        )
        .asked_as("qoo")
        .felt_in(&[Calls, Games, VideoCalls]),
    ]
}

/// Returns the figures of videos that are watched, and of keystrokes.
fn list_videos_and_logins() -> Vec<Quantity> {
    use Better::{Less, More};
    use Kind::{Logins, Streams};
    use Unit::{BitsPerSecond, Seconds, Share};
    let entry = |stem, unit, better, words| quantity(Subject::Application, stem, unit, better, words);
    vec![
        entry("startup_mean", Seconds, Less, ["start-up", "mean time until a video begins", "start-up time"])
            .asked_as("startup")
            .felt_in(&[Streams]),
        entry(
            "rebuffering_share",
            Share,
            Less,
            ["rebuffering", "time in which a video stands still, of that since it began", "rebuffering"],
        )
        .asked_as("rebuffering")
        .felt_in(&[Streams]),
        entry(
            "video_rate",
            BitsPerSecond,
            More,
            ["rate", "mean bit rate of the segments", "mean video rate"],
        )
        .asked_as("rate")
        .felt_in(&[Streams]),
        entry("echo_mean", Seconds, Less, ["echo", "mean echo time of keystrokes", "echo time"])
            .asked_as("echo mean")
            .felt_in(&[Logins]),
        entry("echo_p95", Seconds, Less, ["echo p95", "echo time of keystrokes, p95", "echo time, p95"])
            .asked_as("echo p95")
            .felt_in(&[Logins]),
    ]
}

/// Returns the responsiveness of a link under load, and the goodput of flows.
fn list_rates() -> Vec<Quantity> {
    use Better::More;
    use Kind::Responsiveness;
    use Unit::{BitsPerSecond, Number};
    let entry = |stem, unit, better, words| quantity(Subject::Application, stem, unit, better, words);
    let shown = &[Table::Application];
    vec![
        entry(
            "round_trips_per_minute",
            Number,
            More,
            [
                "RPM",
                "round trips per minute under load (draft-ietf-ippm-responsiveness)",
                "round trips per minute",
            ],
        )
        .asked_as("rpm")
        .felt_in(&[Responsiveness]),
        entry(
            "foreign_round_trips_per_minute",
            Number,
            More,
            ["foreign RPM", "round trips per minute on new connections", "round trips per minute, foreign"],
        )
        .asked_as("foreign rpm")
        .felt_in(&[Responsiveness]),
        entry(
            "self_round_trips_per_minute",
            Number,
            More,
            [
                "self RPM",
                "round trips per minute on load-generating connections",
                "round trips per minute, self",
            ],
        )
        .asked_as("self rpm")
        .felt_in(&[Responsiveness]),
        entry(
            "goodput",
            BitsPerSecond,
            More,
            ["goodput", "goodput per long-lived flow", "goodput per long-lived flow"],
        )
        .shown_in(shown),
    ]
}

/// Returns the counts of transfers of a class.
fn list_counts() -> Vec<Quantity> {
    let one = |stem, words| quantity(Subject::Count, stem, Unit::Number, Better::Less, words);
    vec![
        one("count", ["count", "number of transfers", "transfers"]),
        one("unfinished", ["unfinished", "number of unfinished transfers", "unfinished transfers"]),
    ]
}

/// Returns the quantities that compare two schemes.
fn list_comparisons() -> Vec<Quantity> {
    use Better::{Less, Neither};
    let one = |stem, unit, better, words| quantity(Subject::Comparison, stem, unit, better, words);
    vec![
        one(
            "another_day",
            Unit::Change,
            Neither,
            ["another day", "change on another day", "change on another day"],
        ),
        one("unseen", Unit::Change, Neither, ["unseen", "change on unseen replications", "unseen change"]),
        one("excess", Unit::Change, Less, ["excess", "excess over a limit", "excess over the limit"]),
        one("change", Unit::Change, Neither, ["change", "relative change of the mean", "change"]),
        one(
            "response_mean_change",
            Unit::Change,
            Less,
            ["change", "relative change of the mean response time", "change of the mean response time"],
        ),
        one("difference", Unit::Seconds, Less, ["difference", "difference of the means", "difference"]),
        one("share", Unit::Share, Neither, ["share", "share of short transfers", "share of short transfers"]),
        one("value", Unit::Number, Neither, ["value", "figure of an application", "value"]),
    ]
}

/// Returns the quantities of a run as a whole.
fn list_runs() -> Vec<Quantity> {
    use Better::Neither;
    let one = |stem, unit, words| quantity(Subject::Run, stem, unit, Neither, words);
    vec![
        one("load_achieved", Unit::Number, ["offered load", "load that the sources offered", "offered load"]),
        one(
            "window_load",
            Unit::Number,
            ["load in the window", "load of the transfers in the measured window", "load in the window"],
        ),
        one("simulated", Unit::Seconds, ["simulated time", "simulated time", "simulated time"]),
    ]
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn table__names_each_quantity_of_a_subject_once() {
        let mut seen = HashSet::new();
        for quantity in table() {
            assert!(seen.insert((quantity.subject, quantity.name())), "{}", quantity.name());
        }
    }

    #[test]
    fn table__names_each_measure_once() {
        let mut seen = HashSet::new();
        for measure in table().into_iter().filter_map(|quantity| quantity.measure) {
            assert!(seen.insert(measure.clone()), "{measure}");
        }
    }

    #[test]
    fn table__gives_every_column_words_and_a_source() {
        for quantity in table() {
            let words = &quantity.words;
            assert!([&words.short, &words.long, &words.axis].iter().all(|word| !word.is_empty()));
            let is_measured = matches!(quantity.subject, Subject::Bucket | Subject::Scheme);
            assert_eq!(quantity.source != Source::Elsewhere, is_measured, "{}", quantity.name());
            let is_shown = quantity.tables.iter().any(|table| *table != Table::Application);
            assert!(is_measured || !is_shown, "{}", quantity.name());
        }
    }

    #[test]
    fn table__has_a_primary_quantity_of_every_kind() {
        for kind in Kind::ALL {
            let primary = |quantity: &&Quantity| quantity.primary_of.contains(&kind);
            assert!(table().iter().filter(primary).count() >= 2, "{kind:?}");
        }
        assert!(
            table().iter().all(|one| one.primary_of.is_empty()
                || one.subject == Subject::Application && one.measure.is_some())
        );
    }

    #[test]
    fn names__have_the_unit_behind_the_ends() {
        let p95 = table().into_iter().find(|quantity| quantity.name() == "response_p95_s").unwrap();
        assert_eq!(p95.ends(), ("response_p95_low_s".to_owned(), "response_p95_high_s".to_owned()));
        assert!(p95.is_percentile());
        let share = table().into_iter().find(|quantity| quantity.name() == "mark_share").unwrap();
        assert_eq!(share.ends().0, "mark_share_low");
    }

    #[test]
    fn describe__names_the_transfers() {
        let words = |name: &str| {
            let found = table().into_iter().find(|quantity| quantity.name() == name).unwrap();
            found.describe("transfers > 1 MB")
        };
        assert_eq!(words("response_p50_s"), "median response time of transfers > 1 MB");
        assert_eq!(words("long_goodput_bps"), "mean rate of finished transfers > 1 MB");
        assert_eq!(words("utilisation"), "utilisation");
        assert_eq!(words("unfinished"), "number of unfinished transfers > 1 MB");
    }

    #[test]
    fn quantities__pass_through_text_unchanged() {
        let text = serde_json::to_string(&table()).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Quantity>>(&text).unwrap(), table());
    }
}
