//! What could not be judged is told with the runs of which that is so.

use super::{read, report};
use crate::kit::{Run, stream};
use serde_json::json;

#[test]
fn a_law_that_was_judged_in_some_files_names_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    for (place, budget) in [("one", json!(30)), ("two", json!(null))] {
        for (arm, width, budget) in [("classic", 1, json!(30)), ("w4", 4, json!(30)), ("w6", 6, budget)] {
            let header = json!({"max_tokens": budget});
            Run { arm, width, header, stream: stream(30), ..Run::default() }
                .write(&data.join(place), &format!("{arm}.jsonl"));
        }
    }
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.md");
    let line = page.lines().find(|line| line.contains("for want of max_tokens")).unwrap();
    assert!(line.contains("budget, finish-reason (w6 in ../data/two)"), "{line}");
    assert!(!line.contains("one") && !line.contains("classic"), "{line}");
    for says in ["usage (all files)", "state-slot (all speculative arms)"] {
        assert!(page.contains(says), "{says} is not in {page}");
    }
}
