//! Faults of a round's bookkeeping: the law that each breaks first, when each acts, and that the probe comes by them.

use super::bisected::{found_in, stage};
use super::support::{model, options};
use exactness::algebra::{Verdict, judge_arm};
use exactness::arms::run::{Identity, ran};
use exactness::arms::{ArmSpec, Bench, PromptSet};
use exactness::bisect::live::Live;
use exactness::bisect::run::Answers;
use exactness::engine::cache::Rewind;
use exactness::engine::drafter::DrafterSpec;
use exactness::engine::inventory;
use exactness::engine::model::TextModel;
use exactness::engine::plant::Plant;
use exactness::engine::routes::Routes;
use exactness::probe::walk::{Blocks, Chain, Compared, Reach, Walk};
use exactness::results::arms::ArmRun;
use exactness::results::bisect::Class;
use exactness::results::probe::Place;
use exactness::transcript::{Arm, Round, TokenId};

/// Each fault, the law that it breaks first, and what a bisect says of it.
const BROKEN_FIRST: [(&str, &str, Class); 5] = [
    ("fault=rejected-row", "cache-length", Class::RejectedRow),
    ("fault=skipped-rewind", "cache-length", Class::SkippedRewind),
    ("fault=state-ahead", "state-kept", Class::StateAhead),
    ("fault=selection", "row-choice", Class::Selection),
    ("fault=prefill", "cache-length", Class::Prefill),
];

const WIDTH: usize = 4;

const PROMPTS: &str = "{\"ids\":[17,230,41,8,105,66,19]}\n{\"ids\":[210,12,77,140,3]}";

/// A model, and plain decoding's streams for its prompts.
struct Ground {
    model: TextModel,
    prompts: PromptSet,
    streams: Vec<Vec<TokenId>>,
}

impl Ground {
    fn new(model: TextModel) -> Self {
        let prompts = PromptSet::lines("prompts", PROMPTS, None).unwrap();
        let mut ground = Self { model, prompts, streams: Vec::new() };
        ground.streams = ground.run(ArmSpec::classic(0), None).1.streams;
        ground
    }

    /// Blocks of 4 that accept 2 proposals and none in turn, so that every second rewind takes all but one row back.
    fn speculative(&self, plant: Option<&str>) -> (Arm, ArmRun) {
        self.run(ArmSpec { width: Some(WIDTH), repeat: 0 }, plant)
    }

    fn run(&self, spec: ArmSpec, plant: Option<&str>) -> (Arm, ArmRun) {
        let drafter: DrafterSpec = "cycle:2,0".parse().unwrap();
        let plants: Vec<Plant> = plant.iter().map(|text| text.parse().unwrap()).collect();
        let (options, identity) = (options(), Identity::default());
        let bench = Bench {
            model: &self.model,
            tokenizer: None,
            prompts: &self.prompts,
            max_tokens: 16,
            options: &options,
            drafter: &drafter,
            recording: None,
            plants: &plants,
            identity: &identity,
            progress: &|_| {},
        };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(spec.file());
        let run = ran(&bench, spec, &file, &self.streams).unwrap();
        (Arm::read(&file).unwrap(), run)
    }

    fn has_place_for(&self, plant: &str) -> bool {
        let layers = inventory::layers(self.model.config());
        plant.parse::<Plant>().unwrap().misplaced(&layers).is_none()
    }
}

/// A law, the round and the row that broke it.
type Finding = (&'static str, Option<i64>, Option<i64>);

/// What was broken first in each sequence.
fn findings(arm: &Arm) -> Vec<Option<Finding>> {
    let judged = judge_arm(arm);
    assert!(judged.compared.rounds > 0, "something was judged");
    let findings = judged.sequences.iter().map(|one| one.finding.as_ref());
    findings.map(|finding| finding.map(|found| (found.law, found.round, found.row))).collect()
}

/// Each fault that has a place in a model breaks its law first, and a bisect gives it its class.
fn each_fault_is_told(name: &str, places: usize) {
    let ground = Ground::new(model(name));
    let (arm, run) = ground.speculative(None);
    let judged = judge_arm(&arm);
    assert_eq!((judged.verdict, run.struck.len()), (Verdict::Consistent, 0), "{:?}", judged.sequences);
    assert_eq!(judged.checked.contains(&"state-kept"), places == 5);
    let mut planted = 0;
    for (plant, law, class) in BROKEN_FIRST.iter().filter(|(plant, ..)| ground.has_place_for(plant)) {
        let (arm, run) = ground.speculative(Some(plant));
        assert!(run.struck.contains(&(*plant).to_owned()), "{plant}");
        let first: Vec<_> = findings(&arm).iter().map(|found| found.map(|(law, ..)| law)).collect();
        assert_eq!(first, vec![Some(*law); first.len()], "{plant}");
        let answers = bisected(name, &ground.model, plant);
        assert_eq!(answers.class, *class, "{plant}");
        let confirmed = answers.confirmation.is_some_and(|confirmation| confirmation.confirmed());
        assert_eq!(confirmed, *class != Class::Selection, "{plant}: equal bytes need no intervention");
        planted += 1;
    }
    assert_eq!(planted, places);
}

// A test a model, so that they run beside each other.
#[test]
fn each_fault_breaks_its_law_first_and_has_its_class() {
    each_fault_is_told("tiny-random-qwen35", 5);
}

#[test]
fn each_fault_of_the_demo_breaks_its_law_first_and_has_its_class() {
    each_fault_is_told("demo-qwen35-4bit", 5);
}

#[test]
fn each_fault_without_recurrent_layers_breaks_its_law_first_and_has_its_class() {
    each_fault_is_told("tiny-llama", 4);
}

/// A bisect of a live arm whose blocks of 4 accept one proposal and none in turn: two rows or three are rejected, so
/// that one row too many is not all of them.
fn bisected(name: &str, model: &TextModel, plant: &str) -> Answers {
    let stage = stage(model, "", &[plant]);
    let drafter: DrafterSpec = "cycle:1,0".parse().unwrap();
    let arm = Live { width: WIDTH, drafter: &drafter, recording: None, tokens: 16, end_ids: &[] };
    let script = arm.script(&stage, (0, &[17, 230, 41, 8, 105, 66, 19])).unwrap().unwrap();
    found_in(name, &stage, &script, false)
}

#[test]
fn none_of_them_acts_in_plain_decoding() {
    let ground = Ground::new(model("tiny-random-qwen35"));
    for (plant, ..) in BROKEN_FIRST {
        let (arm, plain) = ground.run(ArmSpec::classic(0), Some(plant));
        assert_eq!((&plain.streams, plain.struck.len()), (&ground.streams, 0), "{plant}");
        assert_eq!(judge_arm(&arm).verdict, Verdict::Consistent, "{plant}");
    }
}

/// The rounds of the first prompt.
fn rounds(arm: &Arm) -> &[Round] {
    &arm.sequences[0].rounds
}

#[test]
fn what_is_kept_is_measured() {
    let ground = Ground::new(model("tiny-random-qwen35"));
    let first = |plant: Option<&str>| {
        let (arm, _) = ground.speculative(plant);
        let round = &rounds(&arm)[0];
        assert_eq!((round.width, round.accepted), (4, 2), "a row is rejected");
        (round.cache_after.unwrap() - round.cache_before.unwrap(), round.state_kept)
    };
    assert_eq!(first(None), (3, Some(3)));
    assert_eq!(first(Some("fault=rejected-row")), (4, Some(3)));
    assert_eq!(first(Some("fault=state-ahead")), (3, Some(4)));
    assert_eq!(first(Some("fault=skipped-rewind")), (4, Some(4)));
    let llama = Ground::new(model("tiny-llama"));
    let (arm, _) = llama.speculative(None);
    assert!(rounds(&arm).len() > 4 && rounds(&arm).iter().all(|round| round.state_kept.is_none()));
}

#[test]
fn a_fault_of_rewinds_acts_at_the_blocks_that_it_names() {
    let ground = Ground::new(model("tiny-random-qwen35"));
    let (plain, _) = ground.speculative(None);
    let third = &rounds(&plain)[2];
    let from = third.cache_before.unwrap();
    for (plant, law, _) in &BROKEN_FIRST[..3] {
        let at = |from: i64| ground.speculative(Some(&format!("{plant},from={from},every=1000000")));
        let (arm, run) = at(from);
        assert_eq!(findings(&arm)[0], Some((*law, Some(2), None)), "{plant}");
        assert_eq!(run.struck.len(), 1, "{plant}");
        // Blocks begin before and after this position, and none at it.
        let (arm, _) = at(from + 1);
        assert_eq!(findings(&arm)[0], None, "{plant}");
        let (arm, run) = at(100_000);
        assert_eq!((judge_arm(&arm).verdict, run.struck.len()), (Verdict::Consistent, 0), "{plant}");
        // A block of one row has nothing to take back.
        let (arm, run) = ground.run(ArmSpec { width: Some(1), repeat: 0 }, Some(plant));
        assert_eq!((judge_arm(&arm).verdict, run.struck.len()), (Verdict::Consistent, 0), "{plant}");
    }
}

#[test]
fn a_fault_of_choice_acts_at_the_rows_that_it_names() {
    let ground = Ground::new(model("tiny-random-qwen35"));
    let (plain, _) = ground.speculative(None);
    let from = rounds(&plain)[2].cache_before.unwrap();
    let (arm, _) = ground.speculative(Some("fault=selection,row=1"));
    assert_eq!(findings(&arm)[0], Some(("row-choice", Some(0), Some(1))));
    // The block before stands at that position, too, with a row that it rejects.
    let text = format!("fault=selection,from={},every=1000000", from + 1);
    let (arm, _) = ground.speculative(Some(&text));
    assert_eq!(findings(&arm)[0], Some(("row-choice", Some(1), Some(2))));
    let (arm, _) = ground.speculative(Some(&format!("{text},row=1")));
    assert_eq!(findings(&arm)[0], Some(("row-choice", Some(2), Some(1))));
    let second = |round: &Round, row: usize| round.rows.as_ref().unwrap()[row].top.as_ref().unwrap()[1].0;
    assert_eq!(rounds(&arm)[2].target[1], second(&rounds(&arm)[2], 1), "it is the second best");
    // In the prompt's last row, and in plain decoding.
    let (arm, _) = ground.speculative(Some("fault=selection,side=prefill"));
    assert_eq!(findings(&arm)[0], Some(("row-choice", None, None)));
    let (arm, run) = ground.run(ArmSpec::classic(0), Some("fault=selection,side=chain"));
    assert_eq!(run.struck.len(), ground.streams.len());
    assert_eq!(judge_arm(&arm).sequences[0].finding.as_ref().unwrap().law, "row-choice");
}

#[test]
fn a_fault_of_the_prompt_acts_where_its_row_too_many_would_stand() {
    let ground = Ground::new(model("tiny-random-qwen35"));
    let lengths = ground.prompts.prompts().iter().map(|prompt| prompt.ids.as_ref().unwrap().len());
    let longest = lengths.clone().max().unwrap();
    let (arm, run) = ground.speculative(Some(&format!("fault=prefill,from={longest}")));
    assert_eq!(run.struck.len(), lengths.filter(|length| *length == longest).count());
    let broken = findings(&arm).iter().filter(|finding| finding.is_some()).count();
    assert_eq!(broken, run.struck.len(), "shorter prompts are fed as they read");
    let (arm, run) = ground.speculative(Some(&format!("fault=prefill,from={}", longest + 1)));
    assert_eq!((judge_arm(&arm).verdict, run.struck.len()), (Verdict::Consistent, 0));
}

fn walk(plant: &str) -> Walk {
    let plants = vec![plant.parse().unwrap()];
    Walk {
        length: 10,
        seed: 5,
        tokens: 12,
        prefill_chunk: 512,
        plain: Routes::default(),
        rewind: Rewind::KeepStates,
        plants,
    }
}

fn compared(model: &TextModel, plant: &str, width: usize) -> Compared {
    let chain = Chain::record(model, walk(plant)).unwrap();
    chain.against(&Blocks { width, routes: "".parse().unwrap(), reach: Reach::EveryRow }).unwrap()
}

#[test]
fn the_probe_comes_by_wrong_rewinds() {
    let model = model("tiny-random-qwen35");
    for (plant, ..) in &BROKEN_FIRST[..3] {
        let first = compared(&model, plant, 3).first.unwrap_or_else(|| panic!("{plant} is not seen"));
        // The walk that rejects keeps one row of its first block; the row after it reads what was left behind.
        assert_eq!(first.position, 11, "{plant}: {first}");
        assert!(matches!(first.place, Place::Row { row: 0, .. }), "{plant}: {first}");
        assert_eq!(
            compared(&model, &format!("{plant},from=100"), 3).first,
            None,
            "{plant} begins past the walk"
        );
        assert_eq!(compared(&model, plant, 1).first, None, "{plant}: a block of one row rejects nothing");
    }
}

#[test]
fn the_probe_refuses_what_no_walk_comes_by() {
    let model = model("tiny-random-qwen35");
    let refused = |plant: &str| Chain::record(&model, walk(plant)).err().map(|error| error.to_string());
    insta::assert_snapshot!(refused("fault=selection").unwrap(), @"plant fault=selection: a probe feeds the chain's tokens, whatever the rows of a block choose");
    insta::assert_snapshot!(refused("fault=prefill").unwrap(), @"plant fault=prefill: a probe begins after the prompt, which blocks and chain share");
    insta::assert_snapshot!(refused("op=o_proj,side=prefill").unwrap(), @"plant op=o_proj,ulp=1,side=prefill: a probe begins after the prompt, which blocks and chain share");
    let sound = Chain::record(&model, Walk { plants: Vec::new(), ..walk("fault=state-ahead") }).unwrap();
    assert!(sound.planted(&["fault=state-ahead".parse().unwrap()]).is_ok());
    assert!(sound.planted(&["fault=selection".parse().unwrap()]).is_err());
}
