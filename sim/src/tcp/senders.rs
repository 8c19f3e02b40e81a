//! The TCPs of a run's connections, and the share of connections that uses each.

use super::profile::Params;

/// One TCP of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// Name of the profile.
    pub profile: String,
    /// Share of the connections, above 0.
    pub share: f64,
    /// Parameters of both ends.
    pub params: Params,
}

/// The TCPs of a run, in the order in which they were given; a connection refers to its own by index.
#[derive(Debug, Clone, PartialEq)]
pub struct Senders(Vec<Share>);

impl Senders {
    /// Returns the TCPs of `shares`, which must not be empty and should sum to 1.
    pub fn new(shares: Vec<Share>) -> Senders {
        debug_assert!(!shares.is_empty(), "a run has a TCP");
        Senders(shares)
    }

    /// Returns the same TCP for every connection.
    pub fn single(params: Params) -> Senders {
        Senders(vec![Share { profile: String::new(), share: 1.0, params }])
    }

    /// Returns all TCPs with their shares.
    pub fn shares(&self) -> &[Share] {
        &self.0
    }

    /// Returns the parameters of the TCP at `index`, which came from [`Senders::draw`].
    #[inline]
    pub fn params_at(&self, index: u8) -> &Params {
        &self.0[usize::from(index)].params
    }

    /// Returns the parameters of the first TCP. Rules that all TCPs of a run share (the dialect,
    /// who opens) may be read here.
    #[inline]
    pub fn first(&self) -> &Params {
        self.params_at(0)
    }

    /// Returns the index of the TCP that a connection uses; `draw` is its uniform draw from [0, 1).
    /// Shares that sum to less than 1 leave the rest to the last.
    pub fn draw(&self, draw: f64) -> u8 {
        let mut below = 0.0;
        let last = self.0.len() - 1;
        let is_met = |share: &Share| {
            below += share.share;
            draw < below
        };
        self.0.iter().position(is_met).unwrap_or(last) as u8
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn draw__meets_each_as_often_as_its_share() {
        let share = |profile: &str, share: f64| Share {
            profile: profile.into(),
            share,
            params: Params::find_profile(profile).expect("a known profile"),
        };
        let senders = Senders::new(vec![share("linux", 0.6), share("bbr", 0.3), share("rfc", 0.1)]);
        let mut counts = [0; 3];
        for step in 0..1000 {
            counts[usize::from(senders.draw((f64::from(step) + 0.5) / 1000.0))] += 1;
        }
        assert_eq!(counts, [600, 300, 100]);
        assert_eq!(senders.draw(1.0 - 1e-16), 2);
        assert_eq!(senders.params_at(1), &share("bbr", 0.3).params);
    }
}
