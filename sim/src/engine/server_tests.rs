#![allow(non_snake_case)]
use super::*;
use crate::rng::{Purpose, Stream};
use crate::traffic::model::law::{Law, Sizes};

/// Returns the waits of jobs in seconds, by number of the job; `jobs` are (arrival in ns, bytes) in
/// order.
fn simulate_waits(servers: &mut Servers, jobs: &[(u64, u64)]) -> Vec<f64> {
    let mut waits = vec![0.0; jobs.len()];
    let (mut next, mut done_at) = (0, None);
    let mut begun = |slot: Option<u32>, now: u64| {
        if let Some(slot) = slot {
            waits[slot as usize] = (now - jobs[slot as usize].0) as f64 / 1e9;
        }
    };
    while next < jobs.len() || done_at.is_some() {
        let arrival = jobs.get(next).map_or(u64::MAX, |job| job.0);
        match done_at {
            Some(done) if done <= arrival => {
                let (_, service) = servers.finish_job(0);
                done_at = service.map(|service| done + service.0);
                begun(servers.servers[0].busy, done);
            }
            _ => {
                if let Some(service) = servers.add_job(0, next as u32, jobs[next].1) {
                    done_at = Some(arrival + service.0);
                    begun(servers.servers[0].busy, arrival);
                }
                next += 1;
            }
        }
    }
    waits
}

/// Returns jobs that arrive by a Poisson process, as (arrival in ns, bytes); `bytes` gives the size
/// by number.
fn poisson_jobs(count: u64, mean_gap_s: f64, bytes: impl Fn(u64) -> u64) -> Vec<(u64, u64)> {
    let mut at = 0.0;
    let job = |k| {
        at += Stream::new(9, Purpose::Arrival, k).exponential(mean_gap_s * 1e9);
        (at as u64, bytes(k))
    };
    (0..count).map(job).collect()
}

/// Returns the mean of the values.
fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// Pollaczek and Khinchine: mean wait λE[S²] ÷ 2(1 − ρ), for constant, exponential and Pareto II sizes.
#[test]
fn fcfs__waits_are_those_of_m_g_1() {
    let law = Law::Lomax { mean: 12_000.0, shape: 1.2 };
    let pareto = Sizes { law, least: 1, cap: 100_000, unit: 1 };
    let size = |k| Stream::new(4, Purpose::Size, k);
    let kinds: [&dyn Fn(u64) -> u64; 3] =
        [&|_| 10_000, &|k| size(k).exponential(10_000.0).ceil() as u64, &|k| pareto.draw(size(k))];
    for (kind, bytes) in kinds.into_iter().enumerate() {
        let jobs = poisson_jobs(400_000, 0.1, bytes);
        let services: Vec<f64> = jobs.iter().map(|job| job.1 as f64 / 200_000.0).collect();
        let rho = mean(services.iter().copied()) / 0.1;
        let expected = mean(services.iter().map(|s| s * s)) / 0.1 / 2.0 / (1.0 - rho);
        let found = mean(simulate_waits(&mut Servers::new(Rate(1_600_000), Order::Fcfs), &jobs).into_iter());
        assert!((found / expected - 1.0).abs() < 0.05, "{kind}: {found} s for {expected} s");
    }
}

/// Shortest first, not pre-empted: mean wait of size x is λE[S²] ÷ 2(1 − ρ(x))², constant per size (Phipps 1956).
#[test]
fn stf__waits_are_those_of_shortest_first() {
    let jobs = poisson_jobs(400_000, 0.1, |k| 1 + Stream::new(4, Purpose::Size, k).below(30_000));
    let found = simulate_waits(&mut Servers::new(Rate(1_600_000), Order::Stf), &jobs);
    let second = mean(jobs.iter().map(|job| libm::pow(job.1 as f64 / 200_000.0, 2.0)));
    for (from, to) in [(1, 1000), (14_500, 15_500), (27_000, 28_000)] {
        let of_size: Vec<usize> = (0..jobs.len()).filter(|&k| (from..to).contains(&jobs[k].1)).collect();
        // ρ(x) = λ ∫ s dF up to x, sizes uniform to 30,000 bytes.
        let x = f64::from(u32::try_from((from + to) / 2).expect("small"));
        let rho = 10.0 * x * x / 2.0 / 30_000.0 / 200_000.0;
        let expected = second * 10.0 / 2.0 / libm::pow(1.0 - rho, 2.0);
        let wait = mean(of_size.iter().map(|&k| found[k]));
        assert!((wait / expected - 1.0).abs() < 0.08, "{from} bytes: {wait} s for {expected} s");
    }
}

#[test]
fn stf__serves_the_shortest_first_and_never_interrupts() {
    let mut servers = Servers::new(Rate(8_000), Order::Stf);
    assert_eq!(servers.add_job(3, 0, 500), Some(Dur::from_millis(500)));
    for (slot, bytes) in [(1, 900), (2, 100), (3, 100), (4, 20)] {
        assert_eq!(servers.add_job(3, slot, bytes), None);
    }
    let order: Vec<u32> = std::iter::from_fn(|| servers.finish_job(3).0).collect();
    assert_eq!(order, [0, 4, 2, 3, 1]);
    assert_eq!(servers.add_job(3, 5, 1), Some(Dur::from_millis(1)), "idle again");
}

#[test]
fn fcfs__serves_in_order_and_servers_do_not_share() {
    let mut servers = Servers::new(Rate(8_000), Order::Fcfs);
    assert!(servers.add_job(0, 0, 500).is_some() && servers.add_job(1, 9, 500).is_some());
    for slot in 1..4 {
        assert_eq!(servers.add_job(0, slot, 1000 - u64::from(slot)), None);
    }
    let order: Vec<u32> = std::iter::from_fn(|| servers.finish_job(0).0).collect();
    assert_eq!(order, [0, 1, 2, 3]);
    assert_eq!(servers.finish_job(1), (Some(9), None));
}
