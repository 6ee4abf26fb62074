//! Planted faults in a record stand beside the runs that they act in.

use super::{read, report};
use crate::kit::{Run, stream};
use serde_json::json;

#[test]
fn a_fault_of_blocks_is_not_told_of_plain_decoding() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    let command = ["exactness", "run-arm", "--plant", "op=o_proj,ulp=2", "--plant=op=rope_q,side=both"];
    for (arm, width) in [("classic", 1), ("w4", 4)] {
        let header = json!({"command": command});
        Run { arm, width, header, stream: stream(30), ..Run::default() }
            .write(&data, &format!("{arm}.jsonl"));
    }
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    let both = "w4.jsonl: a fault was planted on purpose: op=o_proj,ulp=2; op=rope_q,side=both.";
    assert!(page.contains(both), "{page}");
    let plain = "classic.jsonl: a fault was planted on purpose: op=rope_q,side=both.";
    assert!(page.contains(plain), "{page}");
}

/// A record does not know the engine; the engine says what is so.
#[cfg(feature = "engine")]
#[test]
fn a_record_places_faults_where_the_engine_puts_them() {
    use exactness::engine::plant::Plant;
    use exactness::engine::tap::Side;
    use exactness::records::planted::acts;
    use exactness::transcript::ArmKind;
    let texts = [
        "op=o_proj,ulp=1",
        "op=o_proj,side=block",
        "op=o_proj,side=chain",
        "op=o_proj, side = both",
        "op=o_proj,side=prefill",
        "fault=selection",
        "fault=selection,side=chain",
        "fault=prefill",
        "fault=skipped-rewind,from=40",
    ];
    for text in texts {
        let plant: Plant = text.parse().unwrap();
        assert_eq!(acts(text, ArmKind::Classic), plant.reaches_chain(), "{text}");
        let blocks = plant.acts_in(Side::Block) || plant.acts_in(Side::Prefill);
        assert_eq!(acts(text, ArmKind::Speculative), blocks, "{text}");
        assert_eq!(acts(&plant.to_string(), ArmKind::Classic), plant.reaches_chain(), "{plant}");
    }
}
