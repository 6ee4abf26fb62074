//! How long the gate takes to answer from a full memory, and to read it: `cargo bench --bench gate -- [KEYS]`.

use exactness::probe::gate::{Demand, Gate};
use exactness::probe::memo::Memo;
use exactness::results::probe::{Key, Outcome, Probed};
use exactness::transcript::clock::Stopwatch;

const ANSWERS: u64 = 100_000;

fn key(number: u64) -> Key {
    Key {
        model: format!("{:064x}", number / 16),
        width: number % 16 + 1,
        window: "single".to_owned(),
        routes: "attention=per-position,delta=chain".to_owned(),
        dtype: "bf16".to_owned(),
        backend: "mlx-cuda".to_owned(),
        version: "0.32.4".to_owned(),
        device: "NVIDIA H200, sm_90".to_owned(),
        program: "0.1.0".to_owned(),
    }
}

fn main() -> anyhow::Result<()> {
    let keys = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(10_000);
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("gate.json");
    let (mut memo, _) = Memo::load(&path);
    for number in 0..keys {
        let outcome = Outcome::Equal { inputs: 3, rows: 1920, bytes: 1 << 30, states: 18 };
        let covered = Some((64, 191));
        let probed =
            Probed { covered, every_row: true, seeds: vec![1, 2, 3], outcome, uncovered: Vec::new() };
        memo.remember(key(number), probed);
    }
    memo.save()?;
    let mut watch = Stopwatch::start();
    let (memo, warning) = Memo::load(&path);
    anyhow::ensure!(warning.is_none(), "{warning:?}");
    let loading = watch.lap();
    let mut gate = Gate::new(memo, false);
    let asked: Vec<Key> = (0..ANSWERS).map(|number| key(number * 7919 % keys)).collect();
    let (mut times, mut engaged) = (Vec::with_capacity(asked.len()), 0);
    watch.lap();
    for key in &asked {
        let decision = gate.decide(key, Demand { prompt: 64, tokens: 100, shorter: false });
        times.push(watch.lap().as_secs_f64() * 1e6);
        engaged += u64::from(decision.engages);
    }
    anyhow::ensure!(engaged == ANSWERS, "{engaged} of {ANSWERS} answers engage");
    times.sort_by(f64::total_cmp);
    // The very slowest are those in which the system ran somebody else.
    let [median, rare, slowest] =
        [times.len() / 2, times.len() * 999 / 1000, times.len() - 1].map(|place| times[place]);
    println!("{keys} keys: loaded in {:.1} ms", loading.as_secs_f64() * 1e3);
    println!("an answer: median {median:.2} µs, 999 of 1000 within {rare:.2} µs, slowest {slowest:.1} µs");
    Ok(())
}
