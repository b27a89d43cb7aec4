// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{pool, Args, Program};
use std::sync::atomic::{AtomicU64, Ordering};

#[path = "queens.rs"]
mod queens;
use queens::{lowest, tasks, Board, EMPTY};

struct Queens {
    pool: rayon::ThreadPool,
    full: u32,
    tasks: u64,
    result: AtomicU64,
}

fn place<'s>(
    scope: &rayon::Scope<'s>,
    board: Board,
    full: u32,
    found: &'s AtomicU64,
) {
    if board.columns == full {
        found.fetch_add(1, Ordering::Relaxed);
        return;
    }
    let mut open = board.free(full);
    while open != 0 {
        let next = board.place(lowest(open));
        scope.spawn(move |scope| place(scope, next, full, found));
        open &= open - 1;
    }
}

impl Program for Queens {
    fn sample(&mut self) {
        let full = self.full;
        self.result.store(0, Ordering::Relaxed);
        let found = &self.result;
        self.pool.scope(|scope| place(scope, EMPTY, full, found));
    }

    fn check(&mut self) -> u64 {
        self.result.load(Ordering::Relaxed)
    }

    fn units(&self) -> u64 {
        self.tasks
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let full = (1 << args.size) - 1;
    let tasks = tasks(&EMPTY, full);
    let result = AtomicU64::new(0);
    Box::new(Queens { pool: pool(args), full, tasks, result })
}
