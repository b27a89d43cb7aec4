// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{pool, Args, Program};

#[path = "queens.rs"]
mod queens;
use queens::{lowest, tasks, Board, EMPTY};

struct Queens {
    pool: rayon::ThreadPool,
    full: u32,
    tasks: u64,
    result: u64,
}

fn try_first(board: &Board, open: u32, full: u32) -> u64 {
    let next = board.place(lowest(open));
    if next.columns == full {
        1
    } else {
        try_row(&next, next.free(full), full)
    }
}

fn try_row(board: &Board, open: u32, full: u32) -> u64 {
    if open == 0 {
        return 0;
    }
    let rest = open & (open - 1);
    if rest == 0 {
        return try_first(board, open, full);
    }
    let (a, b) = rayon::join(
        || try_first(board, open, full),
        || try_row(board, rest, full),
    );
    a + b
}

impl Program for Queens {
    fn sample(&mut self) {
        let full = self.full;
        self.result = self.pool.install(|| try_row(&EMPTY, full, full));
    }

    fn check(&mut self) -> u64 {
        self.result
    }

    fn units(&self) -> u64 {
        self.tasks
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let full = (1 << args.size) - 1;
    let tasks = tasks(&EMPTY, full);
    Box::new(Queens { pool: pool(args), full, tasks, result: 0 })
}
