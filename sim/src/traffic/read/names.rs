//! Assigns numbers to the names of hosts and pages.

use super::sampling;
use std::collections::HashMap;

/// Numbers names by first appearance. Short names, such as IPv4 addresses, are stored in the table itself, since
/// large logs look up millions of them.
#[derive(Default)]
pub struct Names {
    short: HashMap<u128, u32>,
    long: HashMap<Box<[u8]>, u32>,
    /// The hash of each name by its number, if hashes are stored.
    hashes: Option<Vec<u64>>,
    /// The names by their numbers, if names are stored.
    listed: Option<Vec<Box<[u8]>>>,
}

impl Names {
    /// Returns an empty set that stores the hash of each name, and with `is_listing` also the names by their numbers.
    pub fn with_hashes(is_listing: bool) -> Names {
        Names { hashes: Some(Vec::new()), listed: is_listing.then(Vec::new), ..Names::default() }
    }

    /// Returns the [`sampling::hash`] of the name of this number; 0 if hashes are not stored.
    pub fn hash(&self, id: u32) -> u64 {
        self.hashes.as_ref().and_then(|hashes| hashes.get(id as usize)).copied().unwrap_or_default()
    }

    /// Returns the name of this number; an empty one if names are not stored.
    pub fn name(&self, id: u32) -> &[u8] {
        self.listed.as_ref().and_then(|listed| listed.get(id as usize)).map_or(b"", |name| name)
    }

    /// Returns the number of `name`; a new name gets the next number, from 0.
    pub fn intern(&mut self, name: &[u8]) -> u32 {
        let next = (self.short.len() + self.long.len()) as u32;
        let id = match pack_name(name) {
            Some(key) => *self.short.entry(key).or_insert(next),
            None => match self.long.get(name) {
                Some(id) => *id,
                None => *self.long.entry(name.into()).or_insert(next),
            },
        };
        if let Some(hashes) = self.hashes.as_mut().filter(|hashes| hashes.len() == id as usize) {
            hashes.push(sampling::hash(name));
        }
        if let Some(listed) = self.listed.as_mut().filter(|_| id == next) {
            listed.push(name.into());
        }
        id
    }

    /// Adds the names of another file in their order, and returns the number here of each of its numbers.
    pub fn absorb(&mut self, other: Names) -> Vec<u32> {
        let short = other.short.into_iter().map(|(key, id)| (id, unpack_name(key)));
        let long = other.long.into_iter().map(|(name, id)| (id, name));
        let mut names: Vec<(u32, Box<[u8]>)> = short.chain(long).collect();
        names.sort_unstable_by_key(|(id, _)| *id);
        names.into_iter().map(|(_, name)| self.intern(&name)).collect()
    }
}

/// Packs a name of at most 15 bytes and its length into a number; `None` for a longer name.
fn pack_name(name: &[u8]) -> Option<u128> {
    let mut bytes = [0; 16];
    bytes.get_mut(..name.len()).filter(|_| name.len() < 16)?.copy_from_slice(name);
    bytes[15] = name.len() as u8;
    Some(u128::from_le_bytes(bytes))
}

/// Returns the name that [`pack_name`] has packed.
fn unpack_name(key: u128) -> Box<[u8]> {
    let bytes = key.to_le_bytes();
    bytes[..usize::from(bytes[15])].into()
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn names__keep_their_order_when_absorbed() {
        let texts: [&[u8]; 6] = [b"10.0.0.1", b"", b"a\0", b"fifteen letters", b"a", b"2001:db8:0:0:0:0:0:1"];
        let (mut one, mut other) = (Names::default(), Names::default());
        assert_eq!(texts.map(|text| one.intern(text)), [0, 1, 2, 3, 4, 5]);
        assert_eq!(texts.map(|text| one.intern(text)), [0, 1, 2, 3, 4, 5]);
        assert_eq!(
            [
                other.intern(b"new"),
                other.intern(b"a"),
                other.intern(texts[5]),
                other.intern(b"sixteen letters!")
            ],
            [0, 1, 2, 3]
        );
        assert_eq!(one.absorb(other), [6, 4, 5, 7]);
        let mut listing = Names::with_hashes(true);
        texts.iter().chain(&texts).for_each(|text| {
            let id = listing.intern(text);
            assert_eq!(listing.name(id), *text);
            assert_eq!(listing.hash(id), sampling::hash(text));
        });
        assert_eq!(one.name(0), b"");
    }
}
