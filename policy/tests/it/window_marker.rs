//! TCP-DS and TCP-DS-R: boundaries, special packets, and exact probabilities.
use crate::common::Bits;
use mousehole_policy::window_marker::{self, Params, Spec};
use mousehole_policy::{Colour, View};

const RANDOMISED: Spec = Spec { high: 4, medium: 8, randomised: true };

fn view(window: u16, flags: u8) -> View {
    View::new(1500).with_window(window).with_flags(flags)
}

fn plain(window: u16, flags: u8) -> Colour {
    let params = Params::new(&Spec::default()).unwrap();
    window_marker::packet(&params, &view(window, flags), 0)
}

/// The share of random numbers for which the colour is this one or a better one; exact.
fn chance_up_to(spec: Spec, window: u16, colour: Colour) -> f64 {
    let params = Params::new(&spec).unwrap();
    let holds = |random: u64| window_marker::packet(&params, &view(window, 0), random as u32) <= colour;
    let (mut low, mut high) = (0u64, 1u64 << 32);
    while low < high {
        let middle = (low + high) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low as f64 / 4294967296.0
}

/// Packets of a window that get HIGH and MED on average.
fn outstanding(window: u16) -> [f64; 2] {
    let green = chance_up_to(RANDOMISED, window, Colour::Green);
    let yellow = chance_up_to(RANDOMISED, window, Colour::Yellow) - green;
    [green, yellow].map(|share| share * f64::from(window))
}

#[test]
fn tcp_ds__thresholds_are_inclusive() {
    let colours = [1, 4, 5, 8, 9, u16::MAX].map(|window| plain(window, 0));
    use Colour::{Green, Red, Yellow};
    assert_eq!(colours, [Green, Green, Yellow, Yellow, Red, Red]);
}

#[test]
fn tcp_ds__special_packets_are_high_whatever_the_window() {
    for window in [0, 1, 6, 44, u16::MAX] {
        assert_eq!(plain(window, View::SYN), Colour::Green);
        assert_eq!(plain(window, View::IN_RECOVERY), Colour::Green);
        assert_eq!(plain(window, View::IN_RECOVERY | View::RETRANSMISSION), Colour::Green);
    }
}

#[test]
fn tcp_ds__after_a_timeout_the_window_decides() {
    let again = [1, 4, 6, 12].map(|window| plain(window, View::RETRANSMISSION));
    assert_eq!(again, [Colour::Green, Colour::Green, Colour::Yellow, Colour::Red]);
}

#[test]
fn tcp_ds__an_unknown_window_is_low() {
    assert_eq!(plain(0, 0), Colour::Red);
}

#[test]
fn tcp_ds_r__four_high_are_outstanding_at_every_window_above_four() {
    for window in 5..=5000 {
        let [green, _] = outstanding(window);
        assert!((green - 4.0).abs() < f64::from(window) * 2f64.powi(-32), "window {window}: {green}");
    }
}

#[test]
fn tcp_ds_r__medium_outstanding_approaches_eight() {
    for (window, expected) in [(12, 16.0 / 3.0), (16, 6.0), (44, 80.0 / 11.0)] {
        let [_, yellow] = outstanding(window);
        assert!((yellow - expected).abs() < 1e-7, "window {window}: {yellow}");
    }
    assert!((80.0f64 / 11.0 - 7.27).abs() < 0.005 && (16.0f64 / 3.0 - 5.33).abs() < 0.005);
}

#[test]
fn tcp_ds_r__at_eight_half_are_high_and_none_low() {
    assert_eq!(chance_up_to(RANDOMISED, 8, Colour::Green), 0.5);
    assert_eq!(chance_up_to(RANDOMISED, 8, Colour::Yellow), 1.0);
    assert!(chance_up_to(RANDOMISED, 9, Colour::Yellow) < 1.0);
}

#[test]
fn tcp_ds_r__small_windows_are_all_high() {
    for window in 1..=4 {
        assert_eq!(chance_up_to(RANDOMISED, window, Colour::Green), 1.0);
    }
}

/// H beyond every window, as the class of Telnet: always HIGH, in both forms.
#[test]
fn thresholds_beyond_every_window__are_all_high() {
    let mut bits = Bits(61);
    for randomised in [false, true] {
        let params = Params::new(&Spec { randomised, ..Spec::ALWAYS_GREEN }).unwrap();
        for window in 1..=u16::MAX {
            assert_eq!(window_marker::packet(&params, &view(window, 0), bits.next()), Colour::Green);
        }
    }
}

#[test]
fn tcp_ds_r__probabilities_are_the_float_twins() {
    let (mut bits, mut worst) = (Bits(62), 0.0f64);
    for _ in 0..3000 {
        let high = bits.spread(1.0, 65535.0) as u16;
        let medium = high + bits.below(u32::from(u16::MAX - high) + 1) as u16;
        let window = bits.spread(1.0, 65535.0) as u16;
        let [h, m, w] = [high, medium, window].map(f64::from);
        let green = (h / w).min(1.0);
        let yellow = if w <= m { 1.0 - green } else { (1.0 - green) * m / w };
        let spec = Spec { high, medium, randomised: true };
        worst = worst.max((chance_up_to(spec, window, Colour::Green) - green).abs());
        worst = worst.max((chance_up_to(spec, window, Colour::Yellow) - green - yellow).abs());
    }
    println!("worst error of a probability: {worst:.3e}");
    assert!(worst <= 2f64.powi(-32) + 1e-15);
}

#[test]
fn params__high_is_at_most_medium() {
    let spec = Spec { high: 9, ..Spec::default() };
    assert_eq!(Params::new(&spec).unwrap_err().to_string(), "high: 9 is not allowed; 0 to 8 packets");
}
