//! Applies a function to several items on several cores.

use crate::error::Result;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Returns the results of `work` for 0 to `count` − 1 in this order, up to and including the first error. The result
/// does not depend on the order of execution: the first error is the one that working in order would have met. Later
/// items may have been worked on as well; none is begun after an error. A panic of `work` is passed on.
pub fn map_in_parallel<T: Send>(count: usize, work: impl Fn(usize) -> Result<T> + Sync) -> Vec<Result<T>> {
    let cores = thread::available_parallelism().map_or(1, usize::from).min(count);
    let (next, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let done = Mutex::new(Vec::new());
    let run = || {
        while !has_failed.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            let result = work(index);
            has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    thread::scope(|scope| {
        (1..cores).for_each(|_| drop(scope.spawn(run)));
        run();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|(index, _)| *index);
    let first_error = done.iter().position(|(_, result)| result.is_err());
    done.truncate(first_error.map_or(done.len(), |place| place + 1));
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn map_in_parallel__keeps_the_order_and_stops_at_the_first_error() {
        let all: Vec<usize> =
            map_in_parallel(100, |index| Ok(index * 2)).into_iter().map(Result::unwrap).collect();
        assert_eq!(all, (0..100).map(|index| index * 2).collect::<Vec<_>>());
        let fail = |index: usize| match index % 10 {
            7 => Err(Error::file(index.to_string(), "no")),
            _ => Ok(index),
        };
        let some = map_in_parallel(100, fail);
        assert_eq!(some.len(), 8);
        assert_eq!(some[7], Err(Error::file("7", "no")));
        assert!(map_in_parallel(0, Ok).is_empty());
    }
}
