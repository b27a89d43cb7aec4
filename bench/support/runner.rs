// SPDX-License-Identifier: MIT OR Apache-2.0
//
// runner.rs: runner.h for programs in Rust.

use std::io::{BufRead, Write};
use std::time::Instant;

pub struct Args {
    pub workers: usize,
    pub size: u64,
    pub point: String,
}

pub trait Program {
    /// Before each sample, not timed.
    fn prepare(&mut self) {}
    /// What is timed.
    fn sample(&mut self);
    /// Of the last sample, not timed; may print `value` and `series` lines.
    fn check(&mut self) -> u64;
    /// Units of work in the last sample.
    fn units(&self) -> u64;
}

/// A stream of random numbers (splitmix64), the same in every language.
#[allow(dead_code)]
pub fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e3779b97f4a7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
    z ^ (z >> 31)
}

#[allow(dead_code)]
pub fn value(name: &str, value: f64) {
    println!("value {} {}", name, value);
}

#[allow(dead_code)]
pub fn series(name: &str, values: &[f64]) {
    let words: Vec<String> = values.iter().map(|v| v.to_string()).collect();
    println!("series {} {}", name, words.join(" "));
}

/// A rayon pool with the workers of the arguments.
#[allow(dead_code)]
pub fn pool(args: &Args) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new()
        .num_threads(args.workers)
        .build()
        .expect("a pool")
}

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    fn dlsym(handle: *mut u8, name: *const u8) -> *mut u8;
}

const CLOCK_PROCESS_CPUTIME_ID: i32 = 2;

pub fn cpu_ns() -> u64 {
    let mut t = Timespec { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.seconds as u64 * 1_000_000_000 + t.nanoseconds as u64
}

fn peak_kib() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let words = line.unwrap_or("").split_whitespace().nth(1);
    words.and_then(|word| word.parse().ok()).unwrap_or(0)
}

type Counter = extern "C" fn() -> u64;

/// From count_malloc.c, if that is preloaded.
fn counter() -> Option<Counter> {
    let name = b"bench_allocations\0";
    let found = unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) };
    if found.is_null() {
        None
    } else {
        Some(unsafe { std::mem::transmute::<*mut u8, Counter>(found) })
    }
}

fn parse(words: &[String]) -> Args {
    let mut args = Args { workers: 1, size: 0, point: String::new() };
    for pair in words.chunks(2) {
        match pair[0].as_str() {
            "--workers" => args.workers = pair[1].parse().expect("a number"),
            "--size" => args.size = pair[1].parse().expect("a number"),
            "--point" => args.point = pair[1].clone(),
            other => panic!("what is {}?", other),
        }
    }
    assert!(args.workers >= 1 && args.size >= 1);
    args
}

/// The whole of main(); `words` are what follows the name of the workload.
pub fn run(words: &[String], new: fn(&Args) -> Box<dyn Program>) {
    let args = parse(words);
    let mut program = new(&args);
    let count = counter();
    let now = || count.map_or(0, |f| f());
    let mut allocated = 0;
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        if line.expect("a line") != "go" {
            break;
        }
        program.prepare();
        let before = now();
        let cpu = cpu_ns();
        let start = Instant::now();
        program.sample();
        let wall = start.elapsed().as_nanos();
        let cpu = cpu_ns() - cpu;
        allocated = now() - before;
        let check = program.check();
        println!("sample {} {} {} {:x}", wall, cpu, program.units(), check);
        std::io::stdout().flush().expect("a reader");
    }
    let allocated = count.map_or(-1, |_| allocated as i64);
    println!("end {} {}", peak_kib(), allocated);
}
