//! Speed and acceptance against width, with plain decoding's own spread as a band: inside it nothing is resolved.

use super::canvas::{Anchor, Canvas};
use super::grid::count;
use crate::results::bench::ArmSpeed;
use crate::results::stored::Bench;

const WIDTH: f64 = 800.0;
const HEIGHT: f64 = 300.0;
const BOTTOM: f64 = 238.0;
const TOP: f64 = 62.0;
/// The most widths that fit.
const MOST_ARMS: usize = 24;

/// A panel: left and right end, lowest and highest value.
struct Panel {
    left: f64,
    right: f64,
    low: f64,
    high: f64,
}

impl Panel {
    fn x(&self, place: usize, of: usize) -> f64 {
        self.left + (count(place) + 0.5) * (self.right - self.left) / count(of.max(1))
    }

    fn y(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        BOTTOM - share.clamp(0.0, 1.0) * (BOTTOM - TOP)
    }

    fn frame(&self, canvas: &mut Canvas, title: &str, step: f64, form: &dyn Fn(f64) -> String) {
        canvas.text("xi", (self.left, 40.0), Anchor::Start, title);
        let mut value = (self.low / step).ceil() * step;
        while value <= self.high + step / 1e6 {
            let y = self.y(value);
            canvas.line("xl", (self.left, y), (self.right, y));
            canvas.text("xs", (self.left - 6.0, y + 4.0), Anchor::End, &form(value));
            value += step;
        }
        canvas.line("xa", (self.left, BOTTOM), (self.right, BOTTOM));
    }
}

/// Draws a measurement; nothing without an arm, or where there are more than fit.
#[must_use]
pub fn draw(bench: &Bench) -> Option<Canvas> {
    if !(1..=MOST_ARMS).contains(&bench.arms.len()) || !bench.floor.is_finite() {
        return None;
    }
    let mut canvas = Canvas::new("speed", "Speed and acceptance by width", &alt(bench), (WIDTH, HEIGHT));
    canvas.text("xi", (12.0, 20.0), Anchor::Start, "Speed and acceptance by width");
    ratios(&mut canvas, bench);
    accepted(&mut canvas, bench);
    Some(canvas)
}

fn ratios(canvas: &mut Canvas, bench: &Bench) {
    let all = |arm: &ArmSpeed| {
        let runs = arm.speed.tokens_per_second.iter().map(|speed| speed / bench.classic.median);
        runs.chain([arm.ratio]).collect::<Vec<f64>>()
    };
    let values =
        || bench.arms.iter().flat_map(all).chain([1.0 + bench.floor, 1.0]).filter(|one| one.is_finite());
    let high = (values().fold(1.0, f64::max) * 1.08).min(100.0);
    let panel = Panel { left: 64.0, right: 428.0, low: 0.0, high };
    let band = (panel.y(1.0 + bench.floor), panel.y(1.0 - bench.floor));
    canvas.cell(
        "xf",
        (panel.left, band.0, panel.right - panel.left, band.1 - band.0),
        "the resolution floor",
    );
    panel.frame(canvas, "× plain decoding", step(high), &|value| super::canvas::short(value));
    canvas.line("xm", (panel.left, panel.y(1.0)), (panel.right, panel.y(1.0)));
    for (place, arm) in bench.arms.iter().enumerate() {
        let x = panel.x(place, bench.arms.len());
        let runs = all(arm);
        let ends =
            (runs.iter().copied().fold(f64::INFINITY, f64::min), runs.iter().copied().fold(0.0, f64::max));
        canvas.line("xm", (x, panel.y(ends.0)), (x, panel.y(ends.1)));
        canvas.dot("xb", (x, panel.y(arm.ratio)), 5.0);
        if !arm.resolved {
            canvas.dot("xg", (x, panel.y(arm.ratio)), 2.5);
        }
        // Over the lines and the band, which would cross the digits.
        canvas.text("xh", (x + 9.0, panel.y(arm.ratio) + 4.0), Anchor::Start, &format!("{:.2}", arm.ratio));
        canvas.text("xs", (x, BOTTOM + 18.0), Anchor::Middle, &arm.width.to_string());
    }
    canvas.text(
        "xs",
        (panel.left, BOTTOM + 40.0),
        Anchor::Start,
        "width; bar: all runs; band: floor; hollow: unresolved",
    );
}

fn accepted(canvas: &mut Canvas, bench: &Bench) {
    let panel = Panel { left: 500.0, right: 784.0, low: 0.0, high: 1.0 };
    panel.frame(canvas, "share of proposals accepted", 0.25, &|value| format!("{:.0} %", value * 100.0));
    for (place, arm) in bench.arms.iter().enumerate() {
        let x = panel.x(place, bench.arms.len());
        canvas.text("xs", (x, BOTTOM + 18.0), Anchor::Middle, &arm.width.to_string());
        let Some(share) = share(bench, arm.width) else { continue };
        let top = panel.y(share);
        canvas.cell("xk", (x - 11.0, top, 22.0, BOTTOM - top), "");
        canvas.text("xh", (x, top - 5.0), Anchor::Middle, &format!("{:.0}", share * 100.0));
    }
    canvas.text("xs", (panel.left, BOTTOM + 40.0), Anchor::Start, "width");
}

/// Proposals accepted in all runs of a width, of those that were made.
#[must_use]
pub fn share(bench: &Bench, width: usize) -> Option<f64> {
    let runs = || bench.experiment.runs.iter().filter(move |run| run.width == Some(width));
    let accepted = runs().fold(0, |sum: u64, run| sum.saturating_add(run.accepted));
    let drafted = runs().fold(0, |sum: u64, run| sum.saturating_add(run.drafted));
    (drafted > 0).then(|| whole(accepted) / whole(drafted))
}

#[expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2⁵²")]
fn whole(number: u64) -> f64 {
    number as f64
}

/// Some six lines up to the highest value.
fn step(high: f64) -> f64 {
    [0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0].into_iter().find(|step| high / step <= 6.5).unwrap_or(25.0)
}

fn alt(bench: &Bench) -> String {
    let arm = |arm: &ArmSpeed| {
        let unresolved = if arm.resolved { "" } else { " (unresolved)" };
        let accepted = share(bench, arm.width)
            .map_or_else(String::new, |share| format!(", {:.0} % accepted", share * 100.0));
        format!("width {} {:.2} times{unresolved}{accepted}", arm.width, arm.ratio)
    };
    let arms: Vec<String> = bench.arms.iter().map(arm).collect();
    format!("Tokens a second beside plain decoding, floor {:.1} %: {}.", bench.floor * 100.0, arms.join("; "))
}
