//! Every verb explains itself, and what `--help` lists is what there is.

use crate::kit::exactness;

/// The verbs that `--help` lists, but for clap's own.
fn verbs() -> Vec<String> {
    let help = exactness(["--help"]);
    assert_eq!(help.code, 0, "{}", help.err);
    let listed = help.out.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    // A description that was wrapped goes on under itself; a verb stands two spaces in.
    let verbs = listed.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    verbs
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_verb_has_help_with_a_description_and_usage() {
    let verbs = verbs();
    for expected in ["check-algebra", "compare", "diff", "import", "laws", "rows", "schema", "show"] {
        assert!(verbs.iter().any(|verb| verb == expected), "{expected} in {verbs:?}");
    }
    for verb in verbs {
        let help = exactness([verb.as_str(), "--help"]);
        assert_eq!(help.code, 0, "{verb}: {}", help.err);
        assert!(help.out.contains(&format!("Usage: exactness {verb}")), "{verb}: {}", help.out);
        let first = help.out.lines().next().unwrap();
        assert!(!first.is_empty() && !first.starts_with("Usage"), "{verb} has no description: {first}");
    }
}

#[cfg(feature = "engine")]
#[test]
fn the_engine_brings_its_verbs() {
    let verbs = verbs();
    for expected in ["doctor", "probe", "run-arm", "synth"] {
        assert!(verbs.iter().any(|verb| verb == expected), "{expected} in {verbs:?}");
    }
}

#[test]
fn exit_codes_and_version_are_told() {
    let help = exactness(["--help"]).out;
    for code in
        ["0 identical", "1 differs", "2 wrong command line", "3 nothing was compared", "5 device", "70 a bug"]
    {
        assert!(help.split_whitespace().collect::<Vec<_>>().join(" ").contains(code), "{code} in {help}");
    }
    let version = exactness(["--version"]);
    assert_eq!((version.out.trim(), version.code), (concat!("exactness ", env!("CARGO_PKG_VERSION")), 0));
}

#[test]
fn a_wrong_command_line_ends_with_exit_code_2() {
    for arguments in [&["no-such-verb"][..], &[], &["compare"], &["laws", "--format", "yaml"]] {
        let ran = exactness(arguments);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.err);
        assert!(!ran.err.is_empty() && ran.out.is_empty(), "{arguments:?}");
    }
}

#[test]
fn every_verb_has_a_manual_page_and_a_completion() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    assert_eq!(exactness(["man", "--out", out]).code, 0);
    let shells: Vec<String> =
        ["bash", "zsh", "fish"].map(|shell| exactness(["completions", shell]).out).to_vec();
    for verb in verbs() {
        let page = std::fs::read_to_string(folder.path().join(format!("exactness-{verb}.1"))).unwrap();
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{verb}: {page}");
        for script in &shells {
            assert!(script.contains(&verb), "{verb}");
        }
    }
    let whole = exactness(["man"]);
    assert!(whole.code == 0 && whole.out.contains("Exit codes"), "{}", whole.out);
    assert_eq!(exactness(["completions", "no-such-shell"]).code, 2);
}
