//! A queue of packets under a policy of the third kind: stores the packets by band, counts the backlog, and calls the
//! header's functions.

use crate::base::{NEVER, Verdict, View};
use crate::params::{Params, State};
use crate::policy::Policy;
use crate::queue::{Entry, Exit, QueueFns, tries};
use crate::waiting::Waiting;
use std::collections::VecDeque;

/// A packet that can wait in a band.
pub trait Waits {
    /// Returns the view of the packet that policies get.
    fn view(&self) -> View;

    /// Sets Congestion Experienced if the packet is ECN-capable.
    fn mark(&mut self);
}

/// The queue that one header decides about, with packets of type `P`.
pub struct Bands<P> {
    params: Params,
    functions: QueueFns,
    state: State,
    waiting: Waiting,
    /// Packets and their arrival times, by band.
    stored: Box<[VecDeque<(P, u64)>]>,
    /// The band whose packet is, or was last, in transmission.
    last: Option<usize>,
    /// Most answers of `dequeue` in a row without a packet ([`tries`]).
    tries: u32,
}

impl<P: Waits> Bands<P> {
    /// Returns an empty queue.
    ///
    /// # Panics
    /// When the parameters are not those of a queue.
    pub fn new(params: Params) -> Bands<P> {
        let policy = params.policy();
        let bands = policy.bands();
        Bands {
            functions: policy.queue().expect("a queue's parameters"),
            state: policy.new_state(),
            waiting: Waiting::new(bands),
            stored: (0..bands).map(|_| VecDeque::new()).collect(),
            last: None,
            tries: tries(bands),
            params,
        }
    }

    /// Returns the policy.
    pub fn policy(&self) -> &'static Policy {
        self.params.policy()
    }

    /// Returns the backlog, by band.
    pub fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    /// Returns the readings of the policy's state in the order of [`Policy::readings`]; NaN for one without a value yet.
    /// Calls the header's functions for them.
    pub fn readings(&self) -> Vec<f64> {
        self.policy().read(&self.params, &self.state)
    }

    /// Queues or drops a packet that arrives at `now_ns` with this view. Returns its band and whether it was marked; `None`
    /// if it is refused. `chance` is the hash of its flow and a random number, 32 uniform bits each. `drop` is called for
    /// each packet dropped: the arrival, or those that overflow removes, which may include the arrival.
    #[inline]
    pub fn enqueue(
        &mut self,
        mut packet: P,
        view: &View,
        chance: (u32, u32),
        now_ns: u64,
        mut drop: impl FnMut(P, Verdict),
    ) -> Option<(usize, bool)> {
        let Bands { params, functions, state, waiting, .. } = self;
        let (band, marked) = match functions.enqueue(params, state, waiting, view, chance, now_ns) {
            Entry::Band(band, marked) if band < self.stored.len() => (band, marked),
            Entry::Band(..) => {
                drop(packet, Verdict::Forced);
                return None;
            }
            Entry::Refused(verdict) => {
                drop(packet, verdict);
                return None;
            }
        };
        if marked {
            packet.mark();
        }
        let (one, stored) = (self.waiting.band_mut(band), &mut self.stored[band]);
        if stored.is_empty() {
            (one.head, one.head_since_ns) = (*view, now_ns);
        }
        one.waiting.add(view.colour, view.ip_bytes);
        self.waiting.all_mut().add(view.colour, view.ip_bytes);
        stored.push_back((packet, now_ns));
        if self.functions.overflows() {
            self.overflow(now_ns, drop);
        }
        Some((band, marked))
    }

    /// Drops the packets that the policy's `overflow` names until it answers that the backlog fits; passes each to
    /// `drop` with a forced drop. An answer that names an empty band is recorded as a fault and ends the loop.
    fn overflow(&mut self, now_ns: u64, mut drop: impl FnMut(P, Verdict)) {
        loop {
            let Bands { params, functions, state, waiting, .. } = self;
            let (band, is_head) = match functions.overflow(params, state, waiting, now_ns) {
                Exit::Newest(band) => (band, false),
                Exit::Dropped(band) => (band, true),
                Exit::Sent(..) | Exit::Nothing => return,
            };
            let victim = self.remove(band, is_head);
            let Some((packet, _)) = victim else {
                let packets = self.waiting.all().packets;
                return self.policy().refuse_answer(|| {
                    format!("overflow names band {band}, which is empty, while {packets} packets wait")
                });
            };
            drop(packet, Verdict::Forced);
            if self.last != Some(band) && self.stored[band].is_empty() {
                self.waiting.band_mut(band).waiting.idle_since_ns = now_ns;
            }
        }
    }

    /// Removes the next packet at `now_ns`; returns it with its arrival time, ns, and its band, or `None` if none waits. The
    /// caller transmits it at once and calls again when the transmission ends. `drop` is called for each head that the
    /// policy drops first.
    #[inline]
    pub fn dequeue(&mut self, now_ns: u64, mut drop: impl FnMut(P, Verdict)) -> Option<(P, u64, usize)> {
        self.note_idle(now_ns);
        let mut tries = self.tries;
        while self.waiting.all().packets > 0 {
            let Bands { params, functions, state, waiting, .. } = self;
            let (band, marked) = match functions.dequeue(params, state, waiting, now_ns) {
                Exit::Sent(band, marked) => (band, Some(marked)),
                Exit::Dropped(band) => (band, None),
                Exit::Newest(_) | Exit::Nothing => (usize::MAX, None),
            };
            match (self.remove(band, true), marked) {
                (Some((mut packet, since_ns)), Some(marked)) => {
                    if marked {
                        packet.mark();
                    }
                    self.waiting.band_mut(band).waiting.idle_since_ns = NEVER;
                    self.last = Some(band);
                    return Some((packet, since_ns, band));
                }
                (Some((packet, _)), None) => {
                    drop(packet, Verdict::Early);
                    tries = self.tries;
                }
                (None, _) if tries > 1 => tries -= 1,
                (None, _) => return Some(self.end_stall()),
            }
        }
        None
    }

    /// Records the fault that `dequeue` names no packet though packets wait, and returns a waiting packet in its place, so
    /// that the caller's loop ends.
    #[cold]
    fn end_stall(&mut self) -> (P, u64, usize) {
        let (tries, packets) = (self.tries, self.waiting.all().packets);
        self.policy().refuse_answer(|| {
            format!(
                "dequeue stalls: it names no band with a packet in {tries} calls while {packets} packets wait; a queue \
                 sends while packets wait"
            )
        });
        let band = self.stored.iter().position(|stored| !stored.is_empty()).expect("packets wait");
        let (packet, since_ns) = self.remove(band, true).expect("it is not empty");
        self.last = Some(band);
        (packet, since_ns, band)
    }

    /// Removes a band's head, or its newest packet, and returns it with its arrival time, ns; `None` if the band is empty or
    /// does not exist.
    fn remove(&mut self, band: usize, is_head: bool) -> Option<(P, u64)> {
        let stored = self.stored.get_mut(band)?;
        let (packet, since_ns) = if is_head { stored.pop_front() } else { stored.pop_back() }?;
        let (view, next) = (packet.view(), stored.front().filter(|_| is_head));
        let one = self.waiting.band_mut(band);
        if let Some((next, since_ns)) = next {
            (one.head, one.head_since_ns) = (next.view(), *since_ns);
        }
        one.waiting.remove(view.colour, view.ip_bytes);
        self.waiting.all_mut().remove(view.colour, view.ip_bytes);
        Some((packet, since_ns))
    }

    /// Records the start of a band's idle time, which is the end of its last packet's transmission: the time of the first
    /// call of `dequeue` that finds it empty.
    fn note_idle(&mut self, now_ns: u64) {
        if let Some(band) = self.last.take().filter(|band| self.stored[*band].is_empty()) {
            self.waiting.band_mut(band).waiting.idle_since_ns = now_ns;
        }
    }
}
