// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{pool, random, Args, Program};
use rayon::prelude::*;

struct Quick {
    pool: rayon::ThreadPool,
    input: Vec<u64>,
    items: Vec<u64>,
}

/// The input of quick.h.
fn fill(kind: &str, n: u64) -> Vec<u64> {
    let mut state = 1;
    (0..n)
        .map(|i| match kind {
            "random" | "" => random(&mut state),
            "sorted" => i,
            "reversed" => n - i,
            "equal" => 7,
            "few" => random(&mut state) % 16,
            "organ" => i.min(n - i),
            other => panic!("no point {}", other),
        })
        .collect()
}

impl Program for Quick {
    fn prepare(&mut self) {
        self.items.copy_from_slice(&self.input);
    }

    fn sample(&mut self) {
        let items = &mut self.items;
        self.pool.install(|| items.par_sort_unstable());
    }

    fn check(&mut self) -> u64 {
        if self.items.windows(2).any(|pair| pair[0] > pair[1]) {
            return 0;
        }
        self.items.iter().fold(1, |hash: u64, item| {
            hash.wrapping_mul(0x9e3779b97f4a7c15).wrapping_add(*item)
        })
    }

    fn units(&self) -> u64 {
        self.items.len() as u64
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let input = fill(&args.point, args.size);
    let items = input.clone();
    Box::new(Quick { pool: pool(args), input, items })
}
