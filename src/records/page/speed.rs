//! Throughput with its brackets.

use super::document::{Block, Document, Section};
use crate::records::gather::{From, Gathered};
use crate::records::pictures::speed as picture;
use crate::results::bench::{ArmSpeed, Speed, restless};
use crate::results::stored::Bench;
use crate::results::{Table, counted};

/// The section.
#[must_use]
pub fn section(all: &Gathered, document: &mut Document) -> Section {
    let mut blocks = Vec::new();
    for one in &all.benches {
        blocks.push(Block::table(table(&one.result), vec![one.file.clone()]));
        blocks.push(Block::text(sentence(&one.result)));
        // One picture: of several measurements it would have to say which is which.
        if all.benches.len() == 1 {
            blocks.extend(picture::draw(&one.result).map(|canvas| document.picture(canvas, None)));
        }
        blocks.push(Block::table(rounds(one), vec![one.file.clone()]));
    }
    if blocks.is_empty() {
        let says = "throughput: no bench.json is among the inputs (exactness bench); speeds of other runs are not bracketed \
                    and are not shown";
        blocks.push(Block::absent(says));
    }
    Section::new("speed", "Throughput", blocks)
}

fn table(bench: &Bench) -> Table {
    let mut table = Table::new()
        .text("arm")
        .number("runs")
        .number("tok/s")
        .number("lowest")
        .number("highest")
        .number("× plain");
    table = table.text("resolved").number("accepted").text("verdict");
    let mut row = |name: &str, speed: &Speed, ratio: String, rest: [String; 3]| {
        let ends =
            |pick: fn(f64, f64) -> f64, start| speed.tokens_per_second.iter().copied().fold(start, pick);
        let numbers =
            [speed.median, ends(f64::min, f64::INFINITY), ends(f64::max, 0.0)].map(|one| format!("{one:.1}"));
        let start = [name.to_owned(), speed.tokens_per_second.len().to_string()];
        table.row(start.into_iter().chain(numbers).chain([ratio]).chain(rest));
    };
    row(
        "classic",
        &bench.classic,
        "1.00".to_owned(),
        ["–".to_owned(), "–".to_owned(), "reference".to_owned()],
    );
    for arm in &bench.arms {
        let resolved = if arm.resolved { "yes" } else { "unresolved" };
        let share = picture::share(bench, arm.width)
            .map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", share * 100.0));
        row(
            &arm.arm,
            &arm.speed,
            format!("{:.2}", arm.ratio),
            [resolved.to_owned(), share, arm.verdict.to_string()],
        );
    }
    table
}

fn sentence(bench: &Bench) -> String {
    let told = if restless(bench.floor, bench.drift) {
        " The machine's speed changed while it was measured: these numbers are rough."
    } else {
        ""
    };
    format!(
        "Brackets: plain decoding ran {}, before and after the arms. Its spread, the resolution floor, is {:.1} %; its last \
         runs against its first: {:+.1} %. A smaller difference than the floor is unresolved. The verdict is about the text.{told}",
        counted(bench.classic.tokens_per_second.len(), "time"),
        bench.floor * 100.0,
        bench.drift * 100.0
    )
}

/// Acceptance by place, and where a round's time goes.
fn rounds(one: &From<Bench>) -> Table {
    let mut table = Table::new()
        .text("arm")
        .text("accepted by place, %")
        .number("draft ms")
        .number("verify ms")
        .number("sync ms");
    table = table.number("rewind ms").number("other ms").number("ms / accepted");
    for ArmSpeed { arm, acceptance, split, accepted_ms, .. } in &one.result.arms {
        let places: Vec<String> = acceptance.iter().map(|share| format!("{:.0}", share * 100.0)).collect();
        let times =
            [split.draft, split.verify, split.sync, split.rewind, split.other].map(|ms| format!("{ms:.2}"));
        let cost = accepted_ms.map_or_else(|| "–".to_owned(), |ms| format!("{ms:.2}"));
        table.row([arm.clone(), places.join(" ")].into_iter().chain(times).chain([cost]));
    }
    table
}
