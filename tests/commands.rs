//! Command lines with their whole output, as a user sees it.

#[test]
fn command_lines() {
    trycmd::TestCases::new().env("COLUMNS", "110").case("tests/cmd/*.md");
}
