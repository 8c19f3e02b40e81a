//! Users who load one page after the other during the whole run: the common part of Guo and Matta's sessions
//! and Noureddine and Tobagi's clients.
//!
//! Every draw is a function of (seed, replication, user, page, object), the same under every scheme.

use super::law::{Count, Sizes};
use super::web_sfd::{Object, Page};
use crate::rng::{Purpose, Stream, mix};
use crate::traffic::connection::HEADER_BYTES;
use crate::units::{Dur, Rate};

/// How a page is fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetch {
    /// A connection for each object; objects are requested at the objects' gaps.
    Paced,
    /// The index first; when it is complete the rest, on as many connections at once, one object each.
    IndexFirst(u32),
    /// One connection: the index first, then all others, requested at once and sent back to back; it is
    /// closed after the page.
    Pipelined,
}

/// The distribution of a user's think time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Think {
    /// Exponential with this mean, s.
    Exponential(f64),
    /// Uniform from 0 to twice this mean, s.
    Uniform(f64),
}

/// A process of users, independent of the names of a model's parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Users {
    /// Number of users.
    pub users: u32,
    /// How a page is fetched.
    pub fetch: Fetch,
    /// Time from the end of a page to the next.
    pub think: Think,
    /// Objects of a page, its index included.
    pub objects: Count,
    /// Mean gap between the objects of a page, s; of [`Fetch::Paced`] only.
    pub gap_s: f64,
    /// Sizes of objects.
    pub sizes: Sizes,
    /// Size of the index; 0 draws it like the others.
    pub index_bytes: u64,
    /// Client hosts.
    pub clients: u32,
    /// Number of the first of them.
    pub first_host: u32,
    /// Difference between the numbers of neighbouring client hosts.
    pub host_step: u32,
    /// Server hosts.
    pub servers: u32,
    /// Time that a page is taken to need when the load is computed, s.
    pub assumed_page_s: f64,
}

impl Users {
    /// Returns the expected wire bytes of a page in the data direction: payload, 40 B per segment and per
    /// SYN-ACK. Where objects share a connection, the segments of those behind the index are counted within
    /// half a segment.
    pub fn mean_page_wire(&self, mss: u32) -> f64 {
        let header = HEADER_BYTES as f64;
        let index = match self.index_bytes {
            0 => self.sizes.mean_wire(mss),
            bytes => bytes as f64 + header * (bytes.div_ceil(u64::from(mss.max(1))) + 1) as f64,
        };
        let others = self.objects.mean() - 1.0;
        match self.fetch {
            Fetch::Pipelined => {
                let payload = others * self.sizes.mean();
                index + payload + header * (payload / f64::from(mss.max(1)) + 0.5)
            }
            _ => index + others * self.sizes.mean_wire(mss),
        }
    }

    /// Returns the expected time from the start of a page to the start of the next, with the assumed page
    /// time, s.
    pub fn cycle_s(&self) -> f64 {
        let (Think::Exponential(think) | Think::Uniform(think)) = self.think;
        let gaps = if self.fetch == Fetch::Paced { self.gap_s * (self.objects.mean() - 1.0) } else { 0.0 };
        think + gaps + self.assumed_page_s
    }

    /// Returns the load on `rate` that the users offer if each page takes the assumed time.
    pub fn offered_load(&self, rate: Rate, mss: u32) -> f64 {
        f64::from(self.users) * self.mean_page_wire(mss) * 8.0 / self.cycle_s() / rate.0 as f64
    }

    /// Returns the number of users that load `rate` by `load`, rounded, from one to 10 million.
    pub fn users_for_load(&self, load: f64, rate: Rate, mss: u32) -> u32 {
        let one = Users { users: 1, ..*self }.offered_load(rate, mss);
        (load / one).round().clamp(1.0, 1e7) as u32
    }

    /// Returns the draws of one replication.
    pub fn draws(&self, seed: u64, replication: u32) -> UserDraws {
        UserDraws { process: *self, seed: mix(seed ^ mix(u64::from(replication))) }
    }
}

/// All draws of one replication, as functions of user, page and object.
#[derive(Debug, Clone, PartialEq)]
pub struct UserDraws {
    process: Users,
    seed: u64,
}

impl UserDraws {
    /// Returns the process of users.
    pub fn process(&self) -> &Users {
        &self.process
    }

    /// Returns the client host of a user.
    pub fn client(&self, user: u64) -> u32 {
        let number = (user % u64::from(self.process.clients)) as u32;
        self.process.first_host + self.process.host_step * number
    }

    /// Returns the server and the number of objects of page `page` of a user.
    pub fn page(&self, user: u64, page: u32) -> Page {
        let entity = hash_page(user, page);
        let server = self.stream(Purpose::Host, entity).below(u64::from(self.process.servers)) as u32;
        Page { server, objects: self.process.objects.draw(self.stream(Purpose::Count, entity)) }
    }

    /// Returns the gap and the size of object `object` of a page.
    pub fn object(&self, user: u64, page: u32, object: u32) -> Object {
        let entity = mix(hash_page(user, page)) ^ u64::from(object);
        let gap = match object {
            0 => 0.0,
            _ => self.stream(Purpose::Arrival, entity).exponential(self.process.gap_s),
        };
        let bytes = match (object, self.process.index_bytes) {
            (0, index @ 1..) => index,
            _ => self.process.sizes.draw(self.stream(Purpose::Size, entity)),
        };
        Object { gap: Dur::from_secs(gap), bytes }
    }

    /// Returns how long the user thinks after page `page`, and before page 0 for `u32::MAX`.
    pub fn think(&self, user: u64, page: u32) -> Dur {
        let mut stream = self.stream(Purpose::Idle, hash_page(user, page));
        Dur::from_secs(match self.process.think {
            Think::Exponential(mean) => stream.exponential(mean),
            Think::Uniform(mean) => 2.0 * mean * stream.uniform(),
        })
    }

    /// Returns the random stream of an entity for a purpose.
    fn stream(&self, purpose: Purpose, entity: u64) -> Stream {
        Stream::new(self.seed, purpose, entity)
    }
}

/// Returns the entity of a page, hashed so that it differs from those of users.
fn hash_page(user: u64, page: u32) -> u64 {
    mix(mix(user) ^ u64::from(page))
}

#[cfg(test)]
#[path = "users_tests.rs"]
mod tests;
