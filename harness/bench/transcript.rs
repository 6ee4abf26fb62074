//! What recording costs: decoding into nothing against decoding into a transcript, pair by pair in one run.
//!
//! `cargo bench --bench transcript [-- PAIRS TOKENS]` prints the median ratio of tokens per second to plain
//! decoding that records nothing, for a transcript without rows and for one with row digests.

use exactness::arms::recorder::FileRecorder;
use exactness::engine::cache::Rewind;
use exactness::engine::model::TextModel;
use exactness::engine::rows::RowDetail;
use exactness::engine::session::{Options, Recorder, Request, Session};
use exactness::engine::side_routes::SideRoutes;
use exactness::engine::tap::Silent;
use exactness::engine::{Result, classic, demo};
use exactness::transcript::clock::Stopwatch;
use exactness::transcript::{Line, Writer};
use std::path::Path;

struct Nothing;

impl Recorder for Nothing {
    fn line(&mut self, _line: Line) -> Result<()> {
        Ok(())
    }
}

fn main() -> anyhow::Result<()> {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<usize>().ok());
    let (pairs, tokens) = (numbers.next().unwrap_or(12), numbers.next().unwrap_or(96));
    let model = TextModel::load(&demo::checkpoint()?, mlx_rs::Dtype::Float32)?;
    let prompt = demo::tokenizer()?.encode("The harbour lay quiet under the first light, and the boats")?;
    let request = Request { sequence: 0, prompt: &prompt, max_tokens: tokens };
    let folder = tempfile::tempdir()?;
    let mut ratios = [Vec::new(), Vec::new()];
    seconds(&model, &request, RowDetail::None, None)?; // warm
    for pair in 0..pairs {
        // Every other pair runs backwards, so that whoever comes first has no lasting advantage.
        let mut order = [None, Some(RowDetail::None), Some(RowDetail::Digest)];
        if pair % 2 == 1 {
            order.reverse();
        }
        let mut taken = [0.0; 3];
        for detail in order {
            let place = detail.map_or(0, |detail| if detail == RowDetail::None { 1 } else { 2 });
            let file = detail.map(|_| folder.path().join(format!("{pair}.{place}.jsonl")));
            taken[place] = seconds(&model, &request, detail.unwrap_or(RowDetail::None), file.as_deref())?;
        }
        ratios[0].push(taken[0] / taken[1]);
        ratios[1].push(taken[0] / taken[2]);
    }
    println!("{pairs} pairs, {tokens} tokens each, demo checkpoint, plain decoding");
    println!("transcript without rows:     {:.4} of the bare speed", median(&mut ratios[0]));
    println!("transcript with row digests: {:.4} of the bare speed", median(&mut ratios[1]));
    Ok(())
}

/// Seconds for one decoding, recorded into `file` or into nothing.
fn seconds(
    model: &TextModel,
    request: &Request<'_>,
    detail: RowDetail,
    file: Option<&Path>,
) -> anyhow::Result<f64> {
    let options = Options {
        end_ids: model.config().end_ids.clone(),
        ignore_eos: true,
        prefill_chunk: 512,
        rewind: Rewind::KeepStates,
        detail,
        states: false,
        routes: SideRoutes::default(),
    };
    let mut silent = Silent;
    let mut session = Session::new(model, &options, &mut silent)?;
    let watch = Stopwatch::start();
    match file {
        None => drop(classic::decode(&mut session, request, &mut Nothing)?),
        Some(file) => {
            let mut writer = Writer::create(file, false)?;
            let mut recorder = FileRecorder::new(&mut writer, &|_| {});
            drop(classic::decode(&mut session, request, &mut recorder)?);
        }
    }
    Ok(watch.elapsed().as_secs_f64())
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
