//! What a record draws and sets agrees with its own tables: rows by number, and code as code.

use super::{read, report, repository};
use crate::kit::{Run, exactness, parted, stream};
use std::path::Path;

/// The label of the line on which the rounds picture outlines a cell.
fn outlined(svg: &str) -> String {
    let number = |element: &str, name: &str| -> f64 {
        let (_, rest) = element.split_once(&format!(" {name}=\"")).unwrap();
        rest.split('"').next().unwrap().parse().unwrap()
    };
    let cell = svg.lines().find(|line| line.contains("class=\"xm\"")).expect("no cell is outlined");
    let (top, height) = (number(cell, "y"), number(cell, "height"));
    let labels = svg.lines().filter(|line| line.starts_with("<text") && line.contains("text-anchor=\"end\""));
    let mut at = labels.filter(|label| (top..top + height).contains(&number(label, "y")));
    let label = at.next().expect("no label stands beside the cell").split(['>', '<']).nth(2).unwrap();
    assert!(at.next().is_none(), "two labels beside one cell");
    label.to_owned()
}

#[test]
fn the_outlined_cell_the_caption_the_table_and_compare_name_one_row() {
    let mut rows = Vec::new();
    for index in 9..17 {
        let folder = tempfile::tempdir().unwrap();
        let (data, out) = (folder.path().join("data"), folder.path().join("record"));
        Run { stream: stream(30), ..Run::default() }.write(&data, "classic.jsonl");
        let (accepts, parting) = (vec![3, 1, 2], parted(&stream(30), index));
        let arm = Run { arm: "w4", width: 4, accepts, stream: parting, ..Run::default() };
        let path = arm.write(&data, "w4.jsonl");
        assert_eq!(report(&data, &out).code, 0);
        let csv = read(&out, "data.csv");
        let cell = |name: &str| {
            let line = csv.lines().find(|line| line.contains(name)).unwrap();
            line.rsplit(',').next().unwrap().to_owned()
        };
        let (round, row) = (cell("first difference: round"), cell("first difference: row"));
        let svg = read(&out, "rounds.svg");
        assert_eq!(outlined(&svg), format!("row {row}"));
        assert!(svg.contains(&format!("token is row {row} of round {round}.")), "{svg}");
        let classic = data.join("classic.jsonl");
        let compared = exactness([Path::new("compare"), &path, Path::new("--against"), &classic]);
        assert!(compared.out.contains(&format!("round {round} row {row} (")), "{}", compared.out);
        rows.push(row);
    }
    rows.sort();
    rows.dedup();
    assert!(rows.len() > 2, "several rows were asked for: {rows:?}");
}

#[test]
fn our_code_is_set_as_code_and_the_page_has_no_backtick() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("record");
    assert_eq!(report(&repository("reports/gpu-first-contact/data/demo"), &out).code, 0);
    let (page, markdown) = (read(&out, "report.html"), read(&out, "report.md"));
    let main = page.split("<main>").nth(1).unwrap().split("</main>").next().unwrap();
    assert!(main.contains("for want of a run with <code>repeat</code> 1"), "{main}");
    assert!(!main.contains('`'), "a backtick is left on the page");
    assert!(
        markdown.contains("for want of a run with `repeat` 1") && !markdown.contains("\\`"),
        "{markdown}"
    );
}

#[test]
fn wide_tables_scroll_in_a_box_that_the_keyboard_reaches() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("record");
    assert_eq!(report(&repository("reports/gpu-first-contact/data/demo"), &out).code, 0);
    let page = read(&out, "report.html");
    let boxes: Vec<&str> = page.lines().filter(|line| line.contains("<table>")).collect();
    assert!(boxes.len() > 4, "{boxes:?}");
    for line in boxes {
        let named = line.starts_with("<div class=\"table\" role=\"region\" aria-label=\"");
        assert!(named && line.ends_with("\" tabindex=\"0\"><table>"), "{line}");
    }
    // What has no spaces and is long may break, and gets room: the digests of the data.
    let cells = page.split("<td").skip(1).map(|cell| cell.split("</td>").next().unwrap());
    let long: Vec<&str> = cells.filter(|cell| cell.contains('>') && cell.len() > 64).collect();
    assert!(long.len() > 4, "{long:?}");
    assert!(long.iter().all(|cell| cell.starts_with(" class=\"t\">")), "{long:?}");
}
