//! Judged arms as text: findings with their rounds drawn, what was checked, and one table. Human and markdown forms
//! have the same parts in the same order.

use super::draw;
use crate::algebra::judgement::{ArmJudgement, Breach, SequenceJudgement};
use crate::results::{Judgement, Table, counted};
use serde_json::Value;
use std::collections::BTreeMap;

/// How a text is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For a terminal of so many columns.
    Terminal(Option<u16>),
    /// As markdown.
    Markdown,
}

impl Style {
    /// A table in this style.
    #[must_use]
    pub fn table(self, table: &crate::results::Table) -> String {
        match self {
            Self::Terminal(width) => table.terminal(width),
            Self::Markdown => table.markdown(),
        }
    }

    /// A table of many short cells: where a terminal is too narrow, the columns go on below.
    #[must_use]
    pub fn folded(self, table: &crate::results::Table) -> String {
        match self {
            Self::Terminal(Some(width)) => table.folded(width),
            Self::Terminal(None) => table.terminal(None),
            Self::Markdown => table.markdown().trim_end().to_owned(),
        }
    }
}

/// The whole judgement.
#[must_use]
pub fn text(judgement: &Judgement, style: Style) -> String {
    let mut parts: Vec<String> = judgement.arms.iter().filter_map(|arm| arm_text(arm, style)).collect();
    if !judgement.arms.is_empty() {
        parts.push(coverage(&judgement.arms, style));
        let table = summary(&judgement.arms);
        parts.push(match style {
            // A file name broken over four lines helps nobody; a terminal wraps what does not fit.
            Style::Terminal(_) => table.terminal(None),
            Style::Markdown => table.markdown().trim_end().to_owned(),
        });
    }
    parts.push(conclusion(judgement, style));
    parts.join("\n\n")
}

/// What is to be said about one arm beyond its line in the table.
pub(super) fn arm_text(arm: &ArmJudgement, style: Style) -> Option<String> {
    let told = arm.sequences.iter().map(|sequence| sequence_text(sequence, style));
    let mut lines: Vec<String> = told.filter(|text| !text.is_empty()).collect();
    lines.extend(arm.cut.as_ref().map(|cut| {
        format!(
            "Cut run: {cut}. It was judged up to its last whole line and does not count as a finished run."
        )
    }));
    if lines.is_empty() {
        return None;
    }
    let name = if arm.arm.is_empty() { arm.file.clone() } else { format!("{} ({})", arm.file, arm.arm) };
    let title = match style {
        Style::Terminal(_) => format!("{name}: {}", arm.verdict),
        Style::Markdown => format!("### `{name}`: {}\n", arm.verdict),
    };
    Some(format!("{title}\n{}", indent(&lines.join("\n"), style)))
}

fn indent(text: &str, style: Style) -> String {
    if style == Style::Markdown {
        return text.to_owned();
    }
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!("  {line}") });
    lines.collect::<Vec<_>>().join("\n")
}

fn sequence_text(sequence: &SequenceJudgement, style: Style) -> String {
    let mut lines = Vec::new();
    if let Some(finding) = &sequence.finding {
        lines.push(format!("Finding: {}", sentence(finding, sequence.sequence)));
        lines.push(format!("  expected {}", shown(&finding.expected)));
        lines.push(format!("  found    {}", shown(&finding.found)));
        lines.extend(drawing(finding, style));
    }
    lines.extend(
        sequence.later.iter().map(|breach| format!("Later: {}", sentence(breach, sequence.sequence))),
    );
    lines.extend(
        sequence.warnings.iter().map(|breach| format!("Warning: {}", sentence(breach, sequence.sequence))),
    );
    match style {
        Style::Terminal(_) => lines.join("\n"),
        Style::Markdown => lines.iter().map(|line| bullet(line)).collect::<Vec<_>>().join("\n"),
    }
}

/// A list item, except for what is already a block or belongs to the item before.
fn bullet(line: &str) -> String {
    if line.starts_with("\n```") {
        line.to_owned()
    } else if line.starts_with(' ') {
        format!("  * {}", line.trim())
    } else {
        format!("* {line}")
    }
}

fn drawing(breach: &Breach, style: Style) -> Option<String> {
    let scene = breach.scene.as_ref()?;
    let drawn = draw::round(scene, breach.row);
    Some(match style {
        Style::Terminal(_) => {
            let lines: Vec<String> = drawn.lines().map(|line| format!("    {line}")).collect();
            format!("\n{}\n", lines.join("\n"))
        }
        Style::Markdown => format!("\n```text\n{drawn}\n```\n"),
    })
}

/// Law, place and reason in one line.
fn sentence(breach: &Breach, sequence: i64) -> String {
    let part =
        |name: &str, value: Option<i64>| value.map(|value| format!(", {name} {value}")).unwrap_or_default();
    let (round, row) = (part("round", breach.round), part("row", breach.row));
    let line = breach.line.map(|line| format!(" (line {line})")).unwrap_or_default();
    let again =
        if breach.times > 1 { format!(" ({} times from here on)", breach.times) } else { String::new() };
    format!("{}, sequence {sequence}{round}{row}{line}: {}{again}", breach.law, breach.says)
}

/// A JSON value as a person writes it.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "nothing".to_owned(),
        Value::Array(items) if items.len() > 16 => {
            let first: Vec<String> = items.iter().take(16).map(ToString::to_string).collect();
            format!("[{}, … {} in all]", first.join(", "), items.len())
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Which laws could be judged, over all arms.
pub(super) fn coverage(arms: &[ArmJudgement], style: Style) -> String {
    let mut checked: Vec<(&str, usize)> = Vec::new();
    for law in arms.iter().flat_map(|arm| &arm.checked) {
        match checked.iter_mut().find(|(name, _)| name == law) {
            Some((_, files)) => *files += 1,
            None => checked.push((law, 1)),
        }
    }
    let of = |files: usize| {
        if files == arms.len() { String::new() } else { format!(" ({files} of {} files)", arms.len()) }
    };
    let names: Vec<String> = checked.iter().map(|(law, files)| format!("{law}{}", of(*files))).collect();
    let none = || "nothing".to_owned();
    let list = |names: Vec<String>| if names.is_empty() { none() } else { names.join(", ") };
    let (checked, missing) = (list(names), list(lacking(arms)));
    match style {
        Style::Terminal(width) => {
            let width = usize::from(width.unwrap_or(110));
            format!(
                "{}\n{}",
                wrapped("Checked: ", &checked, width),
                wrapped("Not checkable, for want of: ", &missing, width)
            )
        }
        Style::Markdown => format!("**Checked:** {checked}\n\n**Not checkable, for want of:** {missing}"),
    }
}

/// A law, and the files in which what it wants was missing.
type Wanting<'a> = (&'a str, Vec<&'a ArmJudgement>);

/// What was missing, and the laws that wanted it; where other files had it, in how many, or in which, it was missing.
fn lacking(arms: &[ArmJudgement]) -> Vec<String> {
    let mut wanted: BTreeMap<String, Vec<Wanting<'_>>> = BTreeMap::new();
    for arm in arms {
        for lack in &arm.not_checkable {
            let laws = wanted.entry(lack.missing.join(" or ")).or_default();
            match laws.iter_mut().find(|(law, _)| *law == lack.law) {
                Some((_, files)) => files.push(arm),
                None => laws.push((lack.law, vec![arm])),
            }
        }
    }
    let law = |(law, lacking): &Wanting<'_>| match lacking[..] {
        _ if lacking.len() == arms.len() || !arms.iter().any(|arm| arm.checked.contains(law)) => {
            (*law).to_owned()
        }
        [one] => format!("{law} in {}", one.file),
        _ => format!("{law} in {} of {} files", lacking.len(), arms.len()),
    };
    let keys = |(keys, laws): (String, Vec<Wanting<'_>>)| {
        format!("{keys} ({})", laws.iter().map(law).collect::<Vec<_>>().join(", "))
    };
    wanted.into_iter().map(keys).collect()
}

/// Breaks a list at its commas.
fn wrapped(title: &str, list: &str, width: usize) -> String {
    let mut lines = vec![title.to_owned()];
    for word in list.split_inclusive(' ') {
        let current = lines.last().map_or(0, |line| line.chars().count());
        if current + word.trim_end().chars().count() > width && current > 2 {
            lines.push("  ".to_owned());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(word);
        }
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

/// One line a file.
fn summary(arms: &[ArmJudgement]) -> Table {
    let mut table = Table::new().text("file").text("arm").text("verdict");
    for name in ["seqs", "tokens", "rounds", "rewinds", "accepted", "rows", "broken", "warned"] {
        table = table.number(name);
    }
    for arm in arms {
        let compared = &arm.compared;
        let (broken, warned) = arm.counts();
        table.row([
            arm.file.clone(),
            arm.arm.clone(),
            arm.verdict.to_string(),
            compared.sequences.to_string(),
            compared.tokens.to_string(),
            compared.rounds.to_string(),
            compared.rewinds.to_string(),
            format!("{}/{}", compared.accepted, compared.proposed),
            compared.rows.to_string(),
            broken.to_string(),
            warned.to_string(),
        ]);
    }
    table
}

/// The last line: how much was judged and how it ended.
fn conclusion(judgement: &Judgement, style: Style) -> String {
    let arms = &judgement.arms;
    if arms.is_empty() {
        return format!("{}: no transcript was judged.", judgement.verdict);
    }
    let mut verdicts: Vec<(String, usize)> = Vec::new();
    for arm in arms {
        match verdicts.iter_mut().find(|(word, _)| word == arm.verdict.word()) {
            Some((_, files)) => *files += 1,
            None => verdicts.push((arm.verdict.to_string(), 1)),
        }
    }
    let total = |pick: fn(&ArmJudgement) -> u64| arms.iter().map(pick).sum::<u64>();
    let (rounds, steps, tokens) =
        (total(|arm| arm.compared.rounds), total(|arm| arm.compared.steps), total(|arm| arm.compared.tokens));
    let verdict = if style == Style::Markdown {
        format!("**{}**", judgement.verdict)
    } else {
        judgement.verdict.to_string()
    };
    let files = counted(arms.len(), "file");
    let words: Vec<String> = verdicts.iter().map(|(word, count)| format!("{count} {word}")).collect();
    let split = if verdicts.len() > 1 { format!(" ({})", words.join(", ")) } else { String::new() };
    let judged = [counted(rounds, "round"), counted(steps, "step"), counted(tokens, "token")].join(", ");
    format!("{verdict}: {files}{split}; {judged} judged.")
}
