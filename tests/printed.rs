//! What the comparing commands print, whole, so that a change of their words is seen in review.

#[test]
fn printed() {
    trycmd::TestCases::new().env("COLUMNS", "110").case("tests/cmd/compare/*.trycmd");
}
