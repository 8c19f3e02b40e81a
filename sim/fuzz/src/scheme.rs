//! Makes a scenario from bytes: a scheme of the catalogue with settings of the right kind and at their edges, a link, a few
//! connections. Bytes that happen to spell a scheme are rare, so here each byte is a choice.

use mousehole_sim::scenario::catalogue::{Kind, Parameter};
use mousehole_sim::scenario::spec::{ConnectionSpec, Ends, LinkSpec, WriteSpec};
use mousehole_sim::scenario::{Part, Role, SCHEMES, Scenario};

/// The bytes not used yet; once they are used up every choice is the first.
pub struct Choices<'a>(pub &'a [u8]);

impl Choices<'_> {
    /// Returns one of the values, chosen by the next byte.
    fn pick<'v, T: ?Sized>(&mut self, values: &[&'v T]) -> &'v T {
        values[usize::from(self.byte()) % values.len()]
    }

    /// Returns the next byte, 0 once all are used.
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }
}

/// Returns the scenario that the choices select.
pub fn make_scenario(choices: &mut Choices<'_>) -> Scenario {
    let mut scenario = Scenario {
        warmup: "0s".into(),
        duration: "5s".into(),
        scheme: choose_scheme(choices),
        at: (choices.byte() % 4 == 1).then_some(Ends::Both),
        link: LinkSpec {
            rate: Some(choices.pick(&["5mbit", "64kbit", "1gbit", "100mbit", "1mbit"]).into()),
            rtt: choices.pick(&["80ms", "1ms", "600ms"]).into(),
            buffer: choices
                .pick(&["50p", "1p", "2p", "3p", "7p", "1bdp", "0.1bdp", "1500B", "40kB", "9000p"])
                .into(),
            ..LinkSpec::default()
        },
        ..Scenario::default()
    };
    scenario.tcp.profile = choices.pick(&["rfc", "linux", "ns2-2.35", "ns2-2001"]).into();
    scenario.tcp.ecn = (choices.byte() % 3 == 1).then_some(true);
    scenario.traffic.connections =
        (0..1 + choices.byte() % 8).map(|number| choose_connection(number, choices)).collect();
    scenario
}

/// Returns a named scheme, or any marker before any queue, with settings.
fn choose_scheme(choices: &mut Choices<'_>) -> String {
    let number = usize::from(choices.byte());
    if number < 192 {
        let scheme = &SCHEMES[number % SCHEMES.len()];
        return describe_part(scheme.name, scheme.visible_parameters().into_iter().map(|one| one.parameter), choices);
    }
    let [marker, queue] = [Role::Marker, Role::Queue].map(|role| {
        let all: Vec<Part> = Part::all().into_iter().filter(|part| part.role() == role).collect();
        let part = all[usize::from(choices.byte()) % all.len()];
        describe_part(part.name(), part.parameters().into_iter(), choices)
    });
    format!("{marker}|{queue}")
}

/// Returns the text of a part with settings for some of its parameters.
fn describe_part(
    name: &str,
    parameters: impl Iterator<Item = Parameter>,
    choices: &mut Choices<'_>,
) -> String {
    let mut settings = Vec::new();
    for parameter in parameters {
        if choices.byte() % 4 == 1 {
            settings.push(format!("{}={}", parameter.name, choose_value(parameter.kind, choices)));
        }
    }
    format!("{name}({})", settings.join(","))
}

/// Returns a value for a parameter of this kind, often at the edge of its range or beyond.
fn choose_value<'a>(kind: Kind, choices: &mut Choices<'a>) -> &'a str {
    match kind {
        Kind::Length => choices.pick(&["10p", "0p", "1p", "0.5p", "15%", "100%", "0%", "1000000p", "60%"]),
        Kind::Threshold => choices.pick(&["15kB", "0B", "1B", "1p", "15p", "4GB", "1TB"]),
        Kind::Size => choices.pick(&["1500B", "0B", "1B", "64kB", "4GB"]),
        Kind::Buffer => choices.pick(&["50p", "1p", "2p", "64kB", "1B", "1bdp", "50%"]),
        Kind::Fraction => choices.pick(&["0.1", "0", "1", "0.000001", "0.999999", "1.5", "0.002"]),
        Kind::Number => choices.pick(&["1", "0", "0.001", "4", "255", "1e9", "0.5"]),
        Kind::Percent => choices.pick(&["10", "0", "100", "250", "0.01"]),
        Kind::Rate => choices.pick(&["250kbit", "1bit", "10gbit", "0bit", "50%"]),
        Kind::Time | Kind::Timeout => choices.pick(&["5ms", "0s", "1ns", "1s", "1h", "100s", "never"]),
        Kind::Count => choices.pick(&["4", "1", "2", "0", "1000", "4000000000"]),
        Kind::Flag => choices.pick(&["true", "false", "maybe"]),
        Kind::Choice(words) => choices.pick(words),
    }
}

/// Returns a connection of one to three writes.
fn choose_connection(number: u8, choices: &mut Choices<'_>) -> ConnectionSpec {
    let write = |choices: &mut Choices<'_>| WriteSpec {
        idle_s: f64::from(choices.byte()) / 100.0,
        bytes: [1, 1460, 15_000, 200_000][usize::from(choices.byte()) % 4],
    };
    ConnectionSpec {
        start_s: f64::from(choices.byte()) / 100.0,
        client: u32::from(number % 3),
        server: u32::from(number % 2),
        payload: (choices.byte() % 4 == 1).then(|| "up".into()),
        writes: (0..1 + choices.byte() % 3).map(|_| write(choices)).collect(),
        ..ConnectionSpec::default()
    }
}
