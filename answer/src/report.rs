//! The tables of a comparison's report: what `--details`, the HTML page, Markdown and the page in a browser show of a cell.

pub mod blocks;

use crate::comparison::{Cell, PAGES, Plan};
use crate::findings::{Finding, exploratory_note, few_replications_text};
use crate::judged::Judged;
use crate::overview::{Change, OverviewRow, overview_rows};
use crate::quantities::{Better, Quantity, Subject, Table as Shown};
use crate::sizes::{Role, size_text};
use crate::statistics::{Estimate, LEAST_REPLICATIONS};
use crate::tables::{BucketRow, ColourRow, GroupRow, bucket_rows, colour_rows, group_rows, scheme_rows};
use crate::texts::{
    UNKNOWN, capitalise, capped_whole_percent, change_text, count_text, group_thousands, share_text,
    time_text, unit_text,
};
use crate::verdicts::{NOT_JUDGED, Outcome};
use blocks::{Block, Column, Entry, Figure, Table, Tone};
use serde::Serialize;

/// Most figures of applications in one table.
const COLUMNS_PER_TABLE: usize = 3;
/// The quantity of size buckets that is followed by its change.
const CHANGED: &str = "response_mean_s";

/// The parts of a cell's report, in the order in which it shows them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellReport {
    /// A line per scheme: short transfers against every reference, long ones, pages, delay.
    pub overview: Vec<Block>,
    /// The schemes by their verdict for each reference, then every verdict in words, and who pays.
    pub verdicts: Vec<Block>,
    /// What users of applications feel first, then other figures; the overview has those of pages.
    pub applications: Vec<Block>,
    /// Every quantity: of pages, of the link, of the transfers of each size.
    pub tables: Vec<Block>,
}

/// Returns the report of a cell; `duration` is the length of a replication, as it was given.
pub fn report_cell(judged: &Judged, duration: &str) -> CellReport {
    let groups = group_rows(&judged.cell);
    CellReport {
        overview: write_overview(judged, &groups, duration),
        verdicts: write_verdicts(judged),
        applications: write_applications(&judged.cell, &groups),
        tables: write_tables(&judged.cell, &groups),
    }
}

/// Returns whether there are replications enough for intervals.
fn has_intervals(plan: &Plan) -> bool {
    plan.replications as usize >= LEAST_REPLICATIONS
}

/// Returns the overview: the table if any run has the primary quantity or transfers, and a remark if there are too
/// few replications for intervals.
fn write_overview(judged: &Judged, groups: &[GroupRow], duration: &str) -> Vec<Block> {
    let (cell, plan) = (&judged.cell, &judged.cell.plan);
    let has_transfers = cell.runs.iter().flatten().any(|run| run.count.iter().any(|count| *count > 0));
    let table = (has_transfers || cell.has_values(&cell.primary().source))
        .then(|| Block::Table(tabulate_overview(cell, groups)));
    let quick = (!has_intervals(plan)).then(|| {
        let (word, give) = (plan.unit().name(), if plan.replications == 1 { "gives" } else { "give" });
        let runs = count_text(i64::from(plan.replications), word);
        Block::prose(
            format!(
                "A quick look: {runs} of {duration} {give} no interval and no verdict. In parentheses: the smallest and \
                 the largest change of any {word}."
            ),
            Tone::Open,
        )
    });
    table.into_iter().chain(quick).collect()
}

/// Returns the table of the overview, a row per scheme.
fn tabulate_overview(cell: &Cell, groups: &[GroupRow]) -> Table {
    let (plan, rows) = (&cell.plan, overview_rows(cell));
    let quantity = &cell.primary().source.quantity;
    let references = plan.overview_references();
    let pages: Vec<&GroupRow> = groups.iter().filter(|row| is_of_pages(row)).collect();
    let mut columns = vec![Column::text("scheme"), Column::number("mean")];
    columns.extend(references.iter().map(|reference| Column::number(format!("change\nto {reference}"))));
    let has_long = cell.has_values(&cell.find_bucket_source(Role::Long, "response_mean_s"));
    let heading = || format!("> {}\nto {}", size_text(plan.long_bytes as f64), plan.baseline);
    columns.extend(has_long.then(|| Column::number(heading())));
    columns.extend((!pages.is_empty()).then(|| Column::number("page\nmean")));
    columns.push(Column::number("delay\np95"));
    let line = |row: &OverviewRow| {
        let change = |reference: &&str| {
            row.against.iter().find(|(name, _)| name == reference).map(|(_, change)| *change)
        };
        let page =
            pages.iter().find(|page| page.scheme == row.scheme).map(|page| write_time(page.value.mean));
        // On the empty link a packet waits for packets of its own connection only.
        let is_alone = plan.schemes[cell.scheme_index(&row.scheme)].name == "empty";
        let mut line = vec![mark_ideal(cell, &row.scheme), write_mean(quantity, row.primary_mean)];
        line.extend(
            references.iter().map(|reference| write_whole_change(change(reference), quantity.better)),
        );
        line.extend(has_long.then(|| write_whole_change(row.long, Better::Less)));
        line.extend(page);
        line.push(write_time(if is_alone { f64::NAN } else { row.queue_delay_p95_s }));
        line
    };
    let ideals: Vec<&str> =
        plan.schemes.iter().filter(|one| one.is_ideal).map(|one| one.text.as_str()).collect();
    let stars = match ideals.is_empty() {
        true => String::new(),
        false => format!("* {}: ideals that nobody can deploy. ", ideals.join(", ")),
    };
    let axis = &quantity.words.axis;
    let comma = if axis.contains(',') { "," } else { "" };
    let caption = format!("{}: {axis}{comma} and its change, %", capitalise(&cell.name_primary()));
    Table {
        ends: if has_intervals(plan) { "In parentheses: 95 % intervals.".to_owned() } else { String::new() },
        note: format!("{stars}{}", describe_reordering(&rows)),
        gives_way: ["delay\np95", "change\nto red", "page\nmean"].map(str::to_owned).into(),
        ..Table::new(caption, columns, rows.iter().map(line).collect(), list_schemes(cell))
    }
}

/// Returns the sentence on the schemes that reordered packets, with their shares of data packets,
/// or that none did.
fn describe_reordering(rows: &[OverviewRow]) -> String {
    let known = rows.iter().filter(|row| row.reordered_share > 0.0);
    let shares: Vec<String> =
        known.map(|row| format!("{} {}", row.scheme, share_text(row.reordered_share))).collect();
    if shares.is_empty() {
        return "No scheme reordered the packets of a flow.".to_owned();
    }
    format!(
        "Data packets that a later packet of their flow overtook: {}; other schemes: none.",
        shares.join(", ")
    )
}

/// Returns the verdicts: schemes by verdict, every verdict, who pays, other endpoints. With too few replications it
/// says so instead, and lists who pays.
fn write_verdicts(judged: &Judged) -> Vec<Block> {
    let cell = &judged.cell;
    if !has_intervals(&cell.plan) {
        let few = format!("No verdict: {}.", few_replications_text(&cell.plan, ""));
        let few = Block::opened("Every verdict", vec![Block::prose(few, Tone::Plain)]);
        return [few].into_iter().chain(write_payers(judged)).collect();
    }
    let (primary, others): (Vec<&Finding>, Vec<&Finding>) =
        judged.findings().iter().partition(|one| !one.exploratory);
    let what = describe_primary(cell);
    let mut references: Vec<&str> = Vec::new();
    for one in &primary {
        if !references.contains(&one.reference.as_str()) {
            references.push(&one.reference);
        }
    }
    let mut blocks: Vec<Block> =
        references.iter().map(|reference| group_by_verdict(&primary, reference, &what)).collect();
    blocks.push(Block::opened("Every verdict", vec![tabulate_primary(cell, &primary, &what)]));
    blocks.extend(write_payers(judged));
    let note = Block::prose(exploratory_note(&cell.plan, &cell.primary().words), Tone::Dim);
    blocks
        .push(Block::details("Other endpoints, which are exploratory", vec![tabulate_others(&others), note]));
    blocks
}

/// Returns the primary endpoint and what it describes, such as `mean response time of transfers ≤ 15 kB`.
fn describe_primary(cell: &Cell) -> String {
    let (primary, whose) = (cell.primary(), cell.describe_primary());
    match cell.is_about_short() {
        true => format!("{} of {whose}", primary.source.quantity.words.long),
        false => whose,
    }
}

/// Returns the schemes by their verdict against `reference`, best verdict first; those that are not
/// judged have the reason as their verdict. `primary` are the findings on the primary endpoint,
/// `what` names it.
fn group_by_verdict(primary: &[&Finding], reference: &str, what: &str) -> Block {
    let first = [Outcome::Better, Outcome::Equal, Outcome::Worse, Outcome::Undecided];
    let mut groups: Vec<(String, Vec<&str>, Tone)> =
        first.map(|outcome| (outcome.text().to_owned(), Vec::new(), outcome_tone(outcome))).into();
    for one in primary.iter().filter(|one| one.reference == reference) {
        let is_judged = !one.verdict.starts_with(NOT_JUDGED);
        let verdict = if is_judged { one.outcome.text() } else { &one.verdict };
        let index = groups.iter().position(|(name, ..)| name == verdict).unwrap_or_else(|| {
            groups.push((verdict.to_owned(), Vec::new(), Tone::Plain));
            groups.len() - 1
        });
        groups[index].1.push(&one.scheme);
    }
    groups.retain(|(_, schemes, _)| !schemes.is_empty());
    Block::Facts {
        tones: groups.iter().map(|(.., tone)| *tone).collect(),
        pairs: groups.into_iter().map(|(verdict, schemes, _)| (verdict, schemes.join(", "))).collect(),
        title: format!("Against {reference}, {what}:"),
    }
}

/// Returns the table of the verdicts on the primary endpoint; `what` is the endpoint with its transfers.
fn tabulate_primary(cell: &Cell, primary: &[&Finding], what: &str) -> Block {
    let columns = vec![
        Column::text("scheme"),
        Column::text("against"),
        Column::text("verdict"),
        Column::number("faster"),
        Column::number("slower"),
    ];
    let share = |share: Option<f64>| Figure::new(share_text(share.unwrap_or(f64::NAN)), share).into();
    let line = |one: &&Finding| -> Vec<Entry> {
        let names = [&one.scheme, &one.reference].map(|name| Entry::Text(name.clone()));
        let rest = [write_verdict(one), share(one.faster_share), share(one.slower_share)];
        names.into_iter().chain(rest).collect()
    };
    let caption = format!("{}, the primary endpoint", capitalise(what));
    let sizes = cell.plan.sizes(Role::Short);
    Block::Table(Table {
        note: format!(
            "Faster and slower: shares of the same transfers{sizes}, where the traffic is the same."
        ),
        ..Table::new(caption, columns, primary.iter().map(line).collect(), scheme_keys(primary))
    })
}

/// Returns the table of the verdicts on exploratory endpoints.
fn tabulate_others(others: &[&Finding]) -> Block {
    let columns = ["scheme", "against", "endpoint", "verdict"].map(Column::text).into();
    let line = |one: &&Finding| -> Vec<Entry> {
        let names = [&one.scheme, &one.reference, &one.endpoint_words].map(|name| Entry::Text(name.clone()));
        names.into_iter().chain([write_verdict(one)]).collect()
    };
    let rows = others.iter().map(line).collect();
    Block::Table(Table::new("Other endpoints".to_owned(), columns, rows, scheme_keys(others)))
}

/// Returns the scheme of each finding, which is the key of its row.
fn scheme_keys(findings: &[&Finding]) -> Vec<String> {
    findings.iter().map(|one| one.scheme.clone()).collect()
}

/// Returns a table of who pays how much under which scheme, or may; None where nobody does.
fn write_payers(judged: &Judged) -> Option<Block> {
    let vetoes = judged.vetoes();
    let columns = ["scheme", "who pays how much", "shown"].map(Column::text).into();
    let line = |binds: bool, texts: [&String; 2]| -> Vec<Entry> {
        let shown = if binds { "yes" } else { "no: may pay" };
        texts.into_iter().cloned().chain([shown.to_owned()]).map(Entry::Text).collect()
    };
    let rows = vetoes.iter().map(|one| line(one.binds, [&one.scheme, &one.text])).collect();
    let keys = vetoes.iter().map(|one| one.scheme.clone()).collect();
    let caption = format!("Who pays beyond the margins, against {}", judged.cell.plan.harm_reference());
    let table = Block::Table(Table::new(caption, columns, rows, keys));
    (!vetoes.is_empty()).then(|| Block::details("Who pays", vec![table]))
}

/// Returns the tables of applications, without pages: what users feel first, then the other figures.
fn write_applications(cell: &Cell, groups: &[GroupRow]) -> Vec<Block> {
    let is_first = |row: &GroupRow| !is_of_pages(row) && row.is_primary;
    let others = tabulate_groups(cell, groups, |row| !is_of_pages(row) && !row.is_primary);
    let others = (!others.is_empty()).then(|| Block::details("Other figures of applications", others));
    tabulate_groups(cell, groups, is_first).into_iter().chain(others).collect()
}

/// Returns the tables of pages, of the link and of the transfers of each size.
fn write_tables(cell: &Cell, groups: &[GroupRow]) -> Vec<Block> {
    let rows = bucket_rows(cell);
    let of_sizes = cell.plan.buckets().into_iter().map(|bucket| {
        let own: Vec<&BucketRow> = rows.iter().filter(|row| row.bucket.name == bucket.name).collect();
        let summary = format!("Transfers {}", bucket.name);
        let table = Block::Table(tabulate_bucket(cell, &summary, &own));
        Block::details(&summary, vec![table])
    });
    let of_pages = tabulate_groups(cell, groups, is_of_pages);
    of_pages.into_iter().chain([Block::Table(tabulate_link(cell))]).chain(of_sizes).collect()
}

/// Returns the table of every quantity of a bucket, whose `rows` have one scheme each; the mean is
/// followed by its change.
fn tabulate_bucket(cell: &Cell, transfers: &str, rows: &[&BucketRow]) -> Table {
    let quantities: Vec<&Quantity> = list_shown(cell, Subject::Bucket, Shown::Bucket);
    let mut columns = vec![Column::text("scheme"), Column::number("count")];
    for quantity in &quantities {
        match quantity.name() == CHANGED {
            true => columns.extend([
                Column::number(format!("{} (95 %)", quantity.words.short)),
                Column::number("change (95 %)"),
            ]),
            false => columns.push(Column::number(quantity.words.short.to_string())),
        }
    }
    columns.push(Column::number("unfinished"));
    let line = |row: &&BucketRow| {
        let count = Figure::new(group_thousands(&row.count.to_string()), Some(row.count as f64));
        let mut line: Vec<Entry> = vec![Entry::Text(row.scheme.clone()), count.into()];
        for quantity in &quantities {
            let estimate = find_estimate(&row.estimates, quantity);
            match quantity.name() == CHANGED {
                true => line.extend([
                    write_interval(estimate, row.is_bound),
                    write_change(Some(row.response_mean_change).filter(|_| !row.is_baseline), Better::Less)
                        .into(),
                ]),
                false => line.push(write_mean(quantity, estimate.mean)),
            }
        }
        line.push(Figure::new(share_text(row.censored_share), Some(row.censored_share)).into());
        line
    };
    Table {
        gives_way: ["unfinished", "transfer"].map(str::to_owned).into(),
        ..Table::new(
            format!("{transfers}: response time"),
            columns,
            rows.iter().map(line).collect(),
            list_schemes(cell),
        )
    }
}

/// Returns the table of the quantities of schemes at the link, with losses by colour, and of their
/// long transfers.
fn tabulate_link(cell: &Cell) -> Table {
    let of_link = list_shown(cell, Subject::Scheme, Shown::Link);
    let of_long = list_shown(cell, Subject::Scheme, Shown::Long);
    let is_loss = |quantity: &Quantity| quantity.name() == "loss_share";
    let colours: Vec<ColourRow> =
        colour_rows(cell).into_iter().filter(|row| row.counts.arrived > 0).collect();
    let mut columns = vec![Column::text("scheme")];
    for quantity in &of_link {
        columns.push(Column::number(quantity.words.short.to_string()));
        columns.extend(is_loss(quantity).then(|| Column::text("lost by colour")));
    }
    columns
        .extend(of_long.iter().map(|quantity| Column::number(format!("{} of long", quantity.words.short))));
    let rows = scheme_rows(cell).into_iter().map(|row| {
        let mut line = vec![Entry::Text(row.scheme.clone())];
        for quantity in of_link.iter().chain(&of_long) {
            line.push(write_mean(quantity, find_estimate(&row.estimates, quantity).mean));
            line.extend(is_loss(quantity).then(|| Entry::Text(describe_losses(&colours, &row.scheme))));
        }
        line
    });
    Table::new("The link".to_owned(), columns, rows.collect(), list_schemes(cell))
}

/// Returns a scheme's share of losses by colour; unknown if its packets have fewer than two colours.
fn describe_losses(colours: &[ColourRow], scheme: &str) -> String {
    let own: Vec<String> = colours
        .iter()
        .filter(|row| row.scheme == scheme)
        .map(|row| format!("{} {}", share_text(row.loss_share.unwrap_or(f64::NAN)), row.colour))
        .collect();
    if own.len() > 1 { own.join(", ") } else { UNKNOWN.to_owned() }
}

/// Returns tables of the wanted figures of applications with their changes, [`COLUMNS_PER_TABLE`]
/// in each; none without such figures.
fn tabulate_groups(cell: &Cell, groups: &[GroupRow], is_wanted: impl Fn(&GroupRow) -> bool) -> Vec<Block> {
    // Every scheme has the same figures in the same order.
    let by_scheme: Vec<Vec<&GroupRow>> = cell
        .schemes()
        .map(|scheme| groups.iter().filter(|row| row.scheme == cell.name(scheme) && is_wanted(row)).collect())
        .collect();
    let figures = by_scheme.first().map_or(0, Vec::len);
    let caption = format!("By application, change against {}", cell.plan.baseline);
    let table = |first: usize| {
        let last = figures.min(first + COLUMNS_PER_TABLE);
        let heads = by_scheme[0][first..last].iter();
        let heads = heads.map(|row| Column::number(format!("{}: {}", row.group, row.what.words.axis)));
        let line = |own: &Vec<&GroupRow>| {
            let cells = own[first..last].iter().map(|row| write_group(row));
            [Entry::Text(own[first].scheme.clone())].into_iter().chain(cells).collect()
        };
        Block::Table(Table::new(
            format!("{caption}{}", if first > 0 { ", continued" } else { "" }),
            [Column::text("scheme")].into_iter().chain(heads).collect(),
            by_scheme.iter().map(line).collect(),
            list_schemes(cell),
        ))
    };
    (0..figures).step_by(COLUMNS_PER_TABLE).map(table).collect()
}

/// Returns an entry such as `547 ms  −2.9 % (−16…+12)`: the figure, and its change against the
/// baseline unless it is the baseline's or unknown.
fn write_group(row: &GroupRow) -> Entry {
    let (text, mean) = (unit_text(row.what.unit, row.value.mean, false), row.value.mean);
    let change = write_change(Some(row.change).filter(|_| !row.is_baseline), row.what.better);
    let text = if change.value.is_none() { text } else { format!("{text}  {}", change.text) };
    Figure { tone: change.tone, ..Figure::new(text, Some(mean)) }.into()
}

/// Returns whether a row is the mean time of pages.
fn is_of_pages(row: &GroupRow) -> bool {
    (row.group.as_str(), row.what.name().as_str()) == PAGES
}

/// Returns the quantities of a subject that are columns of a table, in order.
fn list_shown(cell: &Cell, subject: Subject, table: Shown) -> Vec<&Quantity> {
    cell.quantities_about(subject).filter(|quantity| quantity.tables.contains(&table)).collect()
}

/// Returns the schemes in their order.
fn list_schemes(cell: &Cell) -> Vec<String> {
    cell.schemes().map(|scheme| cell.name(scheme).to_owned()).collect()
}

/// Returns the scheme's name, with a star if it is an ideal.
fn mark_ideal(cell: &Cell, scheme: &str) -> Entry {
    let star = if cell.plan.schemes[cell.scheme_index(scheme)].is_ideal { "*" } else { "" };
    Entry::Text(format!("{scheme}{star}"))
}

/// Returns the estimate of a quantity; unknown if the row lacks it.
fn find_estimate(estimates: &[(Quantity, Estimate)], quantity: &Quantity) -> Estimate {
    estimates.iter().find(|(one, _)| one == quantity).map_or(Estimate::UNKNOWN, |(_, estimate)| *estimate)
}

/// Returns a time as an entry.
fn write_time(seconds: f64) -> Entry {
    Figure::new(time_text(seconds, false), Some(seconds)).into()
}

/// Returns a mean in the unit of its quantity as an entry.
fn write_mean(quantity: &Quantity, mean: f64) -> Entry {
    Figure::new(unit_text(quantity.unit, mean, false), Some(mean)).into()
}

/// Returns `84 ms (80 ms…90 ms)`, or only the mean where there is no interval; a lower bound has `≥`.
fn write_interval(estimate: Estimate, is_bound: bool) -> Entry {
    let mean = time_text(estimate.mean, is_bound);
    let text = match estimate.low.is_finite() {
        true => format!("{mean} ({}…{})", time_text(estimate.low, false), time_text(estimate.high, false)),
        false => mean,
    };
    Figure::new(text, Some(estimate.mean)).into()
}

/// Returns a change with its interval, coloured where the interval excludes zero. It is unknown
/// without a finite mean.
fn write_change(change: Option<Estimate>, better: Better) -> Figure {
    match change.filter(|change| change.mean.is_finite()) {
        None => Figure::new(UNKNOWN.to_owned(), None),
        Some(one) => {
            let tone = change_tone(one.low, one.high, better);
            Figure { tone, ..Figure::new(change_text(one.mean, one.low, one.high), Some(one.mean)) }
        }
    }
}

/// Returns `−32 (−36…−28)` in whole percent, coloured where the interval, or the range, excludes
/// zero. It is unknown without a finite mean.
fn write_whole_change(change: Option<Change>, better: Better) -> Entry {
    let Some(one) = change.filter(|change| change.mean.is_finite()) else {
        return Figure::new(UNKNOWN.to_owned(), None).into();
    };
    let [mean, low, high] = [one.mean, one.low, one.high].map(capped_whole_percent);
    let tone = change_tone(one.low, one.high, better);
    Figure { tone, ..Figure::new(format!("{mean} ({low}…{high})"), Some(one.mean)) }.into()
}

/// Returns the verdict of a finding, coloured by its outcome.
fn write_verdict(one: &Finding) -> Entry {
    Figure { tone: outcome_tone(one.outcome), ..Figure::new(one.verdict.clone(), Some(one.change.mean)) }
        .into()
}

/// Returns the tone of an outcome.
fn outcome_tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Better => Tone::Good,
        Outcome::Worse => Tone::Bad,
        _ => Tone::Plain,
    }
}

/// Returns the tone of a change by its interval: good or bad where it excludes zero; plain if no direction is better.
fn change_tone(low: f64, high: f64, better: Better) -> Tone {
    let tones = match better {
        Better::Less => [Tone::Good, Tone::Bad],
        Better::More => [Tone::Bad, Tone::Good],
        Better::Neither => return Tone::Plain,
    };
    if high < 0.0 {
        tones[0]
    } else if low > 0.0 {
        tones[1]
    } else {
        Tone::Plain
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::quantities::Kind;
    use crate::tests_support::{cell, make_cell, with_calls, with_figure, without_transfers};

    /// Returns the first table whose caption begins so, also inside details; panics without one.
    fn table<'a>(blocks: &'a [Block], begin: &str) -> &'a Table {
        let all = blocks.iter().flat_map(|block| match block {
            Block::Details { blocks, .. } => blocks.iter().collect(),
            other => vec![other],
        });
        let mut tables =
            all.filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None });
        tables.find(|table| table.caption.starts_with(begin)).unwrap_or_else(|| panic!("no table {begin}"))
    }

    /// Returns the texts of a row.
    fn texts(row: &[Entry]) -> Vec<&str> {
        row.iter()
            .map(|entry| match entry {
                Entry::Text(text) => text.as_str(),
                Entry::Figure(figure) => figure.text.as_str(),
            })
            .collect()
    }

    /// Returns the tones of a row; texts are plain.
    fn tones(row: &[Entry]) -> Vec<Tone> {
        row.iter().map(|entry| if let Entry::Figure(one) = entry { one.tone } else { Tone::Plain }).collect()
    }

    #[test]
    fn overview__has_a_change_for_each_reference_and_stars_ideals() {
        let judged =
            Judged::new(cell(&[("droptail", 1.0, 10.0), ("fq-codel", 0.5, 10.0), ("srpt", 0.1, 20.0)]));
        let report = report_cell(&judged, "100s");
        let table = table(&report.overview, "Transfers ≤ 15 kB");
        let headings: Vec<&str> = table.columns.iter().map(|column| column.heading.as_str()).collect();
        let changes = ["change\nto droptail", "change\nto fq-codel", "> 150 kB\nto droptail"];
        assert_eq!(headings, ["scheme", "mean", changes[0], changes[1], changes[2], "delay\np95"]);
        assert_eq!(texts(&table.rows[0])[..4], ["droptail", "1 s", "–", "+100 (+100…+100)"]);
        assert_eq!(
            texts(&table.rows[2])[..5],
            ["srpt*", "100 ms", "−90 (−90…−90)", "−80 (−80…−80)", "+100 (+100…+100)"]
        );
        assert_eq!(tones(&table.rows[2])[2..5], [Tone::Good, Tone::Good, Tone::Bad]);
        assert!(table.note.starts_with("* srpt: ideals that nobody can deploy."), "{}", table.note);
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()));
    }

    #[test]
    fn overview__without_short_transfers_is_about_what_calls_feel() {
        let schemes = [("droptail", 1.0, 10.0), ("cake", 1.0, 10.0)];
        let judged = Judged::new(make_cell(&schemes, |index, facts| {
            without_transfers(with_calls(facts, "delay_p95_s", [0.2, 0.05][index]))
        }));
        let report = report_cell(&judged, "100s");
        let table = table(&report.overview, "Calls: one-way delay, p95, and its change, %");
        let headings: Vec<&str> = table.columns.iter().map(|column| column.heading.as_str()).collect();
        assert_eq!(headings, ["scheme", "mean", "change\nto droptail", "delay\np95"], "no long transfers");
        assert_eq!(texts(&table.rows[1])[..3], ["cake", "50 ms", "−75 (−75…−75)"]);
        assert_eq!(tones(&table.rows[1])[2], Tone::Good);
    }

    #[test]
    fn overview__where_more_is_better_shows_the_change_of_the_value() {
        let schemes = [("droptail", 1.0, 10.0), ("cake", 1.0, 10.0)];
        let judged = Judged::new(make_cell(&schemes, |index, facts| {
            let value = [100.0, 300.0][index];
            without_transfers(with_figure(facts, Kind::Responsiveness, "round_trips_per_minute", value))
        }));
        let report = report_cell(&judged, "100s");
        let table = table(&report.overview, "Responsiveness: round trips per minute and its change, %");
        assert_eq!(texts(&table.rows[1])[..3], ["cake", "300", "+200 (+200…+200)"]);
        assert_eq!(tones(&table.rows[1])[2], Tone::Good);
    }

    #[test]
    fn every_table__has_a_cell_for_each_column_and_a_key_for_each_row() {
        let schemes = [("droptail", 1.0, 10.0), ("cake", 0.6, 10.0), ("sfd", 0.5, 10.0)];
        let delays_s = [0.3, 0.03, 0.2];
        let judged = Judged::new(make_cell(&schemes, |index, facts| {
            with_calls(facts, "delay_p95_s", delays_s[index])
        }));
        let report = report_cell(&judged, "100s");
        let mut waiting: Vec<&Block> =
            [&report.overview, &report.verdicts, &report.applications, &report.tables]
                .into_iter()
                .flatten()
                .collect();
        let mut count = 0;
        while let Some(block) = waiting.pop() {
            match block {
                Block::Details { blocks, .. } => waiting.extend(blocks),
                Block::Table(table) => {
                    count += 1;
                    assert!(
                        table.rows.iter().all(|row| row.len() == table.columns.len()),
                        "{}",
                        table.caption
                    );
                    assert_eq!(table.keys.len(), table.rows.len(), "{}", table.caption);
                }
                Block::Facts { pairs, tones, .. } => assert_eq!(pairs.len(), tones.len()),
                Block::Prose { .. } => {}
            }
        }
        assert!(count > 6, "{count}");
        let calls = table(&report.applications, "By application");
        assert_eq!(texts(&calls.rows[1])[1], "30 ms  −90 % (−90…−90)");
        let payers = table(&report.verdicts, "Who pays beyond the margins, against cake");
        assert_eq!((texts(&payers.rows[0])[0], texts(&payers.rows[0])[2]), ("sfd", "yes"));
    }

    #[test]
    fn verdicts__of_few_replications_are_none() {
        let mut few = cell(&[("droptail", 1.0, 10.0), ("sfd", 0.5, 10.0)]);
        few.plan.replications = 3;
        few.runs.iter_mut().for_each(|runs| runs.truncate(3));
        let report = report_cell(&Judged::new(few), "20s");
        let Some(Block::Prose { text, tone: Tone::Open }) = report.overview.last() else {
            panic!("no sentence")
        };
        assert!(text.starts_with("A quick look: 3 replications of 20s give no interval"), "{text}");
        let Block::Details { blocks, .. } = &report.verdicts[0] else { panic!("no details") };
        assert!(
            matches!(&blocks[0], Block::Prose { text, .. } if text.starts_with("No verdict: 3 replications"))
        );
    }

    #[test]
    fn changes__are_in_colour_only_where_the_ends_agree_and_end_at_a_factor_of_ten() {
        let change = |mean, low, high| Some(Change { mean, low, high, is_interval: true });
        let entries = [(0.1, 0.05, 0.2), (-0.1, -0.2, -0.05), (-0.1, -0.2, 0.05), (0.5, -0.9, 40_000.0)]
            .map(|(mean, low, high)| write_whole_change(change(mean, low, high), Better::Less));
        assert_eq!(tones(&entries), [Tone::Bad, Tone::Good, Tone::Plain, Tone::Plain]);
        assert_eq!(texts(&entries)[3], "+50 (−90…>+999)");
    }
}
