// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{pool, Args, Program};

struct Fib {
    pool: rayon::ThreadPool,
    n: u64,
    result: u64,
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

impl Program for Fib {
    fn sample(&mut self) {
        let n = self.n;
        self.result = self.pool.install(|| fib(n));
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
    Box::new(Fib { pool: pool(args), n: args.size, result: 0 })
}
