use super::*;
use crate::quantities::table;
use crate::sizes::buckets;

/// Returns a download of the first source, of a size, with one repeated packet.
fn transfer(key: u64, bytes: u64, start_s: f64, end_s: Option<f64>) -> Transfer {
    Transfer {
        key,
        write: 0,
        bytes,
        object_bytes: bytes,
        object_key: key,
        source: 0,
        upload: false,
        misbehaves: false,
        start_s,
        first_data_s: Some(start_s + 0.1),
        end_s,
        ideal_s: 0.5,
        retransmits: 1,
        timeouts: 0,
        page: 0,
        page_transfers: 0,
    }
}

/// Returns a link with packets of two colours, of which some are dropped and marked.
fn link() -> Link {
    let colour = |name: &str, arrived, dropped, marked| Colour {
        name: name.to_owned(),
        arrived,
        drops: vec![("early".to_owned(), dropped)],
        dropped,
        marked,
        sent: arrived - dropped,
    };
    Link {
        capacity_bps: 1e6,
        window_s: 10.0,
        utilisation: 0.8,
        colours: vec![colour("green", 60, 1, 0), colour("red", 40, 9, 5)],
        delay_mean_s: 0.01,
        delay_p50_s: 0.02,
        delay_p95_s: 0.03,
        delay_p99_s: 0.04,
        mean_packets: 3.0,
    }
}

/// Returns the records of a run with these transfers, two sources and a window from 0 to 10 s; it
/// ends at 12 s.
fn records(transfers: Vec<Transfer>) -> Records {
    Records {
        transfers,
        datagrams: Vec::new(),
        flows: Vec::new(),
        views: Vec::new(),
        probes: Vec::new(),
        links: [link(), Link { utilisation: 0.1, ..link() }],
        sources: vec!["web".to_owned(), "files".to_owned()],
        kinds: vec![None, None],
        needs: Vec::new(),
        load: Load {
            target: None,
            native: None,
            copies: 1,
            dilation: 1.0,
            achieved: None,
            session_rate_per_s: None,
            replay: None,
        },
        is_up: false,
        goodput_bps: 5e5,
        packets: 200,
        reordered: 4,
        window_begin_s: 0.0,
        window_end_s: 10.0,
        end_s: 12.0,
    }
}

/// Reduces records with the default buckets and quantities.
fn facts(records: &Records) -> Facts {
    reduce(records, &buckets(15_000, 150_000), &table())
}

#[test]
fn reduce__takes_means_and_counts_per_bucket() {
    let found = facts(&records(vec![
        transfer(1, 1_000, 1.0, Some(2.0)),
        transfer(2, 10_000, 1.0, Some(4.0)),
        transfer(3, 1_000_001, 1.0, None),
    ]));
    assert_eq!(found.count, [1, 0, 1, 0, 0, 0, 1, 2, 1, 3]);
    assert_eq!(found.censored, [0, 0, 0, 0, 0, 0, 1, 0, 1, 1]);
    let short = &found.statistics["response_mean_s"];
    assert_eq!((short[7], short[8], short[9]), (2.0, 11.0, 5.0));
    assert!(short[1].is_nan());
    assert_eq!(found.statistics["slowdown_mean"][7], 4.0);
    assert!((found.statistics["transfer_mean_s"][7] - 1.9).abs() < 1e-12);
    assert_eq!(found.statistics["response_p50_s"][7], 2.0);
    assert!(found.statistics["response_p95_s"][7].is_nan());
}

#[test]
fn reduce__takes_the_scheme_s_numbers_from_their_own_counters() {
    let mut run = records(vec![transfer(1, 200_000, 0.0, Some(2.0)), transfer(2, 200_000, 0.0, Some(4.0))]);
    run.transfers[1].timeouts = 3;
    let found = facts(&run).scheme;
    assert_eq!((found["loss_share"], found["mark_share"], found["reordered_share"]), (0.1, 0.05, 0.02));
    assert_eq!((found["utilisation"], found["uplink_utilisation"]), (0.8, 0.1));
    assert_eq!((found["queue_delay_p99_s"], found["queue_mean_packets"]), (0.04, 3.0));
    assert_eq!((found["long_goodput_bps"], found["jain_long"]), (600_000.0, 0.9));
    assert_eq!((found["retransmits_per_transfer"], found["timeouts_per_transfer"]), (1.0, 1.5));
}

#[test]
fn reduce__has_a_quantity_that_is_added_to_the_table() {
    let mut table = table();
    let mut added = table[0].clone();
    added.stem = "response_p25".into();
    added.source = Source::Transfers(None, OfTransfer::ResponseS, Statistic::Percentile(25.0));
    table.push(added);
    let run = records((1..=5).map(|key| transfer(key, 1_000, 0.0, Some(key as f64))).collect());
    let found = reduce(&run, &buckets(15_000, 150_000), &table);
    assert_eq!(found.statistics["response_p25_s"][0], 2.0);
}

#[test]
fn reduce__spreads_short_transfers_over_window_and_distribution() {
    let found = facts(&records(vec![transfer(1, 1_000, 0.0, Some(1.0)), transfer(2, 1_000, 9.9, None)]));
    assert_eq!((found.short_by_time[0], found.short_by_time.len()), (1.0, WINDOW_PARTS));
    assert!(found.short_by_time[1].is_nan() && (found.short_by_time[39] - 2.1).abs() < 1e-12);
    assert_eq!((found.cdf[299], found.cdf[300], found.cdf[600]), (0.0, 0.5, 0.5));
    assert!(facts(&records(Vec::new())).cdf[0].is_nan());
    assert_eq!(found.curve_count.iter().sum::<u64>(), 2);
    assert_eq!(found.curve_count[4], 2); // up to 1000 B inclusive
}

#[test]
fn reduce__counts_the_wire_bytes_of_downloads() {
    let mut run = records(vec![transfer(1, 1_460, 0.0, Some(1.0)), transfer(2, 9_999, 0.0, Some(1.0))]);
    run.transfers[1].upload = true;
    assert_eq!(facts(&run).window_load, 8.0 * 1_540.0 / 1e7);
}

#[test]
fn compare_short_times__needs_the_same_transfers() {
    let run = |second: f64, count: u64| {
        let times =
            (0..count).map(|key| transfer(key, 1_000, 0.0, Some(if key == 0 { 1.0 } else { second })));
        facts(&records(times.collect())).short_times.unwrap()
    };
    let found = compare_short_times(&run(2.0, 4), &run(1.0, 4)).unwrap();
    assert_eq!((found.slower, found.faster), (0.75, 0.0));
    assert_eq!(compare_short_times(&run(1.005, 4), &run(1.0, 4)), Some(Shares { slower: 0.0, faster: 0.0 }));
    assert_eq!(compare_short_times(&run(1.0, 4), &run(1.0, 5)), None);
    assert_eq!(compare_short_times(&run(1.0, 0), &run(1.0, 0)), None);
}

#[test]
fn groups__of_sources_pages_and_misbehaving_senders() {
    let mut run = records(vec![
        transfer(1, 1_000, 0.0, Some(1.0)),
        transfer(2, 1_000, 0.5, Some(3.0)),
        transfer(3, 50_000, 0.0, Some(4.0)),
        transfer(4, 50_000, 1.0, Some(9.0)),
    ]);
    for (transfer, page) in run.transfers.iter_mut().zip([7, 7, 8, 0]) {
        (transfer.page, transfer.page_transfers) = (page, 2);
    }
    for piece in [2, 3] {
        let transfer = &mut run.transfers[piece];
        (transfer.source, transfer.misbehaves, transfer.object_key, transfer.object_bytes) =
            (1, true, 3, 100_000);
    }
    let found = facts(&run).groups;
    let value = |group: &str, what: &str| {
        found.iter().find(|(own, name, _)| own == group && name == what).map(|(_, _, value)| *value)
    };
    assert_eq!(value("web", "response_mean_s"), Some(1.75));
    assert_eq!(value("files", "response_mean_s"), Some(9.0)); // both pieces are one object
    assert_eq!(value("pages", "page_mean_s"), Some(3.0)); // page 8 was not measured whole
    assert_eq!(value("misbehaving", "response_mean_s"), Some(9.0));
    assert!(value("honest, as large", "response_mean_s").unwrap().is_nan());
    assert_eq!(value("honest, smaller", "response_mean_s"), Some(1.75));
}

/// Returns a flow of ten packets, of which one is lost and two are late.
fn datagrams(played: Played) -> Datagrams {
    Datagrams {
        source: 1,
        sent: 10,
        received: 9,
        lost: 1,
        late: 2,
        delay_p50_s: Some(0.1),
        delay_p95_s: Some(0.2),
        delay_p99_s: Some(0.3),
        asked_s: Vec::new(),
        jitter_s: Some(0.01),
        played,
    }
}

/// Returns the figures of the second source.
fn collect_figures(run: &Records) -> BTreeMap<String, f64> {
    facts(run)
        .groups
        .into_iter()
        .filter(|(group, ..)| group == "files")
        .map(|(_, what, value)| (what, value))
        .collect()
}

#[test]
fn groups__of_datagrams_and_long_lived_flows() {
    let mut run = records(Vec::new());
    let silent = Datagrams {
        received: 0,
        lost: 30,
        sent: 30,
        late: 0,
        delay_p50_s: None,
        delay_p95_s: None,
        delay_p99_s: None,
        jitter_s: None,
        ..datagrams(Played::Not)
    };
    run.datagrams = vec![datagrams(Played::Not), silent];
    run.flows = vec![Flow { source: 0, goodput_bps: 1e6 }, Flow { source: 0, goodput_bps: 3e6 }];
    let expected = [
        ("delay_p50_s", 0.1),
        ("delay_p95_s", 0.2),
        ("delay_p99_s", 0.3),
        ("jitter_s", 0.01),
        ("late_share", 2.0 / 9.0),
        ("loss_share", 31.0 / 40.0),
    ];
    assert_eq!(collect_figures(&run), expected.map(|(what, value)| (what.to_owned(), value)).into());
    assert!(facts(&run).groups.contains(&("web".to_owned(), "goodput_bps".to_owned(), 2e6)));
    assert!(facts(&run).kinds.is_empty());
}

/// A direction at its best, one of which nothing arrives, and one in which nobody speaks.
#[test]
fn groups__of_calls() {
    let mut run = records(Vec::new());
    run.kinds[1] = Some(Kind::Calls);
    let sound = |mouth_to_ear_s, packets, missing| Played::Sound {
        codec: Codec::G711Plc,
        mouth_to_ear_s,
        packets,
        missing,
        gaps: u64::from(missing > 0),
    };
    run.datagrams = [sound(Some(0.1), 50, 0), sound(None, 50, 50), sound(None, 0, 0)].map(datagrams).to_vec();
    let found = collect_figures(&run);
    assert!((found["rating"] - 93.2 / 2.0).abs() < 0.05, "{found:?}");
    assert!((found["mos"] - (4.41 + 1.0) / 2.0).abs() < 0.005, "{found:?}");
    assert_eq!(facts(&run).kinds, [("files".to_owned(), Kind::Calls)].into());
}

#[test]
fn groups__of_video_calls() {
    let mut run = records(Vec::new());
    let frames = |missing, freezes, length_s| Played::Frames { frames: 100, missing, freezes, length_s };
    run.datagrams = [frames(10, 1, 30.0), frames(0, 2, 60.0)].map(datagrams).to_vec();
    let found = collect_figures(&run);
    assert_eq!((found["frames_missed_share"], found["freezes_per_minute"]), (0.05, 2.0));
}

#[test]
fn groups__of_streams() {
    let mut run = records(Vec::new());
    let view = |starts, startup_s, stalled_s| View {
        source: 1,
        starts,
        startup_s,
        played_s: 9.0,
        stalled_s,
        segments: 2,
        rate_bps: 3e6,
    };
    run.views = vec![view(1, 2.0, 2.0), view(0, 0.0, 0.0)];
    let found = collect_figures(&run);
    assert_eq!((found["startup_mean_s"], found["rebuffering_share"]), (2.0, 0.1));
    assert_eq!(found["video_rate_bps"], 1.5e6);
    run.views.remove(0);
    assert!(collect_figures(&run)["startup_mean_s"].is_nan());
}

#[test]
fn groups__of_logins() {
    let mut run = records((1..=21).map(|key| transfer(key, 60, 0.0, Some(key as f64))).collect());
    assert!(facts(&run).groups.is_empty());
    run.kinds[0] = Some(Kind::Logins);
    let found = facts(&run).groups;
    assert_eq!(found[0], ("web".to_owned(), "echo_mean_s".to_owned(), 11.0));
    assert_eq!(found[1], ("web".to_owned(), "echo_p95_s".to_owned(), 20.0));
    run.transfers.pop();
    run.transfers.pop();
    assert!(facts(&run).groups[1].2.is_nan());
}
