//! Data from other machines: what it says is text, and what it is not is refused in one line.

use super::{read, report};
use crate::kit::{Run, parted, rewrite, stream};
use serde_json::json;
use std::fs;
use std::path::Path;

const LABEL: &str = "</title></script><script>alert(1)</script>|`x`[y](http://evil.example)<img src=x onerror=alert(2)>\u{1b}[31m\u{202e}";

/// An experiment whose every free text is an attack.
fn attack(data: &Path) {
    let header = json!({
        "drafter": {"name": LABEL}, "routes": LABEL, "model": {"name": LABEL, "digest": LABEL}, "backend": {"name": LABEL},
        "host": {"cpu": LABEL}, "command": ["exactness", LABEL, "```\n# x"], "started": LABEL, "source": {"log": LABEL},
    });
    let row = |index: usize| vec![f32::from(u8::try_from(index).unwrap()), 1.0];
    let run = |arm, width, stream| Run {
        arm,
        width,
        stream,
        header: header.clone(),
        row: Some(&row),
        ..Run::default()
    };
    run("classic", 1, stream(30)).write(data, "classic.jsonl");
    run(LABEL, 4, parted(&stream(30), 9)).write(data, "a&b <i>`'|.jsonl");
}

/// Elements that are open at the end, or closed without being open.
fn unbalanced(xml: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    for tag in xml.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').unwrap_or_else(|| panic!("<{tag} has no end"));
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap_or_default().to_owned();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_ref(), Some(&name), "closed without being open");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    open
}

#[test]
fn text_from_elsewhere_stays_text() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    attack(&data);
    let ran = report(&data, &out);
    assert_eq!(ran.code, 0, "{}", ran.err);
    for name in ["report.html", "report.md", "rows.svg", "rounds.svg"] {
        let whole = read(&out, name);
        // A block of code shows what is in it as it is.
        let text = whole.split("````sh\n").next().unwrap();
        assert!(!text.contains("<script>alert") && !text.contains("<img"), "{name}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{name} has control characters");
        assert!(text.contains("&lt;/title&gt;"), "{name} should quote the label");
    }
    let page = read(&out, "report.md");
    let (page, code) = page.split_once("````sh\n").expect("the block of code needs a longer fence");
    assert!(!page.contains("[y](http"), "a label made a link");
    assert!(code.contains("[y](http"), "a command line is shown as it was");
    let rows = page.lines().filter(|line| line.starts_with('|'));
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let mut tables = rows.map(cells).collect::<Vec<_>>();
    tables.dedup();
    assert!(tables.len() < 20, "a cell broke its table: {tables:?}");
    for name in ["rows.svg", "rounds.svg"] {
        assert!(unbalanced(&read(&out, name)).is_empty(), "{name}");
    }
}

#[test]
fn the_page_is_whole_without_network_and_without_scripts() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    attack(&data);
    assert_eq!(report(&data, &out).code, 0);
    let page = read(&out, "report.html");
    let body = page.split("<main>").nth(1).unwrap().split("</main>").next().unwrap();
    assert!(!body.contains("<script"), "what is read needs no script");
    assert!(body.contains("first difference at index") || body.contains("<td class=\"n\">9</td>"), "{body}");
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "").replace("http://evil.example", "");
    for call in ["http:", "https:", " src=", "@import", "url(", "fetch(", "<link"] {
        assert!(!elsewhere.contains(call) || call == " src=" && elsewhere.contains("&lt;img src="), "{call}");
    }
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"));
}

/// File, content, exit code and what is said of it.
const UNREADABLE: [(&str, &str, i32, &str); 16] = [
    ("w4.jsonl", "{\"type\":\"header\",\"format\":\"exactness.transcript\",\"version\":9}\n", 4, "version 9"),
    ("w4.jsonl", "not json\n", 4, "w4.jsonl, line 1"),
    ("bench.json", "{\"version\":1,\"floor\":\"x\",\"experiment\":{},\"arms\":[]}", 4, "bench.json: field"),
    ("bench.json", "{\"version\":7,\"floor\":0,\"experiment\":{},\"arms\":[]}", 4, "version 7"),
    ("p.json", "{\"version\":1,\"lines\":[{}],\"controls\":[]}", 4, "p.json: field"),
    ("j.jsonl", "{\"format\":\"exactness-sweep\",\"version\":3}\n", 4, "version 3"),
    ("c.json", "{\"version\":0,\"arms\":[],\"patterns\":[]}", 4, "c.json: it has version 0"),
    (
        "bench.json",
        "{\"version\":0,\"floor\":0,\"experiment\":{}}",
        4,
        "bench.json: it has version 0, and versions count from 1",
    ),
    ("p.json", "{\"version\":0,\"lines\":[],\"controls\":[]}", 4, "p.json: it has version 0"),
    ("q.json", "{\"version\":0,\"widths\":[],\"planted\":[]}", 4, "q.json: it has version 0"),
    ("bisect.json", "{\"version\":0,\"class\":1,\"question\":1}", 4, "bisect.json: it has version 0"),
    (
        "remedy.json",
        "{\"version\":0,\"ending\":1,\"requested\":1,\"widths\":1}",
        4,
        "remedy.json: it has version 0",
    ),
    ("j.jsonl", "{\"format\":\"exactness-sweep\",\"version\":0}\n", 4, "version 0, and versions"),
    (
        "w4.jsonl",
        "{\"type\":\"header\",\"format\":\"exactness.transcript\",\"version\":0}\n",
        4,
        "versions count from 1",
    ),
    ("notes.txt", "nothing", 3, "find anything to report"),
    (
        "p.csv",
        "operation,route,dtype,mode,shape,at,rows tried,parts at,bytes,values,ulp,predicted,and\na,b\n",
        4,
        "p.csv",
    ),
];

#[test]
fn what_cannot_be_read_is_refused_in_one_line_and_nothing_is_written() {
    for (name, text, code, says) in UNREADABLE {
        let folder = tempfile::tempdir().unwrap();
        let (data, out) = (folder.path().join("data"), folder.path().join("record"));
        rewrite(&data.join(name), text.as_bytes());
        let ran = report(&data, &out);
        assert_eq!(ran.code, code, "{name}: {}", ran.err);
        assert!(ran.err.starts_with("error: failed to ") && ran.err.contains(says), "{name}: {}", ran.err);
        assert_eq!(ran.err.trim_end().lines().count(), 1, "{name}: {}", ran.err);
        assert!(!out.exists(), "{name}: something was written");
    }
    let gone = report(Path::new("no/such/folder"), &tempfile::tempdir().unwrap().path().join("r"));
    assert_eq!(gone.code, 5, "{}", gone.err);
}

#[test]
fn a_record_of_no_version_is_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    attack(&data);
    assert_eq!(report(&data, &out).code, 0);
    let stored = read(&out, "record.json").replacen("\"version\": 1", "\"version\": 0", 1);
    rewrite(&out.join("record.json"), stored.as_bytes());
    let ran = report(&data, &out);
    assert_eq!((ran.code, ran.err.lines().count()), (4, 1), "{}", ran.err);
    assert!(ran.err.contains("it has version 0, and versions count from 1"), "{}", ran.err);
}

#[test]
fn a_cut_run_is_a_record_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    Run { stream: stream(30), ..Run::default() }.write(&data, "classic.jsonl");
    let arm = Run { arm: "w4", width: 4, stream: stream(30), ..Run::default() }.write(&data, "w4.jsonl");
    let text = fs::read_to_string(&arm).unwrap();
    rewrite(&arm, &text.as_bytes()[..text.len() * 2 / 3]);
    assert_eq!(report(&data, &out).code, 0);
    assert!(read(&out, "report.md").starts_with("# record: cut run\n"));
    let other = data.join("other");
    Run { stream: stream(30), ..Run::default() }.write(&other, "classic.jsonl");
    let broken = Run { arm: "w4", width: 4, stream: stream(30), ..Run::default() }.write(&other, "w4.jsonl");
    let text = fs::read_to_string(&broken).unwrap();
    rewrite(&broken, text.replacen("\"bonus\":", "\"bonus\":1", 1).as_bytes());
    assert_eq!(report(&data, &out).code, 0);
    let title = "# record: cut run, inconsistent\n";
    assert!(read(&out, "report.md").starts_with(title), "a broken law is not hidden by a cut run");
    rewrite(&data.join("empty.jsonl"), b"{\"format\":\"exactness.tr");
    assert_eq!(report(&data, &out).code, 0);
    assert!(read(&out, "report.md").contains("../data/empty.jsonl"), "a file without a header is told");
}

#[test]
fn numbers_that_are_too_large_or_none_end_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("record"));
    Run { stream: stream(30), ..Run::default() }.write(&data, "classic.jsonl");
    let arm = Run { arm: "w4", width: 4, stream: stream(30), ..Run::default() }.write(&data, "w4.jsonl");
    let text = fs::read_to_string(&arm).unwrap();
    let huge = text.replacen("\"accepted\":0", "\"accepted\":9223372036854775807", 1);
    assert_ne!(huge, text);
    rewrite(&arm, huge.replacen("\"round\":3", "\"round\":-9223372036854775808", 1).as_bytes());
    let ran = report(&data, &out);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(read(&out, "report.md").starts_with("# record: inconsistent\n"));
}

#[test]
fn files_of_others_are_neither_overwritten_nor_taken_away() {
    let (data, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    attack(data.path());
    for name in ["rows.svg", "report.md"] {
        let out = folder.path().join(name.replace('.', "-"));
        fs::create_dir_all(&out).unwrap();
        rewrite(&out.join(name), b"mine");
        let ran = report(data.path(), &out);
        assert_eq!((ran.code, ran.err.lines().count()), (5, 1), "{}", ran.err);
        assert!(ran.err.contains(name) && ran.err.contains("choose another --out"), "{}", ran.err);
        assert_eq!(fs::read(out.join(name)).unwrap(), b"mine");
        assert_eq!(fs::read_dir(&out).unwrap().count(), 1, "nothing was added");
    }
}
