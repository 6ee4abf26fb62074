//! One line's bytes to one [`Line`], straight into its struct.
//!
//! An internally tagged enum would buffer every object before it knows what it is; a transcript of a gigabyte is
//! mostly round lines, so the `type` is looked up first and the struct is then read from the same bytes. Only a
//! line that fails is read a second time, to name the field.

use super::fault::LineFault;
use super::format::{FORMAT, Footer, Header, Line, Prefill, Round, Step, VERSION};
use super::lean;
use super::said::{bare, shortened};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// Reads one line, without its line end.
///
/// # Errors
/// With what is wrong with the line; [`LineFault::Half`] when it only ends too early.
pub fn parse_line(bytes: &[u8]) -> Result<Line, LineFault> {
    // A derived struct would also take an array of its values in order; a line is an object.
    if let Some(column) = bytes.iter().position(|byte| !byte.is_ascii_whitespace())
        && bytes[column] != b'{'
    {
        return Err(LineFault::NotJson { column: column + 1, says: "expected `{`".to_owned() });
    }
    match &*kind_of(bytes)? {
        "round" => Ok(Line::Round(Box::new(object::<Round>(bytes)?))),
        "step" => Ok(Line::Step(object::<Step>(bytes)?)),
        "prefill" => Ok(Line::Prefill(object::<Prefill>(bytes)?)),
        "footer" => Ok(Line::Footer(Box::new(object::<Footer>(bytes)?))),
        "header" => header(bytes).map(|header| Line::Header(Box::new(header))),
        other => Err(LineFault::UnknownType { found: shortened(other) }),
    }
}

/// Judged rounds whose memory is used again.
pub type Spare = Vec<Box<Round>>;

/// Reads one line as far as the laws need it: of a row index, position and best entry; no timings. `spare` are
/// rounds whose memory may be used again.
///
/// # Errors
/// As [`parse_line`].
pub fn parse_for_laws(bytes: &[u8], spare: &mut Spare) -> Result<Line, LineFault> {
    if bytes.starts_with(br#"{"type":"round""#) {
        let mut round = spare.pop().unwrap_or_default();
        if lean::round_into(bytes, &mut round).is_some() {
            return Ok(Line::Round(round));
        }
        spare.push(round);
    }
    match lean::step(bytes) {
        Some(step) => Ok(Line::Step(step)),
        None => parse_line(bytes),
    }
}

#[derive(Deserialize)]
struct Tag<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
}

/// The value of `type`: at once where it is written first, as this program does, otherwise by a scan.
fn kind_of(bytes: &[u8]) -> Result<Cow<'_, str>, LineFault> {
    let first = bytes.strip_prefix(br#"{"type":""#).and_then(|rest| {
        let end = rest.iter().take(16).position(|byte| !byte.is_ascii_lowercase())?;
        if rest[end] == b'"' { std::str::from_utf8(&rest[..end]).ok() } else { None }
    });
    match first {
        Some(kind) if !names_type_again(bytes) => Ok(Cow::Borrowed(kind)),
        _ => serde_json::from_slice::<Tag>(bytes)
            .map(|tag| Cow::Owned(tag.kind.into_owned()))
            .map_err(|error| explain::<Tag>(bytes, &error)),
    }
}

/// The word stands a second time, perhaps as a second key: then the scan has to tell, because two readers that take
/// the first and the last of two types read two different runs.
fn names_type_again(bytes: &[u8]) -> bool {
    let word = br#""type""#;
    bytes.windows(word.len()).filter(|window| *window == word).nth(1).is_some()
}

/// The keys that say whether the rest of a header can be read at all.
#[derive(Deserialize)]
struct Claim {
    format: String,
    version: i64,
}

fn header(bytes: &[u8]) -> Result<Header, LineFault> {
    let claim: Claim = object(bytes)?;
    if claim.format != FORMAT {
        let says = format!("is \"{}\", expected \"{FORMAT}\"", shortened(&claim.format));
        return Err(LineFault::Field { field: "format".to_owned(), says });
    }
    if claim.version > VERSION {
        return Err(LineFault::Newer { found: claim.version });
    }
    if claim.version < 1 {
        let says = format!("is {}, versions count from 1", claim.version);
        return Err(LineFault::Field { field: "version".to_owned(), says });
    }
    let header: Header = object(bytes)?;
    match twice(&header) {
        Some((index, sequence)) => {
            let says = format!("sequence {sequence} has a prompt already; a sequence has one");
            Err(LineFault::Field { field: format!("prompts[{index}].sequence"), says })
        }
        None => Ok(header),
    }
}

/// A sequence with two prompts: one judge would take the first, another the last.
fn twice(header: &Header) -> Option<(usize, i64)> {
    let mut seen = BTreeSet::new();
    let mut sequences = header.prompts.iter().map(|prompt| prompt.sequence).enumerate();
    sequences.find(|(_, sequence)| !seen.insert(*sequence))
}

fn object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, LineFault> {
    serde_json::from_slice(bytes).map_err(|error| explain::<T>(bytes, &error))
}

/// Reads a refused line again with its path tracked, which costs too much for lines that are right.
fn explain<'a, T: Deserialize<'a>>(bytes: &'a [u8], error: &serde_json::Error) -> LineFault {
    if error.is_eof() {
        return LineFault::Half;
    }
    let says = bare(error);
    if error.is_syntax() {
        return LineFault::NotJson { column: error.column(), says };
    }
    let mut source = serde_json::Deserializer::from_slice(bytes);
    let field = match serde_path_to_error::deserialize::<_, T>(&mut source) {
        Err(traced) => traced.path().to_string(),
        Ok(_) => ".".to_owned(),
    };
    LineFault::Field { field: named_field(field, &says), says }
}

/// A missing or doubled key has the path of its object; its name stands in the message.
fn named_field(path: String, says: &str) -> String {
    let key = ["missing field `", "duplicate field `"].iter().find_map(|start| says.strip_prefix(start));
    match key.and_then(|rest| rest.split('`').next()) {
        Some(key) if path == "." => key.to_owned(),
        Some(key) if !path.ends_with(key) => format!("{path}.{key}"),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::{LineFault, parse_line};

    fn fault(text: &str) -> String {
        parse_line(text.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_type_is_found_wherever_it_stands() {
        let first = parse_line(br#"{"type":"prefill","sequence":0,"token":5}"#).unwrap();
        let last = parse_line(br#" {"sequence":0,"token":5,"later_key":[{}],"row":null,"type":"prefill"} "#)
            .unwrap();
        assert_eq!(first, last);
    }

    #[test]
    fn refusals_name_the_field() {
        insta::assert_snapshot!(fault(r#"{"type":"prefill","sequence":0,"token":"5"}"#), @r#"field `token`: invalid type: string "5", expected i64; `exactness schema` prints the format"#);
        insta::assert_snapshot!(fault(r#"{"type":"prefill","sequence":0}"#), @"field `token`: missing field `token`; `exactness schema` prints the format");
        insta::assert_snapshot!(fault(r#"{"type":"prefill","sequence":0,"token":1,"row":{"top":[[1,2.5],[1.5,2]]}}"#), @"field `row.top[1][0]`: invalid type: floating point `1.5`, expected i64; `exactness schema` prints the format");
        insta::assert_snapshot!(fault(r#"{"sequence":0}"#), @"field `type`: missing field `type`; `exactness schema` prints the format");
        insta::assert_snapshot!(fault("[1]"), @"not JSON at column 1 (expected `{`); a transcript has one JSON object a line");
        insta::assert_snapshot!(fault(r#"{"type":"tree"}"#), @"unknown type `tree`: version 1 of the format has header, prefill, step, round and footer; use a release that reads a version above 1");
    }

    #[test]
    fn a_newer_version_is_refused_before_its_other_keys_are_read() {
        let text =
            r#"{"type":"header","format":"exactness.transcript","version":7,"arm":{"now":"an object"}}"#;
        assert_eq!(parse_line(text.as_bytes()), Err(LineFault::Newer { found: 7 }));
    }

    #[test]
    fn every_beginning_of_a_line_is_half_a_line() {
        let text = r#"{"type":"step","sequence":0,"index":1,"input":5,"token":6,"row":{"top":[[6,1.5e1],[7,null]]}}"#;
        for end in 1..text.len() {
            assert_eq!(parse_line(&text.as_bytes()[..end]), Err(LineFault::Half), "{}", &text[..end]);
        }
        assert!(parse_line(text.as_bytes()).is_ok());
    }
}
