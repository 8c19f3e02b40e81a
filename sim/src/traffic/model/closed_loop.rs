//! One interface to the closed-loop models of pages, for the engine that plays them.

use super::users::{Fetch, UserDraws};
use super::web_sfd::{Draws, Object, Page, Transform};
use crate::traffic::connection::{PageOf, Script};
use crate::units::Dur;

/// Draws of a closed-loop model.
#[derive(Debug, Clone, PartialEq)]
pub enum PageDraws {
    /// Sessions that come and go.
    Sfd(Draws),
    /// Users who stay during the whole run.
    Users(UserDraws),
}

impl PageDraws {
    /// Returns the number of sessions in progress at the start.
    pub fn initial_sessions(&self) -> u64 {
        match self {
            PageDraws::Sfd(draws) => draws.initial_sessions(),
            PageDraws::Users(draws) => u64::from(draws.process().users),
        }
    }

    /// Returns the time from the previous session's arrival, or the start, to the `k`-th, from 0; `None` if
    /// no other session arrives.
    pub fn session_gap(&self, k: u64) -> Option<Dur> {
        match self {
            PageDraws::Sfd(draws) => Some(draws.session_gap(k)),
            PageDraws::Users(_) => None,
        }
    }

    /// Returns the client host of a session.
    pub fn client(&self, session: u64) -> u32 {
        match self {
            PageDraws::Sfd(draws) => draws.client(session),
            PageDraws::Users(draws) => draws.client(session),
        }
    }

    /// Returns how many pages a session fetches; [`u32::MAX`] − 1, in effect no end, for users who stay.
    pub fn page_count(&self, session: u64) -> u32 {
        match self {
            PageDraws::Sfd(draws) => draws.pages(session),
            PageDraws::Users(_) => u32::MAX - 1,
        }
    }

    /// Returns the server and the number of objects, at least one, of page `page` of a session.
    pub fn page(&self, session: u64, page: u32) -> Page {
        match self {
            PageDraws::Sfd(draws) => draws.page(session, page),
            PageDraws::Users(draws) => draws.page(session, page),
        }
    }

    /// Returns the gap and the size of object `object` of a page, before [`PageDraws::part_bytes`].
    pub fn object(&self, session: u64, page: u32, object: u32) -> Object {
        match self {
            PageDraws::Sfd(draws) => draws.object(session, page, object),
            PageDraws::Users(draws) => draws.object(session, page, object),
        }
    }

    /// Returns how long the user thinks after page `page` is complete.
    pub fn think(&self, session: u64, page: u32) -> Dur {
        match self {
            PageDraws::Sfd(draws) => draws.think(session, page),
            PageDraws::Users(draws) => draws.think(session, page),
        }
    }

    /// Returns how long the user of a session in progress at the start thinks before its page 0.
    pub fn residual_think(&self, session: u64) -> Dur {
        self.think(session, u32::MAX)
    }

    /// Returns how the objects of a page are fetched.
    pub fn fetch(&self) -> Fetch {
        match self {
            PageDraws::Sfd(_) => Fetch::Paced,
            PageDraws::Users(draws) => draws.process().fetch,
        }
    }

    /// Returns the bytes of the `part`-th transfer, from 0, that an object of `bytes` becomes; `None` after
    /// the last, and at once for an object that the transform leaves out.
    pub fn part_bytes(&self, bytes: u64, part: u32) -> Option<u64> {
        match self {
            PageDraws::Sfd(draws) => draws.model().transfers(bytes).nth(part as usize),
            PageDraws::Users(_) => (part == 0).then_some(bytes),
        }
    }

    /// Returns whether long objects are chopped into several transfers.
    pub fn is_chopped(&self) -> bool {
        matches!(self, PageDraws::Sfd(draws) if draws.model().transform == Transform::L2s)
    }

    /// Returns a key of the `part`-th transfer of an object, the same under every scheme. Keys are unique for
    /// up to 2^24 sessions of 2^16 pages; a user's pages beyond that, days later, repeat the keys of the
    /// first.
    pub fn key(&self, session: u64, page: u32, object: u32, part: u32) -> u64 {
        session << 40 | u64::from(page & 0xffff) << 24 | u64::from(object) << 12 | u64::from(part)
    }

    /// Returns the key, above 0, and the number of transfers of a page of `objects` objects; a pipelined page has at
    /// most two.
    pub fn name_page(&self, session: u64, page: u32, objects: u32) -> PageOf {
        let transfers = match self {
            PageDraws::Sfd(draws) if draws.model().transform != Transform::None => {
                let parts =
                    |object| draws.model().transfers(draws.object(session, page, object).bytes).count();
                (0..objects).map(|object| parts(object) as u64).sum()
            }
            _ if self.fetch() == Fetch::Pipelined => u64::from(objects.min(2)),
            _ => u64::from(objects),
        };
        PageOf::new(self.key(session, page, 0, 0) + 1, transfers)
    }

    /// Returns a page of `objects` objects as the writes of one connection: its index, then everything else
    /// back to back, which is one write.
    pub fn page_script(&self, session: u64, page: u32, objects: u32) -> Script {
        let of = self.name_page(session, page, objects);
        let bytes = |object| self.object(session, page, object).bytes;
        let mut script = Script::default();
        script.push(Dur::ZERO, bytes(0), of);
        let rest = (1..objects).map(bytes).sum();
        if rest > 0 {
            script.push(Dur::ZERO, rest, of);
        }
        script
    }
}
