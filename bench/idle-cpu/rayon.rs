// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{cpu_ns, pool, random, value, Args, Program};
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;

// As in idle.h.
const DEPTH: u32 = 11;
const SETTLE: Duration = Duration::from_millis(220);
const TICK_MS: u64 = 10;

#[derive(Clone, Copy, PartialEq)]
enum Point {
    Idle,
    AfterBurst,
    SleepingJob,
    Ticks,
}

struct Idle {
    pool: rayon::ThreadPool,
    point: Point,
    ms: u64,
    cpu_ns: u64,
    jobs: AtomicU64,
}

fn leaf() -> u64 {
    let mut state = 0;
    let mut any = 0;
    for _ in 0..2000 {
        any |= black_box(random(&mut state));
    }
    (any != 0) as u64
}

fn tree(depth: u32) -> u64 {
    if depth == 0 {
        return leaf();
    }
    let (a, b) = rayon::join(|| tree(depth - 1), || tree(depth - 1));
    a + b
}

impl Idle {
    fn job(&self) {
        self.jobs.fetch_add(1, Ordering::Relaxed);
    }
}

impl Program for Idle {
    fn prepare(&mut self) {
        self.jobs = AtomicU64::new(0);
        if self.point == Point::SleepingJob {
            sleep(SETTLE);
        } else if self.point == Point::AfterBurst {
            self.jobs = AtomicU64::new(self.pool.install(|| tree(DEPTH)));
        }
    }

    fn sample(&mut self) {
        let cpu = cpu_ns();
        let all = Duration::from_millis(self.ms);
        match self.point {
            Point::Idle | Point::AfterBurst => sleep(all),
            Point::SleepingJob => self.pool.install(|| {
                self.job();
                sleep(all);
            }),
            Point::Ticks => {
                for _ in (0..self.ms).step_by(TICK_MS as usize) {
                    self.pool.install(|| self.job());
                    sleep(Duration::from_millis(TICK_MS));
                }
            }
        }
        self.cpu_ns = cpu_ns() - cpu;
    }

    fn check(&mut self) -> u64 {
        let cpu_us = self.cpu_ns as f64 / 1000.0;
        value("cpu_us", cpu_us);
        value("cpu_us_per_s", cpu_us * 1000.0 / self.ms as f64);
        self.jobs.load(Ordering::Relaxed)
    }

    fn units(&self) -> u64 {
        self.ms
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let point = match args.point.as_str() {
        "idle" => Point::Idle,
        "after_burst" => Point::AfterBurst,
        "sleeping_job" => Point::SleepingJob,
        "ticks" => Point::Ticks,
        other => panic!("no point {}", other),
    };
    let pool = pool(args);
    pool.install(|| tree(DEPTH));
    if point == Point::Idle {
        sleep(SETTLE);
    }
    Box::new(Idle {
        pool,
        point,
        ms: args.size,
        cpu_ns: 0,
        jobs: AtomicU64::new(0),
    })
}
