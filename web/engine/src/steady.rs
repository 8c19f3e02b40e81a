//! Whether there is a steady state within the windows, in the words of `mousehole compare`.

use mousehole_answer::comparison::Cell;
use mousehole_answer::statistics::LEAST_REPLICATIONS;
use mousehole_answer::statistics::sums::mean;
use mousehole_answer::statistics::transient::mser;
use mousehole_answer::texts::significant;

/// A transient is mentioned if the mean without it differs by more than this share.
const NOTICED_TRANSIENT: f64 = 0.05;
/// With short transfers in fewer parts of the windows, no transient is searched for: MSER needs ten.
const LEAST_PARTS: usize = 10;

/// Returns a remark where there is no steady state, or where the windows begin before it.
pub fn unsteady(cell: &Cell, warmup_s: f64, duration: &str) -> Option<String> {
    let load = cell.runs[cell.baseline()].first().and_then(|run| run.load.achieved);
    if let Some(load) = load.filter(|load| *load >= 1.0) {
        return Some(format!(
            "At a load of {} there is no steady state: queues and times grow as long as the run lasts, so every number \
             depends on the length of warm-up and window.",
            significant(load, 3)
        ));
    }
    let shares: Vec<f64> = cell.schemes().map(|scheme| transient_share(cell, scheme)).collect();
    let beyond = |least: &dyn Fn(f64) -> bool| {
        let own = cell.schemes().filter(|scheme| least(shares[*scheme]));
        own.map(|scheme| cell.name(scheme)).collect::<Vec<_>>().join(", ")
    };
    let late = beyond(&|share| share > 0.0);
    let unsettled = beyond(&|share| share >= 0.5);
    if late.is_empty() {
        return None;
    }
    if !unsettled.is_empty() {
        return Some(format!(
            "Under {unsettled} the search for a transient (MSER) ends in the second half of the windows: at {duration} \
             they are too short to tell whether there is a steady state. Give a longer --duration."
        ));
    }
    let worst = shares.iter().copied().fold(0.0, f64::max) * cell.plan.window_s;
    Some(format!(
        "Under {late} the first {worst:.0} s of the windows still belong to the transient (MSER). Give --warmup {:.0}s or \
         more.",
        warmup_s + worst
    ))
}

/// Returns the share of the windows that belongs to the transient, 0 if its removal changes little.
///
/// It is 0.5 or more where no steady state was reached. A part of a window in which a replication has no short transfers
/// counts by the others; one that no replication has is left out.
fn transient_share(cell: &Cell, scheme: usize) -> f64 {
    let runs = &cell.runs[scheme];
    let parts = runs.first().map_or(0, |run| run.short_by_time.len());
    let known =
        |part: usize| runs.iter().map(move |run| run.short_by_time[part]).filter(|time| time.is_finite());
    let places: Vec<usize> = (0..parts).filter(|part| known(*part).next().is_some()).collect();
    if runs.len() < LEAST_REPLICATIONS || places.len() < LEAST_PARTS {
        return 0.0;
    }
    let mean_of = |part: usize| known(part).fold(0.0, |sum, time| sum + time) / known(part).count() as f64;
    let series: Vec<f64> = places.iter().map(|part| mean_of(*part)).collect();
    let first = mser(&series);
    let is_noticed = first > 0 && (mean(&series[first..]) / mean(&series) - 1.0).abs() > NOTICED_TRANSIENT;
    if is_noticed { places[first] as f64 / parts as f64 } else { 0.0 }
}
