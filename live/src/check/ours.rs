//! What our own record says about a device.

use super::finding::Finding;
use crate::device::Device;
use crate::record::Record;
use crate::{home, kernel, stop};

/// Adds findings about our own record of the device. Returns the number of our program that runs
/// there; `None` if nothing of ours is there, it does not run, or the record cannot be read.
pub fn inspect(device: &Device, findings: &mut Vec<Finding>) -> Option<u32> {
    let name = format!("{}-{}", device.namespace, device.index);
    let place = home::list_places().ok()?.into_iter().find(|place| place.name() == name)?;
    let record = match place.record() {
        Ok(record) => record,
        Err(failure) => {
            findings.push(Finding::worth_knowing(
                "ours",
                format!("a command of ours was killed here before it kept a record ({failure})"),
                format!("mousehole-live down {}", device.name),
            ));
            return None;
        }
    };
    let is_running = stop::is_running(&place, &record);
    findings.extend(judge_record(&device.name, &record, is_running, kernel::boot_s()));
    if is_running { stop::find_program(&place, &record) } else { None }
}

/// Returns findings about a record: that its program does not run, or else since when it runs and
/// when it is taken back. `at` is the time in seconds since the machine booted.
fn judge_record(name: &str, record: &Record, is_running: bool, at: u64) -> Vec<Finding> {
    let command = record.command.join(" ");
    if !is_running {
        return vec![Finding::worth_knowing(
            "ours",
            format!("what `{command}` left here does not run; the next `mark` or `up` clears it as well"),
            format!("mousehole-live down {name}"),
        )];
    }
    let mut all = vec![Finding::harmless(
        "ours",
        format!(
            "`{command}` runs here since {} s{}",
            at.saturating_sub(record.started_s),
            if record.request.shadow { ", as a shadow" } else { "" }
        ),
    )];
    if let Some(by) = record.confirm_by {
        all.push(Finding::worth_knowing(
            "confirm",
            format!("it is taken back in {} s unless it is confirmed", by.saturating_sub(at)),
            format!("mousehole-live confirm {name}"),
        ));
    }
    all
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::super::finding::Rank;
    use super::*;
    use crate::record::Attachment;
    use crate::request::{Mode, Request};

    /// Returns the record of a `mark` at eth0.
    fn record(confirm_by: Option<u64>) -> Record {
        Record {
            schema: crate::record::SCHEMA,
            version: "0.1.0".into(),
            since: 1_700_000_000,
            started_s: 1000,
            device: "eth0".into(),
            index: 2,
            namespace: 1,
            address: None,
            command: vec!["mousehole-live".into(), "mark".into(), "eth0".into()],
            request: Request::new(Mode::Mark),
            headers: Vec::new(),
            attachment: Some(Attachment::Tcx),
            link_id: Some(7),
            layout: String::new(),
            redirect: None,
            replaced: None,
            added_handle: None,
            starting: false,
            gso_max_segs: None,
            confirm_by,
            tuned: None,
            paused: None,
        }
    }

    #[test]
    fn judge_record__what_runs_and_since_when() {
        let found = judge_record("eth0", &record(None), true, 1060);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].sentence, "`mousehole-live mark eth0` runs here since 60 s");
    }

    #[test]
    fn judge_record__what_waits_for_confirmation() {
        let found = judge_record("eth0", &record(Some(1120)), true, 1060);
        assert!(found[1].sentence.contains("in 60 s"), "{found:?}");
        assert_eq!(found[1].cure.as_deref(), Some("mousehole-live confirm eth0"));
    }

    #[test]
    fn judge_record__what_was_left() {
        let found = judge_record("eth0", &record(None), false, 1060);
        assert_eq!(
            (found[0].rank, found[0].cure.as_deref()),
            (Rank::WorthKnowing, Some("mousehole-live down eth0"))
        );
    }
}
