//! Groups the requests of a log into pages.
//!
//! The rule, by client and in order of time: a request for a document begins a page; a request for anything
//! else belongs to the page of the request that its referrer names, if the last request of that page was not
//! more than 30 s before. A request that no page claims has none. A document is a URL without a file extension,
//! or with one of `htm html shtml xhtml php asp aspx jsp cgi`; so frames are separate pages. Objects on hosts
//! that were not logged are missing from a page.

use super::names::Names;
use std::collections::HashMap;

/// A page ends after this time without a request, in nanoseconds.
const REST: i64 = 30_000_000_000;

/// File extensions of documents.
const DOCUMENTS: [&[u8]; 9] = [b"htm", b"html", b"shtml", b"xhtml", b"php", b"asp", b"aspx", b"jsp", b"cgi"];

/// A request of a log.
#[derive(Debug, Clone, Copy)]
struct Hit {
    client: u32,
    at: i64,
    row: u64,
    is_part: bool,
    url: u32,
    referrer: u32,
}

/// The requests of a log while they are read.
#[derive(Default)]
pub struct Hits {
    urls: Names,
    hits: Vec<Hit>,
}

impl Hits {
    /// Adds a request of a client at `at`, ns, by its row in the file; its URL and its referrer must have the same
    /// form, without a scheme. Fragments of both are ignored.
    pub fn add(&mut self, client: u32, at: i64, row: u64, url: &[u8], referrer: &[u8]) {
        let is_part = !is_document(url);
        let (url, referrer) =
            (self.urls.intern(strip_fragment(url)), self.urls.intern(strip_fragment(referrer)));
        self.hits.push(Hit { client, at, row, is_part, url, referrer });
    }

    /// Adds the requests of another file, whose clients have these numbers here; panics if one is missing.
    pub fn absorb(&mut self, other: Hits, clients: &[u32]) {
        let urls = self.urls.absorb(other.urls);
        self.hits.extend(other.hits.into_iter().map(|hit| Hit {
            client: clients[hit.client as usize],
            url: urls[hit.url as usize],
            referrer: urls[hit.referrer as usize],
            ..hit
        }));
    }

    /// Returns the rows of the requests in the order they were added.
    pub fn rows(&self) -> impl Iterator<Item = u64> {
        self.hits.iter().map(|hit| hit.row)
    }

    /// Retains the requests for which `keeps`, of client and row, is true.
    pub fn retain(&mut self, keeps: impl Fn(u32, u64) -> bool) {
        self.hits.retain(|hit| keeps(hit.client, hit.row));
    }

    /// Retains the requests at whose index, in the order they were added, `keeps` is true, and all
    /// beyond its end.
    pub fn retain_in_order(&mut self, keeps: &[bool]) {
        let mut keeps = keeps.iter();
        self.hits.retain(|_| keeps.next().copied().unwrap_or(true));
    }

    /// Returns the page of each request in the order they were added, and the number of the last page, by the rule
    /// above. New pages are numbered from `last` + 1; 0 is no page.
    pub fn assign_pages(&self, last: u32) -> (Vec<u32>, u32) {
        let mut order: Vec<usize> = (0..self.hits.len()).collect();
        order.sort_by_key(|&place| {
            let hit = &self.hits[place];
            (hit.client, hit.at, hit.is_part)
        });
        let mut pages = vec![0; self.hits.len()];
        let mut last = last;
        // Of the current client: the page of each URL, and the time of the last request of each page.
        let (mut client, mut page_of, mut latest) = (None, HashMap::new(), HashMap::new());
        for place in order {
            let hit = &self.hits[place];
            if client != Some(hit.client) {
                (client, page_of, latest) = (Some(hit.client), HashMap::new(), HashMap::new());
            }
            let page = match hit.is_part {
                false => {
                    last += 1;
                    last
                }
                true => {
                    let claimed = page_of.get(&hit.referrer).copied();
                    claimed.filter(|page| hit.at.saturating_sub(latest[page]) <= REST).unwrap_or(0)
                }
            };
            if page > 0 {
                page_of.insert(hit.url, page);
                latest.insert(page, hit.at);
            }
            pages[place] = page;
        }
        (pages, last)
    }
}

/// Returns `host/path?query` of an absolute URL; anything else unchanged.
pub fn strip_scheme(url: &[u8]) -> &[u8] {
    let colon = url.windows(3).position(|part| part == b"://");
    colon.map_or(url, |colon| &url[colon + 3..])
}

/// Returns `/path?query` of an absolute URL, `/` if it has none; anything else unchanged.
pub fn strip_host(url: &[u8]) -> &[u8] {
    let rest = strip_scheme(url);
    if rest.len() == url.len() {
        return url;
    }
    rest.iter().position(|&c| c == b'/').map_or(&b"/"[..], |slash| &rest[slash..])
}

/// Returns a URL without its fragment.
fn strip_fragment(url: &[u8]) -> &[u8] {
    url.split(|&c| c == b'#').next().unwrap_or(url)
}

/// Returns whether a URL names a document and not a part of one, by the extension of its path; true for a path without
/// extension and for text without a slash.
fn is_document(url: &[u8]) -> bool {
    let path = url.split(|&c| c == b'?' || c == b'#').next().unwrap_or(url);
    let name = path.rsplit(|&c| c == b'/').next().unwrap_or(path);
    if name.len() == path.len() {
        return true;
    }
    match name.iter().rposition(|&c| c == b'.') {
        None => true,
        Some(dot) => DOCUMENTS.iter().any(|known| name[dot + 1..].eq_ignore_ascii_case(known)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(non_snake_case)]
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    /// Returns the page of each request of (client, seconds, URL, referrer).
    fn find_pages(requests: &[(u32, i64, &str, &str)]) -> Vec<u32> {
        let mut hits = Hits::default();
        for (client, at_s, url, referrer) in requests {
            hits.add(*client, at_s * SECOND, 0, url.as_bytes(), strip_host(referrer.as_bytes()));
        }
        hits.assign_pages(0).0
    }

    #[test]
    fn pages__are_documents_with_what_they_refer_to() {
        let found = find_pages(&[
            (1, 0, "/a.html", "-"),
            (1, 0, "/x.css", "http://h/a.html#top"),
            (1, 1, "/x.png", "http://h/x.css"),
            (2, 1, "/y.png", "http://h/a.html"),
            (1, 2, "/b/", "http://h/a.html"),
            (1, 3, "/z.gif", "http://h/b/"),
            (1, 40, "/late.gif", "http://h/a.html"),
            (1, 41, "/alone.gif", "-"),
        ]);
        assert_eq!(found, [1, 1, 1, 0, 2, 2, 0, 0]);
    }

    #[test]
    fn pages__do_not_depend_on_the_order_of_rows() {
        let rows = [(1, 0, "/", "-"), (1, 0, "/i.png", "http://h/"), (1, 5, "/c?q=1.gif", "-")];
        let mut turned = rows;
        turned.reverse();
        assert_eq!(find_pages(&rows), [1, 1, 2]);
        assert_eq!(find_pages(&turned), [2, 1, 1]);
    }

    #[test]
    fn is_document__by_the_extension() {
        for url in ["/", "/a", "/a/b.HTML", "h.org/", "h.org", "/a.php?x=/y.gif"] {
            assert!(is_document(url.as_bytes()), "{url}");
        }
        for url in ["/a.gif", "/b/c.js?v=1", "h.org/x.png"] {
            assert!(!is_document(url.as_bytes()), "{url}");
        }
        assert_eq!(strip_host(b"https://h.org"), b"/");
        assert_eq!(strip_scheme(b"http://h.org/a"), b"h.org/a");
    }
}
