//! Options of readers, and the result of a row.

use super::spec::Spec;
use crate::error::{Error, Result};
use crate::traffic::class::Corrections;
use std::io::Read;
use std::sync::Arc;

/// The direction of the measured payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Server to client: downloads.
    #[default]
    Down,
    /// Client to server: uploads.
    Up,
}

impl Direction {
    /// Parses `down` or `up`.
    ///
    /// # Errors
    /// [`Error::Field`] naming `field` for any other name.
    pub fn parse(field: &str, name: &str) -> Result<Direction> {
        match name {
            "down" => Ok(Direction::Down),
            "up" => Ok(Direction::Up),
            _ => Err(Error::choice(field, name, &["down", "up"])),
        }
    }

    /// Returns the name that [`Direction::parse`] takes.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Down => "down",
            Direction::Up => "up",
        }
    }

    /// Returns the opposite direction.
    pub(super) fn reverse(self) -> Direction {
        match self {
            Direction::Down => Direction::Up,
            Direction::Up => Direction::Down,
        }
    }
}

/// Options of reading.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The direction whose payload counts.
    pub direction: Direction,
    /// Whether the first row that cannot be understood is an error.
    pub strict: bool,
    /// Seed for spreading whole-second time stamps.
    pub seed: u64,
    /// The user's corrections of flow classes.
    pub classes: Arc<Corrections>,
    /// The most rows in memory at once; beyond them clients are sampled. `None` is no bound.
    pub most_rows: Option<u64>,
    /// Bytes by which this process may grow while it reads; a file that takes more is refused. `None` is no bound.
    pub most_bytes: Option<u64>,
    /// The only format of logs to expect, if the user describes one.
    pub format: Option<Arc<Spec>>,
}

impl Default for ReadOptions {
    /// Returns the defaults: downloads, tolerant of faults, without corrections and bounds.
    fn default() -> Self {
        ReadOptions {
            direction: Direction::Down,
            strict: false,
            seed: 1,
            classes: Arc::default(),
            most_rows: None,
            most_bytes: None,
            format: None,
        }
    }
}

/// A table that something else has read: its rows as text with a header of column names.
pub struct Rows {
    /// Kind of the file for reports, such as `parquet`.
    pub kind: &'static str,
    /// SHA-256 of the file as stored, in hexadecimal.
    pub sha256: String,
    /// The text, as CSV.
    pub text: Box<dyn Read + Send>,
}

/// A row's outcome; the error is the problem as a phrase.
pub(super) type RowResult<T> = std::result::Result<T, String>;
