//! The one writer of SVG: escaped text, short numbers, classes that a light and a dark page both define.
//!
//! Written directly rather than by a plotting library: a picture here needs a name and a description for those who
//! cannot see it, colours that follow the reader's theme, and the same bytes on every machine.

use std::fmt::Write as _;

/// Colours of both themes. A picture carries its own ground, so that it is legible on any page.
pub const STYLE: &str = "\
.xg{fill:#fbfbf9}.xi{fill:#1c1c1a}.xs{fill:#595853}.xl{stroke:#d9d8d2;fill:none}.xa{stroke:#85847f;fill:none}\
.xe{fill:#dfded8}.xu{fill:#f1f0ec;stroke:#b3b2ac;stroke-width:.6}.xb{fill:#2a6fba}.xc{fill:#c23b22}.xk{fill:#2f7d4f}.xr{fill:none;stroke:#85847f}\
.xf{fill:#cfe3d5}.xm{stroke:#1c1c1a;fill:none}.xh{fill:#1c1c1a;stroke:#fbfbf9;stroke-width:3px;paint-order:stroke}\
@media(prefers-color-scheme:dark){\
.xg{fill:#191a1c}.xi{fill:#ececea}.xs{fill:#b5b4af}.xl{stroke:#3b3c3f;fill:none}.xa{stroke:#8e8d88;fill:none}\
.xe{fill:#3a3c40}.xu{fill:#232427;stroke:#6d6c68;stroke-width:.6}.xb{fill:#62a5ee}.xc{fill:#f47c63}.xk{fill:#62bd87}.xr{fill:none;stroke:#8e8d88}\
.xf{fill:#2b4434}.xm{stroke:#ececea;fill:none}.xh{fill:#ececea;stroke:#191a1c}}\
text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}";

/// A rectangle: left, top, width, height.
pub type Area = (f64, f64, f64, f64);

/// Where a text is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// At its start.
    Start,
    /// In its middle.
    Middle,
    /// At its end.
    End,
}

/// A picture being drawn.
#[derive(Debug, Clone)]
pub struct Canvas {
    name: &'static str,
    title: String,
    alt: String,
    size: (f64, f64),
    body: String,
}

impl Canvas {
    /// An empty picture; `name` is that of its file, `alt` what it shows in words.
    #[must_use]
    pub fn new(name: &'static str, title: &str, alt: &str, size: (f64, f64)) -> Self {
        Self { name, title: title.to_owned(), alt: alt.to_owned(), size, body: String::new() }
    }

    /// What it shows in words.
    #[must_use]
    pub fn alt(&self) -> &str {
        &self.alt
    }

    /// The name of its file, without the ending.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// A filled rectangle, with a text that a pointer shows.
    pub fn cell(&mut self, class: &str, area: Area, says: &str) {
        let title = if says.is_empty() { String::new() } else { format!("<title>{}</title>", escaped(says)) };
        let end = if title.is_empty() { "/>".to_owned() } else { format!(">{title}</rect>") };
        self.add(format_args!("<rect class=\"{class}\" {}{end}", area_text(area)));
    }

    /// A filled rectangle, lighter by `opacity`.
    pub fn shade(&mut self, class: &str, area: Area, opacity: f64, says: &str) {
        let title = format!("<title>{}</title>", escaped(says));
        let (area, opacity) = (area_text(area), short(opacity));
        self.add(format_args!("<rect class=\"{class}\" {area} fill-opacity=\"{opacity}\">{title}</rect>"));
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(short);
        self.add(format_args!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"));
    }

    /// A closed shape through points.
    pub fn shape(&mut self, class: &str, points: &[(f64, f64)]) {
        let points: Vec<String> =
            points.iter().map(|(x, y)| format!("{},{}", short(*x), short(*y))).collect();
        self.add(format_args!("<polygon class=\"{class}\" points=\"{}\"/>", points.join(" ")));
    }

    /// A circle.
    pub fn dot(&mut self, class: &str, (x, y): (f64, f64), radius: f64) {
        let [x, y, radius] = [x, y, radius].map(short);
        self.add(format_args!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"));
    }

    /// A line of text.
    pub fn text(&mut self, class: &str, (x, y): (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let (x, y, text) = (short(x), short(y), escaped(text));
        self.add(format_args!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>"));
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing into a String cannot fail.
        let _ = writeln!(self.body, "{element}");
    }

    /// As a part of a page that has [`STYLE`] already.
    #[must_use]
    pub fn inline(&self) -> String {
        self.svg("")
    }

    /// As a file.
    #[must_use]
    pub fn file(&self) -> String {
        self.svg(&format!("<style>{STYLE}</style>\n"))
    }

    fn svg(&self, style: &str) -> String {
        let (name, width, height) = (self.name, short(self.size.0), short(self.size.1));
        let (title, alt) = (escaped(&self.title), escaped(&self.alt));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" aria-labelledby=\"{name}-t {name}-d\">\n<title id=\"{name}-t\">{title}</title>\n\
             <desc id=\"{name}-d\">{alt}</desc>\n{style}<rect class=\"xg\" width=\"{width}\" height=\"{height}\"/>\n{}</svg>\n",
            self.body
        )
    }
}

fn area_text((x, y, width, height): Area) -> String {
    let [x, y, width, height] = [x, y, width, height].map(short);
    format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
}

/// At most two decimals, none where they are zeros.
pub(super) fn short(number: f64) -> String {
    let text = format!("{number:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text for XML and HTML. Characters that XML does not have, and those that turn the direction of text, are shown as a
/// replacement: a name from another machine must not change what stands beside it.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter if is_harmful(letter) => safe.push('\u{fffd}'),
            letter => safe.push(letter),
        }
    }
    safe
}

/// Text as it is, but for characters that do something to the text beside it.
pub(in crate::records) fn harmless(text: &str) -> String {
    text.chars().map(|letter| if is_harmful(letter) { '\u{fffd}' } else { letter }).collect()
}

/// Control characters, and those that reorder text.
pub(in crate::records) fn is_harmful(letter: char) -> bool {
    let reorders =
        matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    let no_xml = matches!(letter, '\u{fffe}' | '\u{ffff}');
    (letter.is_control() && letter != '\n' && letter != '\t') || reorders || no_xml
}

/// Both ends of a label that is too long: neighbours may differ at either.
#[must_use]
pub fn clipped(text: &str, most: usize) -> String {
    let (count, kept) = (text.chars().count(), most.saturating_sub(1));
    if count <= most {
        return text.to_owned();
    }
    let start: String = text.chars().take(kept / 2).collect();
    let end: String = text.chars().skip(count - (kept - kept / 2)).collect();
    format!("{start}…{end}")
}

/// The most that a margin of labels takes.
const WIDEST_MARGIN: f64 = 372.0;
/// Ground at both ends of a margin's labels.
const AIR: f64 = 20.0;

/// A margin for labels that are written to end 8 before it: as wide as they take, at least `least`.
pub(super) fn margin<'a>(labels: impl Iterator<Item = &'a str>, least: f64) -> f64 {
    labels.map(|label| room(label) + AIR).fold(least, f64::max).min(WIDEST_MARGIN)
}

/// A label as much of which is kept as a margin holds.
#[must_use]
pub(super) fn fitted(text: &str, margin: f64) -> String {
    let most = (0..=text.chars().count()).rev().map(|most| clipped(text, most));
    most.into_iter().find(|label| room(label) + AIR <= margin).unwrap_or_default()
}

/// The width of a line of text in the widest of the fonts that a picture asks for (`DejaVu Sans`), at 12 px.
fn room(text: &str) -> f64 {
    let advance = |letter: char| match letter {
        'i' | 'j' | 'l' | '\'' | '|' => 4.1,
        ' ' | '.' | ',' | ':' | ';' | '/' | '-' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | 'I' | '!' => 5.0,
        'm' | 'w' | 'M' | 'W' | '=' | '+' | '<' | '>' | '×' | '→' | '@' | '%' | '…' => 12.0,
        'A'..='Z' => 9.5,
        letter if letter.is_ascii() || letter == '–' => 7.7,
        _ => 12.0,
    };
    text.chars().map(advance).sum()
}

#[cfg(test)]
mod tests {
    use super::{AIR, Canvas, WIDEST_MARGIN, clipped, escaped, fitted, margin, room, short};

    #[test]
    fn a_margin_holds_its_labels_or_both_of_their_ends() {
        let label = "0.8b-bf16-cycle-treated w12, seq 0";
        let wide = margin([label, "w2"].into_iter(), 190.0);
        assert!(wide > 190.0 && wide < WIDEST_MARGIN, "{wide}");
        assert_eq!(fitted(label, wide), label);
        assert!((margin(["w2"].into_iter(), 190.0) - 190.0).abs() < 1e-9);
        let long = format!("first-{}-last", "m".repeat(200));
        let wide = margin([long.as_str()].into_iter(), 190.0);
        let cut = fitted(&long, wide);
        assert!(cut.starts_with("first-") && cut.ends_with("-last") && cut.contains('…'), "{cut}");
        assert!(room(&cut) + AIR <= WIDEST_MARGIN && room(&cut) + AIR > WIDEST_MARGIN - 24.0, "{cut}");
    }

    #[test]
    fn text_from_elsewhere_cannot_leave_its_place() {
        assert_eq!(
            escaped("<a href='x'>&\u{1b}[2J\u{202e}"),
            "&lt;a href=&#39;x&#39;&gt;&amp;\u{fffd}[2J\u{fffd}"
        );
        let mut canvas = Canvas::new("p", "</title><script>", "alt", (10.0, 10.0));
        canvas.cell("xb", (0.0, 0.0, 1.0, 1.0), "</rect><script>");
        assert!(!canvas.file().contains("<script>"));
    }

    #[test]
    fn numbers_and_labels_are_short() {
        assert_eq!([1.0, 0.5, -0.001, 12.345].map(short), ["1", "0.5", "0", "12.35"].map(str::to_owned));
        assert_eq!((clipped("abcdef", 4), clipped("abcd", 4)), ("a…ef".to_owned(), "abcd".to_owned()));
    }
}
