//! The quick way through the lines that make up nearly all of a large transcript: rounds and steps, as far as the
//! laws need them.
//!
//! It reads plain lines only and gives up on anything else: a key that it does not know or has seen, an escape in a
//! string, a number of unusual form. Whoever calls it then asks the full parser, which alone decides what is an
//! error. So this one may be small and fast, and must never accept what the full parser refuses (a property test
//! and a fuzz target hold the two against each other). Of a row it keeps index, position and the best entry.

use super::format::{Micros, Round, Row, Step, TokenId};

/// A round line, as far as laws need it.
#[must_use]
pub fn round(line: &[u8]) -> Option<Round> {
    let mut scan = Scan::new(line, br#"{"type":"round""#)?;
    let mut round = blank();
    let mut seen = Seen::default();
    while let Some(key) = scan.next_key()? {
        match key {
            b"sequence" => round.sequence = seen.first(0)?.int(&mut scan)?,
            b"round" => round.round = seen.first(1)?.int(&mut scan)?,
            b"width" => round.width = seen.first(2)?.int(&mut scan)?,
            b"bonus" => round.bonus = seen.first(3)?.int(&mut scan)?,
            b"draft" => round.draft = seen.first(4)?.ints(&mut scan)?,
            b"target" => round.target = seen.first(5)?.ints(&mut scan)?,
            b"accepted" => round.accepted = seen.first(6)?.int(&mut scan)?,
            b"emitted" => round.emitted = seen.first(7)?.ints(&mut scan)?,
            b"walked" => round.walked = seen.first(8)?.maybe_int(&mut scan)?,
            b"cache_before" => round.cache_before = seen.first(9)?.maybe_int(&mut scan)?,
            b"cache_after" => round.cache_after = seen.first(10)?.maybe_int(&mut scan)?,
            b"draft_cache_after" => round.draft_cache_after = seen.first(11)?.maybe_int(&mut scan)?,
            b"shared_cache" => round.shared_cache = seen.first(12)?.maybe_int(&mut scan)?,
            b"state_kept" => round.state_kept = seen.first(13)?.maybe_int(&mut scan)?,
            b"state_read" => round.state_read = seen.first(14)?.maybe_int(&mut scan)?,
            b"state_committed" => round.state_committed = seen.first(15)?.maybe_int(&mut scan)?,
            b"rows" => round.rows = seen.first(16)?.rows(&mut scan, round.width)?,
            b"micros" => round.micros = seen.first(17)?.micros(&mut scan)?,
            _ => return None,
        }
    }
    (seen.0 & 0xff == 0xff && scan.is_done()).then_some(round)
}

/// A step line, as far as laws need it.
#[must_use]
pub fn step(line: &[u8]) -> Option<Step> {
    let mut scan = Scan::new(line, br#"{"type":"step""#)?;
    let mut step = Step { sequence: 0, index: 0, input: 0, token: 0, cache_len: None, row: None };
    let mut seen = Seen::default();
    while let Some(key) = scan.next_key()? {
        match key {
            b"sequence" => step.sequence = seen.first(0)?.int(&mut scan)?,
            b"index" => step.index = seen.first(1)?.int(&mut scan)?,
            b"input" => step.input = seen.first(2)?.int(&mut scan)?,
            b"token" => step.token = seen.first(3)?.int(&mut scan)?,
            b"cache_len" => step.cache_len = seen.first(4)?.maybe_int(&mut scan)?,
            b"row" if scan.null() => {
                seen.first(5)?;
            }
            b"row" => step.row = Some(seen.first(5)?.row(&mut scan)?),
            _ => return None,
        }
    }
    (seen.0 & 0xf == 0xf && scan.is_done()).then_some(step)
}

const fn blank() -> Round {
    Round {
        sequence: 0,
        round: 0,
        width: 0,
        bonus: 0,
        draft: Vec::new(),
        target: Vec::new(),
        accepted: 0,
        emitted: Vec::new(),
        walked: None,
        cache_before: None,
        cache_after: None,
        draft_cache_after: None,
        shared_cache: None,
        state_kept: None,
        state_read: None,
        state_committed: None,
        rows: None,
        micros: None,
    }
}

/// The keys of one object that were seen. A second time is for the full parser to refuse.
#[derive(Default)]
struct Seen(u32);

impl Seen {
    fn first(&mut self, key: u32) -> Option<Value> {
        let bit = 1 << key;
        let new = self.0 & bit == 0;
        self.0 |= bit;
        new.then_some(Value)
    }
}

/// Reads the value of a key that was seen for the first time.
struct Value;

impl Value {
    fn int(self, scan: &mut Scan) -> Option<i64> {
        scan.int()
    }

    fn maybe_int(self, scan: &mut Scan) -> Option<Option<i64>> {
        if scan.null() { Some(None) } else { scan.int().map(Some) }
    }

    fn ints(self, scan: &mut Scan) -> Option<Vec<TokenId>> {
        let mut ids = Vec::with_capacity(8);
        scan.list(|scan| {
            ids.push(scan.int()?);
            Some(())
        })?;
        Some(ids)
    }

    /// `width` is how many there should be.
    fn rows(self, scan: &mut Scan, width: i64) -> Option<Option<Vec<Row>>> {
        if scan.null() {
            return Some(None);
        }
        let mut rows = Vec::with_capacity(usize::try_from(width).unwrap_or(0).min(64));
        scan.list(|scan| {
            rows.push(Self.row(scan)?);
            Some(())
        })?;
        Some(Some(rows))
    }

    fn row(self, scan: &mut Scan) -> Option<Row> {
        scan.eat(b'{')?;
        scan.fresh = true;
        let (mut row, mut seen) = (Row::default(), Seen::default());
        while let Some(key) = scan.next_key()? {
            match key {
                b"index" => row.index = seen.first(0)?.maybe_int(scan)?,
                b"position" => row.position = seen.first(1)?.maybe_int(scan)?,
                b"sha256" => seen.first(2)?.skip_text(scan)?,
                b"dtype" => seen.first(3)?.skip_text(scan)?,
                b"top" => row.top = seen.first(4)?.best(scan)?,
                b"at" => seen.first(5)?.skip_place(scan)?,
                _ => return None,
            }
        }
        Some(row)
    }

    fn skip_text(self, scan: &mut Scan) -> Option<()> {
        if scan.null() { Some(()) } else { scan.text().map(|_| ()) }
    }

    /// Offset and length: two numbers, neither negative.
    fn skip_place(self, scan: &mut Scan) -> Option<()> {
        if scan.null() {
            return Some(());
        }
        let mut count = 0;
        scan.list(|scan| {
            count += 1;
            scan.int().filter(|value| *value >= 0).map(|_| ())
        })?;
        (count == 2).then_some(())
    }

    /// The first of the top entries; the others are only read.
    fn best(self, scan: &mut Scan) -> Option<Option<Vec<(TokenId, Option<f64>)>>> {
        if scan.null() {
            return Some(None);
        }
        let mut best = Vec::new();
        scan.list(|scan| {
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
        Some(Some(best))
    }

    fn micros(self, scan: &mut Scan) -> Option<Option<Micros>> {
        if scan.null() {
            return Some(None);
        }
        scan.eat(b'{')?;
        scan.fresh = true;
        let mut seen = Seen::default();
        while let Some(key) = scan.next_key()? {
            let names: [&[u8]; 4] = [b"draft", b"verify", b"sync", b"rewind"];
            let name = names.iter().position(|name| *name == key)?;
            seen.first(u32::try_from(name).ok()?)?;
            if !scan.null() {
                scan.number()?;
            }
        }
        Some(None)
    }
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

    /// The next key of an object; `Some(None)` at its end.
    #[expect(clippy::option_option, reason = "giving up and reaching the end are two things")]
    fn next_key(&mut self) -> Option<Option<&'a [u8]>> {
        if let [b'}', rest @ ..] = self.rest {
            self.rest = rest;
            self.fresh = false;
            return Some(None);
        }
        if !std::mem::take(&mut self.fresh) {
            self.comma()?;
        }
        let key = self.text()?;
        self.eat(b':')?;
        self.space();
        Some(Some(key))
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
    use super::{round, step};

    const ROUND: &str = concat!(
        r#"{"type":"round","sequence":0,"round":0,"width":2,"bonus":5,"draft":[6],"target":[6,9],"accepted":1,"#,
        r#""emitted":[6,9],"cache_before":64,"cache_after":null,"rows":[{"index":1,"position":64,"sha256":"51ab","#,
        r#""dtype":"bfloat16","top":[[6,15.875],[7,-1.5e-2],[8,null]]},{"index":null,"at":[0,18]}],"#,
        r#""micros":{"draft":1974.2,"verify":8335,"sync":null}}"#
    );

    #[test]
    fn plain_lines_are_read() {
        let read = round(ROUND.as_bytes()).unwrap();
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
            ("15.875", "15."),
            ("15.875", "1e999"),
            ("[0,18]", "[0,-18]"),
            ("[0,18]", "[0]"),
            ("null}}", "null}},"),
            ("null}}", "null}"),
        ] {
            let line = ROUND.replace(from, to);
            assert_ne!(line, ROUND);
            assert!(round(line.as_bytes()).is_none(), "{from} became {to}");
        }
    }
}
