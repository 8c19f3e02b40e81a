//! Plays packets through a queue and checks that none is lost or held back.

use crate::parameters;
use crate::random::Random;
use mousehole_policy::{Application, Bands, Colour, Policy, PolicyKind, View, Waits, take_fault};

/// Sets of parameters, and packets that arrive with each.
const SETS: u64 = 32;
const PACKETS: u64 = 2000;

struct Packet(View);

impl Waits for Packet {
    /// Returns the view with which it arrived.
    fn view(&self) -> View {
        self.0
    }

    /// Does nothing: marks are not checked here.
    fn mark(&mut self) {}
}

/// Plays random arrivals and departures to a queue, which runs empty now and then; does nothing for the other kinds.
///
/// # Errors
/// One sentence about the first fault: an answer that is not allowed, or none with a packet though packets wait.
///
/// # Panics
/// When [`Bands`] loses a packet.
pub(crate) fn play_queue(policy: &'static Policy, seed: u64) -> Result<(), String> {
    if policy.kind() != PolicyKind::Queue {
        return Ok(());
    }
    let _ = take_fault();
    let mut random = Random::new(seed);
    for _ in 0..SETS {
        let mut bands = Bands::new(parameters::draw_params(policy, &mut random));
        let (mut now_ns, mut balance, mut dropped) = (0, 0i64, 0i64);
        for _ in 0..PACKETS {
            now_ns += random.spread(10_000_000);
            let view = draw_view(&mut random);
            let chance = (random.up_to(40) as u32 * 0x0600_0000, random.bits() as u32);
            balance += 1;
            bands.enqueue(Packet(view), &view, chance, now_ns, |_, _| dropped += 1);
            let departures = if random.one_in(200) { u64::MAX } else { random.up_to(2) };
            for _ in 0..departures {
                now_ns += random.up_to(1_000_000);
                if bands.dequeue(now_ns, |_, _| dropped += 1).is_none() {
                    break;
                }
                balance -= 1;
            }
            let waiting = i64::from(bands.waiting().all().packets);
            assert_eq!(balance, waiting + dropped, "{policy:?}: the host lost a packet");
        }
        if let Some(fault) = take_fault() {
            return Err(fault.problem);
        }
    }
    Ok(())
}

/// Draws the view of a packet of common size.
fn draw_view(random: &mut Random) -> View {
    let applications = [Application::Unknown, Application::Interactive, Application::Web, Application::Bulk];
    let size = random.pick(&[40, 576, 1500, 1500]);
    let ecn = if random.one_in(2) { View::ECT } else { 0 };
    View::new(size)
        .with_colour(random.pick(&Colour::ALL))
        .with_application(random.pick(&applications))
        .with_flags(ecn)
}
