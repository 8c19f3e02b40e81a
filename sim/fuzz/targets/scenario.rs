//! Scenarios in TOML and JSON, scheme descriptions, and rates, times and sizes with units.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::check_error;
use mousehole_sim::scenario::{Plan, Scenario, Scheme};
use mousehole_sim::units::{parse_dur, parse_rate, parse_size};

fuzz_target!(init: mousehole_fuzz::seeds::write_seeds("scenario"), |data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let errors = [
        Scheme::parse(text).err(),
        parse_rate("rate", text).err(),
        parse_dur("rtt", text).err(),
        parse_size("size", text).err(),
    ];
    errors.into_iter().flatten().for_each(|error| check_error(&error));
    for scenario in [Scenario::from_toml(text, "fuzz.toml"), Scenario::from_json(text)] {
        match scenario {
            // Files are not for a fuzzer to open, and enormous plans not for it to make.
            Ok(scenario) if scenario.traffic.files.is_empty() && scenario.traffic.bulk.is_none() => {
                if let Err(error) = Plan::new(&scenario) {
                    check_error(&error);
                }
            }
            Ok(_) => {}
            Err(error) => check_error(&error),
        }
    }
});
