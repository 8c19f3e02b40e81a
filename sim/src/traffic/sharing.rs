//! Distinguishes addresses of several users, or of programs that run by themselves, from those of one user.
//!
//! A user who waits for a response asks for nothing else meanwhile, so the connections of one user begin when the ones
//! before have ended. Users who know nothing of each other begin connections whether or not one of another user is in
//! progress. Then the share of starts that find a transfer in progress is the share of time in which one is: Poisson
//! arrivals see time averages (R. W. Wolff, Operations Research 30 (1982)). The test compares both shares. Where they
//! are about equal, an address has several users; where hardly any start finds a transfer in progress, it has one. An
//! address that hardly ever has a transfer in progress shows nothing, and is taken for one user's.
//!
//! A single user's browser opens connections together, too. So only quiet moments count, [`BURST`] or more after the
//! beginning of a transfer of the address, and [`ANSWER`] or more after the end of one. Short captures may have too few
//! of them. Then moments count as quiet [`SHORT_BURST`] after the beginning of a transfer, and starts of one page may be
//! among them; but these find a transfer in progress more often than by chance.

use super::connection::Connection;
use crate::units::{Dur, Time};

/// The requests of a page follow one another more closely than this.
const BURST: Dur = Dur::from_millis(300);
/// The same for short captures, in which most requests of a page are left out.
const SHORT_BURST: Dur = Dur::from_millis(100);
/// A connection that begins within this time after the end of a transfer was probably requested because of it.
const ANSWER: Dur = Dur::from_millis(50);
/// Nobody waits longer for a response: a transfer that takes longer is not looked at. An address with a mailbox that
/// stays open all day would have a transfer in progress at all times.
const PATIENCE: Dur = Dur::from_millis(60_000);
/// Number of starts expected to find a transfer in progress, from which on an address is judged
/// alone, and below which together with all others.
const ENOUGH: f64 = 10.0;
/// With this share of the expected starts or more, users are independent. At this share, 0.8 ÷ ln 9, a Poisson count is
/// equally likely for one tenth and for nine tenths of the expectation.
const LEAST_SHARE: f64 = 0.36;
/// With more than this share, starts come in bursts, and the moments between the starts of a page prove nothing.
const MOST_SHARE: f64 = 1.5;
/// No address is judged by fewer starts expected to find a transfer in progress. A larger count would then only show
/// that connections come in bursts.
const LEAST_EXPECTED: f64 = 3.0;

/// Starts in the quiet moments of an address, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Counts {
    /// Connections that began in quiet moments while a transfer was in progress.
    found: u64,
    /// The same, as expected if starts do not depend on transfers in progress.
    expected: f64,
}

impl Counts {
    /// Returns the sum of two counts.
    fn plus(self, other: &Counts) -> Counts {
        Counts { found: self.found + other.found, expected: self.expected + other.expected }
    }

    /// Returns whether enough starts were expected to find a transfer in progress for the observed number to
    /// count.
    fn are_enough(&self) -> bool {
        self.expected >= LEAST_EXPECTED
    }

    /// Returns the starts that found a transfer in progress as a share of those expected, which must be above 0.
    fn share(&self) -> f64 {
        self.found as f64 / self.expected
    }
}

/// An event at an address; of simultaneous events, ends come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    TransferEnds,
    ConnectionBegins,
    TransferBegins,
}

/// Returns for each address whether it has several users, by the test that the module's text describes. `addresses` has
/// the indices of each address's connections in `all`, in order of start. Addresses at which fewer than `ENOUGH`
/// starts are expected to find a transfer in progress are judged together.
pub fn detect_shared_addresses(all: &[Connection], addresses: &[&[u32]]) -> Vec<bool> {
    let mut events = Vec::new();
    let mut counts_after = |burst: Dur| {
        addresses.iter().map(|own| count_quiet_starts(all, own, burst, &mut events)).collect::<Vec<_>>()
    };
    let counts = counts_after(BURST);
    let few = |counts: &Counts| counts.expected < ENOUGH;
    let sum = |all: &[Counts]| {
        all.iter()
            .zip(&counts)
            .filter(|(_, of)| few(of))
            .fold(Counts::default(), |sum, (one, _)| sum.plus(one))
    };
    let together = sum(&counts);
    let are_together_shared = if together.are_enough() {
        together.share() >= LEAST_SHARE
    } else {
        let together = sum(&counts_after(SHORT_BURST));
        together.are_enough() && (LEAST_SHARE..=MOST_SHARE).contains(&together.share())
    };
    counts.iter().map(|of| if few(of) { are_together_shared } else { of.share() >= LEAST_SHARE }).collect()
}

/// Counts the starts in the quiet moments of an address, at least `burst` after the beginning of a transfer.
/// `own` has the indices of its connections in `all`, in order of start; zeros for none. `events` is overwritten, and
/// passed in only for its memory.
fn count_quiet_starts(
    all: &[Connection],
    own: &[u32],
    burst: Dur,
    events: &mut Vec<(Time, Event)>,
) -> Counts {
    events.clear();
    own.iter().for_each(|&place| add_events(&all[place as usize], events));
    events.sort_unstable();
    let last_start = own.last().map_or(Time::ZERO, |&place| all[place as usize].start);
    let first_start = own.first().map_or(Time::ZERO, |&place| all[place as usize].start);
    let (mut in_progress, mut quiet_from, mut previous) = (0u32, first_start, first_start);
    let (mut starts, mut found, mut quiet, mut busy) = (0u64, 0u64, 0u64, 0u64);
    for &(at, event) in events.iter().take_while(|(at, _)| *at <= last_start) {
        let since = at.since(quiet_from.max(previous)).0;
        quiet += since;
        busy += if in_progress > 0 { since } else { 0 };
        match event {
            Event::TransferEnds => in_progress -= 1,
            Event::TransferBegins => in_progress += 1,
            Event::ConnectionBegins if at > quiet_from => {
                starts += 1;
                found += u64::from(in_progress > 0);
            }
            Event::ConnectionBegins => {}
        }
        let rest = if event == Event::TransferEnds { ANSWER } else { burst };
        (quiet_from, previous) = (quiet_from.max(at + rest), at);
    }
    Counts { found, expected: starts as f64 * busy as f64 / quiet.max(1) as f64 }
}

/// Adds the start of a connection, and where its transfers begin and end: its duration less its pauses, divided among its
/// writes by their bytes. Transfers beyond [`PATIENCE`] or without a length are left out, and so are those of a connection
/// whose end is unknown.
fn add_events(connection: &Connection, events: &mut Vec<(Time, Event)>) {
    events.push((connection.start, Event::ConnectionBegins));
    let Some(duration) = connection.duration else { return };
    let idle = connection.last_activity().since(connection.start);
    let (sending, bytes) = ((duration - idle).0, connection.bytes());
    let mut at = connection.start;
    for write in connection.writes.iter() {
        let took = Dur((u128::from(sending) * u128::from(write.bytes) / u128::from(bytes.max(1))) as u64);
        at += write.idle;
        if took > Dur::ZERO && took <= PATIENCE {
            events.push((at, Event::TransferBegins));
            events.push((at + took, Event::TransferEnds));
        }
        at += took;
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};
    use crate::traffic::Traffic;
    use crate::traffic::connection::Write;

    /// Returns a connection that lasts `took_ms`; its end is unknown without.
    fn connection(client: u32, start_ms: u64, took_ms: Option<u64>) -> Connection {
        let duration = took_ms.map(Dur::from_millis);
        Connection { client, duration, ..Connection::from_one_write(Time(start_ms * 1_000_000), 1000) }
    }

    /// Returns the connections of one user: pages of two connections of up to `most_ms`, a think time between them.
    fn draw_user(client: u32, number: u64, pages: usize, most_ms: u64) -> Vec<Connection> {
        let mut stream = Stream::new(1, Purpose::Idle, number);
        let mut at = stream.below(3000);
        let mut page = || {
            let took = [1 + stream.below(most_ms), 1 + stream.below(most_ms)];
            let start = at;
            at += took[0].max(took[1]) + 200 + stream.below(3000);
            [connection(client, start, Some(took[0])), connection(client, start + 20, Some(took[1]))]
        };
        (0..pages).flat_map(|_| page()).collect()
    }

    /// Calls `of` once, with the connections in order of start and the indices of those of each client; returns its result.
    fn with_client_indices<T>(connections: Vec<Connection>, of: impl Fn(&[Connection], &[&[u32]]) -> T) -> T {
        let traffic = Traffic::from_connections(connections);
        let clients = 1 + traffic.connections.iter().map(|one| one.client).max().unwrap();
        let places = |client| {
            let own = (0..).zip(&traffic.connections).filter(|(_, one)| one.client == client);
            own.map(|(place, _)| place).collect::<Vec<u32>>()
        };
        let addresses: Vec<Vec<u32>> = (0..clients).map(places).collect();
        of(&traffic.connections, &addresses.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    /// Returns for each client whether it is judged to be several users.
    fn judge_clients(connections: Vec<Connection>) -> Vec<bool> {
        with_client_indices(connections, detect_shared_addresses)
    }

    /// Returns how many starts are expected to find a transfer in progress, over all clients.
    fn sum_expected(connections: Vec<Connection>, burst: Dur) -> f64 {
        let of =
            |all: &[Connection], own: &&[u32]| count_quiet_starts(all, own, burst, &mut Vec::new()).expected;
        with_client_indices(connections, |all, addresses| addresses.iter().map(|own| of(all, own)).sum())
    }

    #[test]
    fn detect_shared_addresses__one_user_waits_and_three_do_not() {
        let one = draw_user(0, 0, 200, 2000);
        let three = (1..4).flat_map(|number| draw_user(1, number, 200, 2000));
        assert_eq!(judge_clients(one.into_iter().chain(three).collect()), [false, true]);
    }

    #[test]
    fn detect_shared_addresses__addresses_with_few_starts_are_judged_together() {
        let ones = |users: u64| {
            let one = |number| draw_user((number / users) as u32, number, 6, 1500);
            judge_clients((0..20 * users).flat_map(one).collect())
        };
        assert_eq!(ones(1), [false; 20]);
        assert_eq!(ones(3), [true; 20]);
    }

    /// Within a few seconds there may be no moment that is quiet for long.
    #[test]
    fn detect_shared_addresses__in_a_short_capture_by_shorter_moments() {
        let clients = |users: u64, pages| -> Vec<Connection> {
            (0..4 * users).flat_map(|number| draw_user((number / users) as u32, number, pages, 300)).collect()
        };
        for (users, pages) in [(1, 30), (4, 3)] {
            assert!(sum_expected(clients(users, pages), BURST) < LEAST_EXPECTED);
            assert!(sum_expected(clients(users, pages), SHORT_BURST) > LEAST_EXPECTED);
            assert_eq!(judge_clients(clients(users, pages)), [users > 1; 4]);
        }
    }

    /// The pages of a user who comes seldom take long, and their connections begin one by one.
    #[test]
    fn detect_shared_addresses__not_by_bursts_of_a_user_who_comes_seldom() {
        let page = |k: u64| (0..8).map(move |part| connection(0, k * 600_000 + part * 500, Some(900)));
        assert_eq!(judge_clients((0..40).flat_map(page).collect()), [false]);
    }

    /// A mailbox that is open all day, and pauses between the writes of a connection, do not hide that a user waits.
    #[test]
    fn detect_shared_addresses__not_by_transfers_that_nobody_waits_for() {
        let with = |other: Connection| {
            let mut connections = draw_user(0, 0, 200, 2000);
            connections.push(other);
            judge_clients(connections)
        };
        assert_eq!(with(connection(0, 1, Some(PATIENCE.0 / 1_000_000 * 20))), [false]);
        let write = |idle_ms| Write { idle: Dur::from_millis(idle_ms), bytes: 10 };
        let writes = (0..20).map(|k| write(if k == 0 { 0 } else { 40_000 })).collect();
        assert_eq!(with(Connection { writes, ..connection(0, 1, Some(19 * 40_000 + 20)) }), [false]);
    }

    #[test]
    fn detect_shared_addresses__unknown_ends_and_empty_addresses_prove_nothing() {
        let unknown = (0..100).map(|k| connection(0, k * 400, None)).collect();
        assert_eq!(judge_clients(unknown), [false]);
        assert_eq!(detect_shared_addresses(&[], &[]), [false; 0]);
        let nothing = (0..100).map(|k| connection(0, k * 400, Some(0))).collect();
        assert_eq!(judge_clients(nothing), [false], "transfers without a length");
    }

    /// Two transfers of 3 s start at 0 s and 10 s, and short ones at 1 s, 5 s and 12 s.
    #[test]
    fn count_quiet_starts__by_hand() {
        let list = [(0, 3000), (1000, 1), (5000, 1), (10_000, 3000), (12_000, 1)];
        let all: Vec<Connection> = list.iter().map(|&(at, took)| connection(0, at, Some(took))).collect();
        let counts = count_quiet_starts(&all, &[0, 1, 2, 3, 4], BURST, &mut Vec::new());
        assert_eq!(counts.found, 2, "at 1 s and 12 s");
        // Busy: 0.3–1 s, 1.3–3 s, 10.3–12 s. Not: 3.05–5 s, 5.3–10 s. Starts in quiet moments: four.
        let (busy, idle) = (0.7 + 1.7 + 1.7, 1.95 + 4.7);
        assert!((counts.expected - 4.0 * busy / (busy + idle)).abs() < 1e-9, "{}", counts.expected);
    }
}
