// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{pool, Args, Program};

const NONE: u32 = u32::MAX;

struct Node {
    left: u32,
    right: u32,
    value: u64,
}

struct Tree {
    pool: rayon::ThreadPool,
    nodes: Vec<Node>,
    depth: u64,
    result: u64,
}

/// Builds a tree of the depth at the end of the array, depth first.
fn build(nodes: &mut Vec<Node>, depth: u64) -> u32 {
    let at = nodes.len();
    nodes.push(Node { left: NONE, right: NONE, value: at as u64 * 7 + 1 });
    if depth > 1 {
        nodes[at].left = build(nodes, depth - 1);
        nodes[at].right = build(nodes, depth - 1);
    }
    at as u32
}

fn sum(nodes: &[Node], at: u32) -> u64 {
    if at == NONE {
        return 0;
    }
    let node = &nodes[at as usize];
    let (left, right) =
        rayon::join(|| sum(nodes, node.left), || sum(nodes, node.right));
    left + right + node.value
}

impl Program for Tree {
    fn sample(&mut self) {
        let nodes = &self.nodes;
        self.result = self.pool.install(|| sum(nodes, 0));
    }

    fn check(&mut self) -> u64 {
        self.result
    }

    fn units(&self) -> u64 {
        (1 << self.depth) - 1
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let mut nodes = Vec::with_capacity(1 << args.size);
    build(&mut nodes, args.size);
    Box::new(Tree { pool: pool(args), nodes, depth: args.size, result: 0 })
}
