// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{pool, Args, Program};

#[path = "cube.rs"]
mod cube;
use cube::{Cube, Levels};

struct Search {
    pool: rayon::ThreadPool,
    cube: Cube,
    levels: Levels,
}

impl Program for Search {
    fn prepare(&mut self) {
        self.levels.begin();
    }

    fn sample(&mut self) {
        let Search { pool, cube, levels } = self;
        pool.install(|| levels.search(cube));
    }

    fn check(&mut self) -> u64 {
        self.levels.check()
    }

    fn units(&self) -> u64 {
        self.levels.n_seen
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let cube = Cube::new(args.size);
    Box::new(Search { pool: pool(args), cube, levels: Levels::new() })
}
