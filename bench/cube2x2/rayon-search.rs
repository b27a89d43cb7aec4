// SPDX-License-Identifier: MIT OR Apache-2.0
//
// rayon-search.rs: a stack of open states for each job, divided by a join after
// every thousand states: as wsteal-search, by hand.
use crate::runner::{Args, Program};

#[path = "visited.rs"]
mod visited;
use visited::Visited;

fn search(visited: &Visited, mut open: Vec<u32>) {
    while !open.is_empty() {
        for _ in 0..1024 {
            match open.pop() {
                Some(state) => visited.visit(state, |next| open.push(next)),
                None => return,
            }
        }
        if open.len() > 1 {
            let half = open.split_off(open.len() / 2);
            rayon::join(
                || search(visited, half),
                || search(visited, open),
            );
            return;
        }
    }
}

fn run(pool: &rayon::ThreadPool, visited: &Visited) {
    visited.add(0);
    pool.install(|| search(visited, vec![0]));
}

pub fn new(args: &Args) -> Box<dyn Program> {
    visited::new(args, run)
}
