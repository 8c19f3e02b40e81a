//! All draws of SFD's web model, as pure functions of the position in the traffic.

use super::{CountRounding, SizeRounding, WebSfd};
use crate::rng::{Purpose, Stream, mix};
use crate::units::Dur;

/// The most pages of a session and objects of a page, far more than are ever drawn, so that the keys of
/// transfers are unique.
const MAX_PAGES: u64 = 1 << 16;
const MAX_OBJECTS: u64 = 1 << 12;

/// All draws of one replication, by their position in the traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    model: WebSfd,
    seed: u64,
}

/// A page of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// The server of all its objects.
    pub server: u32,
    /// Number of objects, at least one.
    pub objects: u32,
}

/// An object of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object {
    /// Time from the request of the object before it; zero for the first.
    pub gap: Dur,
    /// Payload bytes, before [`WebSfd::transfers`].
    pub bytes: u64,
}

impl WebSfd {
    /// Returns the draws of one replication.
    pub fn draws(&self, seed: u64, replication: u32) -> Draws {
        Draws { model: self.clone(), seed: mix(seed ^ mix(u64::from(replication))) }
    }
}

impl Draws {
    /// Returns the parameters of the model.
    pub fn model(&self) -> &WebSfd {
        &self.model
    }

    /// Returns the number of sessions in progress at the start, numbered from 0; arrivals continue
    /// the numbering. It is 0 with `cold_start`, else Poisson with mean rate × mean session length
    /// (Little's law). Since pages are geometric and thinking is exponential, each has as many
    /// pages left as a new one has in all, the first of them after [`Draws::residual_think`].
    pub fn initial_sessions(&self) -> u64 {
        if self.model.cold_start {
            return 0;
        }
        let mean = self.model.mean_session_s() / self.model.inter_session_s;
        self.stream(Purpose::Count, mix(u64::MAX)).poisson(mean)
    }

    /// Returns the time from the previous session's arrival (or the start) to the `k`-th arrival, `k` from 0.
    pub fn session_gap(&self, k: u64) -> Dur {
        draw_exponential(self.stream(Purpose::Arrival, k), self.model.inter_session_s)
    }

    /// Returns the client host of a session.
    pub fn client(&self, session: u64) -> u32 {
        self.stream(Purpose::Host, session).below(u64::from(self.model.clients)) as u32
    }

    /// Returns how many pages a session fetches: exponential with mean `pages_per_session`, rounded up, from 1 to 2^16.
    pub fn pages(&self, session: u64) -> u32 {
        let drawn = self.stream(Purpose::Count, session).exponential(self.model.pages_per_session);
        (drawn.ceil() as u64).clamp(1, MAX_PAGES) as u32
    }

    /// Returns the server and the number of objects of page `page` of a session.
    pub fn page(&self, session: u64, page: u32) -> Page {
        let entity = hash_page(session, page);
        let drawn = self.stream(Purpose::Count, entity).exponential(self.model.objects_per_page);
        let objects = match self.model.objects_rounding {
            CountRounding::Floor => drawn.floor() as u64,
            CountRounding::Ceil => drawn.ceil() as u64,
        };
        let server = self.stream(Purpose::Host, entity).below(u64::from(self.model.servers)) as u32;
        Page { server, objects: objects.clamp(1, MAX_OBJECTS) as u32 }
    }

    /// Returns the gap and the size of object `object` of a page.
    pub fn object(&self, session: u64, page: u32, object: u32) -> Object {
        let entity = mix(hash_page(session, page)) ^ u64::from(object);
        let gap = match object {
            0 => Dur::ZERO,
            _ => draw_exponential(self.stream(Purpose::Arrival, entity), self.model.inter_object_s),
        };
        Object { gap, bytes: self.draw_size(self.stream(Purpose::Size, entity)) }
    }

    /// Returns how long the user thinks after page `page` is complete, exponential.
    pub fn think(&self, session: u64, page: u32) -> Dur {
        draw_exponential(self.stream(Purpose::Idle, hash_page(session, page)), self.model.inter_page_s)
    }

    /// Returns how long the user of a session in progress at the start thinks before its page 0.
    pub fn residual_think(&self, session: u64) -> Dur {
        self.think(session, u32::MAX)
    }

    /// Draws an object's size, bytes: Lomax, capped, and rounded as the model says.
    fn draw_size(&self, mut stream: Stream) -> u64 {
        let drawn =
            stream.lomax(self.model.object_mean_bytes, self.model.shape).min(self.model.cap_bytes as f64);
        let bytes = (drawn.ceil() as u64).max(1);
        match self.model.size_rounding {
            SizeRounding::Byte => bytes,
            SizeRounding::Packet => bytes.next_multiple_of(u64::from(self.model.packet_bytes)),
        }
    }

    /// Returns the random stream of an entity for a purpose.
    fn stream(&self, purpose: Purpose, entity: u64) -> Stream {
        Stream::new(self.seed, purpose, entity)
    }
}

/// Returns the entity of a page, hashed so that it differs from those of sessions.
fn hash_page(session: u64, page: u32) -> u64 {
    mix(mix(session) ^ u64::from(page))
}

/// Draws an exponential time of mean `mean_s`, s.
fn draw_exponential(mut stream: Stream, mean_s: f64) -> Dur {
    Dur::from_secs(stream.exponential(mean_s))
}
