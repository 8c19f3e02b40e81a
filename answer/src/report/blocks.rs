//! What a report consists of, as data: paragraphs, facts, tables, and parts that readers open.
//!
//! `python/mousehole/document/blocks.py` and `web/src/blocks.tsx` show them. All texts are plain: who shows them escapes them.

use crate::columns::finite_or_none;
use serde::Serialize;

/// How a text is coloured: for the better, open, for the worse. The text must say it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// Not at all.
    #[serde(rename = "")]
    Plain,
    /// For the better.
    Good,
    /// Open.
    Open,
    /// For the worse.
    Bad,
    /// Of less weight.
    Dim,
}

/// A part of a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Block {
    /// A paragraph.
    Prose {
        /// Its text.
        text: String,
        /// Its tone.
        tone: Tone,
    },
    /// Names with their values.
    Facts {
        /// The names with the values.
        pairs: Vec<(String, String)>,
        /// A line before them.
        title: String,
        /// The tones of the names.
        tones: Vec<Tone>,
    },
    /// A table.
    Table(Table),
    /// Parts behind a summary that opens them.
    Details {
        /// The summary.
        summary: String,
        /// The parts.
        blocks: Vec<Block>,
        /// Whether pages show them from the beginning.
        is_open: bool,
    },
}

/// A table that readers sort by its headings. The first cell of a row is its heading.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// Its caption.
    pub caption: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with as many cells as there are columns.
    pub rows: Vec<Vec<Entry>>,
    /// The scheme of each row.
    pub keys: Vec<String>,
    /// What the numbers in parentheses are; left out with them.
    pub ends: String,
    /// Text below the table.
    pub note: String,
    /// Headings of columns that a narrow terminal leaves out, in this order.
    pub gives_way: Vec<String>,
}

/// A column. A heading may have several lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Column {
    /// The heading.
    pub heading: String,
    /// Whether it is aligned to the right.
    pub is_number: bool,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// A text, by which its column is sorted.
    Text(String),
    /// A text with the number by which its column is sorted.
    Figure(Figure),
}

/// A number as text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    /// The text.
    pub text: String,
    /// The number; None comes last.
    pub value: Option<f64>,
    /// How it is coloured.
    pub tone: Tone,
}

impl Block {
    /// Returns a paragraph.
    pub fn prose(text: String, tone: Tone) -> Block {
        Block::Prose { text, tone }
    }

    /// Returns parts that readers open.
    pub fn details(summary: &str, blocks: Vec<Block>) -> Block {
        Block::Details { summary: summary.to_owned(), blocks, is_open: false }
    }

    /// Returns parts that pages show from the beginning.
    pub fn opened(summary: &str, blocks: Vec<Block>) -> Block {
        Block::Details { summary: summary.to_owned(), blocks, is_open: true }
    }
}

impl Table {
    /// Returns a table without text below it, all of whose columns stay on a narrow terminal. Each
    /// row has as many cells as there are columns, and `keys` has the scheme of each row.
    pub fn new(caption: String, columns: Vec<Column>, rows: Vec<Vec<Entry>>, keys: Vec<String>) -> Table {
        Table {
            caption,
            columns,
            rows,
            keys,
            ends: String::new(),
            note: String::new(),
            gives_way: Vec::new(),
        }
    }
}

impl Column {
    /// Returns a column of texts.
    pub fn text(heading: impl Into<String>) -> Column {
        Column { heading: heading.into(), is_number: false }
    }

    /// Returns a column of numbers.
    pub fn number(heading: impl Into<String>) -> Column {
        Column { heading: heading.into(), is_number: true }
    }
}

impl Figure {
    /// Returns a number as text; one that is not finite comes last.
    pub fn new(text: String, value: Option<f64>) -> Figure {
        Figure { text, value: value.and_then(finite_or_none), tone: Tone::Plain }
    }
}

impl From<Figure> for Entry {
    fn from(figure: Figure) -> Entry {
        Entry::Figure(figure)
    }
}
