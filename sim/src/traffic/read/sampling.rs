//! Keeps reading within a budget of rows: beyond it only the rows of one client in 2, 4, 8 … are sampled.
//!
//! Each row belongs to a unit, whose hash gives it a depth: half of the units have depth 0, a quarter 1, and so on. At
//! level k the rows of depth k or more are sampled. The level is the least at which the rows of all files that were
//! counted so far fit half of the budget. It only rises, and at the end it depends on the rows alone: not on their
//! order, nor on which file was read first. The unit is the client; in a file whose rows are mostly those of a few
//! clients it is the connection. Each file decides this at a fixed row, before which it drops nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

const DEPTHS: usize = 48;
/// Rows between two checks of the rows that other files have counted.
const LOOK: u64 = 1024;
/// Number of levels that are judged. The client is the unit if at each of them the share of rows is
/// that of clients within a factor [`NEAR`].
const JUDGED: usize = 5;
const NEAR: f64 = 2.0;

/// Returns the hash of a host's name, or of any other name of a unit.
pub fn hash(name: &[u8]) -> u64 {
    mix_bits(fold_text(name))
}

/// Returns a hash of a text, by eight bytes at a time; its low bits are not mixed.
pub fn fold_text(text: &[u8]) -> u64 {
    let fold = |hash: u64, chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let wide = u128::from(hash ^ u64::from_le_bytes(word)) * 0x9e37_79b9_7f4a_7c15;
        (wide >> 64) as u64 ^ wide as u64
    };
    text.chunks(8).fold(text.len() as u64, fold)
}

/// The rows that all files together may store.
pub struct Budget {
    /// Rows after which a file decides on its unit.
    decides_at: u64,
    /// The most sampled rows at the end.
    most: u64,
    /// Rows of each depth that were counted so far.
    counted: [AtomicU64; DEPTHS],
}

impl Budget {
    /// Returns the budget of `rows` rows for so many files together; `None` is no bound. Half of the rows may be
    /// sampled, and each file decides its unit after its share of that half.
    pub fn new(rows: Option<u64>, files: usize) -> Arc<Budget> {
        let most = rows.map_or(u64::MAX, |rows| (rows / 2).max(1));
        let decides_at = (most / files.max(1) as u64).max(1);
        Arc::new(Budget { decides_at, most, counted: std::array::from_fn(|_| AtomicU64::new(0)) })
    }

    /// Returns the lowest level at which the rows counted so far fit half of the budget.
    pub fn level(&self) -> u8 {
        let mut kept = 0_u64;
        for depth in (0..DEPTHS).rev() {
            kept = kept.saturating_add(self.counted[depth].load(Ordering::Relaxed));
            if kept > self.most {
                return depth as u8 + 1;
            }
        }
        0
    }
}

/// The sample of one file.
pub struct Sample {
    budget: Arc<Budget>,
    rows: u64,
    /// Rows of each depth before the unit was decided, by client and by connection.
    tried: [[u64; DEPTHS]; 2],
    of_connections: Option<bool>,
    level: u8,
}

impl Sample {
    /// Returns the state before the first row.
    pub fn new(budget: Arc<Budget>) -> Sample {
        Sample { budget, rows: 0, tried: [[0; DEPTHS]; 2], of_connections: None, level: 0 }
    }

    /// Counts rows of this client and connection, in the budget once the unit is decided, which it does at a fixed row.
    /// Returns whether the level has risen, so that stored rows must be thinned.
    pub fn count(&mut self, rows: u64, client: u64, connection: u64) -> bool {
        let before = self.rows;
        self.rows += rows;
        let depths = [client, join_hashes(client, connection)].map(find_depth);
        let Some(of_connections) = self.of_connections else {
            (0..2).for_each(|unit| self.tried[unit][depths[unit]] += rows);
            return self.rows >= self.budget.decides_at && self.decide_unit();
        };
        self.budget.counted[depths[usize::from(of_connections)]].fetch_add(rows, Ordering::Relaxed);
        self.rows / LOOK > before / LOOK && self.raise_level()
    }

    /// Returns whether the rows of this client and connection are in the sample; all are at level 0.
    pub fn keeps(&self, client: u64, connection: u64) -> bool {
        let unit = if self.is_of_connections() { join_hashes(client, connection) } else { client };
        self.level == 0 || find_depth(unit) >= usize::from(self.level)
    }

    /// Decides the unit at the end of a file, unless it was decided before. Call it after the last row.
    pub fn end(&mut self) {
        if self.of_connections.is_none() {
            self.decide_unit();
        }
    }

    /// Raises the level to the budget's, which the rows of all files determine; returns whether it has risen.
    pub fn raise_level(&mut self) -> bool {
        let before = self.level;
        self.level = self.level.max(self.budget.level());
        self.level > before
    }

    /// Merges another file's sample into this one: takes the higher level, and the connection as the unit if either has
    /// it. Rows stay counted in the budget.
    pub fn absorb(&mut self, other: &Sample) {
        self.level = self.level.max(other.level);
        self.of_connections = Some(self.is_of_connections() || other.is_of_connections());
    }

    /// Returns k if one unit in 2^k is in the sample.
    pub fn level(&self) -> u8 {
        self.level
    }

    /// Returns whether the unit is the connection, and not the client.
    pub fn is_of_connections(&self) -> bool {
        self.of_connections == Some(true)
    }

    /// Decides whether clients or connections are sampled, by the evenness of the clients, and adds the rows so far to
    /// the budget. Returns whether the level has risen.
    fn decide_unit(&mut self) -> bool {
        let of_connections = !is_even(&self.tried[0]);
        self.of_connections = Some(of_connections);
        let tried = self.tried[usize::from(of_connections)];
        tried.iter().zip(&self.budget.counted).for_each(|(rows, counted)| {
            counted.fetch_add(*rows, Ordering::Relaxed);
        });
        self.raise_level()
    }
}

/// Returns whether rows, counted by depth, are spread over clients: about as large a share of rows as of clients is
/// left at each of [`JUDGED`] levels. False without rows.
fn is_even(rows: &[u64; DEPTHS]) -> bool {
    let total: u64 = rows.iter().sum();
    (1..=JUDGED).all(|level| {
        let left: u64 = rows[level..].iter().sum();
        let share = left as f64 * (1_u64 << level) as f64 / total.max(1) as f64;
        (1.0 / NEAR..=NEAR).contains(&share)
    })
}

/// Returns the depth of a unit's hash: its number of trailing zero bits, limited.
fn find_depth(hash: u64) -> usize {
    (hash.trailing_zeros() as usize).min(DEPTHS - 1)
}

/// Returns the hash of a connection of a client.
fn join_hashes(client: u64, connection: u64) -> u64 {
    mix_bits(client ^ mix_bits(connection.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

/// Mixes bits so that each result bit depends on all of them: the finaliser of SplitMix64 (Steele, Lea and
/// Flood, 2014).
fn mix_bits(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Counts rows of (client, connection) as one file.
    fn count_file(budget: &Arc<Budget>, rows: &[(u64, u64)]) -> Sample {
        let mut sample = Sample::new(budget.clone());
        for &(client, connection) in rows {
            sample.count(1, client, connection);
        }
        sample.end();
        sample
    }

    /// Returns rows of `clients` clients by turns, `each` for each client.
    fn make_rows(clients: u64, each: u64) -> Vec<(u64, u64)> {
        (0..clients * each).map(|row| (hash(&(row % clients).to_le_bytes()), row)).collect()
    }

    #[test]
    fn level__is_the_same_in_any_order_of_rows_and_files() {
        let (one, two) = (make_rows(3000, 10), make_rows(700, 30));
        let levels = |files: [&[(u64, u64)]; 2]| {
            let budget = Budget::new(Some(8192), 2);
            files.iter().for_each(|rows| drop(count_file(&budget, rows)));
            budget.level()
        };
        let mut turned = one.clone();
        turned.reverse();
        let level = levels([&one, &two]);
        assert!(level >= 3, "51,000 rows in 4096: {level}");
        assert_eq!([levels([&two, &one]), levels([&turned, &two])], [level; 2]);
    }

    #[test]
    fn keeps__whole_clients_and_no_more_rows_than_fit() {
        let budget = Budget::new(Some(8192), 1);
        let given = make_rows(3000, 10);
        let mut sample = count_file(&budget, &given);
        sample.raise_level();
        assert!(!sample.is_of_connections());
        let kept: Vec<_> = given.iter().filter(|row| sample.keeps(row.0, row.1)).collect();
        assert!((1024..=4096).contains(&kept.len()), "{}", kept.len());
        let clients: std::collections::HashSet<u64> = kept.iter().map(|row| row.0).collect();
        assert_eq!(kept.len(), clients.len() * 10);
    }

    #[test]
    fn keeps__connections_where_one_client_has_the_rows() {
        let budget = Budget::new(Some(8192), 1);
        let given = make_rows(1, 50_000);
        let mut sample = count_file(&budget, &given);
        sample.raise_level();
        assert!(sample.is_of_connections());
        let kept = given.iter().filter(|row| sample.keeps(row.0, row.1)).count();
        assert!((1024..=4096).contains(&kept), "{kept}");
    }

    #[test]
    fn level__is_zero_while_rows_fit() {
        let budget = Budget::new(Some(1000), 1);
        let sample = count_file(&budget, &make_rows(1, 500));
        assert_eq!((budget.level(), sample.level()), (0, 0));
        assert_eq!(Budget::new(None, 3).level(), 0);
    }
}
