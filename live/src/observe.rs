//! Reads what runs at the devices of this network namespace, without changing anything: the basis
//! of `status`, `flows` and `explain`.

use crate::bpf::Map;
use crate::deployment::Deployment;
use crate::device::Device;
use crate::error::{Failure, Result};
use crate::home::{Place, list_places, read_struct};
use crate::layout::{ACCOUNT, Agent, Counters, Flow, Key, Plain as _, Settings, Transfer};
use crate::namespace;
use crate::record::Record;
use crate::{download, netlink, stop};
use std::io;

/// How many entries one system call reads.
const BATCH: usize = 2048;

/// What is stored about a device of this namespace.
#[derive(Debug)]
pub struct Observed {
    /// Where it is stored.
    pub place: Place,
    /// The device's interface index.
    pub index: u32,
    /// Its present name; `None` if it is not here any more.
    pub name: Option<String>,
    /// The record; `None` if the command was killed before it wrote one.
    pub record: Option<Record>,
}

/// One entry of the flow table.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its 5-tuple.
    pub key: Key,
    /// Its counters.
    pub flow: Flow,
}

impl Observed {
    /// Returns the name for messages: the present one, else the recorded one, else "device N".
    pub fn title(&self) -> String {
        let recorded = || self.record.as_ref().map(|record| record.device.clone());
        self.name.clone().or_else(recorded).unwrap_or_else(|| format!("device {}", self.index))
    }

    /// Plans the record's request for the device as it is now; `None` if the device is gone or
    /// there is no record. The user's policies are loaded, which runs their native code.
    ///
    /// # Errors
    /// A sentence when a header has changed or the request is not possible at the device any more.
    pub fn deployment(&self) -> Result<Option<Deployment>> {
        let (Some(name), Some(record)) = (&self.name, &self.record) else { return Ok(None) };
        let device = Device::find(name)?;
        record.deployment(&device, netlink::find_root(device.index)?.as_ref()).map(Some)
    }

    /// Reads which slot of published values is active, and when the agent last ran.
    ///
    /// # Errors
    /// A sentence when the map cannot be read.
    pub fn agent(&self) -> Result<Agent> {
        self.place.read_value("ml_agent", 0)
    }

    /// Reads the active settings.
    ///
    /// # Errors
    /// A sentence when a map cannot be read, or another build's settings are shorter than ours.
    pub fn settings(&self) -> Result<Settings> {
        self.place.read_value("ml_settings", self.place.control()?.active & 1)
    }

    /// Reads the counters, summed over the CPUs.
    ///
    /// # Errors
    /// A sentence when the map cannot be read.
    pub fn counters(&self) -> Result<Counters> {
        let map = self.place.open_map("ml_counters")?;
        let values = map.lookup_percpu(&0u32.to_ne_bytes()).map_err(|error| {
            Failure::system(format!("the counters of {} cannot be read", self.title()), &error)
        })?;
        let mut sum = Counters::default();
        for value in values.unwrap_or_default() {
            sum.add(&read_struct("ml_counters", &value)?);
        }
        Ok(sum)
    }

    /// Reads the state that all packets share: a lock, then the policies' states.
    ///
    /// # Errors
    /// A sentence when the map cannot be read.
    pub fn shared_state(&self) -> Result<Vec<u8>> {
        self.place.read_bytes("ml_state", 0)
    }

    /// Reads what the agent published last.
    ///
    /// # Errors
    /// A sentence when a map is not there, as for a marker that publishes nothing, or cannot be
    /// read.
    pub fn published(&self) -> Result<Vec<u8>> {
        self.place.read_bytes("ml_published", self.agent()?.active & 1)
    }

    /// Calls `visit` for every flow of the table, in no particular order. Returns how many there
    /// were and how many the table can hold. If the table changes meanwhile, a flow may be visited
    /// twice or missed.
    ///
    /// # Errors
    /// A sentence when the map cannot be read.
    pub fn visit_flows(&self, mut visit: impl FnMut(Entry)) -> Result<(u64, u64)> {
        self.visit_numbered_flows(|_, entry| visit(entry))
    }

    /// Does [`Observed::visit_flows`] with the index of each flow's entry.
    ///
    /// # Errors
    /// A sentence when the map cannot be read.
    pub fn visit_numbered_flows(&self, mut visit: impl FnMut(u32, Entry)) -> Result<(u64, u64)> {
        let map = self.place.open_map("ml_flows")?;
        let read = |entry: &[u8]| Entry { key: Key::read(entry), flow: read_account(entry) };
        let count = visit_entries(&map, |index, entry| visit(index, read(entry))).map_err(|error| {
            Failure::system(format!("the flows of {} cannot be read", self.title()), &error)
        })?;
        Ok((count, u64::from(map.max_entries())))
    }

    /// Calls `visit` for every recorded transfer, running or finished, with the index of its flow's
    /// entry; entries without a SYN are left out.
    ///
    /// # Errors
    /// A sentence when the map cannot be read.
    pub fn visit_transfers(&self, mut visit: impl FnMut(u32, Transfer)) -> Result<()> {
        let map = self.place.open_map("ml_transfers")?;
        visit_values(&map, |index, value| {
            let transfer = Transfer::read(value);
            if transfer.began_ms > 0 {
                visit(index, transfer);
            }
        })
        .map_err(|error| Failure::system(format!("the transfers of {} cannot be read", self.title()), &error))
    }
}

/// Returns the counters in an entry of the flow table; those of a free entry have no packets.
///
/// # Panics
/// For an entry that is shorter than key and account.
pub(crate) fn read_account(entry: &[u8]) -> Flow {
    Flow::read(&entry[ACCOUNT..])
}

/// Calls `visit` with the index and the bytes of each used entry of the flow table. Returns how
/// many there were. If the table changes meanwhile, the entries are of different moments.
///
/// # Errors
/// The kernel's error; entries before it have been visited.
pub(crate) fn visit_entries(map: &Map, mut visit: impl FnMut(u32, &[u8])) -> io::Result<u64> {
    let mut total = 0;
    visit_values(map, |index, entry| {
        if read_account(entry).packets() > 0 {
            visit(index, entry);
            total += 1;
        }
    })?;
    Ok(total)
}

/// Calls `visit` with the index and the bytes of every value of an array, read in batches.
///
/// # Errors
/// The kernel's error; values before it have been visited.
fn visit_values(map: &Map, mut visit: impl FnMut(u32, &[u8])) -> io::Result<()> {
    let mut keys = vec![0u32; BATCH];
    let mut values = vec![0; map.value_size() * BATCH];
    // The kernel's position in the array.
    let mut from = None;
    loop {
        let (count, next) = match map.read_batch(from, &mut keys, &mut values) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            done => done?,
        };
        for (index, entry) in keys.iter().zip(values.chunks_exact(map.value_size())).take(count) {
            visit(*index, entry);
        }
        match next {
            Some(_) => from = next,
            None => return Ok(()),
        }
    }
}

/// Returns what is stored about all devices of this namespace, or about one and its downloads, in
/// the order of their indexes. Without `only`, there may be none.
///
/// # Errors
/// A sentence when there is no BPF file system, or nothing is stored about that device.
pub fn observe(only: Option<&str>) -> Result<Vec<Observed>> {
    let namespace = namespace::current_cookie()?;
    let mut all: Vec<Observed> = list_places()?
        .into_iter()
        .filter_map(|place| {
            let (of, index) = (place.namespace()?, place.index()?);
            let record = place.record().ok();
            let name = match &record {
                Some(record) => stop::find_device(&place, record),
                None => Device::find_name(index),
            };
            (of == namespace).then_some(Observed { name, index, record, place })
        })
        .collect();
    if let Some(only) = only {
        all.retain(|one| one.title() == only || one.title() == download::ifb_name(only));
        if all.is_empty() {
            // Says that there is no such device, where that is so.
            Device::find(only)?;
            return Err(Failure::new(format!(
                "nothing of ours is at {only}; `mousehole-live mark {only}` or `up {only}` starts it"
            )));
        }
    }
    all.sort_by_key(|one| one.index);
    Ok(all)
}

/// Returns those of [`observe`] that have a record and tables.
///
/// # Errors
/// As [`observe`], and when none is left.
pub fn observe_running(only: Option<&str>) -> Result<Vec<Observed>> {
    let mut all = observe(only)?;
    all.retain(|one| one.record.is_some() && one.place.map("ml_control").exists());
    if all.is_empty() {
        return Err(Failure::new(match only {
            Some(name) => format!(
                "only leftovers of a command that was killed are at {name}; `mousehole-live down {name}` removes them"
            ),
            None => "nothing of ours is in this network namespace; `mark` or `up` starts it".into(),
        }));
    }
    Ok(all)
}
