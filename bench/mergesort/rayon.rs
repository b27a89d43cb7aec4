// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{pool, random, Args, Program};
use rayon::prelude::*;

#[derive(Clone, Copy)]
struct Item {
    key: u32,
    place: u32,
}

struct Merge {
    pool: rayon::ThreadPool,
    input: Vec<Item>,
    items: Vec<Item>,
}

impl Program for Merge {
    fn prepare(&mut self) {
        self.items.copy_from_slice(&self.input);
    }

    fn sample(&mut self) {
        let items = &mut self.items;
        self.pool.install(|| items.par_sort_by_key(|item| item.key));
    }

    fn check(&mut self) -> u64 {
        let mut last = 0;
        let mut hash: u64 = 1;
        for (i, item) in self.items.iter().enumerate() {
            let item = (item.key as u64) << 32 | item.place as u64;
            if i > 0 && item <= last {
                return 0;
            }
            hash = hash.wrapping_mul(0x9e3779b97f4a7c15).wrapping_add(item);
            last = item;
        }
        hash
    }

    fn units(&self) -> u64 {
        self.items.len() as u64
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let mut state = 1;
    let keys = args.size / 4 + 1;
    let input: Vec<Item> = (0..args.size)
        .map(|i| Item {
            key: (random(&mut state) % keys) as u32,
            place: i as u32,
        })
        .collect();
    let items = input.clone();
    Box::new(Merge { pool: pool(args), input, items })
}
