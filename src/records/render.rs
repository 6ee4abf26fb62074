//! The document set as markdown and as one page of HTML. Both templates escape every string that they are not told is
//! safe: names, labels and prompts come from other machines.

use super::error::RecordError;
use super::page::Document;
use super::pictures::canvas::{harmless, is_harmful};
use super::pictures::{STYLE, escaped};
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, Output, State, context, escape_formatter, syntax::SyntaxConfig};

const MARKDOWN: &str = include_str!("templates/report.md.j2");
const PAGE: &str = include_str!("templates/report.html.j2");
/// The name by which the page's template is told to escape for HTML.
const PAGE_NAME: &str = "report.html";
const SCRIPT: &str = include_str!("templates/explore.js");
const SHEET: &str = include_str!("templates/page.css");
/// What sentences of this program set in backticks. Backticks around anything else came with data and stay what they are.
const WORDS: [&str; 1] = ["repeat"];
/// A cell with more characters than this is a sentence, a path or a digest: it gets room, and breaks where that ends.
const LONG: usize = 40;

/// The markdown.
///
/// # Errors
/// Never in practice: the template is ours.
pub fn markdown(document: &Document) -> Result<String, RecordError> {
    let text =
        environment()?.get_template("report.md")?.render(context!(record => Value::from(Serde(document))))?;
    Ok(format!("{}\n", text.trim_end()))
}

/// The page.
///
/// # Errors
/// Never in practice: the template is ours.
pub fn page(document: &Document) -> Result<String, RecordError> {
    let explored: Vec<String> = document.explored.iter().map(in_script).collect();
    let context = context!(
        record => Value::from(Serde(document)),
        explored => explored,
        style => format!("{STYLE}{}", SHEET.replace('\n', "")),
        script => SCRIPT,
    );
    let text = environment()?.get_template(PAGE_NAME)?.render(context)?;
    Ok(format!("{}\n", text.trim_end()))
}

/// JSON that cannot end the element that it stands in.
fn in_script(value: &serde_json::Value) -> String {
    let text = value.to_string();
    text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

fn environment() -> Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_auto_escape_callback(|name| {
        if name == PAGE_NAME { AutoEscape::Html } else { AutoEscape::Custom("markdown".into()) }
    });
    environment.set_formatter(format);
    environment.add_filter("code", |text: String| Value::from_safe_string(code(&text)));
    environment
        .add_filter("cell", |text: String| Value::from_safe_string(in_markdown(&text).replace('|', "\\|")));
    environment.add_filter("prose", |state: &State<'_, '_>, text: String| {
        let html = matches!(state.auto_escape(), AutoEscape::Html);
        let set = if html {
            prose(&text, escaped, |word| format!("<code>{word}</code>"))
        } else {
            begun(&prose(&text, in_markdown, code))
        };
        Value::from_safe_string(set)
    });
    environment.add_filter("long", |text: String| text.chars().count() > LONG);
    environment.add_filter("plain", |text: String| Value::from_safe_string(harmless(&text)));
    environment.add_template("report.md", MARKDOWN)?;
    environment.add_template(PAGE_NAME, PAGE)?;
    Ok(environment)
}

fn format(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), minijinja::Error> {
    let text = value.as_str().filter(|_| !value.is_safe());
    match (state.auto_escape(), text) {
        (AutoEscape::Html, Some(text)) => Ok(out.write_str(&escaped(text))?),
        (AutoEscape::Html, None) => escape_formatter(out, state, value),
        (_, Some(text)) => Ok(out.write_str(&begun(&in_markdown(text)))?),
        (_, None) => Ok(out.write_str(&value.to_string())?),
    }
}

/// A sentence: what is ours to set as code is code, all else is escaped.
fn prose(text: &str, escape: fn(&str) -> String, code: fn(&str) -> String) -> String {
    let next = |rest: &str| {
        let found = WORDS.iter().filter_map(|word| Some((rest.find(&format!("`{word}`"))?, *word)));
        found.min()
    };
    let (mut set, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((at, word)) = next(rest) {
        set.push_str(&escape(&rest[..at]));
        set.push_str(&code(word));
        rest = &rest[at + word.len() + 2..];
    }
    set + &escape(rest)
}

/// Escaped text as it can begin a line: what would begin a heading, a list or code there has a backslash in front.
fn begun(safe: &str) -> String {
    let safe = safe.trim_start_matches(' ');
    let marker = safe.find(' ').map_or(safe, |end| &safe[..end]);
    let heading = !marker.is_empty() && marker.bytes().all(|byte| byte == b'#');
    let number = marker.strip_suffix(['.', ')']).unwrap_or_default();
    let numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let place =
        if heading || ["+", "-"].contains(&marker) { Some(0) } else { numbered.then_some(number.len()) };
    place.map_or_else(|| safe.to_owned(), |place| format!("{}\\{}", &safe[..place], &safe[place..]))
}

/// Text that markdown shows as it is.
fn in_markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '`' | '*' | '[' | ']' | '~' => safe.extend(['\\', letter]),
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\n' | '\t' => safe.push(' '),
            letter if is_harmful(letter) => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

/// A name as code: in backticks where nothing in it can end them, else as an element.
fn code(text: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_./ :,=+@%*#".contains(letter);
    if !text.is_empty() && text.chars().all(plain) {
        return format!("`{text}`");
    }
    let safe = escaped(text).replace(['\n', '\t'], " ");
    let safe: String = safe
        .chars()
        .map(|letter| {
            if "|`*_[]\\~".contains(letter) {
                format!("&#{};", u32::from(letter))
            } else {
                letter.to_string()
            }
        })
        .collect();
    format!("<code>{safe}</code>")
}

#[cfg(test)]
mod tests {
    use super::{begun, code, in_markdown, in_script, prose};
    use crate::records::pictures::escaped;

    #[test]
    fn names_from_elsewhere_are_text_and_nothing_else() {
        assert_eq!(in_markdown("[x](http://y) <b>*`\u{1b}"), "\\[x\\](http://y) &lt;b&gt;\\*\\`\u{fffd}");
        assert_eq!(code("data/w4.jsonl"), "`data/w4.jsonl`");
        assert_eq!(code("a`|<b"), "<code>a&#96;&#124;&lt;b</code>");
        assert_eq!(in_script(&serde_json::json!("</script>")), "\"\\u003c/script\\u003e\"");
    }

    #[test]
    fn nothing_from_elsewhere_begins_a_heading_a_list_or_code() {
        let shown = |text: &str| begun(&in_markdown(text));
        assert_eq!(shown("# T: identical"), "\\# T: identical");
        assert_eq!(shown("    ### x"), "\\### x");
        assert_eq!(shown("+ x"), "\\+ x");
        assert_eq!((shown("1. x"), shown("12) x")), ("1\\. x".into(), "12\\) x".into()));
        for plain in ["#hash", "-1.5", "1.5 ulp", "22 of 22", "", "a # b"] {
            assert_eq!(shown(plain), plain);
        }
    }

    #[test]
    fn code_in_our_own_sentences_is_code_and_backticks_of_data_are_letters() {
        let html = |text: &str| prose(text, escaped, |word| format!("<code>{word}</code>"));
        let markdown = |text: &str| prose(text, in_markdown, code);
        let ours = "a run with `repeat` 1, and `repeat` <2>";
        assert_eq!(html(ours), "a run with <code>repeat</code> 1, and <code>repeat</code> &lt;2&gt;");
        assert_eq!(markdown(ours), "a run with `repeat` 1, and `repeat` &lt;2&gt;");
        for data in ["`x`", "`<b>`", "`repeat", "``", "`re`peat`", "`"] {
            assert_eq!(html(data), escaped(data));
            assert_eq!(markdown(data), in_markdown(data));
            assert!(!markdown(data).replace("\\`", "").contains('`'), "{data}");
        }
    }
}
