//! `exactness laws`: the reference of all laws, printed from the registry that the judge runs.

use super::check_algebra::Format;
use super::console;
use crate::algebra::laws::{LAWS, Law, On, Severity};
use crate::results::Table;
use anyhow::Context as _;
use clap::Args;
use serde::Serialize;

/// Lists every law in the order in which they are judged.
#[derive(Debug, Args)]
pub struct Laws {
    /// How the list is printed
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// A law as JSON.
#[derive(Debug, Serialize)]
struct Entry {
    law: &'static str,
    severity: &'static str,
    judged: Vec<&'static str>,
    holds: &'static str,
    keys: &'static [&'static str],
}

impl From<&Law> for Entry {
    fn from(law: &Law) -> Self {
        let severity = match law.severity {
            Severity::Finding => "finding",
            Severity::Warning => "warning",
        };
        let judged = law.on.iter().map(place).collect();
        Self { law: law.name, severity, judged, holds: law.statement, keys: law.keys }
    }
}

const fn place(on: &On) -> &'static str {
    match on {
        On::Token(_) => "prefill, step",
        On::Round(_) => "round",
        On::End(_) => "end",
        On::BetweenArms => "between arms",
    }
}

impl Laws {
    /// Runs the verb.
    ///
    /// # Errors
    /// Never in practice.
    pub fn run(&self) -> anyhow::Result<u8> {
        let entries: Vec<Entry> = LAWS.iter().map(Entry::from).collect();
        let text = match self.format {
            Format::Json => serde_json::to_string_pretty(&entries).context("print the laws")?,
            Format::Human => format!("{HEAD}\n\n{}", list(&entries)),
            Format::Markdown => format!("{HEAD}\n\n{}", table(&entries).markdown().trim_end()),
        };
        console::out(&text);
        Ok(0)
    }
}

const HEAD: &str = "\
The laws in the order in which they are judged. The first broken one of a sequence is the finding, the others are
listed after it. Warnings never change the verdict. Where keys are absent a law is not checkable, and the output
says so.";

/// For a terminal: a sentence is easier to read on its own line than in a narrow cell.
fn list(entries: &[Entry]) -> String {
    let entry = |entry: &Entry| {
        let needs = if entry.keys.is_empty() {
            String::new()
        } else {
            format!("\n    needs {}", entry.keys.join(", "))
        };
        let head = format!("{} ({}, judged at: {})", entry.law, entry.severity, entry.judged.join(", "));
        format!("{head}\n    {}{needs}", entry.holds)
    };
    entries.iter().map(entry).collect::<Vec<_>>().join("\n\n")
}

fn table(entries: &[Entry]) -> Table {
    let mut table =
        Table::new().text("law").text("counts as").text("judged at").text("what holds").text("needs");
    for entry in entries {
        table.row([entry.law, entry.severity, &entry.judged.join(", "), entry.holds, &entry.keys.join(", ")]);
    }
    table
}
