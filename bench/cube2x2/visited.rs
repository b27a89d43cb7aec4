// SPDX-License-Identifier: MIT OR Apache-2.0
//
// visited.rs: visited.h in Rust.
use crate::runner::{pool, Args, Program};
use std::sync::atomic::{AtomicU32, Ordering};

#[path = "cube.rs"]
mod cube;
use cube::{Cube, Levels, MOVES, STATES, TWISTS};

/// What is known of the cube, and a bit for each state.
pub struct Visited {
    cube: Cube,
    bits: Vec<AtomicU32>,
}

impl Visited {
    fn look(&self, state: u32) -> u32 {
        let word = self.bits[state as usize / 32].load(Ordering::Relaxed);
        !(word >> (state % 32)) & 1
    }

    /// Was it new? No longer.
    pub fn add(&self, state: u32) -> bool {
        let bit = 1 << (state % 32);
        let word = &self.bits[state as usize / 32];
        word.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Calls `found` with each state that follows and is new.
    pub fn visit(&self, state: u32, mut found: impl FnMut(u32)) {
        let perm = &self.cube.perm_to[state as usize / TWISTS];
        let twist = &self.cube.twist_to[state as usize % TWISTS];
        // One more, so that no place is out of bounds behind the last.
        let mut next = [0; MOVES + 1];
        let mut n = 0;
        for m in 0..self.cube.moves {
            next[n] = perm[m] + twist[m] as u32;
            n += self.look(next[n]) as usize;
        }
        for state in &next[..n] {
            if self.add(*state) {
                found(*state);
            }
        }
    }
}

struct Search {
    pool: rayon::ThreadPool,
    visited: Visited,
    levels: Levels,
    run: fn(&rayon::ThreadPool, &Visited),
}

impl Program for Search {
    fn prepare(&mut self) {
        for word in &mut self.visited.bits {
            *word.get_mut() = 0;
        }
    }

    fn sample(&mut self) {
        (self.run)(&self.pool, &self.visited);
    }

    fn check(&mut self) -> u64 {
        let same = (0..STATES as u32).all(|state| {
            let twist = state as usize % TWISTS;
            let bits = &self.levels.seen[state as usize / TWISTS];
            (bits[twist / 64] >> (twist % 64) & 1) as u32
                != self.visited.look(state)
        });
        if same {
            self.levels.check()
        } else {
            0
        }
    }

    fn units(&self) -> u64 {
        self.levels.n_seen
    }
}

/// A program that visits all states by `run`.
pub fn new(
    args: &Args,
    run: fn(&rayon::ThreadPool, &Visited),
) -> Box<dyn Program> {
    let pool = pool(args);
    let cube = Cube::new(args.size);
    let mut levels = Levels::new();
    levels.begin();
    pool.install(|| levels.search(&cube));
    let bits = (0..STATES / 32 + 1).map(|_| AtomicU32::new(0)).collect();
    let visited = Visited { cube, bits };
    Box::new(Search { pool, visited, levels, run })
}
