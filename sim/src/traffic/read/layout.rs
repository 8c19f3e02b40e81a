//! Finds the fields of a format in the rows of a file: below a header, in a fixed order, or in objects.

use super::columns;
use super::lines::excerpt;
use super::options::RowResult;
use super::spec::{FIELDS, Field, Lines, RowKind, Spec, known_formats};
use super::stamp;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The text of each slot of a row, first those of [`FIELDS`]; empty if the row has none.
pub type Values<'a> = Vec<Cow<'a, [u8]>>;

/// How a row is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Delimited(u8),
    Words,
    Json,
}

/// The layout of a format in one file.
#[derive(Debug, Clone)]
pub struct Layout {
    pub spec: Arc<Spec>,
    pub form: Form,
    /// Whether the first line names the columns.
    pub has_header: bool,
    /// Cells of a row; at least so many if `is_open`.
    width: usize,
    is_open: bool,
    steps: Vec<Step>,
    /// Names of slots after those of [`FIELDS`], which `only`, `cached` and `looks` name.
    extra: Vec<String>,
    /// Slots and patterns of `only`, and of `cached`.
    filters: [Vec<(usize, String)>; 2],
}

/// The slots that one cell, or one path of an object, fills.
#[derive(Debug, Clone)]
struct Step {
    place: Place,
    pieces: Vec<Piece>,
}

/// The position of a value in a row.
#[derive(Debug, Clone)]
enum Place {
    Cell(usize),
    /// Paths, of which the first that exists counts.
    Paths(Vec<String>),
}

/// A slot, and the text before it.
#[derive(Debug, Clone)]
struct Piece {
    before: String,
    slot: Option<usize>,
}

/// Returns the layout of a file that begins with `head`, by the user's format `own` alone, or without one by the known
/// formats, objects of JSON first; `None` if none fits or there is no text.
pub fn recognise(head: &[u8], own: Option<&Arc<Spec>>) -> Option<Layout> {
    let specs = own.map_or_else(|| known_formats(), std::slice::from_ref);
    let first = head.trim_ascii_start().first()?;
    let fits = if matches!(first, b'{' | b'[') { match_objects(head, specs) } else { None };
    fits.or_else(|| match_lines(head, specs))
}

/// Returns the layout that fits the JSON objects at the beginning of a file; `None` if no format fits.
fn match_objects(head: &[u8], specs: &[Arc<Spec>]) -> Option<Layout> {
    let objects = parse_objects(head);
    let of_rows = specs.iter().filter(|spec| matches!(spec.lines, Lines::Json | Lines::Delimited));
    choose_best(
        of_rows.filter_map(|spec| objects.iter().find_map(|object| Layout::from_object(spec, object))),
    )
}

/// Returns the layout that fits the first 20 lines of a file: by the header of a W3C log if there is one, else by the
/// first line as a header, else by cells in a fixed order. `None` if no format fits.
fn match_lines(head: &[u8], specs: &[Arc<Spec>]) -> Option<Layout> {
    const TRIED_LINES: usize = 20;
    let lines = || head.split(|&c| c == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(TRIED_LINES);
    let w3c = lines().find_map(|line| line.trim_ascii().strip_prefix(b"#Fields:"));
    if let Some(names) = w3c {
        let specs = specs.iter().filter(|spec| spec.lines == Lines::W3c);
        let form = choose_w3c_form(head, names);
        return choose_best(
            specs.filter_map(|spec| Layout::from_header(spec, form, &header_names(Form::Words, names))),
        );
    }
    let first = lines().next()?;
    let forms = [columns::guess_delimiter(first).map(Form::Delimited), Some(Form::Words)];
    let by_header = forms.into_iter().flatten().flat_map(|form| {
        let names = header_names(form, first);
        let specs = specs.iter().filter(|spec| matches!(spec.lines, Lines::Delimited | Lines::Words));
        specs.filter_map(move |spec| Layout::from_header(spec, form, &names)).collect::<Vec<_>>()
    });
    let positional = || specs.iter().filter(|spec| !spec.columns.is_empty());
    choose_best(by_header).or_else(|| {
        positional().find_map(|spec| lines().find_map(|line| Layout::from_positions(spec, line.trim_ascii())))
    })
}

/// Returns the form of rows of W3C logs: CloudFront separates cells by tabs, others by spaces. `names` is the
/// header.
fn choose_w3c_form(head: &[u8], names: &[u8]) -> Form {
    let row =
        head.split(|&c| c == b'\n').find(|line| !line.trim_ascii().is_empty() && !line.starts_with(b"#"));
    let has_tabs = row.unwrap_or(names).contains(&b'\t');
    if has_tabs { Form::Delimited(b'\t') } else { Form::Words }
}

/// Returns the layout whose format needs most names, the first of equals; `None` for no layout.
fn choose_best(found: impl IntoIterator<Item = Layout>) -> Option<Layout> {
    // min_by_key takes the first of equals.
    found.into_iter().min_by_key(|layout| std::cmp::Reverse(layout.spec.count_needed_names()))
}

/// Returns the normalised names of a header's columns, without colons before them; none for objects.
pub fn header_names(form: Form, line: &[u8]) -> Vec<String> {
    let cells = split_cells(form, line);
    columns::normalise_names(cells.iter().map(|cell| &**cell))
        .into_iter()
        .map(|name| name.trim_start_matches(':').to_string())
        .collect()
}

/// Returns the complete values at the beginning of a text, in an array or in a row, at most 20; wrapped rows are
/// unwrapped. It stops at the first text that is no JSON.
fn parse_objects(head: &[u8]) -> Vec<Value> {
    const TRIED: usize = 20;
    let text = head.trim_ascii_start();
    let mut rest = text.strip_prefix(b"[").unwrap_or(text);
    let mut found = Vec::new();
    while found.len() < TRIED {
        rest = rest.trim_ascii_start();
        rest = rest.strip_prefix(b",").unwrap_or(rest);
        let mut stream = serde_json::Deserializer::from_slice(rest).into_iter::<Value>();
        let Some(Ok(object)) = stream.next() else { break };
        rest = &rest[stream.byte_offset()..];
        found.push(unwrap_row(object));
    }
    found
}

/// Returns the row that a shipper of logs, or Docker, has wrapped as text; any other row unchanged.
fn unwrap_row(object: Value) -> Value {
    let texts = ["message", "log"].into_iter().filter_map(|name| object.get(name)?.as_str());
    let inner = texts.filter(|text| text.starts_with('{')).find_map(|text| serde_json::from_str(text).ok());
    inner.unwrap_or(object)
}

/// Returns the names of the first objects of a text of JSON, each once; `None` if it begins with none.
pub fn collect_object_names(head: &[u8]) -> Option<Vec<String>> {
    let is_json = matches!(head.trim_ascii_start().first(), Some(b'{' | b'['));
    let objects = if is_json { parse_objects(head) } else { Vec::new() };
    objects.first()?.as_object()?;
    let mut names: Vec<String> = Vec::new();
    for name in objects.iter().filter_map(Value::as_object).flat_map(serde_json::Map::keys) {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    Some(names)
}

/// Returns the text that a row of JSON has for each of these names; empty if it has none.
///
/// # Errors
/// A phrase, if the row is no object.
pub fn read_values(row: &[u8], names: &[String]) -> RowResult<Vec<String>> {
    let object = parse_object(row)?;
    Ok(names.iter().map(|name| find_value(&object, name).map(value_text).unwrap_or_default()).collect())
}

/// Parses a row of JSON, and unwraps it.
///
/// # Errors
/// A phrase, if the row is no object.
fn parse_object(row: &[u8]) -> RowResult<Value> {
    let object: Value = serde_json::from_slice(row).map_err(|error| format!("no JSON object ({error})"))?;
    if object.is_object() { Ok(unwrap_row(object)) } else { Err("no JSON object".to_string()) }
}

impl Spec {
    /// Returns how many names a file must have to be of this format: its fields that are not optional, and `needs`.
    fn count_needed_names(&self) -> usize {
        self.fields.values().filter(|names| !names.ends_with('?')).count() + self.needs.len()
    }

    /// Returns the names of the slots after those of [`FIELDS`], in alphabetical order.
    fn extra_slots(&self) -> Vec<String> {
        let keys = self.only.keys().chain(self.cached.keys()).chain(self.looks.keys());
        keys.filter(|key| !FIELDS.contains(&key.as_str()))
            .cloned()
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect()
    }
}

impl Layout {
    /// Returns a layout without columns.
    fn new(spec: &Arc<Spec>, form: Form, has_header: bool) -> Layout {
        let extra = spec.extra_slots();
        let slot = |name: &String| find_slot(&extra, name).unwrap_or(0);
        let filter = |patterns: &BTreeMap<String, String>| {
            patterns.iter().map(|(name, pattern)| (slot(name), pattern.clone())).collect()
        };
        let filters = [filter(&spec.only), filter(&spec.cached)];
        let (spec, steps) = (Arc::clone(spec), Vec::new());
        Layout { spec, form, has_header, width: 0, is_open: false, steps, extra, filters }
    }

    /// Returns the layout of rows that are JSON objects like this one; `None` if they do not fit the format.
    fn from_object(spec: &Arc<Spec>, object: &Value) -> Option<Layout> {
        if !object.is_object() || !spec.columns.is_empty() {
            return None;
        }
        let is_there = |names: &str| {
            names.ends_with('?') || names.split('|').any(|path| find_value(object, path).is_some())
        };
        let is_right = |(path, pattern): (&String, &String)| {
            find_value(object, path).is_some_and(|value| matches_glob(pattern, &value_text(value)))
        };
        let has_all = spec.fields.values().chain(&spec.needs).all(|names| is_there(names));
        if !has_all || !spec.only.iter().all(is_right) {
            return None;
        }
        let mut layout = Layout::new(spec, Form::Json, false);
        let paths = spec.fields.iter().map(|(field, names)| (field.as_str(), names.trim_end_matches('?')));
        let extra = layout.extra.clone();
        let all = paths.chain(extra.iter().map(|name| (name.as_str(), name.as_str())));
        layout.steps = all
            .map(|(name, paths)| Step {
                place: Place::Paths(paths.split('|').map(str::to_string).collect()),
                pieces: vec![Piece { before: String::new(), slot: find_slot(&extra, name) }],
            })
            .collect();
        Some(layout)
    }

    /// Returns the layout below a header of these names; `None` if a needed name is missing or the format has
    /// no header.
    pub fn from_header(spec: &Arc<Spec>, form: Form, names: &[String]) -> Option<Layout> {
        if !spec.columns.is_empty() || spec.lines == Lines::Json {
            return None;
        }
        let place = |name: &str| names.iter().position(|have| have.eq_ignore_ascii_case(name));
        let any = |alternatives: &str| alternatives.split('|').any(|name| place(name).is_some());
        if !spec.needs.iter().all(|names| any(names)) {
            return None;
        }
        let mut layout = Layout::new(spec, form, true);
        layout.width = names.len();
        for (field, alternatives) in &spec.fields {
            let is_optional = alternatives.ends_with('?');
            let slot = find_slot(&layout.extra, field);
            let found = alternatives
                .trim_end_matches('?')
                .split('|')
                .find_map(|name| name.split('+').map(place).collect::<Option<Vec<usize>>>());
            match found {
                Some(cells) => layout.steps.extend(cells.into_iter().map(|cell| Step {
                    place: Place::Cell(cell),
                    pieces: vec![Piece { before: String::new(), slot }],
                })),
                None if is_optional => {}
                None => return None,
            }
        }
        for (at, name) in layout.extra.iter().enumerate() {
            if let Some(cell) = place(name) {
                let pieces = vec![Piece { before: String::new(), slot: Some(FIELDS.len() + at) }];
                layout.steps.push(Step { place: Place::Cell(cell), pieces });
            } else {
                // A column that the file does not have excludes no row.
                layout
                    .filters
                    .iter_mut()
                    .for_each(|filter| filter.retain(|(slot, _)| *slot != FIELDS.len() + at));
            }
        }
        Some(layout)
    }

    /// Returns the layout of cells in a fixed order; `None` if this line does not look like one of the format.
    fn from_positions(spec: &Arc<Spec>, line: &[u8]) -> Option<Layout> {
        let form = match spec.lines {
            Lines::Delimited => Form::Delimited(columns::guess_delimiter(line)?),
            Lines::Words | Lines::W3c => Form::Words,
            Lines::Json => return None,
        };
        let mut layout = Layout::new(spec, form, false);
        layout.is_open = spec.columns.last().is_some_and(|last| last == "...");
        let templates = &spec.columns[..spec.columns.len() - usize::from(layout.is_open)];
        layout.width = templates.len();
        let extra = layout.extra.clone();
        layout.steps = templates
            .iter()
            .enumerate()
            .map(|(cell, template)| Step {
                place: Place::Cell(cell),
                pieces: split_template(template, &extra),
            })
            .collect();
        layout.fits(line).then_some(layout)
    }

    /// Returns whether a line has the format's columns and passes its checks: its patterns `looks`, and, unless the
    /// format is refused, a time, a size, and for flows a destination.
    fn fits(&self, line: &[u8]) -> bool {
        let Ok(values) = self.split_row(line) else { return false };
        let looks = self.spec.looks.iter().all(|(name, pattern)| {
            find_slot(&self.extra, name)
                .is_some_and(|slot| matches_glob(pattern, &String::from_utf8_lossy(&values[slot])))
        });
        if !self.spec.refuse.is_empty() {
            return looks;
        }
        let of = |field: Field| &*values[field as usize];
        let has_time = [Field::Start, Field::End]
            .iter()
            .any(|&field| stamp::parse_log_time(of(field), None, self.spec.dates).is_ok());
        let has_bytes = [Field::Sent, Field::Received]
            .iter()
            .any(|&field| matches!(stamp::parse_bytes("", of(field)), Ok(Some(_))));
        let ends_fit = self.spec.row == RowKind::Request || !of(Field::Destination).is_empty();
        looks && has_time && has_bytes && ends_fit
    }

    /// Returns the text of each slot of a row. In a row of cells, what precedes the format's `after` is ignored.
    ///
    /// # Errors
    /// A phrase, if the row has another number of cells, a cell does not fit its template, or the row is no object.
    pub fn split_row<'a>(&self, row: &'a [u8]) -> RowResult<Values<'a>> {
        let mut values = vec![Cow::Borrowed(&b""[..]); FIELDS.len() + self.extra.len()];
        if self.form == Form::Json {
            let object = parse_object(row)?;
            for step in &self.steps {
                let (Place::Paths(paths), Some(slot)) = (&step.place, step.pieces[0].slot) else { continue };
                if let Some(value) = paths.iter().find_map(|path| find_value(&object, path)) {
                    values[slot] = Cow::Owned(value_text(value).into_bytes());
                }
            }
            return Ok(values);
        }
        let row = match self.spec.after.as_str() {
            "" => row,
            after => memchr::memmem::find(row, after.as_bytes()).map_or(row, |at| &row[at + after.len()..]),
        };
        let cells = split_cells(self.form, row);
        let is_whole = if self.is_open || self.form == Form::Words {
            cells.len() >= self.width
        } else {
            cells.len() == self.width
        };
        if !is_whole {
            let what = if self.has_header { "the header" } else { &self.spec.title };
            return Err(format!("{} columns where {what} has {}", cells.len(), self.width));
        }
        for step in &self.steps {
            let Place::Cell(at) = step.place else { continue };
            match &step.pieces[..] {
                [Piece { before, slot: Some(slot) }] if before.is_empty() => {
                    append_cell(&mut values[*slot], cells[at])
                }
                pieces => divide_cell(cells[at], pieces, &mut values)?,
            }
        }
        Ok(values)
    }

    /// Returns whether the format reads a row, and whether the row crossed the network.
    pub fn admits(&self, values: &Values) -> (bool, bool) {
        let holds = |(slot, pattern): &(usize, String)| {
            matches_glob(pattern, &String::from_utf8_lossy(&values[*slot]))
        };
        let [only, cached] = &self.filters;
        (only.iter().all(holds), !cached.iter().any(holds))
    }

    /// Returns whether the layout fills a field's slot; a single row may still lack the value.
    pub fn has(&self, field: Field) -> bool {
        self.steps.iter().any(|step| step.pieces.iter().any(|piece| piece.slot == Some(field as usize)))
    }
}

/// Returns the text of a field of a row, without spaces around it; empty if the row has none.
pub fn field_text<'v>(values: &'v Values, field: Field) -> &'v [u8] {
    values[field as usize].trim_ascii()
}

/// Appends a cell to a value, after a space if the value has text.
fn append_cell<'a>(value: &mut Cow<'a, [u8]>, cell: &'a [u8]) {
    if value.is_empty() {
        *value = Cow::Borrowed(cell);
    } else {
        *value = Cow::Owned([value, &b" "[..], cell].concat());
    }
}

/// Returns the index of the slot of this name, a field's or one of `extra` after them; `None` for an unknown name.
fn find_slot(extra: &[String], name: &str) -> Option<usize> {
    let field = FIELDS.iter().position(|field| *field == name);
    field.or_else(|| extra.iter().position(|known| known == name).map(|at| FIELDS.len() + at))
}

/// Splits a template such as `{source}:{source_port}` into pieces: a slot and the text before it. An unknown name has
/// no slot, and text after the last name is ignored.
fn split_template(template: &str, extra: &[String]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, tail) = after.split_once('}').unwrap_or((after, ""));
        pieces.push(Piece { before: before.to_string(), slot: find_slot(extra, name) });
        rest = tail;
    }
    pieces
}

/// Divides a cell among the pieces of its template, from its end, since addresses hold colons as well.
///
/// # Errors
/// A phrase, if the cell lacks the text before a piece.
fn divide_cell<'a>(cell: &'a [u8], pieces: &[Piece], values: &mut Values<'a>) -> RowResult<()> {
    let mut rest = cell;
    for piece in pieces.iter().rev() {
        let at = match piece.before.as_bytes() {
            b"" => 0,
            before => {
                let missing = || format!("\"{}\" has no \"{}\"", excerpt(cell), piece.before);
                memchr::memmem::rfind(rest, before).ok_or_else(missing)?
            }
        };
        if let Some(slot) = piece.slot {
            values[slot] = Cow::Borrowed(&rest[at + piece.before.len()..]);
        }
        rest = &rest[..at];
    }
    Ok(())
}

/// Splits a line into cells, unquoted and without spaces around them; none for objects.
fn split_cells(form: Form, line: &[u8]) -> Vec<&[u8]> {
    match form {
        Form::Delimited(delimiter) if memchr::memchr(b'"', line).is_none() => {
            let line = if delimiter == b'|' { line.strip_suffix(b"|").unwrap_or(line) } else { line };
            line.split(|&c| c == delimiter).map(<[u8]>::trim_ascii).collect()
        }
        Form::Delimited(delimiter) => split_quoted_cells(line, delimiter),
        Form::Words => split_words(line),
        Form::Json => Vec::new(),
    }
}

/// Splits a line at delimiters outside quotes, and unquotes the cells.
fn split_quoted_cells(line: &[u8], delimiter: u8) -> Vec<&[u8]> {
    let (mut cells, mut start, mut is_quoted) = (Vec::new(), 0, false);
    for (at, &byte) in line.iter().enumerate() {
        if byte == b'"' {
            is_quoted = !is_quoted;
        } else if byte == delimiter && !is_quoted {
            cells.push(unquote(&line[start..at]));
            start = at + 1;
        }
    }
    cells.push(unquote(&line[start..]));
    cells
}

/// Removes the spaces and the quotation marks around a cell.
fn unquote(cell: &[u8]) -> &[u8] {
    let cell = cell.trim_ascii();
    cell.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(cell)
}

/// Splits a line at spaces. Quotation marks and brackets around a word, which may hold spaces, are removed; an opening
/// one without its partner belongs to the word.
fn split_words(line: &[u8]) -> Vec<&[u8]> {
    let mut words = Vec::new();
    let mut rest = line.trim_ascii();
    while let Some(&first) = rest.first() {
        let close = match first {
            b'"' => Some(b'"'),
            b'[' => Some(b']'),
            _ => None,
        };
        let within = close.and_then(|close| memchr::memchr(close, &rest[1..]));
        let (word, used) = match within {
            Some(length) => (&rest[1..=length], length + 2),
            None => {
                let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
                (&rest[..length], length)
            }
        };
        words.push(word);
        rest = rest[used.min(rest.len())..].trim_ascii_start();
    }
    words
}

/// Returns the value at a path: a name as it is, or names of nested objects separated by dots.
/// Names are compared without regard to case if none is equal. `None` if there is no value or it is
/// null.
fn find_value<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    let map = object.as_object()?;
    let named = |name: &str| {
        map.get(name)
            .or_else(|| map.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value))
    };
    named(path).filter(|value| !value.is_null()).or_else(|| {
        let (name, rest) = path.split_once('.')?;
        find_value(named(name)?, rest)
    })
}

/// Returns a JSON value as text: empty for null, a phrase for an array or object.
fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(_) => "an array".to_string(),
        Value::Object(_) => "an object".to_string(),
        other => other.to_string(),
    }
}

/// Returns whether a text fits a pattern: `?` is any byte, `*` any text, and `|` separates alternatives. A pattern
/// after `!` is negated.
fn matches_glob(pattern: &str, text: &str) -> bool {
    if let Some(other) = pattern.strip_prefix('!') {
        return !matches_glob(other, text);
    }
    pattern.split('|').any(|one| matches_alternative(one.as_bytes(), text.as_bytes()))
}

/// Returns whether a text matches a pattern of `?` and `*` without `|`, by backtracking to the last star.
fn matches_alternative(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut place, mut star) = (0, 0, None);
    while place < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(&byte) if byte == b'?' || byte == text[place] => (at, place) = (at + 1, place + 1),
            _ => {
                let Some((from, taken)) = star else { return false };
                star = Some((from, taken + 1));
                (at, place) = (from + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn matches_glob__stars_and_alternatives() {
        let fits = |pattern, texts: [&str; 4]| texts.map(|text| matches_glob(pattern, text));
        assert_eq!(
            fits("*HIT*|NONE", ["TCP_HIT/200", "NONE", "TCP_MISS/200", "NONES"]),
            [true, true, false, false]
        );
        assert_eq!(fits("a*b*c", ["abc", "aXbbYc", "ac", "abcd"]), [true, true, false, false]);
        assert_eq!(fits("!a|b*", ["a", "bc", "c", ""]), [false, false, true, true]);
        assert_eq!(fits("??:?", ["ab:c", "a:c", "", "ab:cd"]), [true, false, false, false]);
    }

    #[test]
    fn split_words__keeps_quoted_and_bracketed_text_together() {
        let line = b"a  [1/Jan/2024:00:00:00 +0000] \"GET /x y\" - \"open";
        let found: Vec<String> =
            split_words(line).into_iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        assert_eq!(found, ["a", "1/Jan/2024:00:00:00 +0000", "GET /x y", "-", "\"open"]);
    }

    #[test]
    fn divide_cell__from_the_end() {
        let pieces = split_template("{source}:{source_port}", &[]);
        let mut values: Values = vec![Cow::Borrowed(&b""[..]); FIELDS.len()];
        divide_cell(b"2001:db8::1:40000", &pieces, &mut values).unwrap();
        assert_eq!(
            (field_text(&values, Field::Source), field_text(&values, Field::SourcePort)),
            (&b"2001:db8::1"[..], &b"40000"[..])
        );
        assert!(divide_cell(b"x", &pieces, &mut values).unwrap_err().contains("has no \":\""));
    }
}
