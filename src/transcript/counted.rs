//! Counts with their nouns and verbs: one place for `1 row` beside `2 rows`, so that no sentence says `1 rows`.

use std::fmt::Display;

/// A whole number.
pub trait Count: Copy + Display + Eq + From<u8> {}

impl<T: Copy + Display + Eq + From<u8>> Count for T {}

/// `1 row`, `2 rows`; of several words the last one is the noun.
#[must_use]
pub fn counted(count: impl Count, noun: &str) -> String {
    format!("{count} {}", form(count, noun))
}

/// `1 of 2 rows`, `1 of 1 row`.
#[must_use]
pub fn part_of(part: impl Display, all: impl Count, noun: &str) -> String {
    format!("{part} of {}", counted(all, noun))
}

/// A noun in the form that belongs to a count.
#[must_use]
pub fn form(count: impl Count, noun: &str) -> String {
    let hisses = ["s", "x", "sh", "ch"].iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o'])) {
        _ if agreed(count, true, false) => noun.to_owned(),
        Some(stem) => format!("{stem}ies"),
        None if hisses => format!("{noun}es"),
        None => format!("{noun}s"),
    }
}

/// The first for a count of one, the second for any other: `is` or `are`.
pub fn agreed<T>(count: impl Count, one: T, many: T) -> T {
    if count == 1.into() { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::{agreed, counted, part_of};

    #[test]
    fn one_has_the_singular_and_every_other_count_the_plural() {
        let said = [0, 1, 2].map(|count: usize| counted(count, "kept row"));
        assert_eq!(said, ["0 kept rows", "1 kept row", "2 kept rows"]);
        let said = [0, 1, 2].map(|count: u64| format!("{} it", agreed(count, "keeps", "keep")));
        assert_eq!(said, ["keep it", "keeps it", "keep it"]);
        assert_eq!((part_of(0, 1, "row"), part_of(1, 2, "row")), ("0 of 1 row".into(), "1 of 2 rows".into()));
    }

    #[test]
    fn nouns_keep_their_spelling() {
        let two = |noun: &str| counted(2, noun);
        assert_eq!([two("pass"), two("entry"), two("byte")], ["2 passes", "2 entries", "2 bytes"]);
        assert_eq!([two("branch"), two("key")], ["2 branches", "2 keys"]);
    }
}
