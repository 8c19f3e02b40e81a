//! Expected wire bytes of SFD's web model, and the session rate for a load.

use super::super::super::connection::HEADER_BYTES;
use super::super::pareto::sum_survival;
use super::{CountRounding, SizeRounding, Transform, WebSfd};
use crate::error::{Error, Result};
use crate::traffic::overlay::LOADS;
use crate::units::Rate;

impl WebSfd {
    /// Returns the model with the session rate that loads a link of `rate` by `load`; see
    /// [`WebSfd::session_rate_for_load`].
    ///
    /// # Errors
    /// [`Error::Field`] for a load outside 0 < load ≤ 2.
    pub fn with_load(self, load: f64, rate: Rate, mss: u32) -> Result<WebSfd> {
        if !(load > 0.0 && load <= 2.0) {
            return Err(Error::field("load", load, LOADS));
        }
        Ok(WebSfd { inter_session_s: 1.0 / self.session_rate_for_load(load, rate, mss), ..self })
    }

    /// Returns the sessions per second whose objects, without `transform`, load a link of `rate` by `load`.
    /// The transforms keep this rate: leaving long objects out lowers the load, as in the paper.
    pub fn session_rate_for_load(&self, load: f64, rate: Rate, mss: u32) -> f64 {
        let plain = WebSfd { transform: Transform::None, ..self.clone() };
        load * rate.0 as f64 / 8.0 / plain.mean_wire_bytes_per_session(mss)
    }

    /// Returns the load on `rate` that the parameters offer after `transform`.
    pub fn offered_load(&self, rate: Rate, mss: u32) -> f64 {
        self.mean_wire_bytes_per_session(mss) * 8.0 / (self.inter_session_s * rate.0 as f64)
    }

    /// Returns the expected wire bytes of a session in the data direction: payload, 40 B per segment of
    /// `mss`, and 40 B for each connection's SYN-ACK; exact, with cap, rounding and transform.
    pub fn mean_wire_bytes_per_session(&self, mss: u32) -> f64 {
        self.mean_pages() * self.mean_objects() * self.mean_wire_bytes_per_object(mss)
    }

    /// Returns the expected number of pages of a session: an exponential variable rounded up.
    pub fn mean_pages(&self) -> f64 {
        1.0 / -libm::expm1(-1.0 / self.pages_per_session)
    }

    /// Returns the expected number of objects of a page.
    pub fn mean_objects(&self) -> f64 {
        let none = -libm::expm1(-1.0 / self.objects_per_page);
        match self.objects_rounding {
            CountRounding::Ceil => 1.0 / none,
            CountRounding::Floor => (1.0 - none) / none + none,
        }
    }

    /// Returns the expected length of a session, s, with `assumed_page_s` and a mean pause for each page, the last
    /// included.
    pub fn mean_session_s(&self) -> f64 {
        self.mean_pages() * (self.inter_page_s + self.assumed_page_s)
    }

    /// Returns the expected wire bytes of an object after the transform.
    fn mean_wire_bytes_per_object(&self, mss: u32) -> f64 {
        let headers = self.mean_segments(mss) + self.mean_connections();
        self.mean_payload() + HEADER_BYTES as f64 * headers
    }

    /// Returns P(size > x) before rounding: the Pareto II survival function, 0 from the cap on.
    fn survival(&self, x: f64) -> f64 {
        let scale = self.object_mean_bytes * (self.shape - 1.0);
        if x < self.cap_bytes as f64 { libm::pow(1.0 + x / scale, -self.shape) } else { 0.0 }
    }

    /// Returns the greatest size that occurs, bytes, and the probability of the sizes that the transform
    /// leaves out.
    fn limit(&self) -> (f64, f64) {
        match self.transform {
            Transform::Nl if self.short_bytes() < self.cap_bytes => {
                (self.short_bytes() as f64, self.survival(self.short_bytes() as f64))
            }
            _ => (self.cap_bytes as f64, 0.0),
        }
    }

    /// Returns the sum of P(size > point) over the ascending `points` below the limit, without sizes that are left out:
    /// the mean of a count that rises at each point.
    fn sum_survival_at(&self, points: impl Iterator<Item = f64>) -> f64 {
        let (limit, left_out) = self.limit();
        points.take_while(|point| *point < limit).map(|point| self.survival(point) - left_out).sum()
    }

    /// Returns [`WebSfd::sum_survival_at`] of all multiples of `step` from 0, in closed form beyond the first thousand.
    fn sum_survival_steps(&self, step: f64) -> f64 {
        let (limit, left_out) = self.limit();
        let scale = self.object_mean_bytes * (self.shape - 1.0);
        sum_survival(scale, self.shape, step, limit) - (limit / step).ceil() * left_out
    }

    /// Returns the expected payload of an object, bytes, after cap, rounding and transform.
    pub fn mean_payload(&self) -> f64 {
        let unit = f64::from(self.packet_bytes);
        match self.size_rounding {
            SizeRounding::Packet => unit * self.sum_survival_steps(unit),
            SizeRounding::Byte => self.mean_unrounded() + 0.5 * (1.0 - self.limit().1),
        }
    }

    /// Returns the expected payload of an object before rounding, bytes: the integral of P(size > x) over
    /// sizes that are not left out.
    fn mean_unrounded(&self) -> f64 {
        let (limit, left_out) = self.limit();
        let scale = self.object_mean_bytes * (self.shape - 1.0);
        let tail = libm::pow(1.0 + limit / scale, 1.0 - self.shape);
        scale / (self.shape - 1.0) * (1.0 - tail) - limit * left_out
    }

    /// Returns the mean number of segments per object. Segment n is needed beyond n·mss bytes of each
    /// transfer; the size exceeds a point if it did so before it was rounded up to whole units.
    fn mean_segments(&self, mss: u32) -> f64 {
        let unit = match self.size_rounding {
            SizeRounding::Byte => 1,
            SizeRounding::Packet => u64::from(self.packet_bytes),
        };
        let mss = u64::from(mss.max(1));
        let part = if self.transform == Transform::L2s { self.short_bytes() } else { u64::MAX };
        if part == u64::MAX && mss.is_multiple_of(unit) {
            return self.sum_survival_steps(mss as f64);
        }
        let per_part = part.div_ceil(mss);
        let point = move |n: u64| n / per_part * part.min(u64::MAX / 2) + n % per_part * mss;
        self.sum_survival_at((0..).map(move |n| (point(n) / unit * unit) as f64))
    }

    /// Returns the mean number of connections per object under the transform.
    fn mean_connections(&self) -> f64 {
        match self.transform {
            Transform::L2s => self.sum_survival_at((0..).map(|k: u64| (k * self.short_bytes()) as f64)),
            _ => 1.0 - self.limit().1,
        }
    }
}
