// SPDX-License-Identifier: MIT OR Apache-2.0
//
// rayon.rs: rayon's sorts on the input of sort.h; see compare.sh.
//
//     rayon KIND N WORKERS SAMPLES [unstable | stable | std_unstable]
extern crate rayon;
use rayon::prelude::*;

fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e3779b97f4a7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
    z ^ (z >> 31)
}

fn fill(kind: &str, n: usize) -> Vec<u64> {
    let mut state = 1;
    (0..n as u64)
        .map(|i| match kind {
            "random" => next(&mut state),
            "sorted" => i,
            "reversed" => n as u64 - i,
            "equal" => 7,
            "few" => next(&mut state) % 16,
            "organ" => i.min(n as u64 - i),
            "mostly" => {
                if next(&mut state) % 100 == 0 {
                    next(&mut state) % n as u64
                } else {
                    i
                }
            }
            _ => panic!("unknown kind"),
        })
        .collect()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n = args[2].parse::<f64>().unwrap() as usize;
    let workers: usize = args[3].parse().unwrap();
    let samples: usize = args[4].parse().unwrap();
    let how = args.get(5).map_or("unstable", |s| s.as_str());
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(workers)
        .build()
        .unwrap();
    let input = fill(&args[1], n);
    for _ in 0..samples {
        let mut v = input.clone();
        let begin = std::time::Instant::now();
        pool.install(|| match how {
            "unstable" => v.par_sort_unstable(),
            "stable" => v.par_sort(),
            _ => v.sort_unstable(),
        });
        println!("{:.3}", begin.elapsed().as_secs_f64() * 1e3);
        assert!(v.windows(2).all(|w| w[0] <= w[1]));
    }
}
