//! The ways in which a lawful run's lines are changed.

use crate::lawful::Plan;
use exactness::transcript::format::{ArmKind, Counters, FinishReason};
use exactness::transcript::{Footer, Header, Line, Prefill, Round, Row, Step};

pub(super) fn plain(_: &mut Plan) {}

pub(super) fn classic(plan: &mut Plan) {
    (plan.kind, plan.width) = (ArmKind::Classic, 1);
}

pub(super) fn window(plan: &mut Plan) {
    plan.sequences = 3;
}

pub(super) fn header(lines: &mut [Line]) -> &mut Header {
    let Some(Line::Header(header)) = lines.first_mut() else { panic!("no header") };
    header
}

pub(super) fn rounds(lines: &mut [Line]) -> Vec<&mut Round> {
    let own = lines.iter_mut().filter_map(|line| match line {
        Line::Round(round) if round.sequence == 0 => Some(&mut **round),
        _ => None,
    });
    own.collect()
}

pub(super) fn steps(lines: &mut [Line]) -> Vec<&mut Step> {
    let own = lines.iter_mut().filter_map(|line| match line {
        Line::Step(step) if step.sequence == 0 => Some(step),
        _ => None,
    });
    own.collect()
}

pub(super) fn prefill(lines: &mut [Line]) -> &mut Prefill {
    let mut own = lines.iter_mut().filter_map(|line| match line {
        Line::Prefill(prefill) if prefill.sequence == 0 => Some(prefill),
        _ => None,
    });
    own.next().unwrap()
}

pub(super) fn footer(lines: &mut [Line]) -> &mut Footer {
    let mut own = lines.iter_mut().filter_map(|line| match line {
        Line::Footer(footer) if footer.sequence == 0 => Some(&mut **footer),
        _ => None,
    });
    own.next().unwrap()
}

/// Changes one of the rounds that `fits`.
pub(super) fn round(
    lines: &mut [Line],
    pick: usize,
    fits: fn(&Round) -> bool,
    change: impl Fn(&mut Round),
) -> bool {
    let mut fitting: Vec<&mut Round> = rounds(lines).into_iter().filter(|round| fits(round)).collect();
    let Some(place) = pick.checked_rem(fitting.len()) else { return false };
    change(fitting[place]);
    true
}

/// Changes one of the rounds that another one follows.
pub(super) fn inner(lines: &mut [Line], pick: usize, change: impl Fn(&mut Round)) -> bool {
    let mut all = rounds(lines);
    all.pop();
    let Some(place) = pick.checked_rem(all.len()) else { return false };
    change(all[place]);
    true
}

pub(super) fn counters(lines: &mut [Line], change: fn(&mut Counters)) -> bool {
    footer(lines).counters.as_mut().map(change).is_some()
}

pub(super) fn every(_: &Round) -> bool {
    true
}

pub(super) fn step(lines: &mut [Line], pick: usize, change: impl Fn(&mut Step)) -> bool {
    let mut all = steps(lines);
    let Some(place) = pick.checked_rem(all.len()) else { return false };
    change(all[place]);
    true
}

pub(super) fn row(lines: &mut [Line], pick: usize, change: impl Fn(&mut Row)) -> bool {
    round(lines, pick, every, |round| {
        let rows = round.rows.as_mut().unwrap();
        let place = pick % rows.len();
        change(&mut rows[place]);
    })
}

pub(super) fn place_of(lines: &[Line], number: usize) -> Option<usize> {
    let own = |line: &Line| matches!(line, Line::Round(round) if round.sequence == 0 && usize::try_from(round.round) == Ok(number));
    lines.iter().position(own)
}

pub(super) fn remove_round(lines: &mut Vec<Line>, pick: usize) -> bool {
    let inner = rounds(lines).len().saturating_sub(1);
    let Some(number) = pick.checked_rem(inner) else { return false };
    let place = place_of(lines, number).unwrap();
    lines.remove(place);
    true
}

/// Not the last one: if that is cut, its first copy is a cut round in the middle, which comes before.
pub(super) fn double_round(lines: &mut Vec<Line>, pick: usize) -> bool {
    let Some(number) = pick.checked_rem(rounds(lines).len().saturating_sub(1)) else { return false };
    let place = place_of(lines, number).unwrap();
    lines.insert(place + 1, lines[place].clone());
    true
}

pub(super) fn end_inside(lines: &mut [Line], pick: usize) -> bool {
    let mut all = rounds(lines);
    all.pop();
    let Some(place) = pick.checked_rem(all.len()) else { return false };
    let token = all[place].emitted[0];
    header(lines).eos_ids = Some(vec![token]);
    true
}

pub(super) fn end_in_last(lines: &mut [Line]) -> bool {
    let all = rounds(lines);
    let Some(last) = all.last().filter(|round| round.emitted.len() > 1) else { return false };
    let token = last.emitted[0];
    header(lines).eos_ids = Some(vec![token]);
    true
}

pub(super) fn end_in_stream(lines: &mut [Line], pick: usize) -> bool {
    let tokens = footer(lines).tokens.clone().unwrap();
    let Some(place) = pick.checked_rem(tokens.len() - 1) else { return false };
    header(lines).eos_ids = Some(vec![tokens[place]]);
    true
}

pub(super) fn cut_inside(lines: &mut [Line], pick: usize) -> bool {
    let mut all = rounds(lines);
    all.pop();
    let mut fitting: Vec<&mut Round> = all.into_iter().filter(|round| round.emitted.len() > 1).collect();
    let Some(place) = pick.checked_rem(fitting.len()) else { return false };
    fitting[place].emitted.pop();
    true
}

pub(super) fn cut_last(lines: &mut [Line]) -> bool {
    let mut all = rounds(lines);
    let Some(last) = all.pop().filter(|round| round.emitted.len() > 1) else { return false };
    last.emitted.pop();
    true
}

/// Sequence 0 commits fewer than it agreed on, in a round where no other row has just that many.
pub(super) fn unexplained_clamp(lines: &mut [Line], pick: usize) -> bool {
    let all: Vec<Round> = lines
        .iter()
        .filter_map(|line| if let Line::Round(round) = line { Some((**round).clone()) } else { None })
        .collect();
    let walk = |round: &Round| round.walked.unwrap_or(round.accepted);
    let fits = |own: &&Round| {
        let others = all.iter().filter(|other| other.round == own.round && other.sequence != 0);
        own.sequence == 0 && own.accepted > 0 && others.clone().all(|other| walk(other) != own.accepted - 1)
    };
    let fitting: Vec<i64> = all.iter().filter(fits).map(|round| round.round).collect();
    let Some(place) = pick.checked_rem(fitting.len()) else { return false };
    let number = fitting[place];
    for round in rounds(lines).into_iter().filter(|round| round.round == number) {
        round.walked = round.walked.or(Some(round.accepted));
        round.accepted -= 1;
    }
    true
}

pub(super) fn leak(lines: &mut [Line], pick: usize) -> bool {
    let other = |number: i64| {
        move |line: &Line| match line {
            Line::Round(round) if round.sequence == 1 && round.round == number => Some(round.target.clone()),
            _ => None,
        }
    };
    let numbers: Vec<i64> = rounds(lines).iter().map(|round| round.round).collect();
    let known: Vec<(i64, Vec<i64>)> =
        numbers.iter().filter_map(|number| Some((*number, lines.iter().find_map(other(*number))?))).collect();
    let Some(place) = pick.checked_rem(known.len()) else { return false };
    let (number, target) = &known[place];
    for round in rounds(lines).into_iter().filter(|round| round.round == *number) {
        let length = round.emitted.len();
        round.emitted = target[..length].to_vec();
    }
    true
}

/// Leaves what a server gives: the footer, with tokens taken off the end or added.
pub(super) fn only_counters(lines: &mut Vec<Line>, more: i64) -> bool {
    lines.retain(|line| !matches!(line, Line::Round(_) | Line::Prefill(_)));
    header(lines).max_tokens = None;
    let own = footer(lines);
    let counters = own.counters.clone().unwrap();
    let whole = 1 + counters.rounds.unwrap() + counters.accepted.unwrap() + more;
    own.usage.as_mut().unwrap().completion_tokens = Some(whole);
    own.usage.as_mut().unwrap().total_tokens = Some(whole + 7);
    (own.tokens, own.logprobs, own.finish_reason) = (None, None, Some(FinishReason::Length));
    counters.rounds > Some(0) && whole >= 0
}
