//! A queue header that the kernel is to run as a queue discipline, and the settings that its program reads.

use crate::error::{Failure, Result};
use crate::layout::COLOURS;
use crate::object::find_native_obstacle;
use mousehole_policy::Params;
use mousehole_scheme::units::Rate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A queue that the kernel is to run, in plain data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Native {
    /// The policy's name.
    pub(crate) name: String,
    params: Vec<u8>,
}

impl Native {
    /// Returns a scheme's queue; `values` are its parameters as text.
    ///
    /// # Errors
    /// A sentence when the kernel cannot run it.
    pub fn new(params: &Params, values: &BTreeMap<&'static str, String>) -> Result<Native> {
        let policy = params.policy();
        let name = policy.name();
        if let Some(why) = find_native_obstacle(policy) {
            return Err(Failure::new(format!("--native cannot run the queue {name}, {why}")));
        }
        if values.get("ecn").is_some_and(|text| text == "true") {
            return Err(Failure::new(format!(
                "--native cannot run the queue {name} with ecn=true, since a queue discipline by struct_ops may not write into \
                 packets; give ecn=false"
            )));
        }
        Ok(Native { name: name.to_string(), params: params.bytes() })
    }

    /// Returns the settings as the program reads them: `struct ml_native_all`.
    pub fn settings(
        &self,
        rate: Rate,
        overhead: u32,
        priority: [u32; COLOURS],
        link_header_bytes: u32,
    ) -> Vec<u8> {
        let mut bytes = Vec::new();
        let words = priority.iter().chain([&link_header_bytes, &overhead, &0]);
        words.for_each(|word| bytes.extend(word.to_ne_bytes()));
        bytes.extend(rate.0.to_ne_bytes());
        bytes.extend(&self.params);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }
}
