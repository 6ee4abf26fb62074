//! The sections of a record, in the order in which a reader needs them: controls before results, results before causes.

use super::document::{Block, Document, Section, absent};
use super::{
    arms, cause, controls, data, divergence, kernels, limits, machine, repeat, ruled, speed, verdict,
};
use crate::records::Settings;
use crate::records::gather::Gathered;

/// Makes a record of everything that was read.
#[must_use]
pub fn build(all: &Gathered, settings: &Settings) -> Document {
    let endings = verdict::endings(all);
    let lead = endings.iter().take(24).map(|one| format!("{}: {} ({}).", one.of, one.word, one.extent));
    let mut document = Document {
        title: settings.title.clone(),
        verdict: verdict::worst(&endings),
        lead: lead.collect(),
        sections: Vec::new(),
        pictures: Vec::new(),
        explored: Vec::new(),
    };
    let mut sections = vec![
        question(settings),
        machine::section(all),
        controls::section(all),
        arms::order(all),
        arms::verdicts(all),
        divergence::section(all, &mut document),
        divergence::timeline(all, &mut document),
        divergence::flips(all, &mut document),
        cause::section(all, &mut document),
        speed::section(all, &mut document),
        kernels::operations(all, &mut document),
        kernels::sweeps(all, &mut document),
        kernels::probes(all),
        ruled::section(all),
        limits::section(all, &settings.notes),
    ];
    let missing = absent(&mut sections);
    sections.extend(missing);
    sections.extend([data::index(all), repeat::section(all, settings)]);
    document.sections = sections;
    document
}

fn question(settings: &Settings) -> Section {
    let asked = settings.question.as_ref().map_or_else(
        || "Is the text of the speculative arms byte for byte the text of plain decoding, and if not, where do they part?".to_owned(),
        Clone::clone,
    );
    Section::new("question", "Question", vec![Block::text(asked)])
}
