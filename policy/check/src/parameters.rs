//! Random parameters of a policy, from its header's table.

use crate::random::Random;
use mousehole_policy::{Kind, LinkContext, Parameter, Params, Policy, Settings, Value};

/// Draws parameters that the policy's set-up function accepts, which it calls in this process: every kind over its
/// allowed range, its ends often. After a refusal it draws the parameter at fault again, after a few refusals all of
/// them; after 1000 rounds it returns the defaults.
pub(crate) fn draw_params(policy: &'static Policy, random: &mut Random) -> Params {
    for _ in 0..1000 {
        let (mut settings, context) = (draw_settings(policy, random), draw_context(random));
        for _ in 0..4 {
            match settings.for_link(&context) {
                Ok(params) => return params,
                Err(error) => redraw(policy, &mut settings, &error.parameter, random),
            }
        }
    }
    Settings::new(policy).for_link(&LinkContext::EXAMPLE).expect("loading checked the defaults")
}

/// Draws a new value for the parameter of this name; the old one stays if the new one is refused.
fn redraw(policy: &Policy, settings: &mut Settings, name: &str, random: &mut Random) {
    if let Some(parameter) = policy.parameters().iter().find(|parameter| parameter.name == name) {
        let _ = settings.set_value(parameter.name, draw_value(parameter, random)); // as in draw_settings()
    }
}

/// Draws settings without calling the set-up function, which may refuse them. Some parameters have their default.
pub(crate) fn draw_settings(policy: &'static Policy, random: &mut Random) -> Settings {
    let mut settings = Settings::new(policy);
    let default_share = random.pick(&[2, 4, 8]);
    let mut before: Option<(Kind, Value)> = None;
    for parameter in policy.parameters() {
        let drawn = match before {
            _ if random.one_in(default_share) => continue,
            Some((kind, value)) if kind == parameter.kind && random.one_in(4) => {
                draw_neighbour(value, random)
            }
            _ => draw_value(parameter, random),
        };
        // A value beyond the range, by rounding or as a neighbour of its end, is refused: the default stays.
        if settings.set_value(parameter.name, drawn).is_ok() {
            before = Some((parameter.kind, drawn));
        }
    }
    settings
}

/// Draws a value near another one: a number, it plus or minus 1, or its double; any other value unchanged. Parameters of
/// one kind are often limits of each other.
fn draw_neighbour(value: Value, random: &mut Random) -> Value {
    match value {
        Value::Number(number) => {
            Value::Number(random.pick(&[number, number + 1.0, number - 1.0, number * 2.0]))
        }
        other => other,
    }
}

/// Draws the link at which parameters are completed.
pub(crate) fn draw_context(random: &mut Random) -> LinkContext {
    let any = random.real(1e3, 1e12);
    let rate_bps = random.pick(&[1e3, 1e12, 1e7, any, any, any]);
    let slower = random.real(1e3, rate_bps.max(1e3));
    let packets = random.spread(1 << 20);
    let in_packets = random.one_in(2);
    LinkContext {
        rate_bps,
        bottleneck_bps: random.pick(&[rate_bps, slower]),
        buffer_packets: if in_packets { packets.max(1) } else { 0 },
        buffer_bytes: if in_packets { 0 } else { packets.max(1) * 1000 },
    }
}

/// Draws a value for a parameter; rounding may take it out of the allowed range, and so may a share at a link.
fn draw_value(parameter: &Parameter, random: &mut Random) -> Value {
    let Parameter { kind, least, most, .. } = *parameter;
    match kind {
        Kind::Flag => Value::Flag(random.one_in(2)),
        Kind::Choice(words) => {
            let allowed = words.iter().enumerate().filter(|(_, word)| **word != "-");
            let allowed: Vec<u32> = allowed.map(|(position, _)| position as u32).collect();
            Value::Choice(random.pick(&allowed))
        }
        Kind::Timeout if random.one_in(4) => Value::Never,
        Kind::Length if random.one_in(4) => Value::Share(random.real(0.1, 200.0)),
        Kind::Rate if random.one_in(8) => Value::Share(random.real(0.01, 200.0)),
        Kind::Length if random.one_in(3) => Value::Number(draw_number(random, least, most).round()),
        Kind::Threshold | Kind::Buffer if random.one_in(2) => {
            Value::Packets(draw_number(random, least, most).round())
        }
        Kind::Size | Kind::Threshold | Kind::Rate | Kind::Count | Kind::Buffer => {
            Value::Number(draw_number(random, least, most).round())
        }
        Kind::Time | Kind::Timeout | Kind::Fraction | Kind::Number | Kind::Percent | Kind::Length => {
            Value::Number(draw_number(random, least, most))
        }
    }
}

/// Draws a number in the range: an end, a small whole number, a fraction of `most`, or a number of any magnitude. An
/// infinite `most` counts as 10^12.
fn draw_number(random: &mut Random, least: f64, most: f64) -> f64 {
    let most = if most.is_finite() { most } else { 1e12 };
    let smallest = if least > 0.0 { least } else { (most * 1e-12).max(1e-9).min(most) };
    let parts = random.spread(1023) + 1;
    let part = most * (random.up_to(parts) as f64 / parts as f64);
    // Set-up may round a fraction either way: a few units of 2^-32 next to it.
    let nudge = most * random.uniform(-2.0, 4.0) / 4294967296.0;
    let small = random.spread(64) as f64;
    let any = if smallest < most { random.real(smallest, most) } else { most };
    let drawn = match random.up_to(15) {
        0 => least,
        1 => most,
        2 => random.uniform(least, most),
        3 | 4 => part,
        5 => part + nudge,
        6..8 => small,
        _ => any,
    };
    drawn.clamp(least, most)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use mousehole_policy::{find, policies};

    #[test]
    fn draw_params__fits_every_shipped_policy() {
        for policy in policies() {
            let mut random = Random::new(1);
            let drawn: Vec<Vec<u8>> = (0..50).map(|_| draw_params(policy, &mut random).bytes()).collect();
            let mut different = drawn.clone();
            different.sort();
            different.dedup();
            assert!(different.len() > 1, "{}: all are the same", policy.name());
        }
    }

    #[test]
    fn draw_params__reaches_the_ends_of_ranges_and_both_flags() {
        let marker = find("window-marker").unwrap();
        let mut random = Random::new(2);
        let drawn: Vec<Params> = (0..500).map(|_| draw_params(marker, &mut random)).collect();
        let all = |name: &str| drawn.iter().map(|params| params.number(name)).collect::<Vec<_>>();
        assert!(all("high").contains(&0.0) && all("med").contains(&65535.0));
        assert!(all("randomised").contains(&0.0) && all("randomised").contains(&1.0));
    }
}
