//! The empty link as a scheme: every transfer has its ideal completion time.

use crate::common::{connection, play, scenario, with_connections, with_model};
use mousehole_sim::scenario::Scenario;

/// Ten long transfers at once, each as fast as alone.
#[test]
fn empty__connections_do_not_wait_for_each_other() {
    let base = Scenario { warmup: "0s".into(), duration: "30s".into(), ..scenario("empty") };
    let result = play(&with_connections(base, vec![connection(0.0, &[(0.0, 400_000)]); 10]));
    assert_eq!(result.outcome.transfers.len(), 10);
    assert!(result.is_conserved());
    for (transfer, ideal_s) in result.outcome.transfers.iter().zip(&result.ideal_s) {
        let took_s = transfer.end.since(transfer.start).as_secs();
        // What they still share is the uplink.
        assert!((-1e-9..0.01).contains(&(took_s - ideal_s)), "{took_s} s, alone {ideal_s} s");
        assert_eq!(transfer.retransmits, 0);
    }
}

/// Twice what the link carries, and still no loss; the slow path is the same.
#[test]
fn empty__carries_any_load() {
    let base = Scenario { warmup: "1s".into(), duration: "5s".into(), ..scenario("empty") };
    let heavy = with_model(base, "poisson", 2.0);
    let [fast, slow] = [false, true].map(|slow_path| play(&Scenario { slow_path, ..heavy.clone() }));
    let queue = &fast.outcome.queues[0];
    let carried = queue.sent().bytes as f64 * 8.0 / (queue.capacity.0 as f64 * queue.window_s);
    assert!(carried > 1.2, "{carried}");
    assert!((0.5..=1.0).contains(&queue.utilisation()), "{}", queue.utilisation());
    assert_eq!(fast.outcome.transfers, slow.outcome.transfers);
    assert!(fast.is_conserved() && slow.is_conserved());
    let dropped: u64 = fast.outcome.balance.iter().map(|link| link.dropped.0).sum();
    assert_eq!(dropped, 0);
}
