//! Remarks on traffic as it was read: sentences for people, and the facts in them for programs.

use serde::{Deserialize, Serialize};

/// A remark on the input that a reader of results should know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Kind of the remark.
    pub kind: NoteKind,
    /// The file it is about, without its folders; `None` when it is about several.
    pub file: Option<String>,
    /// The whole remark as a phrase, with the file's name.
    pub text: String,
    /// Number of rows (packets of a capture) or connections that it is about, if it is known.
    pub count: Option<u64>,
    /// Their bytes: of payload, or on the wire if the remark is about packets.
    pub bytes: Option<u64>,
    /// The row (packet of a capture) at which it was found, from 1.
    pub row: Option<u64>,
}

/// The kinds of remarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// A choice made in reading, such as spreading stamps within their second.
    Choice,
    /// Connections whose first packets were not captured.
    BeganBefore,
    /// Packets whose length field exceeds the frame.
    LengthNotBelieved,
    /// Two files with the same content, or with the same first and last packets.
    GivenTwice,
    /// A file without anything usable.
    NothingUsable,
    /// Time stamps leap ahead.
    TimeJumps,
    /// Time stamps go back.
    TimeGoesBack,
    /// Much of a capture was left out.
    LeftOut,
    /// Only a sample of the clients was read, since memory holds no more.
    Sampled,
    /// A reason to doubt that a file is what it seems.
    Doubt,
    /// Packets or rows that the file has twice.
    Doubled,
    /// Encrypted tunnels, whose content is not visible.
    Tunnel,
}

impl Note {
    /// Returns a remark without count, bytes and row; `file` is the file's name without folders.
    pub fn new(kind: NoteKind, file: Option<String>, text: String) -> Note {
        Note { kind, file, text, count: None, bytes: None, row: None }
    }
}
