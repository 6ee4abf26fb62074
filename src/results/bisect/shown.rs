//! A bisect as people read it: tables, sentences, the verdict, and a block to paste.

use super::answers::{Argument, Confirmation, Operation, RewindAnswer};
use super::bisected::{Bisected, Class};
use super::kernels::names;
use super::{Kernels, Launch, Measured};
use crate::results::{Table, agreed, counted, part_of, quoted};

impl Bisected {
    /// Several patterns or prompts, one row each.
    #[must_use]
    pub fn screened_table(&self) -> Table {
        let name = if self.reading.is_some() { "rows kept" } else { "prompt" };
        let mut table = Table::new().text(name).number("ids").number("rows").number("states");
        table = table.number("position").number("round").text("parts");
        for line in &self.screened {
            let first =
                |pick: fn((u64, u64)) -> u64| line.first.map_or_else(dash, |one| pick(one).to_string());
            table.row([
                line.label.clone(),
                line.prompt.to_string(),
                line.rows.to_string(),
                line.states.to_string(),
                first(|(position, _)| position),
                first(|(_, round)| round),
                line.parts.clone().unwrap_or_else(dash),
            ]);
        }
        table
    }

    /// Null arms and observers, one row each.
    #[must_use]
    pub fn controls_table(&self) -> Table {
        let mut table = Table::new().text("control").number("rows").number("states").text("equal");
        for control in &self.controls {
            let equal =
                control.parts.as_ref().map_or_else(|| "yes".to_owned(), |place| format!("no: {place}"));
            table.row([control.name.clone(), control.rows.to_string(), control.states.to_string(), equal]);
        }
        table
    }

    /// The layers on the frontier's row; without `all` those around the named one.
    #[must_use]
    pub fn layers_table(&self, all: bool) -> Table {
        let mut table = Table::new().number("layer").text("mixer").text("input").text("state").text("output");
        let named = self.operation.as_ref().and_then(|operation| operation.layer);
        let near = |layer: u64| named.is_some_and(|named| layer + 1 >= named && layer <= named + 1);
        for line in self.layers.iter().filter(|line| all || near(line.layer)) {
            let mark = if named == Some(line.layer) { "  ←" } else { "" };
            table.row([
                line.layer.to_string(),
                line.mixer.clone(),
                word(line.input),
                word(line.state),
                format!("{}{mark}", word(line.output)),
            ]);
        }
        table
    }

    /// The operations of the named layer on its row, in the order of computation.
    #[must_use]
    pub fn operations_table(&self) -> Table {
        let mut table = Table::new().text("operation").text("inputs").text("output").text("state left");
        let named = self.operation.as_ref().map(|operation| operation.site.as_str());
        for line in &self.operations {
            let inputs = if line.inputs.is_empty() { word(false) } else { line.inputs.join(", ") };
            let mark = if named == Some(line.site.as_str()) { "  ←" } else { "" };
            let state = if line.state { word(true) } else { String::new() };
            table.row([line.site.clone(), inputs, format!("{}{mark}", word(line.output)), state]);
        }
        table
    }

    /// What the named operation read and gave.
    #[must_use]
    pub fn arguments_table(&self) -> Table {
        let mut table = Table::new().text("of the operation").text("dtype").text("chain").text("block");
        for argument in self.operation.iter().flat_map(|one| one.inputs.iter().chain([&one.output])) {
            let Argument { name, dtype, chain, block } = argument;
            table.row([name.clone(), dtype.clone(), shape(chain), shape(block)]);
        }
        table
    }

    /// All sources in the order in which they begin.
    #[must_use]
    pub fn sources_table(&self) -> Table {
        let mut table = Table::new().text("source").number("position").number("round").number("row");
        table = table.number("rows that differ").text("cured by");
        let sources = || self.sources.iter().flat_map(|all| &all.sources);
        let traced = sources().any(|source| source.kernels.is_some());
        if traced {
            table = table.text("kernels, chain").text("kernels, block");
        }
        for source in sources() {
            let mut cells = vec![
                source.site.clone(),
                source.position.to_string(),
                source.round.to_string(),
                source.row.to_string(),
                source.rows.to_string(),
                source.handled.says(),
            ];
            if traced {
                let names = |side: fn(&Kernels) -> &[Launch]| {
                    source.kernels.as_ref().map_or_else(dash, |both| names(side(both)))
                };
                cells.extend([names(|both| &both.chain), names(|both| &both.block)]);
            }
            table.row(cells);
        }
        table
    }

    /// What was asked, in one line.
    #[must_use]
    pub fn asked(&self) -> String {
        let question = &self.question;
        let planted: Vec<String> =
            question.planted.iter().map(|plant| format!(", planted {plant}")).collect();
        format!(
            "{}, {}, {}, widest block {}, routes {}{}",
            question.rounds,
            counted(question.prompt, "id"),
            counted(question.tokens, "token"),
            question.width,
            question.routes,
            planted.concat()
        )
    }

    /// The state after the prompt, and the rows.
    #[must_use]
    pub fn row_sentences(&self) -> Vec<String> {
        let mut says = Vec::new();
        if let Some(prefill) = &self.prefill {
            says.push(match &prefill.state {
                None => "The state after the prompt is equal on both sides.".to_owned(),
                Some(state) => format!("The state after the prompt differs: {}.", state.says()),
            });
            if prefill.tokens.0 != prefill.tokens.1 {
                let (chain, block) = prefill.tokens;
                says.push(format!(
                    "The prompt's last row chose {chain} in the chain and {block} in the arm."
                ));
            }
        }
        if self.controls.iter().any(|control| control.parts.is_some()) {
            return says;
        }
        let rows = &self.rows;
        let (count, all) = (rows.differing.len(), rows.rows);
        says.push(match rows.differing.first() {
            None if all == 1 => format!("The one kept row is equal ({}).", counted(rows.bytes, "byte")),
            None => format!("All {all} kept rows are equal ({}).", counted(rows.bytes, "byte")),
            Some(row) => {
                let choice = match row.chosen {
                    (chain, block) if chain == block => format!("both choose {chain}"),
                    (chain, block) => format!("the chain chooses {chain}, the block {block}"),
                };
                format!(
                    "{} {}, the first at round {}, row {}, stream index {}, position {}: {}; {choice}.",
                    part_of(count, all, "kept row"),
                    agreed(count, "differs", "differ"),
                    row.round,
                    row.row,
                    row.index,
                    row.position,
                    part_of(row.differing, row.bytes, "byte")
                )
            }
        });
        says.push(match &rows.state {
            None if rows.states == 1 => "The one state that the rewinds left is equal.".to_owned(),
            None => format!("All {} states that the rewinds left are equal.", rows.states),
            Some(state) => format!("The first state that differs: {}.", state.says()),
        });
        // After a prompt that differs, what the arm chose is a consequence.
        let selection = rows.selection.iter().filter(|_| self.class != Class::Prefill);
        says.extend(selection.map(|row| {
            format!(
                "At round {}, row {}, position {} the arm chose {} where its row chooses {}.",
                row.round, row.row, row.position, row.chosen.1, row.chosen.0
            )
        }));
        says
    }

    /// The named place, by how much it differs and what confirms it.
    #[must_use]
    pub fn place_sentences(&self) -> Vec<String> {
        let mut says = Vec::new();
        let of_prompt = self.class == Class::Prefill;
        says.extend(self.confirmation.as_ref().filter(|_| of_prompt).map(Confirmation::says));
        says.extend(self.rewind.as_ref().map(RewindAnswer::says));
        if let Some(operation) = &self.operation {
            says.extend(operation.says(&self.rows));
        }
        says.extend(self.kernel.as_ref().map(|kernel| {
            match (&kernel.chain, &kernel.block, &kernel.source) {
                (Some(chain), Some(block), Some(source)) if kernel.changes == Some(true) => {
                    format!("Kernels, predicted: chain {chain}, block {block} [{source}].")
                }
                (Some(chain), _, Some(source)) => {
                    format!("Kernels, predicted: {chain} on both sides, equal bytes a row [{source}].")
                }
                _ => "Kernels: the dispatch tables do not say.".to_owned(),
            }
        }));
        says.extend(self.measured.as_ref().map(Measured::says));
        says.extend(self.confirmation.as_ref().filter(|_| !of_prompt).map(Confirmation::says));
        says
    }

    /// Sources, the smaller run, remarks, costs.
    #[must_use]
    pub fn closing_sentences(&self) -> Vec<String> {
        let mut says = Vec::new();
        if let Some(sources) = &self.sources {
            says.push(match (&sources.identical, &sources.rest) {
                (Some((rows, states)), _) => format!(
                    "With {} treated, block and chain are identical: {}, {}.",
                    counted(sources.sources.len(), "source"),
                    counted(*rows, "row"),
                    counted(*states, "state")
                ),
                (None, Some(rest)) => format!("With all of these treated they part still: {rest}."),
                (None, None) => "The treated run was not made.".to_owned(),
            });
        }
        if let Some(reduced) = &self.reduced {
            let found = match &reduced.parts {
                Some(place) => format!("run once more it parts at {place}"),
                None => "nothing shorter was found that parts with plain decoding's own tokens".to_owned(),
            };
            says.push(format!(
                "Reduced from {} and {} to {} and {} ({}): {found}.",
                counted(reduced.prompt.0, "id"),
                counted(reduced.tokens.0, "token"),
                reduced.prompt.1,
                reduced.tokens.1,
                counted(reduced.questions, "run")
            ));
        }
        says.extend(self.remarks.iter().cloned());
        let (cost, mebibyte) = (&self.cost, 1024 * 1024);
        let peak = cost.peak_bytes.map(|peak| {
            format!("; peak {} MiB, of which weights {} MiB", peak / mebibyte, cost.weight_bytes / mebibyte)
        });
        says.push(format!(
            "Passes over the tokens: chain {:.1} and block {:.1} for the walk, {:.1} for controls, {:.1} for \
             confirmation{}.",
            cost.walk.0,
            cost.walk.1,
            cost.controls,
            cost.confirmation,
            peak.unwrap_or_default()
        ));
        says
    }

    /// The verdict in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let word = self.class.word();
        let (rows, states) = self.compared();
        let compared = format!("{}, {}", counted(rows, "row"), counted(states, "state"));
        match self.class {
            Class::Identical => format!("verdict: {word} ({compared} compared)"),
            Class::NotComparable => {
                let control = self.controls.iter().find(|control| control.parts.is_some());
                let name = control.map_or("a control", |control| control.name.as_str());
                format!("verdict: not comparable ({name} is not equal: no cause is named)")
            }
            Class::InvalidCapture => {
                "verdict: not run (invalid capture: the round that was looked at did not give the bytes of the row \
                 walk; no cause is named)"
                    .to_owned()
            }
            Class::NotReproduced => {
                "verdict: not comparable (chain and block are equal here, and not what was recorded: another machine, \
                 version or fault)"
                    .to_owned()
            }
            Class::Vacuous => {
                "verdict: vacuous (no block had more than one row; another --drafter or prompt proposes something)"
                    .to_owned()
            }
            Class::NotStruck => "verdict: not run (a planted fault was never met)".to_owned(),
            Class::Operation => format!("verdict: {word} ({}; {compared} compared)", self.named()),
            Class::Selection => {
                let place = self.rows.selection.as_ref().map_or_else(
                    || " at the prompt's last row".to_owned(),
                    |row| format!(" at round {}, row {}, position {}", row.round, row.row, row.position),
                );
                format!("verdict: {word} (selection{place}: equal bytes, another token; {compared} compared)")
            }
            class => format!("verdict: {word} ({class}; {compared} compared)"),
        }
    }

    /// Rows and states compared, over all prompts or patterns.
    #[must_use]
    pub fn compared(&self) -> (u64, u64) {
        // Screening ends at a script's first difference; what is bisected is walked to its end.
        if self.screened.is_empty() || self.class != Class::Identical {
            return (self.rows.rows, self.rows.states);
        }
        let rows = self.screened.iter().map(|line| line.rows).sum();
        (rows, self.screened.iter().map(|line| line.states).sum())
    }

    fn named(&self) -> String {
        let Some(operation) = &self.operation else { return self.class.to_string() };
        let confirmed = match &self.confirmation {
            Some(confirmation) if confirmation.confirmed() => "confirmed",
            _ => "not confirmed",
        };
        let Operation { site, round, row, position, .. } = operation;
        format!("{site} at round {round}, row {row}, position {position}; {confirmed}")
    }

    /// What to paste into a report: what was searched, the frontier, the versions, the command line.
    #[must_use]
    pub fn paste(&self) -> String {
        let mut lines = vec![
            format!("- {}", self.summary()),
            format!("- asked: {}", self.asked()),
            format!("- model: {}", self.model),
            format!("- machine: {}", self.machine),
        ];
        let row = self.rows.differing.first();
        lines.extend(row.map(|row| {
            format!(
                "- first row: round {}, row {}, stream index {}, position {}, {}",
                row.round,
                row.row,
                row.index,
                row.position,
                part_of(row.differing, row.bytes, "byte")
            )
        }));
        lines.extend(self.operation.as_ref().map(|one| {
            let difference = one.amplitude.says();
            format!("- first operation: `{}` ({} → {}), {difference}", one.site, one.routes.0, one.routes.1)
        }));
        lines.extend(self.confirmation.as_ref().map(|one| format!("- {}", one.says())));
        lines.extend(
            self.reproducer.as_ref().map(|folder| format!("- by itself: `exactness reproduce {folder}`")),
        );
        lines.push(format!("- reproduce with: `{}`", quoted(&self.command)));
        lines.join("\n")
    }
}

fn dash() -> String {
    "–".to_owned()
}

fn word(differs: bool) -> String {
    if differs { "differs" } else { "equal" }.to_owned()
}

fn shape((shape, strides): &(Vec<i32>, Vec<u64>)) -> String {
    let joined = |numbers: Vec<String>| numbers.join("×");
    let strides: Vec<String> = strides.iter().map(ToString::to_string).collect();
    format!("{} (strides {})", joined(shape.iter().map(ToString::to_string).collect()), strides.join(", "))
}
