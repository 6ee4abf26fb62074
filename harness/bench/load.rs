//! How long a checkpoint takes from its folder to the device, warm: `cargo bench --bench load -- DIR [RUNS]`.

use exactness::engine::checkpoint::Checkpoint;
use exactness::engine::model::TextModel;
use exactness::transcript::clock::Stopwatch;
use std::path::Path;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let Some(folder) = words.first() else {
        println!("not run: give a checkpoint folder, as made by `exactness synth --geometry 0.8b --bits 4`");
        return Ok(());
    };
    let runs = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(5);
    let mut times: Vec<f64> = (0..runs).map(|_| seconds(Path::new(folder))).collect::<anyhow::Result<_>>()?;
    times.sort_by(f64::total_cmp);
    println!("{runs} loads: median {:.2} s, slowest {:.2} s", times[times.len() / 2], times[times.len() - 1]);
    Ok(())
}

fn seconds(folder: &Path) -> anyhow::Result<f64> {
    let watch = Stopwatch::start();
    let checkpoint = Checkpoint::open(folder)?;
    let model = TextModel::load(&checkpoint, mlx_rs::Dtype::Float32)?;
    let passed = watch.elapsed().as_secs_f64();
    drop(model);
    Ok(passed)
}
