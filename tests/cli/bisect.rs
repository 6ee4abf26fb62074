//! `bisect` on the command line: rounds from transcripts, patterns and live arms, what it refuses, and what it leaves.

use crate::kit::{Ran, exactness};
use std::fs;
use std::path::Path;

const TINY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/tiny-random-qwen35");
const LLAMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/models/tiny-llama");

fn bisect(out: &Path, more: &[&str]) -> Ran {
    let first = ["bisect", "--model", TINY, "--format", "json", "--out", out.to_str().unwrap()];
    exactness(first.iter().chain(more))
}

/// Records arms of the tiny model over one prompt.
fn recorded(out: &Path, more: &[&str]) -> Ran {
    let first = ["run-arm", "--model", TINY, "--prompt-ids", "5,6,7,8", "--max-tokens", "12"];
    exactness(first.iter().chain(&["--out", out.to_str().unwrap()]).chain(more))
}

#[test]
fn a_recorded_run_is_driven_again_with_the_faults_of_its_command() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let arm = ["--width", "4", "--drafter", "cycle:1,0", "--plant", "fault=state-ahead"];
    assert_eq!(recorded(&run, &arm).code, 1);
    let (from, out) = (run.join("w4.jsonl"), folder.path().join("out"));
    let ran = bisect(&out, &["--from", from.to_str().unwrap()]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let json = ran.json();
    assert_eq!(
        (&json["class"], &json["question"]["planted"][0]),
        (&"state-ahead".into(), &"fault=state-ahead".into())
    );
    assert_eq!(json["rows"]["unlike_recorded"][0], 0, "every row has the recorded bytes");
    assert!(json["rows"]["unlike_recorded"][1].as_u64().unwrap() > 0);
    assert_eq!(
        json,
        serde_json::from_slice::<serde_json::Value>(&fs::read(out.join("bisect.json")).unwrap()).unwrap()
    );

    // A transcript that breaks a law of rewinds is not driven as it was recorded, and is not called identical.
    let sound = folder.path().join("sound");
    assert_eq!(recorded(&sound, &["--width", "4", "--drafter", "cycle:1,0"]).code, 0);
    let text = fs::read_to_string(sound.join("w4.jsonl")).unwrap().replacen(
        "\"state_kept\":2",
        "\"state_kept\":4",
        1,
    );
    let broken = sound.join("broken.jsonl");
    fs::write(&broken, text).unwrap();
    let ran = bisect(&folder.path().join("broken"), &["--from", broken.to_str().unwrap()]);
    assert_eq!((ran.code, &ran.json()["class"]), (3, &"not-reproduced".into()), "{}", ran.err);
    assert!(
        ran.json()["remarks"][0]
            .as_str()
            .unwrap()
            .starts_with("The transcript breaks the law state-kept, round 0")
    );

    // The same file without the fault is not what was recorded: no cause is named.
    let text = fs::read_to_string(&from).unwrap().replace(",\"--plant\",\"fault=state-ahead\"", "");
    let stripped = folder.path().join("stripped.jsonl");
    fs::write(&stripped, text).unwrap();
    let ran = bisect(&folder.path().join("other"), &["--from", stripped.to_str().unwrap()]);
    assert_eq!((ran.code, &ran.json()["class"]), (3, &"not-reproduced".into()), "{}", ran.err);
}

#[test]
fn patterns_tell_a_position_from_a_round() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, plant: &str| {
        let more =
            ["--patterns", "1;2;1,3", "--prompt-ids", "5,6,7,8,9", "--max-tokens", "12", "--plant", plant];
        let ran = bisect(&folder.path().join(name), &more);
        assert_eq!(ran.code, 1, "{}", ran.err);
        ran.json()
    };
    let position = run("position", "op=o_proj,layer=3,from=9,ulp=64");
    assert_eq!(position["reading"], "position-triggered");
    assert_eq!(position["operation"]["position"], 9);
    assert_eq!(position["confirmation"]["handled"]["by"], "output");
    let every = run("every", "op=o_proj,layer=3,ulp=64");
    assert_eq!(every["reading"], "undecided", "all part in their first round");
    let round = run("round", "op=o_proj,layer=3,row=1,ulp=64");
    assert_eq!(round["reading"], "round-triggered", "the pattern that keeps one row never keeps that one");
    assert_eq!(round["operation"]["row"], 1);
}

#[test]
fn what_it_found_can_be_shown_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let more =
        ["--width", "3", "--routes", "delta=chunked", "--prompt-ids", "5,6,7,8,9", "--max-tokens", "8"];
    let ran = bisect(&out, &more);
    assert_eq!(
        (ran.code, &ran.json()["operation"]["site"]),
        (1, &"layer.0.delta.delta".into()),
        "{}",
        ran.err
    );
    let shown = exactness(["reproduce", out.join("reproducer").to_str().unwrap(), "--format", "json"]);
    assert_eq!(shown.code, 1, "{}", shown.err);
    let found = ran.json();
    assert_eq!(
        shown.json()["difference"]["differing_bytes"],
        found["operation"]["amplitude"]["bytes"][0],
        "{}",
        shown.out
    );

    // The same question goes on from the trail; another one is refused, and so is a file that is no trail.
    let again = bisect(&out, &more);
    assert_eq!(again.json()["operation"], found["operation"]);
    assert!(
        again.err.contains("note: goes on with ") && again.err.contains(" there already"),
        "{}",
        again.err
    );
    let refused = |more: &[&str], code: i32| {
        let ran = bisect(&out, more);
        assert_eq!((ran.code, ran.err.lines().count(), ran.out.as_str()), (code, 1, ""), "{}", ran.err);
        ran.err.trim_end().replace(&folder.path().display().to_string(), "DIR")
    };
    let other = refused(&["--width", "3", "--prompt-ids", "5,6,7,8,9", "--max-tokens", "8"], 2);
    insta::assert_snapshot!(other, @"error: failed to go on with the trail DIR/out/trail.jsonl: its question is another one (routes attention=per-position,delta=chain,delta=chunked,rewind=keep there, routes attention=per-position,delta=chain,rewind=keep now), and a trail goes on with its own question only; choose another --out");
    fs::write(out.join("trail.jsonl"), "{\"format\":\"exactness.trail\",\"version\":7}\n").unwrap();
    insta::assert_snapshot!(refused(&more, 4), @"error: failed to go on with the trail DIR/out/trail.jsonl: the trail has version 7 and this program reads version 1; a later exactness reads it");
    fs::write(out.join("trail.jsonl"), "hello\n").unwrap();
    insta::assert_snapshot!(refused(&more, 4), @r#"error: failed to go on with the trail DIR/out/trail.jsonl: it is no trail: its first line does not say "format":"exactness.trail""#);
}

#[test]
fn a_fault_that_is_never_met_proves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let more = ["--width", "3", "--prompt-ids", "5,6,7", "--max-tokens", "8", "--plant", "op=o_proj,rows>=9"];
    let ran = bisect(&folder.path().join("out"), &more);
    assert_eq!((ran.code, &ran.json()["class"]), (3, &"not-struck".into()), "{}", ran.err);
    let more = ["--width", "3", "--prompt-ids", "5,6,7", "--max-tokens", "8", "--drafter"];
    // Prompt lookup finds nothing in three ids that differ.
    for (drafter, code, class) in [("oracle", 0, "identical"), ("ngram", 3, "vacuous")] {
        let ran = bisect(&folder.path().join(drafter), &[&more[..], &[drafter]].concat());
        assert_eq!((ran.code, &ran.json()["class"]), (code, &class.into()), "{}", ran.err);
    }
}

#[test]
fn what_it_cannot_use_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    assert_eq!(recorded(&run, &["--width", "3", "--drafter", "oracle"]).code, 0);
    let path = |name: &str| run.join(name).to_str().unwrap().to_owned();
    fs::write(run.join("damaged.jsonl"), "{\n").unwrap();
    let text = fs::read_to_string(run.join("w3.jsonl")).unwrap();
    fs::write(run.join("unchained.jsonl"), text.replacen("\"bonus\":", "\"bonus\":1", 3)).unwrap();
    fs::write(run.join("noids.jsonl"), text.replacen("\"ids\":[5,6,7,8]", "\"ids\":null", 1)).unwrap();
    fs::write(run.join("foreign.jsonl"), text.replacen("\"digest\":\"", "\"digest\":\"0", 1)).unwrap();
    let routes = "\"routes\":\"attention=per-position,delta=chain";
    fs::write(run.join("routes.jsonl"), text.replacen(routes, &format!("{routes},foo=bar"), 1)).unwrap();
    fs::write(run.join("dtype.jsonl"), text.replacen("\"dtype\":\"f32\"", "\"dtype\":\"bf16\"", 1)).unwrap();
    let planted = text.replacen("\"--width\",\"3\"", "\"--plant\",\"op=q_proj,later=9\"", 1);
    fs::write(run.join("planted.jsonl"), planted).unwrap();
    let out = folder.path().join("out");
    let refused = |more: &[&str], code: i32| {
        let ran = bisect(&out, more);
        assert_eq!(
            (ran.code, ran.err.lines().count(), ran.out.as_str()),
            (code, 1, ""),
            "{more:?} {}",
            ran.err
        );
        assert!(!out.exists(), "{more:?} left a folder");
        ran.err.trim_end().replace(&folder.path().display().to_string(), "DIR")
    };
    insta::assert_snapshot!(refused(&["--from", &path("none.jsonl")], 5), @"error: read DIR/run/none.jsonl: No such file or directory (os error 2)");
    insta::assert_snapshot!(refused(&["--from", &path("damaged.jsonl")], 4), @"error: read DIR/run/damaged.jsonl, line 1: the JSON object ends in the middle; write each record as one whole line");
    insta::assert_snapshot!(refused(&["--from", &path("classic.jsonl")], 3), @"error: failed to replay DIR/run/classic.jsonl: it is of plain decoding and has no rounds; give the speculative arm");
    insta::assert_snapshot!(refused(&["--from", &path("unchained.jsonl")], 3), @"error: failed to replay DIR/run/unchained.jsonl: sequence 0: round 1 does not begin with the last token of the round before; check-algebra tells what is wrong with the transcript");
    insta::assert_snapshot!(refused(&["--from", &path("noids.jsonl")], 3), @"error: failed to replay DIR/run/noids.jsonl: sequence 0: the ids of its prompt are not known");
    insta::assert_snapshot!(refused(&["--from", &path("foreign.jsonl")], 3), @r#"error: failed to replay DIR/run/foreign.jsonl: it is of "tiny-random-qwen35" with the digest 0f723f4cc4ce, and tiny-random-qwen35 has f723f4cc4ce9; give the --model that it is of"#);
    let routes = refused(&["--from", &path("routes.jsonl")], 3);
    assert!(
        routes.starts_with("error: failed to replay DIR/run/routes.jsonl: failed to read routes: \"foo\""),
        "{routes}"
    );
    assert!(routes.ends_with("; give --routes"), "{routes}");
    insta::assert_snapshot!(refused(&["--from", &path("dtype.jsonl")], 3), @"error: failed to replay DIR/run/dtype.jsonl: it was computed in bf16 and not in f32; give --dtype bf16");
    let planted = refused(&["--from", &path("planted.jsonl")], 3);
    assert!(
        planted.starts_with(
            "error: failed to replay DIR/run/planted.jsonl: failed to read plant: no key \"later\""
        ),
        "{planted}"
    );
    insta::assert_snapshot!(refused(&["--patterns", "1;x"], 2), @r#"error: invalid value '1;x' for '--patterns <COUNTS;…>': "x" is no count of rows; patterns are written as in '1;2;3;1,3'"#);
    let prompt = ["--prompt-ids", "5,6,7"];
    let wide = refused(&[&prompt[..], &["--patterns", "1;5", "--width", "4"]].concat(), 2);
    insta::assert_snapshot!(wide, @"error: failed to read --patterns: a pattern keeps 5 rows of a block of 4; kept rows are 1 to the width");
    insta::assert_snapshot!(refused(&["--from", "x", "--width", "4"], 2), @"error: the argument '--from <TRANSCRIPT>' cannot be used with '--width <N>'");
    let other = refused(&[&prompt[..], &["--width", "4", "--block-model", LLAMA]].concat(), 2);
    insta::assert_snapshot!(other, @"error: failed to use --block-model: its layers or sizes are not those of --model");
    let plant = refused(&[&prompt[..], &["--width", "4", "--plant", "op=o_proj,layer=1"]].concat(), 2);
    insta::assert_snapshot!(plant, @"error: failed to plant op=o_proj,layer=1,ulp=1: layer 1 has no o_proj");
}
