// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{value, Args, Program};
use crossbeam_deque::{Steal, Stealer, Worker};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};

const BELOW: u64 = 16;

/// Words of a set of CPUs.
const CPU_WORDS: usize = 16;

extern "C" {
    fn sched_getaffinity(thread: i32, size: usize, cpus: *mut u64) -> i32;
    fn sched_setaffinity(thread: i32, size: usize, cpus: *const u64) -> i32;
}

/// As in thieves.h.
fn pin(index: usize) {
    let mut set = [0u64; CPU_WORDS];
    let size = std::mem::size_of_val(&set);
    if unsafe { sched_getaffinity(0, size, set.as_mut_ptr()) } < 0 {
        return;
    }
    let has = |cpu: &usize| set[cpu / 64] >> (cpu % 64) & 1 == 1;
    let cpus: Vec<usize> = (0..64 * CPU_WORDS).filter(has).collect();
    let cpu = cpus[index % cpus.len()];
    let mut one = [0u64; CPU_WORDS];
    one[cpu / 64] = 1 << (cpu % 64);
    unsafe { sched_setaffinity(0, size, one.as_ptr()) };
}

#[derive(Clone, Copy, PartialEq)]
enum Point {
    PushPop,
    Steal,
    Batch,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    calls: u64,
    successes: u64,
    items: u64,
    sum: u64,
    squares: u64,
}

impl Tally {
    fn take(&mut self, item: u64) {
        self.items += 1;
        self.sum = self.sum.wrapping_add(item);
        self.squares = self.squares.wrapping_add(item.wrapping_mul(item));
    }
}

/// What the thieves have in common.
struct Shared {
    point: Point,
    stealer: Stealer<u64>,
    ready: Barrier,
    done: Barrier,
    rounds: AtomicU64,
    gathered: AtomicU64,
    tallies: Mutex<Vec<Tally>>,
}

impl Shared {
    fn steal(&self, tally: &mut Tally) {
        loop {
            tally.calls += 1;
            match self.stealer.steal() {
                Steal::Empty => return,
                Steal::Retry => {}
                Steal::Success(item) => {
                    tally.successes += 1;
                    tally.take(item);
                }
            }
        }
    }

    fn steal_batches(&self, tally: &mut Tally, dest: &Worker<u64>) {
        loop {
            tally.calls += 1;
            match self.stealer.steal_batch_and_pop(dest) {
                Steal::Empty => return,
                Steal::Retry => {}
                Steal::Success(first) => {
                    tally.successes += 1;
                    tally.take(first);
                    while let Some(item) = dest.pop() {
                        tally.take(item);
                    }
                }
            }
        }
    }

    fn drain(&self, index: usize, dest: &Worker<u64>) {
        let mut tally = Tally::default();
        if self.point == Point::Steal {
            self.steal(&mut tally);
        } else {
            self.steal_batches(&mut tally, dest);
        }
        self.tallies.lock().unwrap()[index] = tally;
    }
}

struct Deque {
    shared: Arc<Shared>,
    worker: Worker<u64>,
    dest: Worker<u64>,
    size: u64,
}

impl Deque {
    /// All are awake, and spin until the sample.
    fn gather(&self) {
        let shared = &self.shared;
        let others = shared.tallies.lock().unwrap().len() as u64 - 1;
        let all = (shared.rounds.load(Ordering::SeqCst) + 1) * others;
        shared.ready.wait();
        while shared.gathered.load(Ordering::SeqCst) < all {}
    }
}

impl Program for Deque {
    fn prepare(&mut self) {
        while self.worker.pop().is_some() {}
        let (first, n) = match self.shared.point {
            Point::PushPop => (self.size, BELOW),
            _ => (0, self.size),
        };
        for i in 1..=n {
            self.worker.push(first + i);
        }
        self.gather();
    }

    fn sample(&mut self) {
        if self.shared.point == Point::PushPop {
            let mut tally = Tally::default();
            for i in 1..=self.size {
                self.worker.push(i);
                tally.take(self.worker.pop().unwrap_or(0));
            }
            self.shared.tallies.lock().unwrap()[0] = tally;
            return;
        }
        self.shared.rounds.fetch_add(1, Ordering::SeqCst);
        self.shared.drain(0, &self.dest);
        self.shared.done.wait();
    }

    fn check(&mut self) -> u64 {
        let mut all = Tally::default();
        for t in self.shared.tallies.lock().unwrap().iter() {
            all.calls += t.calls;
            all.successes += t.successes;
            all.items += t.items;
            all.sum = all.sum.wrapping_add(t.sum);
            all.squares = all.squares.wrapping_add(t.squares);
        }
        if self.shared.point != Point::PushPop {
            let items = all.items as f64;
            value("calls_per_item", all.calls as f64 / items);
            value("items_per_success", items / all.successes as f64);
        }
        all.items
            .wrapping_add(all.sum.wrapping_mul(3))
            .wrapping_add(all.squares.wrapping_mul(5))
    }

    fn units(&self) -> u64 {
        self.size
    }
}

fn queue(args: &Args) -> Worker<u64> {
    if args.point.ends_with("_fifo") {
        Worker::new_fifo()
    } else {
        Worker::new_lifo()
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let point = match args.point.as_str() {
        "push_pop_lifo" | "push_pop_fifo" => Point::PushPop,
        "steal" => Point::Steal,
        "batch_fifo" | "batch_lifo" => Point::Batch,
        other => panic!("no point {}", other),
    };
    let n = if point == Point::PushPop { 1 } else { args.workers };
    let worker = queue(args);
    let shared = Arc::new(Shared {
        point,
        stealer: worker.stealer(),
        ready: Barrier::new(n),
        done: Barrier::new(n),
        rounds: AtomicU64::new(0),
        gathered: AtomicU64::new(0),
        tallies: Mutex::new(vec![Tally::default(); n]),
    });
    for index in 1..n {
        let shared = Arc::clone(&shared);
        let dest = queue(args);
        std::thread::spawn(move || {
            pin(index);
            for round in 1.. {
                shared.ready.wait();
                shared.gathered.fetch_add(1, Ordering::SeqCst);
                while shared.rounds.load(Ordering::SeqCst) < round {
                    std::hint::spin_loop();
                }
                shared.drain(index, &dest);
                shared.done.wait();
            }
        });
    }
    pin(0);
    Box::new(Deque { shared, worker, dest: queue(args), size: args.size })
}
