//! Any scheme with any settings on any link: it is refused in one line, or runs and keeps the conservation laws.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mousehole_fuzz::{check_error, scheme};
use mousehole_sim::scenario::{Plan, run};
use std::sync::atomic::AtomicBool;

fuzz_target!(init: mousehole_fuzz::seeds::write_seeds("scheme"), |data: &[u8]| {
    let scenario = scheme::make_scenario(&mut scheme::Choices(data));
    let result = Plan::new(&scenario).and_then(|plan| run(&plan, None, &AtomicBool::new(false)));
    match result {
        Ok(result) => {
            assert!(result.is_conserved(), "{} at {:?}", scenario.scheme, scenario.link);
            let used = result.outcome.queues.iter().map(|queue| queue.utilisation());
            used.for_each(|used| assert!(used <= 1.001, "{} uses {used}", scenario.scheme));
        }
        Err(error) => check_error(&error),
    }
});
