//! The answer over cells made by hand.

use super::*;
use crate::comparison::{Capture, Counted, Scheme};
use crate::quantities::Kind;
use crate::tests_support::{cell, make_cell, with_calls, with_figure, without_transfers};

/// Returns the answer where `tc` installs every scheme but those named, and `ct-cake` demotes calls
/// like downloads.
fn answer(cell: Cell, not_installed: &[&str]) -> Advice {
    let way = |scheme: &Scheme| {
        let lines = vec![format!("tc qdisc replace dev DEV root {}", scheme.text)];
        let is_installed = !not_installed.contains(&scheme.text.as_str());
        is_installed.then(|| Installation { place: "Linux".to_owned(), lines })
    };
    let ways = cell.plan.schemes.iter().map(way).collect();
    answer_with(cell, ways)
}

/// Returns the answer where `ways` install the schemes; those without one are no queues of Linux.
fn answer_with(cell: Cell, ways: Vec<Option<Installation>>) -> Advice {
    let why = |way: &Option<Installation>| if way.is_some() { "" } else { "it is no queue of Linux" };
    let setting = Setting {
        label: "by hand".to_owned(),
        duration: "100s".to_owned(),
        instead_of: None,
        left_out: Vec::new(),
        why_nothing: ways.iter().map(|way| why(way).to_owned()).collect(),
        demotes_calls: cell.plan.schemes.iter().map(|scheme| scheme.text == "ct-cake").collect(),
        ways,
        is_both_ways: false,
        modem: None,
        warmup_s: 20.0,
        warmup_needed_s: None,
        rate_bps: Some(1e7),
        buffer_packets: Some(50),
        rtt: None,
        is_up: false,
        has_transfers: true,
    };
    advise(&Judged::new(cell), &setting)
}

/// Returns a capture of this length with 500 transfers of 40 clients in each class.
fn make_capture(period_s: f64, is_fitted: bool) -> Capture {
    let counted = Counted { transfers: 500, clients: 40 };
    let (short, long, all) = (counted, counted, counted);
    Capture { period_s, short, long, all, freedom: 50.0, large: 50, pipe_bytes: 1e5, is_fitted }
}

#[test]
fn advise__recommends_with_commands_and_says_how_sure() {
    let found = cell(&[("droptail", 1.0, 10.0), ("fq-codel", 0.5, 10.0), ("cake", 0.52, 12.0)]);
    let one = answer(found, &[]);
    assert_eq!(
        (one.outcome, one.scheme.as_deref(), one.is_best),
        (Outcome::Recommended, Some("fq-codel"), true)
    );
    assert_eq!(
        one.lines,
        [
            "Best for transfers ≤ 15 kB: fq-codel, better by 50 % (95 % interval 50–50 %), mean 1 s → 500 ms.",
            "Transfers > 150 kB: mean response time 10 s → 10 s, 0.0 % (0.0…0.0).",
            "How sure: 6 replications of 100s, faster than droptail in 6 of 6; intervals hold for all 2 schemes at \
             once.",
            "Install on Linux: tc qdisc replace dev DEV root fq-codel",
        ]
    );
}

#[test]
fn advise__without_calls_says_what_a_scheme_would_cost_them() {
    let schemes = [("droptail", 1.0, 10.0), ("ct-cake", 0.5, 10.0), ("cake", 0.52, 10.0)];
    let price = |found: Cell| {
        let lines = answer(found, &[]).lines;
        lines.into_iter().find(|line| line.starts_with("Take care: no calls"))
    };
    let said = "Take care: no calls or games are in this traffic, and ct-cake takes one that lasts for a download. \
                cake does not (+4.0 % for transfers ≤ 15 kB).";
    assert_eq!(price(cell(&schemes)).as_deref(), Some(said));
    assert_eq!(price(make_cell(&schemes, |_, facts| with_calls(facts, "delay_p95_s", 0.03))), None);
    assert_eq!(price(cell(&[schemes[0], ("cake", 0.5, 10.0)])), None);
}

#[test]
fn advise__of_some_seconds_spares_calls_that_last_and_never_says_best() {
    let answer_of = |cake: f64| {
        let schemes = [("droptail", 1.0, 10.0), ("ct-cake", 0.5, 10.0), ("cake", cake, 10.0)];
        let mut found = make_cell(&schemes, |_, facts| with_calls(facts, "delay_p95_s", 0.03));
        found.capture = Some(make_capture(8.0, true));
        answer(found, &[])
    };
    let near = answer_of(0.53);
    assert_eq!((near.scheme.as_deref(), near.is_best), (Some("cake"), false));
    let why = "Preferred to ct-cake, which is faster (−5.7 %), but takes a call that lasts longer than this capture for \
               a download.";
    assert!(near.lines.iter().any(|line| line == why), "{:#?}", near.lines);
    let far = answer_of(0.6);
    assert_eq!((far.scheme.as_deref(), far.is_best), (Some("ct-cake"), false));
    let price = "Take care: calls and games are seconds long in this capture, and ct-cake takes one that lasts for a \
                 download. cake does not (+20 % for transfers ≤ 15 kB).";
    assert!(far.lines.iter().any(|line| line == price), "{:#?}", far.lines);
}

#[test]
fn advise__of_a_short_capture_says_what_its_intervals_are_of() {
    let said_of = |period_s: f64| {
        let mut found = cell(&[("droptail", 1.0, 10.0), ("fq-codel", 0.5, 10.0)]);
        found.capture = Some(make_capture(period_s, false));
        found.plan.is_overlaid = true;
        for run in found.runs.iter_mut().flatten() {
            (run.load.copies, run.load.dilation) = (3, 1.0);
        }
        answer(found, &[]).lines.iter().any(|line| {
            line.starts_with("How sure: ")
                && line.ends_with(
                    " 60 s hardly tell whether users act together: intervals are of this capture, not of \
                     another time.",
                )
        })
    };
    assert!(said_of(60.0) && !said_of(600.0));
}

#[test]
fn advise__takes_what_can_be_installed_and_names_what_is_ahead() {
    let found =
        cell(&[("droptail", 1.0, 10.0), ("sfd", 0.5, 10.0), ("cake", 0.8, 10.0), ("srpt", 0.1, 10.0)]);
    let one = answer(found, &["sfd"]);
    assert_eq!(one.scheme.as_deref(), Some("cake"));
    assert_eq!(one.ahead, ["sfd"]);
    let alone = cell(&[("droptail", 1.0, 10.0), ("sfd", 0.5, 10.0)]);
    let one = answer(alone, &["sfd"]);
    assert!(one.lines.last().unwrap().starts_with("Nothing installs sfd: it is no queue of Linux."));
}

#[test]
fn advise__of_schemes_under_which_calls_pay_recommends_none() {
    let found =
        make_cell(&[("droptail", 1.0, 10.0), ("fq-codel", 0.9, 10.0), ("sfd", 0.5, 10.0)], |place, facts| {
            with_calls(facts, "loss_share", [0.01, 0.001, 0.02][place])
        });
    let one = answer(found, &[]);
    assert_eq!(one.scheme.as_deref(), Some("fq-codel"), "the reference itself makes nobody pay");
    assert!(
        one.lines.iter().any(|line| line == "Not recommended, against fq-codel: sfd (calls +1.9 points).")
    );
    let found = make_cell(&[("droptail", 1.0, 10.0), ("sfd", 0.5, 10.0)], |place, facts| {
        with_calls(facts, "loss_share", [0.001, 0.02][place])
    });
    let one = answer(found, &[]);
    assert_eq!((one.outcome, one.scheme), (Outcome::Vetoed, None));
    let first = "Nothing is recommended: what beats droptail for transfers ≤ 15 kB makes others pay.";
    assert_eq!(one.lines[0], first);
}

#[test]
fn advise__recommends_what_was_always_faster_than_a_vetoed_scheme() {
    let schemes = [("droptail", 1.0, 10.0), ("sfd", 0.5, 10.0), ("cake", 0.49, 10.0)];
    let found = make_cell(&schemes, |place, mut facts| {
        let times = facts.statistics.get_mut("response_mean_s").unwrap();
        if place == 2 && times[0] < 0.49 {
            // Faster in every replication, by nothing that an interval could hold.
            times.iter_mut().filter(|one| **one < 0.49).for_each(|one| *one /= 500.0);
        }
        with_calls(facts, "loss_share", [0.3, 0.2, 0.1][place])
    });
    let one = answer(found, &[]);
    assert_eq!((one.outcome, one.scheme.as_deref()), (Outcome::Recommended, Some("cake")));
    assert!(
        one.lines[0].contains("faster in every replication than sfd, which is better by 50 %"),
        "{:#?}",
        one.lines
    );
    assert!(one.lines.iter().any(|line| line == "Not recommended, against cake: sfd (calls +10 points)."));
}

#[test]
fn advise__of_level_schemes_says_for_whose_sake_one_is_preferred() {
    let found = make_cell(
        &[("droptail", 1.0, 10.0), ("fq-codel", 0.5, 10.0), ("sfd", 0.51, 10.0)],
        |place, facts| with_calls(facts, "loss_share", [0.3, 0.2, 0.1][place]),
    );
    let one = answer(found, &[]);
    assert_eq!((one.scheme.as_deref(), one.is_best), (Some("sfd"), true));
    let why = "Preferred to fq-codel, which is level (−2.0 %), but under which pay: calls +10 points.";
    assert!(one.lines.iter().any(|line| line == why), "{:#?}", one.lines);
}

#[test]
fn advise__of_near_schemes_says_who_may_pay_under_the_one_passed_over() {
    let schemes =
        [("droptail", 1.0, 10.0), ("fq-codel", 0.5, 10.0), ("sfd", 0.54, 10.0), ("cake", 0.6, 10.0)];
    let found = make_cell(&schemes, |place, facts| {
        let off = 15.0 * (facts.statistics["response_mean_s"][0] / schemes[place].1 - 1.0);
        let lost = [0.3, 0.2 + off, 0.101, 0.1][place];
        with_calls(facts, "loss_share", lost)
    });
    let one = answer(found, &[]);
    assert_eq!((one.scheme.as_deref(), one.is_best), (Some("sfd"), false));
    let why = "Preferred to fq-codel, which is faster (−7.4 %), but under which may pay, against cake: calls +10 \
               points.";
    assert!(one.lines.iter().any(|line| line == why), "{:#?}", one.lines);
}

#[test]
fn advise__names_the_fastest_scheme_that_harms_nobody() {
    let schemes = [("droptail", 1.0, 10.0), ("fq-codel", 0.5, 10.0), ("sfd", 0.6, 10.0), ("red", 0.7, 10.0)];
    let lines_of = |lost: [f64; 4]| {
        let found = make_cell(&schemes, |place, facts| with_calls(facts, "loss_share", lost[place]));
        answer(found, &[]).lines
    };
    let line = "With sfd nobody is worse off than under droptail, and transfers ≤ 15 kB are better by 40 % (95 % \
                interval 40–40 %), mean 1 s → 600 ms.";
    let harmful = lines_of([0.1, 0.2, 0.1, 0.1]);
    assert_eq!(harmful.iter().filter(|one| *one == line).count(), 1, "{harmful:#?}");
    let is_named = |lines: &[String]| lines.iter().any(|one| one.contains("nobody is worse off"));
    assert!(!is_named(&lines_of([0.1, 0.2, 0.2, 0.2])), "all harm calls");
    assert!(!is_named(&lines_of([0.1, 0.1, 0.1, 0.1])), "the best harms nobody");
}

#[test]
fn advise__of_level_schemes_prefers_what_takes_from_nobody_what_he_has_today() {
    let answer_of = |sfd: f64, lost: [f64; 4]| {
        let schemes =
            [("droptail", 1.0, 10.0), ("fq-codel", 0.5, 10.0), ("sfd", sfd, 10.0), ("red", 0.7, 10.0)];
        answer(make_cell(&schemes, |index, facts| with_calls(facts, "loss_share", lost[index])), &[])
    };
    let level = answer_of(0.52, [0.1, 0.1055, 0.102, 0.1]);
    assert_eq!(level.scheme.as_deref(), Some("sfd"));
    let why = "Preferred to fq-codel, which is level (−3.8 %), but under which pay, against droptail: calls \
               +0.55 points.";
    assert!(level.lines.iter().any(|line| line == why), "{:#?}", level.lines);
    assert_eq!(
        answer_of(0.52, [0.1, 0.1055, 0.1052, 0.1]).scheme.as_deref(),
        Some("fq-codel"),
        "calls pay, too"
    );
    assert_eq!(answer_of(0.52, [0.1, 0.1, 0.1, 0.1]).scheme.as_deref(), Some("fq-codel"), "nobody pays");
    let near = answer_of(0.54, [0.1, 0.2, 0.1, 0.1]);
    assert_eq!(near.scheme.as_deref(), Some("fq-codel"), "8 % slower");
    let named: Vec<&String> = near.lines.iter().filter(|one| one.contains("obody is worse off")).collect();
    let line = "sfd is slower for transfers ≤ 15 kB (+8.0 %), but spares calls +10 points. Nobody is worse off with it \
                than under droptail.";
    assert_eq!(named, [line], "one line for one scheme");
}

#[test]
fn advise__of_level_schemes_prefers_what_tc_installs() {
    let answer_of = |cake: f64, lost: [f64; 3]| {
        let schemes = [("droptail", 1.0, 10.0), ("excess-cake", 0.5, 10.0), ("cake", cake, 10.0)];
        let cell = make_cell(&schemes, |index, facts| with_calls(facts, "loss_share", lost[index]));
        let way = |scheme: &Scheme| {
            let own = if scheme.text == "cake" { "tc" } else { "mousehole-live mark" };
            Some(Installation { place: "Linux".to_owned(), lines: vec![format!("{own} {}", scheme.text)] })
        };
        let ways = cell.plan.schemes.iter().map(way).collect();
        answer_with(cell, ways)
    };
    let level = answer_of(0.52, [0.2, 0.1, 0.1]);
    assert_eq!(level.scheme.as_deref(), Some("cake"));
    let why = "Preferred to excess-cake, which is level (−3.8 %), but needs more than tc.";
    assert!(level.lines.iter().any(|line| line == why), "{:#?}", level.lines);
    assert_eq!(answer_of(0.53, [0.2, 0.1, 0.1]).scheme.as_deref(), Some("excess-cake"), "6 % slower");
    assert_eq!(answer_of(0.52, [0.2, 0.1, 0.15]).scheme.as_deref(), Some("excess-cake"), "calls lose more");
    assert_eq!(answer_of(0.52, [0.05, 0.051, 0.056]).scheme.as_deref(), Some("excess-cake"), "than today");
}

#[test]
fn advise__where_short_transfers_are_level_serves_other_classes() {
    let schemes =
        [("droptail", 1.0, 10.0), ("cake", 1.01, 10.0), ("fq-codel", 0.99, 10.0), ("sfd", 1.0, 10.0)];
    let answer_of = |delays_s: [f64; 4], spread: f64, way: &[&str]| {
        let found = make_cell(&schemes, |place, facts| {
            let spread = if place == 0 { -spread } else { spread };
            let off = 1.0 + spread * (facts.statistics["response_mean_s"][0] / schemes[place].1 - 1.0);
            with_calls(facts, "delay_p95_s", delays_s[place] * off)
        });
        answer(found, way)
    };
    let one = answer_of([0.3, 0.03, 0.05, 0.3], 0.1, &[]);
    assert_eq!(
        (one.outcome, one.scheme.as_deref(), one.is_best),
        (Outcome::Recommended, Some("cake"), false)
    );
    assert_eq!(
        (one.classes, one.peers),
        (vec!["calls".to_owned()], Vec::new()),
        "fq-codel costs calls 20 ms"
    );
    let first = "Recommended for calls: cake; transfers ≤ 15 kB: equal within 5 % (95 % interval −1.0 to −1.0 % of \
                 the gain).";
    assert_eq!(one.lines[0], first);
    assert!(one.lines[1].starts_with("Transfers > 150 kB"), "{:#?}", one.lines);
    assert!(one.lines[2].starts_with("Calls: one-way delay, p95 300 ms → 30"), "{:#?}", one.lines);
    assert_eq!(one.lines.last().unwrap(), "Install on Linux: tc qdisc replace dev DEV root cake");
    let not_installed = answer_of([0.3, 0.03, 0.05, 0.3], 0.1, &["cake"]);
    assert_eq!((not_installed.scheme.as_deref(), not_installed.installation), (Some("cake"), None));
    let installed = answer_of([0.3, 0.03, 0.031, 0.3], 0.1, &["fq-codel"]);
    assert_eq!(installed.scheme.as_deref(), Some("cake"), "rather what can be installed");
    let level = answer_of([0.3, 0.03, 0.031, 0.3], 0.1, &[]);
    assert_eq!((level.scheme.as_deref(), level.peers), (Some("fq-codel"), vec!["cake".to_owned()]));
    assert_eq!(answer_of([0.3, 0.295, 0.3, 0.3], 0.1, &[]).scheme, None, "within the margin");
    assert_eq!(answer_of([0.3, 0.27, 0.27, 0.3], 3.0, &[]).scheme, None, "not shown");
}

#[test]
fn advise__for_other_classes_lists_who_may_pay() {
    let answer_of = |cake: f64| {
        let schemes = [("droptail", 1.0, 10.0), ("cake", cake, 10.0), ("sfd", 0.99, 10.0)];
        let found = make_cell(&schemes, |place, facts| {
            let off = 50.0 * (facts.statistics["response_mean_s"][0] / schemes[place].1 - 1.0);
            let delay_s = [0.3, 0.03, 0.045 * (1.0 + off)][place];
            with_calls(facts, "delay_p95_s", delay_s)
        });
        answer(found, &[])
    };
    assert_eq!(answer_of(1.01).scheme.as_deref(), Some("cake"), "nobody may pay under it");
    let one = answer_of(1.07);
    assert_eq!((one.scheme.as_deref(), one.classes), (Some("sfd"), vec!["calls".to_owned()]));
    assert_eq!(
        one.vetoes.iter().map(|veto| (veto.scheme.as_str(), veto.binds)).collect::<Vec<_>>(),
        [("sfd", false)]
    );
    assert!(one.lines.iter().any(|line| line == "May pay, against cake: calls +15 ms."), "{:#?}", one.lines);
}

#[test]
fn advise__for_other_classes_takes_what_was_faster_every_time_and_harms_nobody() {
    let answer_of = |sfd_s: f64| {
        let schemes = [("droptail", 1.0, 10.0), ("cake", 1.0, 8.5), ("sfd", sfd_s, 9.3)];
        let found =
            make_cell(&schemes, |place, facts| with_calls(facts, "delay_p95_s", [0.3, 0.03, 0.03][place]));
        answer(found, &[])
    };
    assert_eq!(answer_of(0.98).scheme.as_deref(), Some("sfd"));
    assert_eq!(answer_of(1.02).scheme.as_deref(), Some("cake"));
}

#[test]
fn advise__serves_no_class_at_the_cost_of_another() {
    let schemes = [("droptail", 1.0, 10.0), ("sfd", 1.0, 12.0)];
    let found = make_cell(&schemes, |place, facts| with_calls(facts, "delay_p95_s", [0.3, 0.03][place]));
    assert_eq!(answer(found, &[]).scheme, None, "long transfers pay 20 %");
    let schemes = [("droptail", 1.0, 10.0), ("sfd", 1.1, 10.0)];
    let found = make_cell(&schemes, |place, facts| with_calls(facts, "delay_p95_s", [0.3, 0.03][place]));
    assert_eq!(answer(found, &[]).scheme, None, "short transfers do");
}

#[test]
fn advise__without_a_better_scheme_says_which_are_equal_or_worse() {
    let found = cell(&[("droptail", 1.0, 10.0), ("red", 1.01, 10.0), ("sfd", 1.5, 10.0)]);
    let one = answer(found, &[]);
    let first = "Nothing here beats droptail for transfers ≤ 15 kB (red: equal within 5 %; sfd: worse).";
    assert_eq!((one.outcome, one.lines[0].as_str()), (Outcome::NothingBetter, first));
    let ideal = cell(&[("droptail", 1.0, 10.0), ("srpt", 0.1, 10.0)]);
    let one = answer(ideal, &[]);
    assert_eq!(one.outcome, Outcome::NoVerdict);
    assert!(one.lines[0].starts_with("No verdict: only ideals are compared with droptail"));
}

/// Returns the first line, and all lines, of the answer for runs without transfers under drop-tail, FQ-CoDel and CAKE,
/// with these figures of a kind.
fn answer_for(kind: Kind, figures: &[(&str, [f64; 3])]) -> (String, String) {
    let schemes = [("droptail", 1.0, 10.0), ("fq-codel", 1.0, 10.0), ("cake", 1.0, 10.0)];
    let found = make_cell(&schemes, |index, facts| {
        let spread = facts.statistics["response_mean_s"][0]; // differs between replications
        let add =
            |facts, (what, values): &(&str, [f64; 3])| with_figure(facts, kind, what, values[index] * spread);
        figures.iter().fold(without_transfers(facts), add)
    });
    let lines = answer(found, &[]).lines;
    (lines[0].clone(), lines.join("\n"))
}

#[test]
fn advise__takes_more_for_better_where_more_is_better() {
    let (first, _) = answer_for(Kind::Responsiveness, &[("round_trips_per_minute", [120.0, 390.0, 440.0])]);
    let said = "Best for responsiveness (round trips per minute): cake, better by 267 % (95 % interval 267–267 %), \
                mean 120 → 440.";
    assert_eq!(first, said);
    let (first, _) = answer_for(Kind::Responsiveness, &[("round_trips_per_minute", [440.0, 390.0, 120.0])]);
    let said =
        "Nothing here beats droptail for responsiveness (round trips per minute) (fq-codel, cake: worse).";
    assert_eq!(first, said);
}

#[test]
fn advise__compares_shares_that_are_none_at_all() {
    let missed = |shares| answer_for(Kind::VideoCalls, &[("frames_missed_share", shares)]).0;
    let said = "Best for video calls (frames late or lost): cake, better by 100 % (95 % interval 100–100 %), mean 40 % \
                → 0 %.";
    assert_eq!(missed([0.4, 0.1, 0.0]), said);
    let said = "Nothing here beats droptail for video calls (frames late or lost) (fq-codel, cake: equal within 5 %).";
    assert_eq!(missed([0.0, 0.0, 0.0]), said);
}

#[test]
fn advise__judges_recorded_video_calls_by_their_packets() {
    let (first, _) =
        answer_for(Kind::VideoCalls, &[("delay_p95_s", [0.3, 0.1, 0.05]), ("loss_share", [0.0; 3])]);
    assert!(first.starts_with("Best for video calls (one-way delay, p95): cake, better by 83 %"), "{first}");
    let schemes = [("droptail", 1.0, 10.0), ("ct-cake", 0.5, 10.0), ("cake", 0.52, 10.0)];
    let delays = [0.3, 0.2, 0.03];
    let recorded = |index: usize, facts| with_figure(facts, Kind::VideoCalls, "delay_p95_s", delays[index]);
    let played = |index: usize, facts| {
        with_figure(recorded(index, facts), Kind::VideoCalls, "frames_missed_share", 0.1)
    };
    let lines = answer(make_cell(&schemes, recorded), &[]).lines.join("\n");
    assert!(lines.contains("Not recommended, against cake: ct-cake (video calls +170 ms)."), "{lines}");
    assert!(lines.contains("Video calls: one-way delay, p95 300 ms → 30 ms"), "{lines}");
    assert!(!lines.contains("no calls or games are in this traffic"), "{lines}");
    let lines = answer(make_cell(&schemes, played), &[]).lines.join("\n");
    assert!(
        lines.starts_with("Best for transfers ≤ 15 kB: ct-cake"),
        "of frames that are known, delay is no veto"
    );
}

#[test]
fn advise__recommends_nothing_for_a_class_that_pays_by_another_figure() {
    let with = |lost| answer_for(Kind::Games, &[("delay_p95_s", [0.1, 0.04, 0.09]), ("loss_share", lost)]);
    assert!(with([0.05, 0.05, 0.05]).0.starts_with("Best for games (one-way delay, p95): fq-codel"));
    let (first, all) = with([0.05, 0.07, 0.05]);
    assert!(first.starts_with("Best for games (one-way delay, p95): cake, better by 10 %"), "{first}");
    assert!(
        all.contains("Better, but not recommended, against droptail: fq-codel (games +2 points)."),
        "{all}"
    );
    let (first, all) = with([0.05, 0.07, 0.07]);
    assert!(first.starts_with("Nothing is recommended: "), "{first}");
    assert!(all.contains("against droptail: fq-codel (games +2 points); cake (games +2 points)."), "{all}");
}

#[test]
fn advise__without_anything_to_judge_gives_no_verdict() {
    let (first, all) = answer_for(Kind::Games, &[]);
    let said = "No verdict: no replication had transfers ≤ 15 kB, or another class whose users feel a queue.";
    assert_eq!(first, said);
    assert!(!all.contains("comes nearest"), "{all}");
    let (first, _) = answer_for(Kind::Games, &[("delay_p95_s", [f64::NAN, 0.1, 0.1])]);
    let said =
        "No verdict: no replication had games (one-way delay, p95) both under droptail and another scheme.";
    assert_eq!(first, said);
}

#[test]
fn pack_lines__puts_texts_on_few_lines() {
    let texts = ["a", "b", "c"].map(str::to_owned);
    assert_eq!(pack_lines(&texts, 3), ["a.", "b.", "c."]);
    assert_eq!(pack_lines(&texts, 2), ["a. b.", "c."]);
    assert_eq!(pack_lines(&texts, 0), ["a. b. c."]);
    assert!(pack_lines(&[], 2).is_empty());
}
