//! A command line as text that a shell reads back as the same words.

use std::fmt::Write as _;

/// Words as a shell reads them back.
#[must_use]
pub fn quoted(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}

fn quote(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:,=+@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.contains(char::is_control) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    let mut text = String::from("$'");
    for letter in word.chars() {
        match letter {
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\'' | '\\' => text.extend(['\\', letter]),
            letter if letter.is_control() => {
                // Writing into a String cannot fail.
                let _ = write!(text, "\\u{:04x}", u32::from(letter));
            }
            letter => text.push(letter),
        }
    }
    text + "'"
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_shell_reads_the_words_back() {
        let words = ["exactness", "--prompt", "it's a\nline", "a b", "", "$HOME"].map(str::to_owned);
        assert_eq!(quoted(&words), r"exactness --prompt $'it\'s a\nline' 'a b' '' '$HOME'");
    }
}
