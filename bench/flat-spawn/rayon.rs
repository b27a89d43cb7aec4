// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{pool, Args, Program};
use std::sync::atomic::{AtomicU64, Ordering};

#[repr(align(128))]
struct Count(AtomicU64);

struct Flat {
    pool: rayon::ThreadPool,
    size: u64,
    ran: Vec<Count>,
}

impl Program for Flat {
    fn sample(&mut self) {
        let size = self.size;
        let ran = &self.ran;
        self.pool.scope(|scope| {
            for _ in 0..size {
                scope.spawn(move |_| {
                    // Its own: a load and a store are enough.
                    let mine = rayon::current_thread_index().unwrap_or(0);
                    let count = ran[mine].0.load(Ordering::Relaxed);
                    ran[mine].0.store(count + 1, Ordering::Relaxed);
                });
            }
        });
    }

    fn check(&mut self) -> u64 {
        self.ran.iter().map(|c| c.0.swap(0, Ordering::Relaxed)).sum()
    }

    fn units(&self) -> u64 {
        self.size
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let ran = (0..args.workers).map(|_| Count(AtomicU64::new(0))).collect();
    Box::new(Flat { pool: pool(args), size: args.size, ran })
}
