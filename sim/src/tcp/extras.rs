//! State that only some profiles need, in one box that is made when it is first touched.
//!
//! A connection without CUBIC, PRR and RACK-TLP pays one null pointer for all three.

use super::cubic::Cubic;
use super::prr::Prr;
use super::rack::Rack;
use super::sender::Sender;
use super::tlp::Tail;

/// What CUBIC, PRR and RACK-TLP remember of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Extras {
    pub(super) cubic: Cubic,
    pub(super) prr: Prr,
    pub(super) rack: Rack,
    pub(super) tail: Tail,
}

impl Sender {
    pub(super) fn extras(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }
}
