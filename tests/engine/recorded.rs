//! What arms record is lawful, and what the laws say of ends of text holds in the engine.

use super::support::{Memory, model, options, prompt};
use exactness::algebra::{Verdict, judge_arm};
use exactness::arms::run::{Identity, ran};
use exactness::arms::{ArmSpec, Bench, PromptSet};
use exactness::engine::classic;
use exactness::engine::drafter::{DrafterSpec, Ground};
use exactness::engine::model::TextModel;
use exactness::engine::round;
use exactness::engine::session::{Options, Request, Session};
use exactness::engine::tap::Silent;
use exactness::results::arms::ArmRun;
use exactness::transcript::format::FinishReason;
use exactness::transcript::{Arm, TokenId};
use std::path::Path;

fn record(
    model: &TextModel,
    prompts: &PromptSet,
    drafter: &str,
    spec: ArmSpec,
    folder: &Path,
    classic: &[Vec<TokenId>],
) -> (Arm, ArmRun) {
    let drafter: DrafterSpec = drafter.parse().unwrap();
    let recording = drafter.prepare().unwrap();
    let options = options();
    let identity = Identity::default();
    let bench = Bench {
        model,
        tokenizer: None,
        prompts,
        max_tokens: 24,
        options: &options,
        drafter: &drafter,
        recording: recording.as_ref(),
        plants: &[],
        identity: &identity,
        progress: &|_| {},
    };
    let file = folder.join(spec.file());
    let run = ran(&bench, spec, &file, classic).unwrap();
    (Arm::read(&file).unwrap(), run)
}

#[test]
fn every_recorded_arm_is_lawful() {
    let model = model("tiny-random-qwen35");
    let prompts = PromptSet::drawn(1, model.config().vocab_size);
    let folder = tempfile::tempdir().unwrap();
    let (arm, classic) = record(&model, &prompts, "ngram", ArmSpec::classic(0), folder.path(), &[]);
    assert_eq!(judge_arm(&arm).verdict, Verdict::Consistent);
    let mut drafters = vec![
        "oracle".to_owned(),
        "wrong".to_owned(),
        "cycle:2,0".to_owned(),
        "random:9".to_owned(),
        "ngram".to_owned(),
    ];
    drafters.push(format!("recorded:{}", folder.path().join("w4.jsonl").display()));
    for (number, drafter) in drafters.iter().enumerate() {
        let own = if number == 0 { folder.path().to_owned() } else { folder.path().join(number.to_string()) };
        let spec = ArmSpec { width: Some(4), repeat: 0 };
        let (arm, run) = record(&model, &prompts, drafter, spec, &own, &classic.streams);
        let judged = judge_arm(&arm);
        assert_eq!(judged.verdict, Verdict::Consistent, "{drafter}: {:?}", judged.sequences);
        for law in [
            "accepted-prefix",
            "emission",
            "cache-length",
            "state-kept",
            "row-choice",
            "row-position",
            "counter-accepted",
        ] {
            assert!(judged.checked.contains(&law), "{drafter}: {law} was not checked");
        }
        assert_eq!(run.streams, classic.streams, "{drafter}");
    }
}

#[test]
fn a_recorded_drafter_repeats_the_rounds() {
    let model = model("tiny-random-qwen35");
    let prompts = PromptSet::drawn(2, model.config().vocab_size);
    let folder = tempfile::tempdir().unwrap();
    let (_, classic) = record(&model, &prompts, "ngram", ArmSpec::classic(0), folder.path(), &[]);
    let spec = ArmSpec { width: Some(3), repeat: 0 };
    let (first, _) = record(&model, &prompts, "cycle:1,0,2", spec, folder.path(), &classic.streams);
    let again = format!("recorded:{}", folder.path().join("w3.jsonl").display());
    let (second, _) = record(&model, &prompts, &again, spec, &folder.path().join("again"), &[]);
    let drafts = |arm: &Arm| -> Vec<Vec<TokenId>> {
        arm.sequences.iter().flat_map(|one| one.rounds.iter().map(|round| round.draft.clone())).collect()
    };
    assert!(drafts(&first).len() > 4);
    assert_eq!(drafts(&first), drafts(&second));
}

fn decode(
    model: &TextModel,
    ids: &[TokenId],
    width: Option<usize>,
    options: &Options,
) -> (Vec<TokenId>, FinishReason) {
    let mut silent = Silent;
    let mut session = Session::new(model, options, &mut silent).unwrap();
    let request = Request { sequence: 0, prompt: ids, max_tokens: 40 };
    let mut memory = Memory::default();
    let Some(width) = width else {
        let done = classic::decode(&mut session, &request, &mut memory).unwrap();
        return (done.tokens, done.finish);
    };
    let (reference, _) = decode(model, ids, None, options);
    let ground = Ground { sequence: 0, reference: &reference, vocabulary: model.config().vocab_size };
    let mut drafter = DrafterSpec::Oracle.build(&ground, None);
    let done = round::decode(&mut session, &request, (width, drafter.as_mut()), &mut memory).unwrap();
    (done.decoded.tokens, done.decoded.finish)
}

#[test]
fn an_end_id_inside_an_accepted_block_ends_the_text_there() {
    let model = model("tiny-random-qwen35");
    let ids = prompt(11, 30, 512);
    let (free, _) = decode(&model, &ids, None, &options());
    for (place, &end) in free.iter().enumerate().take(9).skip(1) {
        let options = Options { end_ids: vec![end], ..options() };
        let plain = decode(&model, &ids, None, &options);
        assert_eq!(plain.1, FinishReason::Stop);
        assert_eq!(plain.0.last(), Some(&end));
        for width in [1, 2, 4, 6] {
            assert_eq!(decode(&model, &ids, Some(width), &options), plain, "end at {place}, width {width}");
        }
    }
}

#[test]
fn ignored_end_ids_are_never_chosen() {
    let model = model("tiny-random-qwen35");
    let ids = prompt(12, 30, 512);
    let (free, _) = decode(&model, &ids, None, &options());
    let banned = vec![free[0], free[3]];
    let options = Options { end_ids: banned.clone(), ignore_eos: true, ..options() };
    let plain = decode(&model, &ids, None, &options);
    assert_eq!((plain.0.len(), plain.1), (40, FinishReason::Length));
    assert!(plain.0.iter().all(|token| !banned.contains(token)));
    assert_eq!(decode(&model, &ids, Some(6), &options), plain);
}
