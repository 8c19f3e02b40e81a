//! Classes of flows by their behaviour, not by their ports; docs/classes.md describes the rule in prose.
//!
//! [`shape`] observes the packets of a flow in one pass, [`head`] recognises protocols by their first bytes,
//! [`rule`] decides by thresholds, and [`correction`] overrides it as users ask.

pub mod correction;
pub mod head;
pub mod rule;
pub mod shape;
mod thresholds;

pub use correction::Corrections;
pub use head::Protocol;
pub use rule::classify;
pub use shape::{FlowShape, Observed, Way};

use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// The class of a flow by its behaviour. [`crate::flow::Class`] is something else: the precedence that schemes give by
/// port or service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum FlowClass {
    /// Sound: small packets at the intervals of a codec.
    Call,
    /// Small packets both ways, 10 to 130 a second.
    Game,
    /// Pictures: frames of several packets at an even rate.
    VideoCall,
    /// Large writes with pauses of seconds between them.
    Stream,
    /// Much for few requests.
    Transfer,
    /// Requests and answers.
    Page,
    /// Keystrokes and echoes.
    Login,
    /// Look-up of names.
    Dns,
    /// A tunnel whose content cannot be seen.
    Vpn,
    /// Anything else.
    Other,
}

impl FlowClass {
    /// All classes, in the order of tables.
    pub const ALL: [FlowClass; 10] = [
        FlowClass::Call,
        FlowClass::Game,
        FlowClass::VideoCall,
        FlowClass::Stream,
        FlowClass::Transfer,
        FlowClass::Page,
        FlowClass::Login,
        FlowClass::Dns,
        FlowClass::Vpn,
        FlowClass::Other,
    ];

    /// Returns the name that users write.
    pub fn name(self) -> &'static str {
        match self {
            FlowClass::Call => "call",
            FlowClass::Game => "game",
            FlowClass::VideoCall => "video-call",
            FlowClass::Stream => "stream",
            FlowClass::Transfer => "transfer",
            FlowClass::Page => "page",
            FlowClass::Login => "login",
            FlowClass::Dns => "dns",
            FlowClass::Vpn => "vpn",
            FlowClass::Other => "other",
        }
    }

    /// Returns the plural name of the class, for tables.
    pub fn plural(self) -> &'static str {
        match self {
            FlowClass::Call => "calls",
            FlowClass::Game => "games",
            FlowClass::VideoCall => "video calls",
            FlowClass::Stream => "streams",
            FlowClass::Transfer => "transfers",
            FlowClass::Page => "pages",
            FlowClass::Login => "logins",
            FlowClass::Dns => "DNS",
            FlowClass::Vpn => "VPN",
            FlowClass::Other => "other flows",
        }
    }

    /// Returns the class of this name.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field`, with all names, for any other name.
    pub fn parse(field: &str, name: &str) -> Result<FlowClass> {
        let found = FlowClass::ALL.into_iter().find(|class| class.name() == name);
        found.ok_or_else(|| Error::choice(field, name, &FlowClass::ALL.map(FlowClass::name)))
    }
}

#[cfg(test)]
mod tests;
