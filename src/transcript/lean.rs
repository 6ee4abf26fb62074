//! The quick way through the lines that make up nearly all of a large transcript: rounds and steps, as far as the
//! laws need them.
//!
//! It reads plain lines only and gives up on anything else: a key that it does not know or has seen, an escape in a
//! string, a number of unusual form. Whoever calls it then asks the full parser, which alone decides what is an
//! error. So this one may be small and fast, and must never accept what the full parser refuses (a property test
//! and a fuzz target hold the two against each other). Of a row it keeps index, position and the best entry.

use super::digest::is_sha256;
use super::format::{Round, Row, Step, TokenId};

/// A round line, as far as laws need it, into `round`, whose memory is used again.
///
/// `None`: this is not a plain round line, and what `round` holds now means nothing.
pub fn round_into(line: &[u8], round: &mut Round) -> Option<()> {
    let mut scan = Scan::new(line, br#"{"type":"round""#)?;
    forget_optional(round);
    let mut seen = Seen::default();
    let mut rows = round.rows.take();
    while let Key::Named(key) = scan.next_key()? {
        match key {
            b"sequence" => seen.first(0).and_then(|()| scan.int_to(&mut round.sequence))?,
            b"round" => seen.first(1).and_then(|()| scan.int_to(&mut round.round))?,
            b"width" => seen.first(2).and_then(|()| scan.int_to(&mut round.width))?,
            b"bonus" => seen.first(3).and_then(|()| scan.int_to(&mut round.bonus))?,
            b"draft" => seen.first(4).and_then(|()| scan.ints_to(&mut round.draft))?,
            b"target" => seen.first(5).and_then(|()| scan.ints_to(&mut round.target))?,
            b"accepted" => seen.first(6).and_then(|()| scan.int_to(&mut round.accepted))?,
            b"emitted" => seen.first(7).and_then(|()| scan.ints_to(&mut round.emitted))?,
            b"walked" => seen.first(8).and_then(|()| scan.maybe_to(&mut round.walked))?,
            b"cache_before" => seen.first(9).and_then(|()| scan.maybe_to(&mut round.cache_before))?,
            b"cache_after" => seen.first(10).and_then(|()| scan.maybe_to(&mut round.cache_after))?,
            b"draft_cache_after" => {
                seen.first(11).and_then(|()| scan.maybe_to(&mut round.draft_cache_after))?;
            }
            b"shared_cache" => seen.first(12).and_then(|()| scan.maybe_to(&mut round.shared_cache))?,
            b"state_kept" => seen.first(13).and_then(|()| scan.maybe_to(&mut round.state_kept))?,
            b"state_read" => seen.first(14).and_then(|()| scan.maybe_to(&mut round.state_read))?,
            b"state_committed" => seen.first(15).and_then(|()| scan.maybe_to(&mut round.state_committed))?,
            b"rows" => {
                seen.first(16)?;
                round.rows =
                    if scan.null() { None } else { Some(scan.rows(rows.take().unwrap_or_default())?) };
            }
            b"micros" => seen.first(17).and_then(|()| scan.skip_micros())?,
            b"state_sha256" => seen.first(18).and_then(|()| scan.skip_digest())?,
            _ => return None,
        }
    }
    (seen.0 & 0xff == 0xff && scan.is_done()).then_some(())
}

/// A step line, as far as laws need it.
#[must_use]
pub fn step(line: &[u8]) -> Option<Step> {
    let mut scan = Scan::new(line, br#"{"type":"step""#)?;
    let mut step = Step::default();
    let mut seen = Seen::default();
    while let Key::Named(key) = scan.next_key()? {
        match key {
            b"sequence" => seen.first(0).and_then(|()| scan.int_to(&mut step.sequence))?,
            b"index" => seen.first(1).and_then(|()| scan.int_to(&mut step.index))?,
            b"input" => seen.first(2).and_then(|()| scan.int_to(&mut step.input))?,
            b"token" => seen.first(3).and_then(|()| scan.int_to(&mut step.token))?,
            b"cache_len" => seen.first(4).and_then(|()| scan.maybe_to(&mut step.cache_len))?,
            b"row" => {
                seen.first(5)?;
                step.row = if scan.null() { None } else { Some(scan.row(Row::default())?) };
            }
            b"state_sha256" => seen.first(6).and_then(|()| scan.skip_digest())?,
            _ => return None,
        }
    }
    (seen.0 & 0xf == 0xf && scan.is_done()).then_some(step)
}

/// The obligatory keys are all written by a line that is taken; the others may be absent.
fn forget_optional(round: &mut Round) {
    let (draft, target, emitted) = (&mut round.draft, &mut round.target, &mut round.emitted);
    let lists = [std::mem::take(draft), std::mem::take(target), std::mem::take(emitted)];
    let rows = round.rows.take();
    *round = Round::default();
    [round.draft, round.target, round.emitted] = lists;
    round.rows = rows;
}

/// The keys of one object that were seen. A second time is for the full parser to refuse.
#[derive(Default)]
struct Seen(u32);

impl Seen {
    fn first(&mut self, key: u32) -> Option<()> {
        let bit = 1 << key;
        let new = self.0 & bit == 0;
        self.0 |= bit;
        new.then_some(())
    }
}

/// The next key of an object, or its end.
enum Key<'a> {
    Named(&'a [u8]),
    End,
}

/// A place in one line.
struct Scan<'a> {
    rest: &'a [u8],
    /// The next key is the first of its object.
    fresh: bool,
}

impl<'a> Scan<'a> {
    fn new(line: &'a [u8], start: &[u8]) -> Option<Self> {
        Some(Self { rest: line.strip_prefix(start)?, fresh: false })
    }

    /// Only the line end is left.
    fn is_done(&self) -> bool {
        matches!(self.rest, [] | [b'\n'] | [b'\r', b'\n'])
    }

    fn space(&mut self) {
        while let [b' ', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        (*first == byte).then_some(())
    }

    fn comma(&mut self) -> Option<()> {
        self.eat(b',')?;
        self.space();
        Some(())
    }

    fn next_key(&mut self) -> Option<Key<'a>> {
        if let [b'}', rest @ ..] = self.rest {
            self.rest = rest;
            self.fresh = false;
            return Some(Key::End);
        }
        if !std::mem::take(&mut self.fresh) {
            self.comma()?;
        }
        let key = self.text()?;
        self.eat(b':')?;
        self.space();
        Some(Key::Named(key))
    }

    fn open_object(&mut self) -> Option<()> {
        self.fresh = true;
        self.eat(b'{')
    }

    fn int_to(&mut self, out: &mut i64) -> Option<()> {
        *out = self.int()?;
        Some(())
    }

    fn maybe_to(&mut self, out: &mut Option<i64>) -> Option<()> {
        *out = if self.null() { None } else { Some(self.int()?) };
        Some(())
    }

    fn ints_to(&mut self, out: &mut Vec<TokenId>) -> Option<()> {
        out.clear();
        self.list(|scan| {
            out.push(scan.int()?);
            Some(())
        })
    }

    /// Rows, in the memory of `rows`.
    fn rows(&mut self, mut rows: Vec<Row>) -> Option<Vec<Row>> {
        let mut count = 0;
        self.list(|scan| {
            let used = rows.get_mut(count).map(std::mem::take);
            let row = scan.row(used.unwrap_or_default())?;
            match rows.get_mut(count) {
                Some(place) => *place = row,
                None => rows.push(row),
            }
            count += 1;
            Some(())
        })?;
        rows.truncate(count);
        Some(rows)
    }

    /// A row, in the memory of `used`.
    fn row(&mut self, used: Row) -> Option<Row> {
        self.open_object()?;
        let (mut row, mut seen) = (Row::default(), Seen::default());
        let mut best = used.top.unwrap_or_default();
        while let Key::Named(key) = self.next_key()? {
            match key {
                b"index" => seen.first(0).and_then(|()| self.maybe_to(&mut row.index))?,
                b"position" => seen.first(1).and_then(|()| self.maybe_to(&mut row.position))?,
                b"sha256" => seen.first(2).and_then(|()| self.skip_digest())?,
                b"dtype" => seen.first(3).and_then(|()| self.skip_text())?,
                b"top" => {
                    seen.first(4)?;
                    row.top = if self.null() { None } else { Some(self.best(std::mem::take(&mut best))?) };
                }
                b"at" => seen.first(5).and_then(|()| self.skip_place())?,
                _ => return None,
            }
        }
        Some(row)
    }

    fn skip_text(&mut self) -> Option<()> {
        if self.null() { Some(()) } else { self.text().map(|_| ()) }
    }

    fn skip_digest(&mut self) -> Option<()> {
        if self.null() { Some(()) } else { self.text().filter(|text| is_sha256(text)).map(|_| ()) }
    }

    /// Offset and length: two numbers, neither negative.
    fn skip_place(&mut self) -> Option<()> {
        if self.null() {
            return Some(());
        }
        let mut count = 0;
        self.list(|scan| {
            count += 1;
            scan.int().filter(|value| *value >= 0).map(|_| ())
        })?;
        (count == 2).then_some(())
    }

    /// The first of the top entries, in the memory of `best`; the others are only read.
    fn best(&mut self, mut best: Vec<(TokenId, Option<f64>)>) -> Option<Vec<(TokenId, Option<f64>)>> {
        best.clear();
        self.list(|scan| {
            scan.eat(b'[')?;
            let id = scan.int()?;
            scan.comma()?;
            if !scan.null() {
                scan.number()?;
            }
            if best.is_empty() {
                best.push((id, None));
            }
            scan.eat(b']')
        })?;
        Some(best)
    }

    fn skip_micros(&mut self) -> Option<()> {
        if self.null() {
            return Some(());
        }
        self.open_object()?;
        let mut seen = Seen::default();
        while let Key::Named(key) = self.next_key()? {
            let names: [&[u8]; 4] = [b"draft", b"verify", b"sync", b"rewind"];
            let name = names.iter().position(|name| *name == key)?;
            seen.first(u32::try_from(name).ok()?)?;
            if !self.null() {
                self.number()?;
            }
        }
        Some(())
    }

    /// A string without escapes, of printable ASCII.
    fn text(&mut self) -> Option<&'a [u8]> {
        self.eat(b'"')?;
        let end = self.rest.iter().position(|byte| *byte == b'"')?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        text.iter().all(|byte| (0x20..0x7f).contains(byte) && *byte != b'\\').then_some(text)
    }

    fn null(&mut self) -> bool {
        let rest = self.rest.strip_prefix(b"null");
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// An integer of at most 18 digits that is not the beginning of another number.
    fn int(&mut self) -> Option<i64> {
        let (negative, digits) = match self.rest {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let mut value = 0_i64;
        let mut length = 0;
        while let Some(digit) =
            digits.get(length).map(|byte| byte.wrapping_sub(b'0')).filter(|digit| *digit < 10)
        {
            if length == 18 {
                return None;
            }
            value = value * 10 + i64::from(digit);
            length += 1;
        }
        let plain = length > 0 && (digits[0] != b'0' || (length == 1 && !negative));
        self.rest = &digits[length..];
        let ends = matches!(self.rest.first(), Some(b',' | b']' | b'}'));
        (plain && ends).then_some(if negative { -value } else { value })
    }

    fn digits(&mut self) -> usize {
        let length = self.rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(self.rest.len());
        self.rest = &self.rest[length..];
        length
    }

    /// A number that every parser can hold: 18 digits a part, an exponent of two.
    fn number(&mut self) -> Option<()> {
        if let [b'-', rest @ ..] = self.rest {
            self.rest = rest;
        }
        let zero = self.rest.first() == Some(&b'0');
        let whole = self.digits();
        let mut plain = (1..=18).contains(&whole) && (!zero || whole == 1);
        if let [b'.', rest @ ..] = self.rest {
            self.rest = rest;
            plain &= (1..=18).contains(&self.digits());
        }
        if let [b'e' | b'E', rest @ ..] = self.rest {
            self.rest = if let [b'-' | b'+', rest @ ..] = rest { rest } else { rest };
            plain &= (1..=2).contains(&self.digits());
        }
        let ends = matches!(self.rest.first(), Some(b',' | b']' | b'}'));
        (plain && ends).then_some(())
    }

    /// A list, an item at a time.
    fn list(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.eat(b'[')?;
        if let [b']', rest @ ..] = self.rest {
            self.rest = rest;
            return Some(());
        }
        loop {
            item(self)?;
            match self.rest {
                [b',', ..] => self.comma()?,
                _ => return self.eat(b']'),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Round, round_into, step};

    fn round(line: &[u8]) -> Option<Round> {
        let mut round = Round::default();
        round_into(line, &mut round).map(|()| round)
    }

    /// A round line, its two digests written short: see [`whole`].
    const ROUND: &str = concat!(
        r#"{"type":"round","sequence":0,"round":0,"width":2,"bonus":5,"draft":[6],"target":[6,9],"accepted":1,"#,
        r#""emitted":[6,9],"cache_before":64,"cache_after":null,"state_sha256":"9f0c","rows":[{"index":1,"position":64,"sha256":"51ab","#,
        r#""dtype":"bfloat16","top":[[6,15.875],[7,-1.5e-2],[8,null]]},{"index":null,"at":[0,18]}],"#,
        r#""micros":{"draft":1974.2,"verify":8335,"sync":null}}"#
    );

    /// The line with digests of 64 digits.
    fn whole(line: &str) -> String {
        line.replace("9f0c", &"9f0c".repeat(16)).replace("51ab", &"51ab".repeat(16))
    }

    #[test]
    fn plain_lines_are_read() {
        let read = round(whole(ROUND).as_bytes()).unwrap();
        assert_eq!((read.width, read.cache_before, read.cache_after), (2, Some(64), None));
        let rows = read.rows.unwrap();
        assert_eq!(rows[0].top, Some(vec![(6, None)]));
        assert_eq!(rows[1].index, None);
        let text = r#"{"type":"step", "sequence": 1, "index": 2, "input": 3, "token": 4, "row": null}"#;
        assert_eq!(step(text.as_bytes()).map(|step| step.token), Some(4));
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_full_parser() {
        for (from, to) in [
            ("\"width\":2", "\"width\":02"),
            ("\"width\":2", "\"width\":2.0"),
            ("\"width\":2", "\"width\":2,\"width\":2"),
            ("\"width\":2", "\"new\":2,\"width\":2"),
            ("\"width\":2,", ""),
            ("51ab", "51\\u0061b"),
            ("51ab", "51a"),
            ("9f0c", ""),
            ("15.875", "15."),
            ("15.875", "1e999"),
            ("[0,18]", "[0,-18]"),
            ("[0,18]", "[0]"),
            ("null}}", "null}},"),
            ("null}}", "null}"),
        ] {
            let line = whole(&ROUND.replace(from, to));
            assert_ne!(line, whole(ROUND));
            assert!(round(line.as_bytes()).is_none(), "{from} became {to}");
        }
    }
}
