// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cube.rs: examples/cube.h and examples/cube_levels.h in Rust.
use rayon::prelude::*;

const PERMS: usize = 5040;
pub const TWISTS: usize = 729;
pub const STATES: usize = PERMS * TWISTS;
pub const MOVES: usize = 9;
const WORDS: usize = 12;

/// Where each state of a part goes by each move; permutations times 729.
pub struct Cube {
    pub perm_to: Vec<[u32; MOVES]>,
    pub twist_to: Vec<[u16; MOVES]>,
    pub moves: usize,
}

const TURN_PERM: [[usize; 7]; 3] =
    [[3, 0, 1, 2, 4, 5, 6], [4, 1, 2, 0, 6, 5, 3], [1, 5, 2, 3, 0, 4, 6]];
const TURN_TWIST: [[u8; 7]; 3] =
    [[0, 0, 0, 0, 0, 0, 0], [2, 0, 0, 1, 1, 0, 2], [1, 2, 0, 0, 2, 1, 0]];

fn perm_rank(perm: &[u8; 7]) -> usize {
    (0..7).fold(0, |rank, i| {
        let smaller = perm[i + 1..].iter().filter(|p| **p < perm[i]).count();
        rank * (7 - i) + smaller
    })
}

fn perm_unrank(mut rank: usize) -> [u8; 7] {
    let mut perm = [0; 7];
    for i in (0..7).rev() {
        perm[i] = (rank % (7 - i)) as u8;
        rank /= 7 - i;
        for k in i + 1..7 {
            perm[k] += (perm[k] >= perm[i]) as u8;
        }
    }
    perm
}

fn twist_rank(twist: &[u8; 7]) -> usize {
    twist[..6].iter().fold(0, |rank, t| rank * 3 + *t as usize)
}

fn twist_unrank(mut rank: usize) -> [u8; 7] {
    let mut twist = [0; 7];
    let mut sum = 0;
    for i in (0..6).rev() {
        twist[i] = (rank % 3) as u8;
        sum += twist[i];
        rank /= 3;
    }
    twist[6] = (3 - sum % 3) % 3;
    twist
}

impl Cube {
    /// With so many faces that turn.
    pub fn new(faces: u64) -> Cube {
        assert!(faces <= 3);
        let mut perm_to = vec![[0; MOVES]; PERMS];
        let mut twist_to = vec![[0; MOVES]; TWISTS];
        for (p, to) in perm_to.iter_mut().enumerate() {
            for face in 0..3 {
                let mut part = perm_unrank(p);
                for turn in 0..3 {
                    let from = part;
                    for i in 0..7 {
                        part[i] = from[TURN_PERM[face][i]];
                    }
                    to[face * 3 + turn] = (perm_rank(&part) * TWISTS) as u32;
                }
            }
        }
        for (t, to) in twist_to.iter_mut().enumerate() {
            for face in 0..3 {
                let mut part = twist_unrank(t);
                for turn in 0..3 {
                    let from = part;
                    for i in 0..7 {
                        part[i] = (from[TURN_PERM[face][i]]
                            + TURN_TWIST[face][i])
                            % 3;
                    }
                    to[face * 3 + turn] = twist_rank(&part) as u16;
                }
            }
        }
        Cube { perm_to, twist_to, moves: faces as usize * 3 }
    }
}

type Bits = [u64; WORDS];

/// The levels of a search.
pub struct Levels {
    pub seen: Vec<Bits>,
    now: Vec<Bits>,
    next: Vec<Bits>,
    backwards: bool,
    pub n_seen: u64,
    counts: Vec<u64>,
}

fn inverse(m: usize) -> usize {
    m - m % 3 + (2 - m % 3)
}

fn forwards(cube: &Cube, now: &[Bits], p: usize, out: &mut Bits) {
    for m in 0..cube.moves {
        let from = cube.perm_to[p][inverse(m)] as usize / TWISTS;
        for (w, word) in now[from].iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                let to = cube.twist_to[w * 64 + bit][m] as usize;
                out[to / 64] |= 1 << (to % 64);
                left &= left - 1;
            }
        }
    }
}

fn backwards(
    cube: &Cube,
    now: &[Bits],
    seen: &Bits,
    p: usize,
    out: &mut Bits,
) {
    let mut near = [&now[0]; MOVES];
    for m in 0..cube.moves {
        near[m] = &now[cube.perm_to[p][m] as usize / TWISTS];
    }
    for w in 0..WORDS {
        let all = if w < WORDS - 1 { !0 } else { (1 << (TWISTS % 64)) - 1 };
        let mut left: u64 = all & !seen[w];
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            let next = &cube.twist_to[w * 64 + bit];
            let found = (0..cube.moves).any(|m| {
                let to = next[m] as usize;
                near[m][to / 64] >> (to % 64) & 1 != 0
            });
            out[w] |= (found as u64) << bit;
            left &= left - 1;
        }
    }
}

impl Levels {
    pub fn new() -> Levels {
        let none = vec![[0; WORDS]; PERMS];
        Levels {
            seen: none.clone(),
            now: none.clone(),
            next: none,
            backwards: false,
            n_seen: 0,
            counts: Vec::new(),
        }
    }

    pub fn begin(&mut self) {
        for bits in [&mut self.seen, &mut self.now, &mut self.next] {
            bits.fill([0; WORDS]);
        }
        self.next[0][0] = 1;
        self.seen[0][0] = 1;
        self.n_seen = 0;
        self.counts.clear();
    }

    fn open(&mut self, found: u64) {
        std::mem::swap(&mut self.now, &mut self.next);
        self.counts.push(found);
        self.n_seen += found;
        self.backwards = found > (STATES as u64 - self.n_seen) / 4;
    }

    /// The next level: how many states it has.
    fn step(&mut self, cube: &Cube) -> u64 {
        let (now, is_backwards) = (&self.now, self.backwards);
        self.next
            .par_iter_mut()
            .zip(self.seen.par_iter_mut())
            .enumerate()
            .map(|(p, (next, seen))| {
                let mut out = [0; WORDS];
                if is_backwards {
                    backwards(cube, now, seen, p, &mut out);
                } else {
                    forwards(cube, now, p, &mut out);
                }
                let mut found = 0;
                for w in 0..WORDS {
                    out[w] &= !seen[w];
                    seen[w] |= out[w];
                    found += out[w].count_ones() as u64;
                }
                *next = out;
                found
            })
            .sum()
    }

    /// From begin() on, all of them.
    pub fn search(&mut self, cube: &Cube) {
        let mut found = 1;
        while found > 0 {
            self.open(found);
            found = self.step(cube);
        }
    }

    /// Of the counts per depth.
    pub fn check(&self) -> u64 {
        self.counts.iter().fold(1, |hash: u64, n| {
            hash.wrapping_mul(0x9e3779b97f4a7c15).wrapping_add(*n)
        })
    }
}
