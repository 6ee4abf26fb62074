//! A bisect in a record: the plant that it was told of, the place that it named, and the proof.

use super::{check, read, report, repository};
use crate::kit::rewrite;
use serde_json::Value;
use std::fs;

#[test]
fn the_record_of_a_planted_divergence_names_plant_frontier_and_confirmation() {
    let (folder, data) = (tempfile::tempdir().unwrap(), repository("reports/planted-cpu/data"));
    let bisect: Value = serde_json::from_slice(&fs::read(data.join("bisect/bisect.json")).unwrap()).unwrap();
    let ran = report(&data, folder.path());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = read(folder.path(), "report.md");
    assert!(page.lines().next().unwrap().ends_with(": differs"), "{page}");
    let plant = bisect["question"]["planted"][0].as_str().unwrap();
    assert!(plant.contains("op=down_proj,layer=5"), "{plant}");
    let site = bisect["operation"]["site"].as_str().unwrap();
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is not in {page}"));
    assert!(
        place(&format!("a fault was planted on purpose: {plant}."))
            < place(&format!("First with equal inputs: {site} "))
    );
    assert!(place("block against its repeat") < place(&format!("First with equal inputs: {site} ")));
    assert!(site == "layer.5.mlp.down_proj" && page.contains("* Confirmed: with "), "{page}");
    // The map has a line a looked-at row, and one marked cell.
    let map = read(folder.path(), "layers.svg");
    let rows = bisect["heat"].as_array().unwrap();
    assert!(!rows.is_empty());
    assert_eq!(map.matches("the first operation with equal inputs is in it").count(), 1, "{map}");
    assert_eq!(map.matches(">logits: ").count(), rows.len(), "one cell of logits a row");
    let csv = read(folder.path(), "data.csv");
    for row in rows {
        let (round, place) = (&row["round"], &row["row"]);
        for (layer, bytes) in row["layers"].as_array().unwrap().iter().enumerate() {
            let line = format!("round {round} row {place},layer {layer}: bytes that differ,{bytes}\n");
            assert_eq!(csv.contains(&line), bytes.as_u64().unwrap() > 0, "{line}");
        }
    }
    assert_eq!(check(folder.path()).code, 0);
}

/// The exit code after a change.
type Edit = (i32, fn(&mut Value));

/// Kernels that are not there cannot be the predicted ones.
#[test]
fn a_bisect_whose_kernels_were_emptied_is_refused_and_named() {
    let whole = fs::read(repository("reports/gpu-bisect/data/demo-w8/bisect.json")).unwrap();
    let edits: [Edit; 4] = [
        (0, |_| {}),
        (4, |bisect| bisect["measured"]["seen"]["kernels"]["block"] = Value::Array(Vec::new())),
        (4, |bisect| bisect["measured"]["seen"]["kernels"]["chain"] = Value::Array(Vec::new())),
        (4, |bisect| bisect["kernel"] = Value::Null),
    ];
    for (code, edit) in edits {
        let folder = tempfile::tempdir().unwrap();
        let mut bisect: Value = serde_json::from_slice(&whole).unwrap();
        assert_eq!(bisect["measured"]["seen"]["predicted"], true);
        edit(&mut bisect);
        rewrite(&folder.path().join("data/bisect.json"), bisect.to_string().as_bytes());
        let ran = report(&folder.path().join("data"), &folder.path().join("record"));
        assert_eq!(ran.code, code, "{}", ran.err);
        if code == 4 {
            assert!(ran.err.contains("bisect.json: it contradicts itself: its kernels"), "{}", ran.err);
            assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        }
    }
}
