// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{pool, series, value, Args, Program};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

// As in wake.h.
const REST: Duration = Duration::from_millis(1);
const BUSY: Duration = Duration::from_micros(100);
const LEAF: Duration = Duration::from_millis(100);

struct Wake {
    pool: rayon::ThreadPool,
    leaf: bool,
    rounds: u64,
    jobs: AtomicU64,
    us: Vec<f64>,
}

impl Wake {
    fn submit(&self) -> Duration {
        let begin = Instant::now();
        self.pool.install(|| self.jobs.fetch_add(1, Ordering::Relaxed));
        begin.elapsed()
    }

    fn leaf(&self) -> Duration {
        let zero = Instant::now();
        // Nanoseconds since `zero`; 0: not begun.
        let begun = AtomicU64::new(0);
        let now = || zero.elapsed().as_nanos() as u64;
        let long_leaf = || {
            let at = Instant::now();
            let leaf_at = now();
            while begun.load(Ordering::Acquire) == 0 && at.elapsed() < LEAF {}
            leaf_at
        };
        let note = || {
            begun.store(now(), Ordering::Release);
            self.jobs.fetch_add(1, Ordering::Relaxed);
        };
        let leaf_at = self.pool.install(|| {
            let start = Instant::now();
            while start.elapsed() < BUSY {
                rayon::join(|| (), || ());
            }
            rayon::join(long_leaf, note).0
        });
        let begun = begun.load(Ordering::Acquire);
        Duration::from_nanos(begun.saturating_sub(leaf_at))
    }
}

impl Program for Wake {
    fn sample(&mut self) {
        self.us.clear();
        self.jobs.store(0, Ordering::Relaxed);
        for _ in 0..self.rounds {
            std::thread::sleep(REST);
            let took = if self.leaf { self.leaf() } else { self.submit() };
            self.us.push(took.as_nanos() as f64 / 1000.0);
        }
    }

    fn check(&mut self) -> u64 {
        self.us.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
        let rank = |r: f64| self.us[(self.us.len() as f64 * r) as usize];
        value("p50_us", rank(0.5));
        value("p99_us", rank(0.99));
        value("p999_us", rank(0.999));
        series("latency_us", &self.us);
        self.jobs.load(Ordering::Relaxed)
    }

    fn units(&self) -> u64 {
        self.rounds
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let leaf = match args.point.as_str() {
        "submit" => false,
        "leaf" => true,
        other => panic!("no point {}", other),
    };
    let workers = if leaf { args.workers.max(2) } else { args.workers };
    Box::new(Wake {
        pool: pool(&Args { workers, size: args.size, point: String::new() }),
        leaf,
        rounds: args.size,
        jobs: AtomicU64::new(0),
        us: Vec::new(),
    })
}
