//! TCP-DS and TCP-DS-R: boundaries, special packets, and exact probabilities.
use crate::common::{Bits, Marker, parameter_error, params};
use mousehole_policy::{Application, Colour, View};

/// Returns a marker with these thresholds.
fn marker(high: u16, medium: u16, randomised: bool) -> Marker {
    let (high, medium, randomised) = (high.to_string(), medium.to_string(), randomised.to_string());
    Marker::new(params("window-marker", &[("high", &high), ("med", &medium), ("randomised", &randomised)]))
}

/// Returns the colour of a packet by a copy of a marker, which has no state.
fn colour(marker: &Marker, view: &View, random: u32) -> Colour {
    marker.clone().packet(&mut marker.new_flow(), view, 0, random)
}

/// Returns TCP-DS-R with the paper's thresholds.
fn tcp_ds_r() -> Marker {
    marker(4, 8, true)
}

fn view(window: u16, flags: u8) -> View {
    View::new(1500).with_window(window).with_flags(flags)
}

fn plain(window: u16, flags: u8) -> Colour {
    colour(&Marker::new(params("window-marker", &[])), &view(window, flags), 0)
}

/// Returns the share of random numbers for which the colour is this one or a better one; exact.
fn chance_up_to(marker: &Marker, window: u16, worst: Colour) -> f64 {
    let holds = |random: u64| colour(marker, &view(window, 0), random as u32) <= worst;
    let (mut low, mut high) = (0u64, 1u64 << 32);
    while low < high {
        let middle = (low + high) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low as f64 / 4294967296.0
}

/// Returns the mean numbers of packets of a window that are HIGH and MED.
fn outstanding(window: u16) -> [f64; 2] {
    let marker = tcp_ds_r();
    let green = chance_up_to(&marker, window, Colour::Green);
    let yellow = chance_up_to(&marker, window, Colour::Yellow) - green;
    [green, yellow].map(|share| share * f64::from(window))
}

#[test]
fn tcp_ds__thresholds_are_inclusive() {
    let colours = [1, 4, 5, 8, 9, u16::MAX].map(|window| plain(window, 0));
    use Colour::{Green, Red, Yellow};
    assert_eq!(colours, [Green, Green, Yellow, Yellow, Red, Red]);
}

#[test]
fn tcp_ds__syn_and_recovery_packets_are_high_at_any_window() {
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
        assert!((green - 4.0).abs() < f64::from(window) * libm::ldexp(1.0, -32), "window {window}: {green}");
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
    assert_eq!(chance_up_to(&tcp_ds_r(), 8, Colour::Green), 0.5);
    assert_eq!(chance_up_to(&tcp_ds_r(), 8, Colour::Yellow), 1.0);
    assert!(chance_up_to(&tcp_ds_r(), 9, Colour::Yellow) < 1.0);
}

#[test]
fn tcp_ds_r__small_windows_are_all_high() {
    for window in 1..=4 {
        assert_eq!(chance_up_to(&tcp_ds_r(), window, Colour::Green), 1.0);
    }
}

/// A known window is all that an interactive connection needs to be HIGH, as H beyond every window would say.
#[test]
fn interactive__is_high_at_every_known_window() {
    for marker in [marker(4, 8, false), tcp_ds_r()] {
        let of =
            |window| colour(&marker, &view(window, 0).with_application(Application::Interactive), u32::MAX);
        assert!((1..=u16::MAX).all(|window| of(window) == Colour::Green));
        assert_eq!(of(0), Colour::Red);
    }
}

/// The receiver has given a pure ACK the colour of the data that it acknowledges.
#[test]
fn pure_ack__keeps_its_colour() {
    for marker in [marker(4, 8, false), tcp_ds_r()] {
        for kept in Colour::ALL {
            for window in [0, 1, 6, 44] {
                let ack = view(window, View::ACK).with_colour(kept);
                assert_eq!(colour(&marker, &ack, 0), kept);
            }
        }
    }
}

/// H beyond every window, as the class of Telnet: always HIGH, in both forms.
#[test]
fn thresholds_beyond_every_window__are_all_high() {
    let mut bits = Bits(61);
    for randomised in [false, true] {
        let always_green = marker(u16::MAX, u16::MAX, randomised);
        for window in 1..=u16::MAX {
            assert_eq!(colour(&always_green, &view(window, 0), bits.next()), Colour::Green);
        }
    }
}

#[test]
fn tcp_ds_r__probabilities_are_those_of_the_reference_model() {
    let (mut bits, mut worst) = (Bits(62), 0.0f64);
    for _ in 0..3000 {
        let high = bits.spread(1.0, 65535.0) as u16;
        let medium = high + bits.below(u32::from(u16::MAX - high) + 1) as u16;
        let window = bits.spread(1.0, 65535.0) as u16;
        let [h, m, w] = [high, medium, window].map(f64::from);
        let green = (h / w).min(1.0);
        let yellow = if w <= m { 1.0 - green } else { (1.0 - green) * m / w };
        let marker = marker(high, medium, true);
        worst = worst.max((chance_up_to(&marker, window, Colour::Green) - green).abs());
        worst = worst.max((chance_up_to(&marker, window, Colour::Yellow) - green - yellow).abs());
    }
    println!("worst error of a probability: {worst:.3e}");
    assert!(worst <= libm::ldexp(1.0, -32) + 1e-15);
}

#[test]
fn params__high_is_at_most_medium() {
    assert_eq!(
        parameter_error("window-marker", &[("high", "9")]),
        "high: its value is not allowed here; allowed: at most med"
    );
}
