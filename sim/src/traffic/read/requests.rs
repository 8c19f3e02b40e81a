//! Turns the requests on one connection into writes.

use super::draft::PagesOfWrites;
use crate::traffic::connection::Write;
use crate::units::Dur;

/// One request with its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Request {
    /// Time stamp, nanoseconds.
    pub at: i64,
    /// Position on the connection, for equal stamps.
    pub depth: u64,
    /// Time that it took; zero if the source does not have it.
    pub busy: Dur,
    /// Payload bytes, at least 1.
    pub bytes: u64,
    /// The page it belongs to, from 1; 0 for none.
    pub page: u32,
}

/// Sorts requests by time and returns their writes. The pause before each write is the time from the last end
/// of the transfers before it. If the source does not have their durations, the pause is the whole gap
/// between the time stamps, an overestimate by one transfer (milliseconds, compared with user pauses of
/// seconds). The requests stay in the order of the writes.
pub fn to_writes(requests: &mut [Request]) -> Vec<Write> {
    requests.sort_unstable();
    let mut free_at = None;
    let mut writes = Vec::with_capacity(requests.len());
    for request in requests.iter() {
        let idle = free_at.map_or(Dur::ZERO, |free: i64| Dur(request.at.saturating_sub(free).max(0) as u64));
        writes.push(Write { idle, bytes: request.bytes });
        free_at = free_at.max(Some(request.at.saturating_add(request.busy.0 as i64)));
    }
    writes
}

/// Returns the page of each request in their order, after [`to_writes`]; `None` if none has a page.
pub fn find_pages(requests: &[Request]) -> Option<Box<PagesOfWrites>> {
    let pages = requests.iter().map(|request| request.page);
    requests.iter().any(|request| request.page > 0).then(|| Box::new(PagesOfWrites(pages.collect())))
}

#[cfg(test)]
mod tests {
    #![allow(non_snake_case)]
    use super::*;

    #[test]
    fn to_writes__are_ordered_and_spaced() {
        let request = |at, busy, bytes| Request { at, depth: 0, busy: Dur(busy), bytes, page: 0 };
        let mut requests = [request(700, 0, 3), request(100, 50, 1), request(200, 900, 2)];
        let expected = [(0, 1), (50, 2), (0, 3)].map(|(idle, bytes)| Write { idle: Dur(idle), bytes });
        assert_eq!(to_writes(&mut requests), expected);
    }
}
