// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{pool, random, Args, Program};
use rayon::prelude::*;

#[derive(Clone, Copy)]
struct Tree {
    size: u64,
    binomial: bool,
}

#[derive(Clone, Copy)]
struct Node {
    number: u64,
    depth: u64,
}

fn mix(mut x: u64) -> u64 {
    random(&mut x)
}

impl Tree {
    fn children(&self, node: &Node) -> u64 {
        let dice = mix(node.number) >> 32;
        if !self.binomial {
            return if node.depth >= self.size { 0 } else { dice % 9 };
        }
        if node.depth == 0 {
            return 1 << self.size;
        }
        if dice % 100000 < 12490 {
            8
        } else {
            0
        }
    }

    fn count(&self, node: Node) -> u64 {
        let sum: u64 = (0..self.children(&node))
            .into_par_iter()
            .map(|which| {
                let step = 0x632be59bd9b4e019u64.wrapping_mul(which + 1);
                self.count(Node {
                    number: mix(node.number.wrapping_add(step)),
                    depth: node.depth + 1,
                })
            })
            .sum();
        sum + 1
    }
}

struct Search {
    pool: rayon::ThreadPool,
    tree: Tree,
    result: u64,
}

impl Program for Search {
    fn sample(&mut self) {
        let tree = self.tree;
        self.result = self
            .pool
            .install(|| tree.count(Node { number: 42, depth: 0 }));
    }

    fn check(&mut self) -> u64 {
        self.result
    }

    fn units(&self) -> u64 {
        self.result
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let binomial = args.point == "binomial";
    let tree = Tree { size: args.size, binomial };
    Box::new(Search { pool: pool(args), tree, result: 0 })
}
