//! The description of a queue header that runs as a queue discipline of the kernel, and the
//! settings of its program.

use crate::error::{Failure, Result};
use crate::layout::COLOURS;
use crate::object::find_native_obstacle;
use mousehole_policy::Params;
use mousehole_scheme::units::Rate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A native queue as plain data, which a record can hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Native {
    /// The policy's name.
    pub(crate) name: String,
    params: Vec<u8>,
    /// Whether it marks packets, so that the program before it makes twins of those that are
    /// ECN-capable.
    #[serde(default)]
    pub(crate) marks: bool,
}

impl Native {
    /// Returns the native queue of a scheme; `values` are the queue's parameters as text.
    ///
    /// # Errors
    /// A sentence when the kernel cannot run it.
    pub fn new(params: &Params, values: &BTreeMap<&'static str, String>) -> Result<Native> {
        let policy = params.policy();
        let name = policy.name();
        if let Some(why) = find_native_obstacle(policy) {
            return Err(Failure::new(format!("--native cannot run the queue {name}, {why}")));
        }
        let marks = policy.marks() || values.get("ecn").is_some_and(|text| text == "true");
        Ok(Native { name: name.to_string(), params: params.bytes(), marks })
    }

    /// Returns the settings as the program reads them: `struct ml_native_all`. `overhead` and
    /// `link_header_bytes` are bytes of each packet, `priority` is the class of each colour.
    pub fn settings(
        &self,
        rate: Rate,
        overhead: u32,
        priority: [u32; COLOURS],
        link_header_bytes: u32,
    ) -> Vec<u8> {
        let mut bytes = Vec::new();
        let has_twins = u32::from(self.marks);
        let words = priority.iter().chain([&link_header_bytes, &overhead, &has_twins]);
        words.for_each(|word| bytes.extend(word.to_ne_bytes()));
        bytes.extend(rate.0.to_ne_bytes());
        bytes.extend(&self.params);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }
}
