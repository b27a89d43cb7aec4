// SPDX-License-Identifier: MIT OR Apache-2.0
use crate::runner::{pool, random, Args, Program};

const BLOCK: usize = 32;

struct Matmul {
    pool: rayon::ThreadPool,
    rows: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

fn leaf(c: &mut [f64], a: &[f64], b: &[f64]) {
    for (c, a) in c.chunks_exact_mut(BLOCK).zip(a.chunks_exact(BLOCK)) {
        for (x, rows) in a.chunks_exact(4).zip(b.chunks_exact(4 * BLOCK)) {
            let (row0, rows) = rows.split_at(BLOCK);
            let (row1, rows) = rows.split_at(BLOCK);
            let (row2, row3) = rows.split_at(BLOCK);
            for j in 0..BLOCK {
                c[j] += x[0] * row0[j]
                    + x[1] * row1[j]
                    + x[2] * row2[j]
                    + x[3] * row3[j];
            }
        }
    }
}

fn multiply(c: &mut [f64], a: &[f64], b: &[f64]) {
    if c.len() == BLOCK * BLOCK {
        return leaf(c, a, b);
    }
    let q = c.len() / 4;
    let quadrant = |i: usize, k: usize, c: &mut [f64]| {
        let row = &a[2 * i * q..][..2 * q];
        multiply(c, &row[..q], &b[k * q..][..q]);
        multiply(c, &row[q..], &b[(2 + k) * q..][..q]);
    };
    let (upper, lower) = c.split_at_mut(2 * q);
    let (c0, c1) = upper.split_at_mut(q);
    let (c2, c3) = lower.split_at_mut(q);
    rayon::join(
        || rayon::join(|| quadrant(0, 0, c0), || quadrant(0, 1, c1)),
        || rayon::join(|| quadrant(1, 0, c2), || quadrant(1, 1, c3)),
    );
}

impl Program for Matmul {
    fn prepare(&mut self) {
        self.c.fill(0.0);
    }

    fn sample(&mut self) {
        let (a, b, c) = (&self.a, &self.b, &mut self.c);
        self.pool.install(|| multiply(c, a, b));
    }

    fn check(&mut self) -> u64 {
        self.c.iter().fold(1, |hash: u64, x| {
            hash.wrapping_mul(0x9e3779b97f4a7c15).wrapping_add(*x as u64)
        })
    }

    fn units(&self) -> u64 {
        (self.rows * self.rows * self.rows) as u64
    }
}

pub fn new(args: &Args) -> Box<dyn Program> {
    let rows = args.size as usize;
    assert!(rows % BLOCK == 0 && (rows / BLOCK).is_power_of_two());
    let mut state = 1;
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..rows * rows {
        a.push((random(&mut state) % 8) as f64);
        b.push((random(&mut state) % 8) as f64);
    }
    let c = vec![0.0; rows * rows];
    Box::new(Matmul { pool: pool(args), rows, a, b, c })
}
