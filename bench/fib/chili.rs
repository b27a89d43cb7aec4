// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{Args, Program};
use chili::{Config, Scope, ThreadPool};
use std::num::NonZeroUsize;

struct Fib {
    pool: ThreadPool,
    n: u64,
    result: u64,
}

fn fib(scope: &mut Scope<'_>, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = scope.join(|s| fib(s, n - 1), |s| fib(s, n - 2));
    a + b
}

impl Program for Fib {
    fn sample(&mut self) {
        self.result = fib(&mut self.pool.scope(), self.n);
    }

    fn check(&mut self) -> u64 {
        self.result
    }

    fn units(&self) -> u64 {
        let (_, next) = (0..self.n).fold((0, 1), |(a, b), _| (b, a + b));
        next - 1
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let pool = ThreadPool::with_config(Config {
        thread_count: NonZeroUsize::new(args.workers),
        ..Config::default()
    });
    Box::new(Fib { pool, n: args.size, result: 0 })
}
