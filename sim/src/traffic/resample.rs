//! Bootstrap resamples of a traffic.
//!
//! As many clients as the traffic has are drawn with replacement, so that the draw contains what users differ
//! by. If they are few, the time of each is divided into blocks of equal length as well, and each slot of a
//! client that was drawn, a time in which it has a block, gets a block of the same client. If they are very
//! few, clients are not drawn, and each slot gets a block of any client. Whole clients or blocks are drawn
//! because connections that belong together depend on each other.
//!
//! Sources: B. Efron, "Bootstrap methods: another look at the jackknife", Annals of Statistics 7 (1979), section 2; H. R.
//! Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of Statistics 17 (1989), for blocks
//! of time that follow one another.

use super::part::Part;
use crate::rng::{Purpose, Stream};
use crate::units::Dur;
use std::collections::{BTreeMap, BTreeSet};

/// With fewer clients than this, blocks of each client's time are drawn instead, at least this many
/// in all.
const LEAST_UNITS: usize = 60;
/// With fewer clients than this, a block of any of them may be drawn: without the largest of so few, little would be left.
const LEAST_CLIENTS: usize = 20;

/// Which units of a traffic were drawn, and how often. A unit is a client or a block of a client's time.
#[derive(Debug, Clone)]
pub struct Draws {
    /// The unit of each connection.
    unit_of: Vec<u32>,
    units: Vec<Unit>,
    /// The slots to fill: those of the units of each client that was drawn, for each draw of it.
    slots_to_fill: Vec<Unit>,
    /// The unit that was drawn for each slot.
    drawn: Vec<u32>,
    /// How often each unit was drawn.
    times: Vec<u32>,
    /// The slots in which blocks of time are played; `None` if whole clients were drawn.
    slots: Option<Slots>,
}

/// A client, or one block of its time; clients that are not divided have block 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Unit {
    client: u32,
    block: u64,
}

/// The slots in which blocks of time are played.
#[derive(Debug, Clone)]
struct Slots {
    /// The slots that each unit was drawn for, in the order of the draws.
    of: Vec<Vec<u32>>,
    blocks: u64,
    period: Dur,
}

impl Draws {
    /// Returns draws in which every client occurs once.
    pub fn each_client_once(traffic: Part) -> Draws {
        let (unit_of, units) = group_units(traffic, 1, Dur(1));
        let (times, drawn) = (vec![1; units.len()], (0..units.len() as u32).collect());
        Draws { unit_of, slots_to_fill: units.clone(), units, drawn, times, slots: None }
    }

    /// Draws as many clients as the traffic has, with replacement; with few clients, blocks of their time.
    /// `period` is the traffic's, and (seed, replication) determines the draws. The traffic must have a connection.
    pub fn resample(traffic: Part, period: Dur, (seed, replication): (u64, u32)) -> Draws {
        let clients: BTreeSet<u32> = traffic.connections.iter().map(|one| one.client).collect();
        let blocks = LEAST_UNITS.div_ceil(clients.len().max(1)) as u64;
        let (unit_of, units) = group_units(traffic, blocks, period);
        let is_of_clients = clients.len() >= LEAST_CLIENTS;
        let pools =
            if is_of_clients { group_by_client(&units) } else { vec![(0..units.len() as u32).collect()] };
        let mut stream = Stream::new(seed, Purpose::Resample, u64::from(replication));
        let mut one_of = |number: usize| if number > 1 { stream.below(number as u64) as usize } else { 0 };
        let (mut slots_to_fill, mut drawn) = (Vec::new(), Vec::new());
        for number in 0..pools.len() {
            let pool = &pools[one_of(pools.len())];
            for &unit in pool {
                let Unit { client, block } = units[unit as usize];
                slots_to_fill
                    .push(Unit { client: if is_of_clients { number as u32 } else { client }, block });
                drawn.push(pool[one_of(pool.len())]);
            }
        }
        let mut slots = vec![Vec::new(); units.len()];
        (0..).zip(&drawn).for_each(|(place, &unit)| slots[unit as usize].push(place));
        let times = slots.iter().map(|own| own.len() as u32).collect();
        let slots = (blocks > 1).then_some(Slots { of: slots, blocks, period });
        Draws { unit_of, units, slots_to_fill, drawn, times, slots }
    }

    /// Draws a unit from the resample for each slot, with a draw of `stream` each. Returns the units in the order of
    /// the slots, each with the client it is drawn for and the time by which it is played later than recorded, modulo
    /// the period, ns.
    pub fn draw_again(&self, stream: &mut Stream) -> Vec<(u32, (u32, u64))> {
        let one = |place: u32| {
            let unit = self.drawn[stream.below(self.drawn.len() as u64) as usize];
            (unit, self.compute_move(unit, place))
        };
        (0..self.drawn.len() as u32).map(one).collect()
    }

    /// Returns the unit of each connection, in the order of the part.
    pub fn units(&self) -> &[u32] {
        &self.unit_of
    }

    /// Returns the number of units.
    pub fn unit_count(&self) -> u32 {
        self.units.len() as u32
    }

    /// Returns how often a unit was drawn.
    pub fn times(&self, unit: u32) -> u32 {
        self.times[unit as usize]
    }

    /// Returns how often the most frequently drawn unit was drawn; 1 without units.
    pub fn max_times(&self) -> u32 {
        self.times.iter().copied().max().unwrap_or(1)
    }

    /// Returns the client of a unit.
    pub fn client(&self, unit: u32) -> u32 {
        self.units[unit as usize].client
    }

    /// Returns the client for which a unit was drawn and the time by which it is played later than recorded, modulo the
    /// period, ns. `draw` counts the draws of this unit from 0. `None` if whole clients were drawn, or if this unit was
    /// drawn less often.
    pub fn find_move(&self, unit: u32, draw: u32) -> Option<(u32, u64)> {
        let slots = self.slots.as_ref()?;
        Some(self.compute_move(unit, *slots.of[unit as usize].get(draw as usize)?))
    }

    /// Returns the client of a slot and the time by which a unit is played there later than recorded, modulo the
    /// period, ns.
    fn compute_move(&self, unit: u32, slot: u32) -> (u32, u64) {
        let slot = self.slots_to_fill[slot as usize];
        let Some(Slots { blocks, period, .. }) = self.slots else { return (slot.client, 0) };
        let begin = |block: u64| block * period.0 / blocks;
        let by = period.0 + begin(slot.block) - begin(self.units[unit as usize].block);
        (slot.client, by % period.0)
    }
}

/// Returns the units of each client, in the order in which clients first occur.
fn group_by_client(units: &[Unit]) -> Vec<Vec<u32>> {
    let (mut numbers, mut found) = (BTreeMap::new(), Vec::new());
    for (unit, own) in (0..).zip(units) {
        let number = *numbers.entry(own.client).or_insert(found.len());
        if number == found.len() {
            found.push(Vec::new());
        }
        found[number].push(unit);
    }
    found
}

/// Returns the unit of each connection, and all units, where the period of each client is divided into blocks. Only blocks
/// in which connections start are units.
fn group_units(traffic: Part, blocks: u64, period: Dur) -> (Vec<u32>, Vec<Unit>) {
    let mut numbers = BTreeMap::new();
    let mut units = Vec::new();
    let unit_of = traffic.connections.iter().map(|connection| {
        let block = if blocks > 1 { connection.start.0 * blocks / period.0 } else { 0 };
        let unit = Unit { client: connection.client, block };
        *numbers.entry(unit).or_insert_with(|| {
            units.push(unit);
            units.len() as u32 - 1
        })
    });
    (unit_of.collect(), units)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::traffic::Traffic;
    use crate::traffic::connection::Connection;
    use crate::traffic::overlay::measure_period;
    use crate::units::Time;
    use std::collections::BTreeMap;

    /// Returns `clients` clients that start a connection every 100 ms by turns, for a minute.
    fn traffic(clients: u32) -> Traffic {
        let one = |k: u64| Connection {
            client: (k % u64::from(clients)) as u32,
            ..Connection::from_one_write(Time(k * 100_000_000), 1000)
        };
        Traffic::from_connections((0..600).map(one).collect())
    }

    /// Returns the resample of a replication under seed 1.
    fn draw_resample(traffic: &Traffic, replication: u32) -> Draws {
        Draws::resample(traffic.into(), measure_period(traffic), (1, replication))
    }

    #[test]
    fn resample__few_clients_give_way_to_blocks_of_their_time() {
        let draws = draw_resample(&traffic(3), 0);
        assert_eq!(draws.unit_count(), 60);
        let of_unit: Vec<usize> = (0..600).filter(|&k| draws.units()[k] == draws.units()[0]).collect();
        assert_eq!(of_unit, (0..30).step_by(3).collect::<Vec<_>>(), "one client's connections within 3 s");
    }

    #[test]
    fn resample__enough_clients_are_drawn_whole() {
        let draws = draw_resample(&traffic(60), 0);
        assert_eq!(draws.unit_count(), 60);
        assert!((0..60).all(|unit| draws.find_move(unit, 0).is_none() && draws.client(unit) == unit));
        assert_eq!((0..60).map(|unit| draws.times(unit)).sum::<u32>(), 60);
    }

    #[test]
    fn each_client_once__has_every_client_once() {
        let draws = Draws::each_client_once((&traffic(3)).into());
        assert_eq!((draws.unit_count(), draws.max_times()), (3, 1));
        assert_eq!(draws.units()[..4], [0, 1, 2, 0]);
        assert_eq!(Draws::each_client_once((&Traffic::default()).into()).max_times(), 1);
    }

    /// Each slot gets a block, whose connections then lie in the slot, and every block is drawn about once.
    #[test]
    fn resample__fills_each_slot_once() {
        let (traffic, mut drawn) = (traffic(3), vec![0; 60]);
        let period = measure_period(&traffic).0;
        for replication in 0..200 {
            let draws = draw_resample(&traffic, replication);
            let mut slots = BTreeMap::new();
            for unit in 0..draws.unit_count() {
                drawn[unit as usize] += draws.times(unit);
                let first = draws.units().iter().position(|&of| of == unit).unwrap();
                for draw in 0..draws.times(unit) {
                    let (client, by) = draws.find_move(unit, draw).unwrap();
                    let at = (traffic.connections[first].start.0 + by) % period;
                    *slots.entry((client, at * 20 / period)).or_insert(0) += 1;
                }
                assert_eq!(draws.find_move(unit, draws.times(unit)), None);
            }
            assert_eq!(slots.len(), 60, "replication {replication}");
            assert!(slots.values().all(|&times| times == 1));
        }
        // 200 draws each, with a standard deviation of 14.
        assert!(drawn.iter().all(|&times| (140..260).contains(&times)), "{drawn:?}");
    }

    /// Where a client of some dozen was drawn, all blocks are of it, as many as it has.
    #[test]
    fn resample__blocks_are_of_the_client_that_was_drawn() {
        let mut traffic = traffic(30);
        traffic.connections.retain(|one| one.client > 0 || one.start < Time(30_000_000_000));
        let mut numbers_of_first = BTreeSet::new();
        for replication in 0..50 {
            let draws = draw_resample(&traffic, replication);
            let mut profiles: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for (&unit, place) in draws.drawn.iter().zip(&draws.slots_to_fill) {
                profiles.entry(place.client).or_default().push(draws.client(unit));
            }
            assert_eq!(profiles.len(), 30);
            let expected = |client: u32| if client == 0 { 1 } else { 2 };
            assert!(profiles.values().all(|own| own.iter().all(|client| *client == own[0])));
            assert!(profiles.values().all(|own| own.len() == expected(own[0])));
            numbers_of_first.insert(profiles.values().filter(|own| own[0] == 0).count());
        }
        assert!(numbers_of_first.len() > 2, "never, once, or more often: {numbers_of_first:?}");
    }
}
