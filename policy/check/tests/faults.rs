//! A policy with each kind of fault is refused with a sentence that names it; templates and shipped policies pass.

#![allow(non_snake_case, missing_docs)]

use mousehole_check::{Options, Report, TemplateKind, Verdict, check, template, try_policy};
use mousehole_policy::{LinkContext, Origin, Params, load, policies};
use std::path::Path;

/// A folder for headers, removed at the end.
struct Folder(tempfile::TempDir);

impl Folder {
    /// Makes an empty folder.
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    /// Writes a header of this name and returns its path.
    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.path().join(format!("{name}.h"));
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

const FEW: Options = Options { records: 10_000, kernel: false, seed: 1 };

/// Checks the marker's template under this name, with the first `from` replaced by `to`.
fn check_changed(name: &str, from: &str, to: &str) -> Report {
    let folder = Folder::new();
    let text = template(TemplateKind::Marker, name).unwrap();
    assert!(text.contains(from), "{from} is not in the template");
    check(&folder.write(name, &text.replacen(from, to, 1)), &FEW).unwrap()
}

/// Checks the queue's template under this name, with the first `from` replaced by `to`.
fn check_changed_queue(name: &str, from: &str, to: &str) -> Report {
    let folder = Folder::new();
    let text = template(TemplateKind::Queue, name).unwrap();
    assert!(text.contains(from), "{from} is not in the template");
    check(&folder.write(name, &text.replacen(from, to, 1)), &FEW).unwrap()
}

/// Asserts that the last check of a report is the one of this name, and failed with a sentence that contains `with`.
#[track_caller]
fn assert_refused(report: &Report, name: &str, with: &str) {
    assert!(!report.is_good(), "{report}");
    let last = report.checks.last().unwrap();
    assert_eq!((last.name, last.verdict), (name, Verdict::Failed), "{report}");
    assert!(last.sentences.iter().any(|sentence| sentence.contains(with)), "{report}");
}

const RETURN: &str = "\tif (flow->packets <= params->green)\n";

#[test]
fn templates__pass() {
    let folder = Folder::new();
    let all = [TemplateKind::Marker, TemplateKind::Dropper, TemplateKind::Queue];
    for (kind, name) in all.into_iter().zip(["first-marker", "first-dropper", "first-queue"]) {
        let report = check(&folder.write(name, &template(kind, name).unwrap()), &FEW).unwrap();
        assert!(report.is_good() && report.sha256.is_some(), "{report}");
        assert_eq!(report.policy, name);
        let verdict = |name: &str| report.checks.iter().find(|check| check.name == name).unwrap().verdict;
        assert_eq!((verdict("rules"), verdict("kernel")), (Verdict::Passed, Verdict::NotRun));
        assert_ne!(verdict("random records"), Verdict::NotRun);
    }
}

const SERVED: &str = "\tstate->served[next]++;\n";

#[test]
fn stall__is_refused() {
    // Red alone is served, whether or not it waits.
    let report = check_changed_queue("is-red", SERVED, "\tnext = MH_RED;\n\tstate->served[next]++;\n");
    assert_refused(
        &report,
        "random records",
        "dequeue stalls: it names no band with a packet in 76 calls while",
    );
    let report =
        check_changed_queue("never", SERVED, "\tif (waiting->all.packets < 5)\n\t\treturn MH_AGAIN;\n");
    assert_refused(&report, "random records", "a queue sends while packets wait");
}

#[test]
fn band_that_is_not_there__is_refused() {
    let report = check_changed_queue("fourth", SERVED, "\tnext += now_ns % 7 == 0 ? 3 : 0;\n");
    assert_refused(&report, "random records", "allowed: a band from 0 to 2, and what queue.h lists");
    let report = check_changed_queue(
        "fifth",
        "\treturn band;\n}\n\n/*\n * Returns the band whose newest",
        "\treturn band + 4;\n}\n\n/*\n * Returns the band whose newest",
    );
    assert_refused(&report, "random records", "enqueue (record ");
}

#[test]
fn overflow__of_an_empty_band_is_refused() {
    let report = check_changed_queue(
        "hollow",
        "\twhile (band && !waiting->band[band].waiting.packets)\n\t\tband--;\n",
        "",
    );
    assert_refused(&report, "random records", "overflow names band 2, which is empty, while ");
}

#[test]
fn float__is_refused_with_its_line() {
    let report = check_changed("has-float", RETURN, "\tif (flow->packets * 1.5 <= params->green)\n");
    assert_refused(&report, "rules", "uses floating point (1.5)");
    assert!(report.to_string().contains("has-float.h:"), "{report}");
}

#[test]
fn clock__is_refused() {
    let report = check_changed(
        "has-clock",
        RETURN,
        "\tnow_ns = clock_gettime_ns();\n\tif (flow->packets <= params->green)\n",
    );
    assert_refused(&report, "rules", "reads a clock (clock_gettime_ns); the time is the argument now_ns");
}

#[test]
fn chance__is_refused() {
    let report = check_changed("has-chance", RETURN, "\tif ((u32)rand() <= params->green)\n");
    assert_refused(&report, "rules", "draws random numbers (rand); chance is the argument random");
}

#[test]
fn system_header__is_refused() {
    let report = check_changed(
        "has-header",
        "#include \"mousehole/policy.h\"\n",
        "#include \"mousehole/policy.h\"\n#include <string.h>\n",
    );
    assert_refused(&report, "rules", "string.h, a header of the system");
}

#[test]
fn undefined_call__is_refused() {
    let report = check_changed("has-call", RETURN, "\tif (look_up(flow) <= (int)params->green)\n");
    assert_refused(&report, "rules", "calls look_up, which the header does not define");
}

#[test]
fn static_variable__is_refused() {
    let report = check_changed(
        "has-static",
        RETURN,
        "\tstatic u32 seen;\n\tif (++seen + flow->packets <= params->green)\n",
    );
    assert_refused(&report, "rules", "keeps a variable of its own (seen)");
}

#[test]
fn endless_loop__is_refused() {
    let report = check_changed(
        "has-loop",
        RETURN,
        "\twhile (((volatile struct mh_view *)view)->ip_bytes != 41)\n\t\t;\n\tif (flow->packets <= params->green)\n",
    );
    assert_refused(&report, "random records", "packet does not return within");
}

/// The line of the template's set-up that a faulty one stands in front of.
const SET_UP: &str = "\tif (params->yellow < params->green)\n";

#[test]
fn endless_set_up__is_refused_in_the_other_process() {
    let endless = "\twhile (((volatile struct mh_link_context *)link)->buffer_bytes != 41)\n\t\t;\n";
    let report = check_changed("sets-up-for-ever", SET_UP, &format!("{endless}{SET_UP}"));
    assert_refused(
        &report,
        "random records",
        "setup does not return within 5 s; a loop needs a constant bound",
    );
}

#[test]
fn set_up_that_ends_the_process__is_refused_in_the_other_process() {
    let crash = "\tparams->green /= ((volatile struct mh_link_context *)link)->rate_bps < 0;\n";
    let report = check_changed("divides", SET_UP, &format!("{crash}{SET_UP}"));
    assert_refused(&report, "random records", "division by zero");
}

#[test]
fn defaults_that_do_not_fit_each_other__are_refused() {
    let report =
        check_changed("unfit", ".name = \"yellow\", .value = \"40\"", ".name = \"yellow\", .value = \"4\"");
    assert_refused(&report, "random records", "has defaults that do not fit each other; yellow");
}

#[test]
fn colour_out_of_range__is_refused() {
    let report = check_changed("has-colour", "MH_YELLOW : MH_RED;", "MH_YELLOW : 4;");
    assert_refused(
        &report,
        "random records",
        "returns 4; allowed: MH_GREEN (0), MH_YELLOW (1), MH_RED (2) or MH_DISCARD (3)",
    );
}

#[test]
fn write_out_of_bounds__is_refused() {
    let report = check_changed(
        "has-write",
        RETURN,
        "\t(&flow->packets)[2 + params->green % 2] = 7;\n\tif (flow->packets <= params->green)\n",
    );
    assert_refused(&report, "random records", "writes outside its structs");
}

#[test]
fn division_by_zero__is_refused() {
    let report = check_changed("divides", RETURN, "\tif (flow->packets / params->green < 1)\n");
    assert!(!report.is_good() && report.to_string().contains("division"), "{report}");
}

#[test]
fn changed_parameters__are_refused() {
    let report = check_changed(
        "writes",
        RETURN,
        "\t((struct mh_writes_params *)(unsigned long)params)->green++;\n\tif (flow->packets <= params->green)\n",
    );
    assert_refused(&report, "random records", "changes its parameters, which it may only read");
}

#[test]
fn chance_not_announced__is_refused() {
    let report = check_changed("unannounced", RETURN, "\tif (random & 1)\n");
    assert_refused(&report, "random records", "depends on random though draws() returns 0");
}

#[test]
fn endless_sweep__is_refused() {
    let report = check_changed(
        "sweeps",
        "MH_MARKER(sweeps,",
        "#define mh_sweeps_period(p) 0\nMH_PERIOD(sweeps)\nMH_MARKER(sweeps, mh_sweeps_params, mh_sweeps_flow, mh_none, MH_OFFERS(sweeps, period), MH_TABLE_OF(sweeps), .summary = \"\")\n#undef MH_MARKER\n#define MH_MARKER(...)\nMH_MARKER(sweeps,",
    );
    assert_refused(&report, "random records", "period returns 0 ns");
}

#[test]
fn header_that_does_not_compile__is_refused_with_the_message() {
    let report = check_changed("broken", RETURN, "\tif (flow->packetz <= params->green)\n");
    assert_refused(&report, "description", "does not compile");
    assert!(report.to_string().contains("packetz"), "{report}");
}

#[test]
fn target__is_a_header_or_a_name() {
    let error = check("no-such-policy", &FEW).unwrap_err();
    assert!(error.starts_with("there is no policy no-such-policy; allowed: the path of a header"), "{error}");
    assert!(check("sfd", &FEW).unwrap().is_good());
}

/// Checks a copy of LFP's header under another name, with the first `from` replaced by `to`.
fn check_changed_lfp(from: &str, to: &str) -> Report {
    let folder = Folder::new();
    let shipped = mousehole_policy::headers_folder().unwrap().join("mousehole/lfp.h");
    let text =
        std::fs::read_to_string(shipped).unwrap().replace("lfp", "own_lfp").replace("LFP_H", "OWN_LFP_H");
    let text = text.replace("#include \"", "#include \"mousehole/");
    assert!(text.contains(from), "{from} is not in the header");
    check(&folder.write("own-lfp", &text.replacen(from, to, 1)), &FEW).unwrap()
}

/// Packets and slow steps run in different processes, so neither may use the other's part of the state.
#[test]
fn access_to_another_owners_part_of_the_state__is_refused() {
    let (packet, ended) =
        ("\topen = mh_own_lfp_update_promotion(params, state, now_ns);\n", "\tif (!flow->meter.packets)\n");
    let report = check_changed_lfp(packet, packet);
    assert!(report.is_good(), "{report}");
    for (place, line, with) in [
        (packet, "\tstate->published.quantile++;\n", "packet (record "),
        (packet, "\tstate->history.count++;\n", "writes a part of the state that is not its own"),
        (packet, "\tstate->open = state->history.count & 1;\n", "packets read no further than"),
        (ended, "\tstate->open ^= 1;\n", "flow_end (record "),
        (ended, "\tif (state->open)\n\t\treturn;\n", "slow steps nothing before it"),
    ] {
        assert_refused(&check_changed_lfp(place, &format!("{line}{place}")), "random records", with);
    }
}

#[test]
fn exits__are_named() {
    for (name, call) in [("leaves-well", "exit(0);"), ("leaves-badly", "exit(3);")] {
        let report = check_changed(name, SET_UP, &format!("\textern void exit(int);\n\t{call}\n{SET_UP}"));
        assert_refused(
            &report,
            "random records",
            "setup (record 0) calls exit; a policy only returns an answer",
        );
    }
}

#[test]
fn try_policy__takes_what_is_sound() {
    let folder = Folder::new();
    let own =
        load(Path::new(&folder.write("sound-one", &template(TemplateKind::Marker, "sound-one").unwrap())));
    let shipped = policies().into_iter().filter(|policy| *policy.origin() == Origin::Shipped);
    let all = shipped.chain([own.unwrap()]);
    for policy in all {
        let params = Params::from_text(policy, &[], &LinkContext::EXAMPLE).unwrap();
        try_policy(&params, 1).unwrap_or_else(|fault| panic!("{}: {}", fault.header, fault.problem));
    }
}

#[test]
fn try_policy__names_what_is_written_beside_a_struct() {
    let folder = Folder::new();
    for (name, at, place) in
        [("beside-a", "-1", "before its flow"), ("beside-b", "5", "to the packet's view")]
    {
        let write = match at {
            "-1" => "((volatile u64 *)flow)[-1] = 7;",
            _ => "((struct mh_view *)(unsigned long)view)->ip_bytes = 5;",
        };
        let text = template(TemplateKind::Marker, name).unwrap();
        let text = text.replacen(RETURN, &format!("\t{write}\n{RETURN}"), 1);
        let policy = load(Path::new(&folder.write(name, &text))).unwrap();
        let params = Params::from_text(policy, &[], &LinkContext::EXAMPLE).unwrap();
        let fault = try_policy(&params, 1).expect_err("writes where it must not");
        assert!(fault.problem.starts_with(&format!("packet wrote {place}")), "{fault:?}");
    }
}
