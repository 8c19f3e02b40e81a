//! The window marker, plain and randomised.

use super::red::any_view;
use crate::parity::case::{Policy, Record, Steps};
use crate::parity::dice::Dice;
use crate::parity::plain::Plain;
use mousehole_policy::window_marker::{self, Spec};
use mousehole_policy::{ParamError, View};

/// The policy keeps nothing; same layout as `struct parity_nothing`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Nothing {
    unused: u64,
}

// SAFETY: one integer.
unsafe impl Plain for Nothing {}

pub struct WindowMarker;

impl Policy for WindowMarker {
    const NAME: &'static str = "window_marker";
    const PARAMS: &'static str = "mh_window_marker_params";
    const STATE: &'static str = "parity_nothing";
    const OUTCOMES: &'static [&'static str] = &["green", "yellow", "red"];
    type Spec = Spec;
    type Params = window_marker::Params;
    type State = Nothing;

    fn spec(dice: &mut Dice) -> Spec {
        let any = dice.spread32(65535) as u16;
        let high = dice.pick(&[0, 4, 4, any, u16::MAX]);
        let more = dice.spread32((u16::MAX - high).into()) as u16;
        Spec { high, medium: dice.pick(&[high, high + more, u16::MAX]), randomised: dice.one_in(2) }
    }

    fn params(spec: &Spec) -> Result<window_marker::Params, ParamError> {
        window_marker::Params::new(spec)
    }

    fn state(_: &mut Dice, _: &Spec) -> Nothing {
        Nothing { unused: 0 }
    }

    fn record(dice: &mut Dice, spec: &Spec, _: &Nothing) -> Record {
        let near = [spec.high, spec.medium].map(|edge| dice.near32(edge.into()).min(65535) as u16);
        let windows = [0, near[0], near[1], dice.spread32(65535) as u16, dice.bits() as u16, u16::MAX];
        let flags = [0, 0, 0, View::SYN, View::IN_RECOVERY, View::RETRANSMISSION, dice.bits() as u8];
        let mut view = any_view(dice, &[1500]).with_window(dice.pick(&windows));
        view.flags = dice.pick(&flags);
        Record { view, ..Record::new() }
    }

    fn call(params: &window_marker::Params, _: &mut Nothing, record: &Record) -> u32 {
        window_marker::packet(params, &record.view, record.random) as u32
    }

    fn steps(field: &str) -> Steps {
        match field {
            "randomised" => Steps::Within(0, 1),
            "reserved" => Steps::Unread,
            _ => Steps::Unit,
        }
    }
}
