//! The check in the kernel. Each test prints why it was not run where programs cannot be loaded.

#![allow(non_snake_case, missing_docs)]
#![cfg(target_os = "linux")]

use mousehole_check::{Options, Report, TemplateKind, Verdict, check, template};

const OPTIONS: Options = Options { records: 100_000, kernel: true, seed: 7 };

/// Returns whether programs were loaded; prints why not.
fn ran_in_kernel(report: &Report) -> bool {
    if let Some(why) = report.kernel_not_run().filter(|_| report.is_good()) {
        println!("NOT RUN: {why}");
        return false;
    }
    true
}

/// Checks a template under this name, with the first `from` replaced by `to`.
fn check_changed(kind: TemplateKind, name: &str, from: &str, to: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{name}.h"));
    let text = template(kind, name).unwrap();
    assert!(text.contains(from), "{from} is not in the template");
    std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
    check(&path.display().to_string(), &OPTIONS).unwrap()
}

#[test]
fn shipped_policies__decide_as_natively() {
    for name in ["sfd", "excess", "multi-red", "lfp", "shred-edge", "policer", "rio-ps"] {
        let report = mousehole_check::check(name, &Options { records: 20_000, ..OPTIONS }).unwrap();
        if !ran_in_kernel(&report) {
            return;
        }
        let kernel = report.checks.iter().find_map(|check| check.kernel.as_ref()).unwrap();
        assert_eq!((kernel.records, kernel.differences), (20_224, 0), "{report}");
        assert!(kernel.outcomes.iter().filter(|(_, count)| *count > 0).count() > 1, "{report}");
        let sensitivity = report.checks.iter().find_map(|check| check.sensitivity.as_ref()).unwrap();
        assert!(sensitivity.noticed * 2 > sensitivity.changes, "{report}");
    }
}

#[test]
fn template__passes() {
    let report = check_changed(TemplateKind::Marker, "kernel-marker", "", "");
    if ran_in_kernel(&report) {
        let kernel = report.checks.iter().find_map(|check| check.kernel.as_ref()).unwrap();
        assert_eq!(kernel.differences, 0, "{report}");
        assert!(report.is_good(), "{report}");
    }
}

#[test]
fn other_decision_in_the_kernel__is_found() {
    let report = check_changed(
        TemplateKind::Marker,
        "two-faced",
        "\tif (flow->packets <= params->green)\n",
        "#ifdef __bpf__\n\tif (flow->packets < params->green)\n#else\n\tif (flow->packets <= params->green)\n#endif\n",
    );
    if ran_in_kernel(&report) {
        let kernel = report.checks.iter().find(|check| check.name == "kernel").unwrap();
        assert_eq!(kernel.verdict, Verdict::Failed, "{report}");
        assert!(
            kernel.sentences[1]
                .starts_with("The first difference: packet returns 0 natively and 1 in the kernel")
        );
    }
}

#[test]
fn other_state_in_the_kernel__is_found() {
    let report = check_changed(
        TemplateKind::Dropper,
        "two-states",
        "\tif (view->colour == MH_GREEN",
        "#ifdef __bpf__\n\tstate->avg_q32 ^= now_ns == 5;\n\tstate->avg_q32 += 1;\n#endif\n\tif (view->colour == MH_GREEN",
    );
    if ran_in_kernel(&report) {
        assert!(!report.is_good(), "{report}");
    }
}

#[test]
fn unbounded_index__is_refused_by_the_verifier() {
    let report = check_changed(
        TemplateKind::Marker,
        "unbounded",
        "\tif (flow->packets <= params->green)\n",
        "\tif ((&params->timeout_ns)[view->sequence >> 31 ? 0 : view->sequence & 0] && ((const u8 *)params)[view->segments] == 3 && view->segments < 16)\n\t\treturn MH_RED;\n\tif (flow->packets <= params->green)\n",
    );
    assert!(!report.is_good(), "{report}"); // natively by the sanitizer, else by the verifier
}

#[test]
fn unread_field__is_a_warning_and_a_read_one_listed_as_unread_a_fault() {
    let report = check_changed(TemplateKind::Dropper, "forgets", "\t   .unread = \"max_p_q32\",\n", "");
    if !ran_in_kernel(&report) {
        return;
    }
    let sensitivity = report.checks.iter().find(|check| check.name == "sensitivity").unwrap();
    assert_eq!(sensitivity.verdict, Verdict::Warning, "{report}");
    assert!(
        sensitivity.sentences.iter().any(|sentence| sentence.starts_with("max_p_q32 + 1 made no difference")),
        "{report}"
    );
    let report =
        check_changed(TemplateKind::Dropper, "denies", ".unread = \"max_p_q32\"", ".unread = \"weight_q32\"");
    let sensitivity = report.checks.iter().find(|check| check.name == "sensitivity").unwrap();
    assert_eq!(sensitivity.verdict, Verdict::Failed, "{report}");
    assert!(
        sensitivity
            .sentences
            .iter()
            .any(|sentence| sentence.starts_with("weight_q32 + 1 makes a difference")),
        "{report}"
    );
}
