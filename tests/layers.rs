//! DESIGN.md's table of which module may use which, held against the code: nothing points upwards.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Module, and what it may use; an arrow includes what its target may use.
const USES: &[(&str, &[&str])] = &[
    ("transcript", &[]),
    ("algebra", &["transcript"]),
    ("results", &["transcript", "algebra"]),
    ("engine", &["transcript"]),
    ("arms", &["engine", "results"]),
    ("probe", &["engine", "results"]),
    ("sweep", &["arms", "probe"]),
    ("bisect", &["arms", "probe"]),
    ("remedy", &["bisect", "probe", "arms"]),
    ("records", &["results", "algebra", "transcript"]),
    ("served", &["arms", "probe"]),
    ("cli", &["sweep", "remedy", "records", "served"]),
];

/// Everything that `module` may use, itself included.
fn allowed(module: &str) -> BTreeSet<&'static str> {
    let Some((name, targets)) = USES.iter().find(|(name, _)| *name == module) else {
        panic!("src/{module} is not in the table: say in DESIGN.md and here what it may use");
    };
    let mut all: BTreeSet<&str> = targets.iter().flat_map(|target| allowed(target)).collect();
    all.insert(name);
    all
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The modules that a line of code names after `crate::`.
fn named(line: &str) -> impl Iterator<Item = String> {
    let code = if line.trim_start().starts_with("//") { "" } else { line };
    code.split("crate::")
        .skip(1)
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect())
}

#[test]
fn nothing_points_upwards() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut files, mut uses) = (Vec::new(), 0);
    sources(&root, &mut files);
    for file in files {
        let inside = file.strip_prefix(&root).unwrap();
        let module = inside.iter().next().unwrap().to_str().unwrap();
        if inside.iter().count() == 1 {
            continue; // lib.rs and main.rs see everything
        }
        let allowed = allowed(module);
        for line in fs::read_to_string(&file).unwrap().lines() {
            for target in named(line).filter(|name| USES.iter().any(|(module, _)| module == name)) {
                uses += 1;
                assert!(allowed.contains(&*target), "{} may not use {target}: {line}", inside.display());
            }
        }
    }
    assert!(uses > 20, "the search found next to nothing: {uses} uses");
}
