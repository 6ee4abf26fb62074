//! What the JSON parser says of a line, without the place that it counts for itself: it sees one line, whose number is
//! 1, and the file's own number is the one that helps. A refusal names one place.

/// The most characters of a line that a refusal quotes.
const MOST_QUOTED: usize = 160;

/// What is wrong, without a place.
#[must_use]
pub fn bare(error: &serde_json::Error) -> String {
    let says = error.to_string();
    // A value that was parsed before has no place.
    let own = (error.line() > 0).then(|| says.rsplit_once(" at line ")).flatten();
    shortened(own.map_or(&*says, |(message, _)| message))
}

/// What is wrong with a line of JSON lines, with the column; the number of the line stands before it.
#[must_use]
pub fn in_line(error: &serde_json::Error) -> String {
    let says = bare(error);
    // The end of a line is the beginning of the next one for the parser.
    if error.line() == 1 && error.column() > 0 {
        format!("{says} at column {}", error.column())
    } else {
        says
    }
}

/// What the parser and we quote from a line can be as long as the line; a refusal is one line for a person.
#[must_use]
pub fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= MOST_QUOTED {
        return text.to_owned();
    }
    let (start, end) = (text.chars().take(MOST_QUOTED / 2), text.chars().skip(length - MOST_QUOTED / 2));
    format!("{} … {}", start.collect::<String>(), end.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{bare, in_line};

    #[test]
    fn the_parsers_own_line_number_is_left_out() {
        let fault = |text: &str| serde_json::from_str::<(u8, u8)>(text).unwrap_err();
        assert_eq!(in_line(&fault("[1, x]\n")), "expected value at column 5");
        assert_eq!(bare(&fault("[1, x]\n")), "expected value");
        assert_eq!(in_line(&fault("[1,\n")), "EOF while parsing a value");
        let placeless = serde_json::from_value::<u8>("a at line 7".into()).unwrap_err();
        assert_eq!(in_line(&placeless), "invalid type: string \"a at line 7\", expected u8");
    }
}
