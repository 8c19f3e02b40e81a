//! SHRED's hint at the edge: both directions of one flow.

use super::red::any_view;
use crate::parity::case::{Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::{Plain, bytes, packed, word};
use mousehole_policy::shred_edge::{self, Flow, Spec};
use mousehole_policy::{ParamError, View};

/// A flow, and a sum in which every hint counts; same layout as `struct parity_shred_edge`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Hinted {
    flow: Flow,
    hints: u64,
}

// SAFETY: two words of 4 bytes and one of 8: no padding.
unsafe impl Plain for Hinted {}

pub struct ShredEdge;

impl Policy for ShredEdge {
    const NAME: &'static str = "shred_edge";
    const PARAMS: &'static str = "mh_shred_edge_params";
    const STATE: &'static str = "parity_shred_edge";
    const OUTCOMES: &'static [&'static str] = &["1", "2..254", "255"];
    type Spec = Spec;
    type Params = shred_edge::Params;
    type State = Hinted;

    fn spec(dice: &mut Dice) -> Spec {
        let any = dice.spread32(u32::MAX).max(1);
        Spec { packet: dice.pick(&[1, 1460, 1460, u32::MAX, any]) }
    }

    fn params(spec: &Spec) -> Result<shred_edge::Params, ParamError> {
        shred_edge::Params::new(spec)
    }

    fn state(dice: &mut Dice, _: &Spec) -> Hinted {
        packed(&[(dice.bits(), 4), (dice.up_to(1), 4), (0, 8)])
    }

    fn record(dice: &mut Dice, spec: &Spec, state: &Hinted) -> Record {
        let acknowledged = word(bytes(state), 0, 4) as u32;
        let packets = dice.pick(&[0, 1, 2, 100, 253, 254, 255, 256]);
        let ahead = dice.near32(spec.packet.wrapping_mul(packets));
        let far = dice.near32(1 << 31);
        let steps = [ahead, ahead, ahead.wrapping_neg(), far, dice.bits() as u32];
        let flags = [0, 0, 0, View::REVERSE, View::ACK, dice.bits() as u8];
        let mut view = any_view(dice, &[1500]).with_sequence(acknowledged.wrapping_add(dice.pick(&steps)));
        view.flags = dice.pick(&flags);
        Record { view, ..Record::new() }
    }

    fn call(params: &shred_edge::Params, state: &mut Hinted, record: &Record) -> u32 {
        let hint = shred_edge::packet(params, &mut state.flow, &record.view);
        state.hints = state.hints.wrapping_mul(257).wrapping_add(hint.into());
        u32::from(hint > 1) + u32::from(hint == u8::MAX)
    }

    fn steps(field: &str) -> Steps {
        if field == "reserved" { Steps::Unread } else { Steps::Unit }
    }
}
