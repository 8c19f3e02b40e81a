//! Pages over one long HTTP/2 connection, optionally with a download in the same connection.
//!
//! Connections arrive as a Poisson process; each carries several pages with a user's pauses in between.
//! HTTP/2 (RFC 9113) multiplexes the objects of a page over one connection, so that they complete at nearly
//! the same time: a page is its index and then one write with everything else. No paper gives the parameters;
//! sizes and pauses are those of SFD's Table 2, the number of objects is that of a larger page of today.
//!
//! With `download_bytes` the connection carries a download as well. Its bytes fill the time between pages
//! instead of pauses, in equal portions. While a page is sent, the server alternates between bytes of the
//! download and of the page. The page's time then includes those bytes. One simplification: a portion ends
//! before the next page is requested, so the download pauses for that round trip.

use super::check;
use super::law::{Count, Law, Sizes};
use super::planned::Planned;
use crate::error::Result;
use crate::rng::{Purpose, Stream, mix};
use crate::traffic::connection::{HEADER_BYTES, PageOf, Script};
use crate::units::{Dur, Rate};
use serde::{Deserialize, Serialize};

/// The most pages of a connection and objects of a page, far more than are ever drawn, so that keys are unique.
const MOST: u32 = 1 << 12;

/// Parameters; `traffic.params` of a scenario holds any of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http2 {
    /// Mean connections per second; a load replaces it.
    pub connections_per_s: f64,
    /// Mean of the exponential for pages of a connection, rounded up.
    pub pages_per_connection: f64,
    /// Mean pause from the end of a page to the next, s, exponential.
    pub inter_page_s: f64,
    /// Mean of the exponential for objects of a page, index included, rounded up.
    pub objects_per_page: f64,
    /// Mean of the Pareto II distribution of sizes, bytes, before the cap.
    pub object_mean_bytes: f64,
    /// Its shape.
    pub shape: f64,
    /// Larger objects are cut to this, bytes.
    pub cap_bytes: u64,
    /// Bytes of a download between the pages of the same connection; 0 for none.
    pub download_bytes: u64,
    /// Client hosts.
    pub clients: u32,
    /// Server hosts.
    pub servers: u32,
    /// Time that a page is taken to need when the connections in progress at the start are counted, s.
    pub assumed_page_s: f64,
}

impl Default for Http2 {
    /// Returns the defaults: one connection every two seconds, without downloads.
    fn default() -> Self {
        Http2 {
            connections_per_s: 0.5,
            pages_per_connection: 10.0,
            inter_page_s: 10.0,
            objects_per_page: 30.0,
            object_mean_bytes: 12_000.0,
            shape: 1.2,
            cap_bytes: 2_000_000,
            download_bytes: 0,
            clients: 100,
            servers: 20,
            assumed_page_s: 1.0,
        }
    }
}

impl Http2 {
    /// Checks every parameter.
    ///
    /// # Errors
    /// [`crate::error::Error::Field`] naming the parameter.
    pub fn validate(&self) -> Result<()> {
        check::check_ranges(&[
            ("connections_per_s", self.connections_per_s, 1e-6..=1e6),
            ("pages_per_connection", self.pages_per_connection, 0.1..=150.0),
            ("inter_page_s", self.inter_page_s, 0.0..=1e9),
            ("objects_per_page", self.objects_per_page, 0.1..=150.0),
            ("object_mean_bytes", self.object_mean_bytes, 1.0..=1e12),
            ("shape", self.shape, 1.001..=100.0),
            ("cap_bytes", self.cap_bytes as f64, 1.0..=2e9),
            ("download_bytes", self.download_bytes as f64, 0.0..=1e12),
            ("clients", f64::from(self.clients), 1.0..=1e6),
            ("servers", f64::from(self.servers), 1.0..=1e6),
            ("assumed_page_s", self.assumed_page_s, 0.0..=1e6),
        ])
    }

    /// Returns the model with the arrival rate that loads a link of `rate` by `load`, a fraction, by the mean of
    /// [`Http2::mean_wire`]. `mss` is the payload of a full segment, bytes.
    pub fn with_load(self, load: f64, rate: Rate, mss: u32) -> Http2 {
        let each = self.mean_wire(mss);
        Http2 { connections_per_s: load * rate.0 as f64 / 8.0 / each, ..self }
    }

    /// Returns the load on `rate` that the parameters offer.
    pub fn offered_load(&self, rate: Rate, mss: u32) -> f64 {
        self.connections_per_s * self.mean_wire(mss) * 8.0 / rate.0 as f64
    }

    /// Returns the expected wire bytes of a connection; the number of segments is estimated with half a
    /// segment of rounding per write.
    pub fn mean_wire(&self, mss: u32) -> f64 {
        let pages = self.page_counts().mean();
        let page = self.object_counts().mean() * self.object_sizes().mean();
        let shared = if self.download_bytes > 0 { (pages - 1.0) * page } else { 0.0 };
        let payload = pages * page + shared + self.download_bytes as f64;
        let portions = if self.download_bytes > 0 { (pages - 1.0).max(1.0) } else { 0.0 };
        let writes = pages * (2.0 - self.index_only_probability()) + portions;
        payload + HEADER_BYTES as f64 * (payload / f64::from(mss.max(1)) + writes / 2.0 + 1.0)
    }

    /// Returns the probability that a page has only its index.
    fn index_only_probability(&self) -> f64 {
        -libm::expm1(-1.0 / self.objects_per_page)
    }

    /// Returns the distribution of the pages of a connection.
    fn page_counts(&self) -> Count {
        Count::Exponential(self.pages_per_connection, MOST - 1)
    }

    /// Returns the distribution of the objects of a page.
    fn object_counts(&self) -> Count {
        Count::Exponential(self.objects_per_page, MOST - 1)
    }

    /// Returns the distribution of object sizes.
    fn object_sizes(&self) -> Sizes {
        let law = Law::Lomax { mean: self.object_mean_bytes, shape: self.shape };
        Sizes { law, least: 1, cap: self.cap_bytes, unit: 1 }
    }

    /// Returns the draws of one replication.
    pub fn draws(&self, seed: u64, replication: u32) -> Http2Draws {
        Http2Draws { model: self.clone(), seed: mix(seed ^ mix(u64::from(replication))) }
    }
}

/// All draws of one replication, by number of the connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Http2Draws {
    model: Http2,
    seed: u64,
}

impl Http2Draws {
    /// Returns the number of connections in progress at the start, numbered from 0: Poisson with mean rate ×
    /// mean duration (Little's law). Pages are geometric, so each has as many pages left as a new one has in
    /// all, after [`Http2Draws::residual_think`].
    pub fn initial_connections(&self) -> u64 {
        let model = &self.model;
        let mean_s = model.page_counts().mean() * (model.inter_page_s + model.assumed_page_s);
        self.stream(Purpose::Count, mix(u64::MAX)).poisson((model.connections_per_s * mean_s).min(1e5))
    }

    /// Returns the time until the user of connection `number`, in progress at the start, requests the next page.
    pub fn residual_think(&self, number: u64) -> Dur {
        let mut stream = self.stream(Purpose::Idle, number);
        Dur::from_secs(stream.exponential(self.model.inter_page_s))
    }

    /// Adds connection `number` to `planned` and returns the time to the next, exponential. Connections may be asked
    /// for in any order.
    pub fn add_connection(&self, number: u64, planned: &mut Vec<Planned>) -> Dur {
        let mut hosts = self.stream(Purpose::Host, number);
        let client = hosts.below(u64::from(self.model.clients)) as u32;
        let server = hosts.below(u64::from(self.model.servers)) as u32;
        planned.push(Planned::from_script(number << 12, client, server, self.draw_script(number)));
        let mean = 1.0 / self.model.connections_per_s;
        Dur::from_secs(self.stream(Purpose::Arrival, number).exponential(mean))
    }

    /// Draws the writes of connection `number`: its pages, and the portions of the download between them if there is
    /// one. Equal numbers give equal writes.
    pub fn draw_script(&self, number: u64) -> Script {
        let pages = self.model.page_counts().draw(self.stream(Purpose::Count, number));
        let portions = u64::from(pages - 1).max(1);
        let mut script = Script::default();
        for page in 0..pages {
            let has_download = self.model.download_bytes > 0 && page > 0;
            if has_download {
                self.add_portion(&mut script, portions);
            }
            self.add_page(number, page, has_download, &mut script);
        }
        if pages == 1 && self.model.download_bytes > 0 {
            self.add_portion(&mut script, portions);
        }
        script
    }

    /// Adds a write with a portion of the download, one of `portions`, at least 1 byte and of no page.
    fn add_portion(&self, script: &mut Script, portions: u64) {
        script.push(Dur::ZERO, (self.model.download_bytes / portions).max(1), PageOf::default());
    }

    /// Adds the writes of a page, its index and the rest; twice as many bytes while a download shares the
    /// connection. A pause precedes it, except the first page and where a portion of the download does.
    fn add_page(&self, number: u64, page: u32, is_shared: bool, script: &mut Script) {
        let entity = mix(mix(number) ^ u64::from(page));
        let objects = self.model.object_counts().draw(self.stream(Purpose::Count, entity));
        let sizes = self.model.object_sizes();
        let size = |object| sizes.draw(self.stream(Purpose::Size, mix(entity) ^ u64::from(object)));
        let factor = if is_shared { 2 } else { 1 };
        let pause = self.stream(Purpose::Idle, entity).exponential(self.model.inter_page_s);
        let idle = if page == 0 || is_shared { Dur::ZERO } else { Dur::from_secs(pause) };
        let of = PageOf::new((number << 12 | u64::from(page)) + 1, u64::from(objects.min(2)));
        script.push(idle, factor * size(0), of);
        if objects > 1 {
            script.push(Dur::ZERO, factor * (1..objects).map(size).sum::<u64>(), of);
        }
    }

    /// Returns the random stream of an entity for a purpose.
    fn stream(&self, purpose: Purpose, entity: u64) -> Stream {
        Stream::new(self.seed, purpose, entity)
    }
}
