//! The load that the sources of a run offer to the link, as records and tables report it.

use crate::traffic::waiting::Loop;

/// The load on the link. Loads are wire bytes over capacity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// The load that the scenario asks for.
    pub target: Option<f64>,
    /// Load of the files before copying and stretching: the scenario's main ones, or the first ones of its mix.
    pub native: Option<f64>,
    /// Number of copies of the files that run at the same time.
    pub copies: u32,
    /// Factor by which start times were stretched.
    pub dilation: f64,
    /// Load of the copies after stretching.
    pub achieved: Option<f64>,
    /// Sessions per second, of closed-loop models.
    pub session_rate: Option<f64>,
    /// How the files are replayed, if there are any.
    pub replay: Option<Loop>,
}

impl Default for Load {
    /// Returns the load of no source: one copy, not stretched.
    fn default() -> Self {
        Load {
            target: None,
            native: None,
            copies: 1,
            dilation: 1.0,
            achieved: None,
            session_rate: None,
            replay: None,
        }
    }
}

impl Load {
    /// Adds the load that a source of a mix offers. Uploads do not load the data direction. If the
    /// scenario has no main files, native load, copies and stretching are those of the first files
    /// of the mix.
    pub(super) fn add(&mut self, source: &Load, is_upload: bool) {
        if self.native.is_none() {
            (self.native, self.copies, self.dilation) = (source.native, source.copies, source.dilation);
        }
        let offered = source.achieved.filter(|_| !is_upload);
        self.achieved = match (self.achieved, offered) {
            (None, None) => None,
            (sum, offered) => Some(sum.unwrap_or(0.0) + offered.unwrap_or(0.0)),
        };
    }
}
