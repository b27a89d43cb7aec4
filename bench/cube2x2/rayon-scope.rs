// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{Args, Program};

#[path = "visited.rs"]
mod visited;
use visited::Visited;

fn visit<'s>(scope: &rayon::Scope<'s>, visited: &'s Visited, state: u32) {
    visited.visit(state, |next| {
        scope.spawn(move |scope| visit(scope, visited, next));
    });
}

fn run(pool: &rayon::ThreadPool, visited: &Visited) {
    visited.add(0);
    pool.scope(|scope| visit(scope, visited, 0));
}

pub fn new(args: &Args) -> Box<dyn Program> {
    visited::new(args, run)
}
