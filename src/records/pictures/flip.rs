//! The gap between two contested tokens against what the same two logits did before: a near tie lies inside the
//! measured perturbation, a structural difference far outside.

use super::canvas::{Anchor, Canvas, clipped, fitted, margin};
use super::grid::count;
use crate::algebra::near_tie::{ENOUGH_ROWS, Judged};

/// The least margin of names.
const LEFT: f64 = 190.0;
/// Room of the multiples.
const ROOM: f64 = 430.0;
/// Room of the verdicts beside them.
const BESIDE: f64 = 180.0;
const TOP: f64 = 66.0;
const LINE: f64 = 24.0;
/// Multiples of the perturbation that the picture has room for.
const MOST: f64 = 8.0;
/// The most flips.
const MOST_FLIPS: usize = 24;
/// The most flips that are told in words.
const MOST_TOLD: usize = 8;

/// One flip, with its name.
pub type Flip<'a> = (String, &'a Judged);

/// Draws flips; nothing where none of them has a scale.
#[must_use]
pub fn draw(flips: &[Flip<'_>]) -> Option<Canvas> {
    let shown = &flips[..flips.len().min(MOST_FLIPS)];
    let scaled = |(_, flip): &Flip<'_>| flip.ratio.is_some_and(f64::is_finite);
    if !shown.iter().any(scaled) {
        return None;
    }
    let bottom = TOP + LINE * count(shown.len());
    let left = margin(shown.iter().map(|(name, _)| name.as_str()), LEFT);
    let x = |multiple| x(left, multiple);
    let title = "Gap of the flip against the measured perturbation";
    let mut canvas = Canvas::new("flip", title, &alt(flips), (left + ROOM + BESIDE, bottom + 50.0));
    canvas.text("xi", (12.0, 22.0), Anchor::Start, title);
    canvas.cell("xf", (x(0.0), TOP, x(1.0) - x(0.0), bottom - TOP), "near tie: up to the perturbation");
    canvas.cell("xe", (x(4.0), TOP, x(MOST) - x(4.0), bottom - TOP), "structural: above 4 times");
    for (at, name) in [(0.5, "near tie"), (2.5, "undecided"), (6.0, "structural")] {
        canvas.text("xs", (x(at), TOP - 8.0), Anchor::Middle, name);
    }
    for (index, (name, flip)) in shown.iter().enumerate() {
        one(&mut canvas, (left, TOP + LINE * count(index)), name, flip);
    }
    for multiple in [0.0, 1.0, 2.0, 4.0, 6.0, 8.0] {
        canvas.line("xa", (x(multiple), bottom), (x(multiple), bottom + 5.0));
        canvas.text("xs", (x(multiple), bottom + 18.0), Anchor::Middle, &format!("{multiple:.0} ×"));
    }
    canvas.text(
        "xs",
        (left, bottom + 38.0),
        Anchor::Start,
        "gap as a multiple of the largest perturbation of the same pair before",
    );
    Some(canvas)
}

fn x(left: f64, multiple: f64) -> f64 {
    left + multiple.clamp(0.0, MOST) / MOST * ROOM
}

fn one(canvas: &mut Canvas, (left, top): (f64, f64), name: &str, flip: &Judged) {
    let (middle, right) = (top + LINE / 2.0, left + ROOM);
    let x = |multiple| x(left, multiple);
    canvas.text("xi", (left - 8.0, middle + 4.0), Anchor::End, &fitted(name, left));
    canvas.text("xs", (right + 10.0, middle + 4.0), Anchor::Start, &clipped(&beside(flip), 26));
    let Some(ratio) = flip.ratio.filter(|ratio| ratio.is_finite()) else {
        canvas.text("xs", (x(0.0) + 6.0, middle + 4.0), Anchor::Start, &no_ratio(flip));
        return;
    };
    canvas.line("xl", (left, middle), (right, middle));
    let at = x(ratio);
    if ratio > MOST {
        canvas.shape("xc", &[(at - 6.0, middle - 6.0), (at + 4.0, middle), (at - 6.0, middle + 6.0)]);
    } else {
        canvas.dot("xc", (at, middle), 5.0);
    }
}

/// Verdict and gap; the table has the gap with all its digits.
fn beside(flip: &Judged) -> String {
    let gap = flip.gap.or(flip.reported_gap);
    let gap = gap.map_or_else(String::new, |gap| format!(", gap {}", digits(gap)));
    format!("{}{gap}", flip.verdict)
}

/// A few digits of a number, whatever its size.
fn digits(number: f64) -> String {
    if number.abs() < 0.001 && number.to_bits() != 0 {
        return format!("{number:.1e}");
    }
    format!("{number:.4}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn no_ratio(flip: &Judged) -> String {
    match &flip.scale {
        Some(scale) if scale.counts() => "the pair did not move before".to_owned(),
        Some(scale) => format!("no scale: {} of {ENOUGH_ROWS} earlier rows", scale.rows),
        None => "no scale: no earlier row shows the pair".to_owned(),
    }
}

fn alt(flips: &[Flip<'_>]) -> String {
    let one = |(name, flip): &Flip<'_>| {
        let ratio =
            flip.ratio.map_or_else(|| no_ratio(flip), |ratio| format!("{ratio:.2} times the perturbation"));
        format!("{name}: {} ({ratio})", flip.verdict)
    };
    let told: Vec<String> = flips.iter().take(MOST_TOLD).map(one).collect();
    let more = flips.len().saturating_sub(MOST_TOLD);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}.", told.join("; "))
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn gaps_have_a_few_digits() {
        let gaps = [0.0625, 0.049_999_999_9, 2.0, 0.0, 0.000_012_34, 1.5].map(digits);
        assert_eq!(gaps, ["0.0625", "0.05", "2", "0", "1.2e-5", "1.5"]);
    }
}
