//! Values of JSON as text, in the form that other formats have.

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::fmt;

/// A value as text: a number in digits, `null` as empty text, an array or object as the name of its kind. So a value of
/// the wrong kind is a fault of its row and not of the whole file.
#[derive(Debug, Default)]
pub struct Text<'a>(Cow<'a, str>);

impl<'a> Text<'a> {
    /// Reads any value.
    ///
    /// # Errors
    /// The parser's.
    pub fn from_any<'de: 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
        deserializer.deserialize_any(TextVisitor).map(Text)
    }

    /// Returns whether the value is absent, `null` or empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the text's bytes.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns the text's bytes, or those of `other` if the text is empty.
    pub fn or<'b>(&'b self, other: &'b Text) -> &'b [u8] {
        if self.is_empty() { other.bytes() } else { self.bytes() }
    }

    /// Returns the text as an owned string.
    pub fn into_owned(self) -> String {
        self.0.into_owned()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    /// Reads any value as text.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Text::from_any(deserializer)
    }
}

/// Turns any value into text.
struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    /// Describes the expected value, for the parser's errors.
    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number or a string")
    }

    /// Returns a string without copying it.
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    /// Returns a copy of a string.
    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_string()))
    }

    /// Returns the number in digits.
    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(value.to_string()))
    }

    /// Returns the number in digits.
    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(value.to_string()))
    }

    /// Returns the shortest text that gives the same float, so that microseconds survive.
    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(value.to_string()))
    }

    /// Returns `true` or `false`.
    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(if value { "true" } else { "false" }))
    }

    /// Returns empty text for `null`.
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(""))
    }

    /// Skips an array and returns the name of its kind.
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Cow::Borrowed("an array"))
    }

    /// Skips an object and returns the name of its kind.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Cow::Borrowed("an object"))
    }
}
