// SPDX-License-Identifier: MIT OR Apache-2.0
//
// queens.rs: queens.h in Rust.

#[derive(Clone, Copy)]
pub struct Board {
    pub columns: u32,
    left: u32,
    right: u32,
}

pub const EMPTY: Board = Board { columns: 0, left: 0, right: 0 };

impl Board {
    pub fn free(&self, full: u32) -> u32 {
        full & !(self.columns | self.left | self.right)
    }

    pub fn place(&self, bit: u32) -> Board {
        Board {
            columns: self.columns | bit,
            left: (self.left | bit) << 1,
            right: (self.right | bit) >> 1,
        }
    }
}

pub fn lowest(open: u32) -> u32 {
    open & open.wrapping_neg()
}

/// How many queens are placed on the way to all solutions.
pub fn tasks(board: &Board, full: u32) -> u64 {
    let mut sum = 0;
    let mut open = board.free(full);
    while open != 0 {
        sum += 1 + tasks(&board.place(lowest(open)), full);
        open &= open - 1;
    }
    sum
}
