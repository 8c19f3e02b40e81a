//! `status --metrics FILE`: writes OpenMetrics text for node_exporter's textfile collector. No
//! socket is opened.

use crate::error::{Failure, Result};
use crate::status::{Amount, State, Status};
use mousehole_policy::files;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::{self, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{self, Gauge};
use prometheus_client::registry::Registry;
use std::ops::{AddAssign, SubAssign};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

type Labels = Vec<(&'static str, String)>;
type Counts = Family<Labels, Counter<u64, Number<u64>>>;
type Gauges = Family<Labels, Gauge<i64, Number<i64>>>;

/// A value of a metric, behind a lock: MIPS has no atomic integers of 64 bits, and a byte counter
/// of 32 bits would overflow.
#[derive(Debug, Default)]
struct Number<N>(Mutex<N>);

impl<N: Copy + AddAssign + SubAssign + From<bool>> Number<N> {
    /// Locks the value until the guard is dropped; a poisoned lock is taken all the same.
    fn value(&self) -> MutexGuard<'_, N> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the value. Returns the former one.
    fn change(&self, change: impl FnOnce(&mut N)) -> N {
        let mut value = self.value();
        let former = *value;
        change(&mut value);
        former
    }
}

impl<N: Copy + AddAssign + SubAssign + From<bool>> counter::Atomic<N> for Number<N> {
    fn inc(&self) -> N {
        counter::Atomic::inc_by(self, N::from(true))
    }

    fn inc_by(&self, more: N) -> N {
        self.change(|value| *value += more)
    }

    fn get(&self) -> N {
        *self.value()
    }
}

impl<N: Copy + AddAssign + SubAssign + From<bool>> gauge::Atomic<N> for Number<N> {
    fn inc(&self) -> N {
        gauge::Atomic::inc_by(self, N::from(true))
    }

    fn inc_by(&self, more: N) -> N {
        self.change(|value| *value += more)
    }

    fn dec(&self) -> N {
        gauge::Atomic::dec_by(self, N::from(true))
    }

    fn dec_by(&self, less: N) -> N {
        self.change(|value| *value -= less)
    }

    fn set(&self, new: N) -> N {
        self.change(|value| *value = new)
    }

    fn get(&self) -> N {
        *self.value()
    }
}

/// Returns the devices' metrics as OpenMetrics text, with `# EOF` at the end. A device without
/// details has `running` and `problems` only.
pub fn format_metrics(all: &[Status]) -> String {
    let mut registry = Registry::with_prefix("mousehole");
    let mut counts = |name: &str, help: &str| {
        let family = Counts::default();
        registry.register(name, help, family.clone());
        family
    };
    let kinds = counts("frames", "Packets on the wire, by what their frame is");
    let kinds_bytes = counts("frame_bytes", "Bytes of IP length, by what their frame is");
    let packets = counts("packets", "Packets on the wire, by colour");
    let packet_bytes = counts("packet_bytes", "Bytes of IP length, by colour");
    let drops = counts("drops", "Packets dropped, by reason");
    let colour_drops = counts("colour_drops", "Packets dropped, by colour");
    let ce_marks = counts("ce_marks", "Packets marked CE");
    let respected = counts("marks_respected", "Packets left alone because somebody before had marked them");
    let held = counts("packets_held", "Packets held back until they had tokens");
    let new_flows = counts("new_flows", "Flows that were new to the table");
    let without_state = counts("packets_without_state", "Packets that found no room in the table of flows");
    let lock_busy =
        counts("packets_lock_busy", "Packets that passed undecided while another CPU held a lock");
    let mut gauges = |name: &str, help: &str| {
        let family = Gauges::default();
        registry.register(name, help, family.clone());
        family
    };
    let running = gauges("running", "1 if the program is attached and runs, else 0");
    let shadow = gauges("shadow", "1 if it decides and counts only, else 0");
    let problems = gauges("problems", "How many things are not as they should be");
    let started = gauges("start_time_seconds", "When it was started, seconds since 1970");
    let agent = gauges("agent_idle_seconds", "Seconds since the agent was at work");
    for one in all {
        let device: Labels = vec![("device", one.device.clone())];
        let with = |name: &'static str, value: &str| {
            let mut labels = device.clone();
            labels.push((name, value.to_string()));
            labels
        };
        running.get_or_create(&device).set(i64::from(one.state == State::Running));
        problems.get_or_create(&device).set(one.problems.len() as i64);
        let Some(details) = &one.details else { continue };
        shadow.get_or_create(&device).set(i64::from(details.shadow));
        started.get_or_create(&device).set(details.since as i64);
        if let Some(seconds) = details.agent_seen_s {
            agent.get_or_create(&device).set(seconds as i64);
        }
        let counters = &details.counters;
        let count = |family: &Counts, labels: &Labels, value: u64| {
            family.get_or_create(labels).inc_by(value);
        };
        let each = |label: &'static str,
                    values: &[(&'static str, Amount)],
                    packets: &Counts,
                    bytes: Option<&Counts>| {
            for (value, amount) in values {
                count(packets, &with(label, value), amount.packets);
                if let Some(bytes) = bytes {
                    count(bytes, &with(label, value), amount.bytes);
                }
            }
        };
        each("kind", &counters.kinds, &kinds, Some(&kinds_bytes));
        each("colour", &counters.colours, &packets, Some(&packet_bytes));
        each("colour", &counters.colours_dropped, &colour_drops, None);
        each("reason", &counters.dropped, &drops, None);
        count(&ce_marks, &device, counters.ce_marked.packets);
        count(&respected, &device, counters.already_marked.packets);
        count(&held, &device, counters.held.packets);
        count(&new_flows, &device, counters.new_flows);
        count(&without_state, &device, counters.without_state);
        count(&lock_busy, &device, counters.lock_busy);
    }
    let mut text = String::new();
    encode(&mut text, &registry).expect("a string takes every text");
    sort_samples(&text)
}

/// Returns the text with the samples between two comment lines sorted, since the crate writes them
/// in random order.
fn sort_samples(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.chunk_by_mut(|one, other| one.starts_with('#') == other.starts_with('#')).for_each(|part| {
        if !part[0].starts_with('#') {
            part.sort_unstable();
        }
    });
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Writes the metrics to a file, replacing it atomically.
///
/// # Errors
/// A sentence when the file cannot be written; the former one stays.
pub fn write(path: &Path, all: &[Status]) -> Result<()> {
    files::replace(path, format_metrics(all).as_bytes())
        .map_err(|error| Failure::system(format!("--metrics {} cannot be written", path.display()), &error))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::status::sample;
    use std::fs;

    #[test]
    fn text__has_labels_and_ends_as_openmetrics_does() {
        let text = format_metrics(&[sample()]);
        for line in [
            "# TYPE mousehole_packets counter",
            "mousehole_packets_total{device=\"wan\",colour=\"yellow\"} 300",
            "mousehole_frames_total{device=\"wan\",kind=\"malformed\"} 3",
            "mousehole_drops_total{device=\"wan\",reason=\"full-buffer\"} 20",
            "mousehole_colour_drops_total{device=\"wan\",colour=\"yellow\"} 30",
            "mousehole_running{device=\"wan\"} 1",
            "mousehole_agent_idle_seconds{device=\"wan\"} 3",
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is missing in\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
        assert_eq!(text, format_metrics(&[sample()]), "the order is the same in each call");
    }

    #[test]
    fn file__is_replaced_whole_or_stays() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        let path = folder.join("one.prom");
        fs::write(&path, "before").unwrap();
        write(&path, &[sample()]).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), format_metrics(&[sample()]));
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "nothing else is left");
        let failure = write(&folder.join("none/one.prom"), &[]).unwrap_err().to_string();
        assert!(failure.contains("none/one.prom cannot be written; no such file"), "{failure}");
    }
}
