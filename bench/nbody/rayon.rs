// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{pool, random, Args, Program};
use rayon::prelude::*;

const STEPS: usize = 4;
const SOFTENING: f64 = 0.01;
const TIME: f64 = 0.01;

#[derive(Clone, Copy)]
struct Body {
    at: [f64; 3],
    mass: f64,
}

struct Nbody {
    pool: rayon::ThreadPool,
    start: Vec<Body>,
    now: Vec<Body>,
    next: Vec<Body>,
    speeds: Vec<[f64; 3]>,
}

fn next_of(body: &Body, speed: &mut [f64; 3], now: &[Body]) -> Body {
    let mut pull = [0.0; 3];
    for other in now {
        let x = other.at[0] - body.at[0];
        let y = other.at[1] - body.at[1];
        let z = other.at[2] - body.at[2];
        let square = x * x + y * y + z * z + SOFTENING;
        let scale = other.mass / (square * square.sqrt());
        pull[0] += x * scale;
        pull[1] += y * scale;
        pull[2] += z * scale;
    }
    let mut next = *body;
    for d in 0..3 {
        speed[d] += pull[d] * TIME;
        next.at[d] += speed[d] * TIME;
    }
    next
}

impl Program for Nbody {
    fn prepare(&mut self) {
        self.now.copy_from_slice(&self.start);
        self.speeds.fill([0.0; 3]);
    }

    fn sample(&mut self) {
        let Nbody { pool, now, next, speeds, .. } = self;
        pool.install(|| {
            for _ in 0..STEPS {
                next.par_iter_mut()
                    .zip(now.par_iter())
                    .zip(speeds.par_iter_mut())
                    .for_each(|((next, body), speed)| {
                        *next = next_of(body, speed, now);
                    });
                std::mem::swap(now, next);
            }
        });
    }

    fn check(&mut self) -> u64 {
        self.now.iter().flat_map(|body| &body.at).fold(1, |hash: u64, x| {
            hash.wrapping_mul(0x9e3779b97f4a7c15)
                .wrapping_add((x * 1e6) as i64 as u64)
        })
    }

    fn units(&self) -> u64 {
        (self.now.len() * self.now.len() * STEPS) as u64
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let mut state = 1;
    let mut fraction =
        || (random(&mut state) >> 11) as f64 / 9007199254740992.0;
    let mass = 1.0 / args.size as f64;
    let start: Vec<Body> = (0..args.size)
        .map(|_| Body { at: [fraction(), fraction(), fraction()], mass })
        .collect();
    let (now, next) = (start.clone(), start.clone());
    let speeds = vec![[0.0; 3]; start.len()];
    Box::new(Nbody { pool: pool(args), start, now, next, speeds })
}
