//! Behind each law stands a change that breaks just that law in a lawful run, and the property that generated runs
//! are lawful and, with one thing broken at any place, give that law as the finding.

use crate::lawful::{Plan, STRANGER, finding, judged, run, warnings};
use exactness::algebra::Verdict;
use exactness::algebra::laws::{LAWS, On};
use exactness::transcript::format::{ArmKind, DrafterCache, FinishReason, Window};
use exactness::transcript::{Footer, Header, Line, Prefill, Round, Step};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A change that breaks one law.
struct Mutation {
    law: &'static str,
    what: &'static str,
    plan: fn(&mut Plan),
    /// Changes sequence 0 at a place chosen by the number; false when the run has no such place.
    apply: fn(&mut Vec<Line>, usize) -> bool,
}

fn plain(_: &mut Plan) {}

fn classic(plan: &mut Plan) {
    (plan.kind, plan.width) = (ArmKind::Classic, 1);
}

fn window(plan: &mut Plan) {
    plan.sequences = 3;
}

fn header(lines: &mut [Line]) -> &mut Header {
    let Some(Line::Header(header)) = lines.first_mut() else { panic!("no header") };
    header
}

fn rounds(lines: &mut [Line]) -> Vec<&mut Round> {
    let own = lines.iter_mut().filter_map(|line| match line {
        Line::Round(round) if round.sequence == 0 => Some(&mut **round),
        _ => None,
    });
    own.collect()
}

fn steps(lines: &mut [Line]) -> Vec<&mut Step> {
    let own = lines.iter_mut().filter_map(|line| match line {
        Line::Step(step) if step.sequence == 0 => Some(step),
        _ => None,
    });
    own.collect()
}

fn prefill(lines: &mut [Line]) -> &mut Prefill {
    let mut own = lines.iter_mut().filter_map(|line| match line {
        Line::Prefill(prefill) if prefill.sequence == 0 => Some(prefill),
        _ => None,
    });
    own.next().unwrap()
}

fn footer(lines: &mut [Line]) -> &mut Footer {
    let mut own = lines.iter_mut().filter_map(|line| match line {
        Line::Footer(footer) if footer.sequence == 0 => Some(&mut **footer),
        _ => None,
    });
    own.next().unwrap()
}

/// Changes one of the rounds that `fits`.
fn round(lines: &mut [Line], pick: usize, fits: fn(&Round) -> bool, change: impl Fn(&mut Round)) -> bool {
    let mut fitting: Vec<&mut Round> = rounds(lines).into_iter().filter(|round| fits(round)).collect();
    let Some(place) = pick.checked_rem(fitting.len()) else { return false };
    change(fitting[place]);
    true
}

/// Changes one of the rounds that another one follows.
fn inner(lines: &mut [Line], pick: usize, change: impl Fn(&mut Round)) -> bool {
    let mut all = rounds(lines);
    all.pop();
    let Some(place) = pick.checked_rem(all.len()) else { return false };
    change(all[place]);
    true
}

fn counters(lines: &mut [Line], change: fn(&mut exactness::transcript::format::Counters)) -> bool {
    footer(lines).counters.as_mut().map(change).is_some()
}

fn every(_: &Round) -> bool {
    true
}

const MUTATIONS: &[Mutation] = &[
    Mutation {
        law: "vocabulary",
        what: "a placeholder is emitted",
        plan: plain,
        apply: |lines, pick| round(lines, pick, every, |round| round.emitted[0] = -1),
    },
    Mutation {
        law: "vocabulary",
        what: "a choice beyond the vocabulary",
        plan: plain,
        apply: |lines, pick| round(lines, pick, every, |round| *round.target.last_mut().unwrap() = 100_000),
    },
    Mutation {
        law: "vocabulary",
        what: "a prefill token beyond the vocabulary",
        plan: classic,
        apply: |lines, _| {
            prefill(lines).token = -5;
            true
        },
    },
    Mutation {
        law: "round-sequence",
        what: "a round misnumbered",
        plan: plain,
        apply: |lines, pick| round(lines, pick, every, |round| round.round += 1),
    },
    Mutation {
        law: "round-sequence",
        what: "a round lost",
        plan: plain,
        apply: |lines, pick| remove_round(lines, pick),
    },
    Mutation {
        law: "round-sequence",
        what: "a round doubled",
        plan: plain,
        apply: |lines, pick| double_round(lines, pick),
    },
    Mutation {
        law: "draft-length",
        what: "a proposal too many",
        plan: plain,
        apply: |lines, pick| round(lines, pick, every, |round| round.draft.push(7)),
    },
    Mutation {
        law: "target-length",
        what: "a choice too few",
        plan: plain,
        apply: |lines, pick| {
            round(lines, pick, every, |round| {
                round.target.pop();
            })
        },
    },
    Mutation {
        law: "accept-range",
        what: "more accepted than proposed",
        plan: plain,
        apply: |lines, pick| round(lines, pick, every, |round| round.accepted = round.width),
    },
    Mutation {
        law: "accept-range",
        what: "fewer than none accepted",
        plan: plain,
        apply: |lines, pick| round(lines, pick, every, |round| round.accepted = -1),
    },
    Mutation {
        law: "round-after-stop",
        what: "an emitted id was an end id",
        plan: plain,
        apply: |lines, pick| end_inside(lines, pick),
    },
    Mutation {
        law: "bonus-chain",
        what: "a stale bonus",
        plan: plain,
        apply: |lines, pick| round(lines, pick, every, |round| round.bonus = STRANGER),
    },
    Mutation {
        law: "cache-length",
        what: "the round starts on a longer cache",
        plan: plain,
        apply: |lines, pick| {
            round(lines, pick, every, |round| {
                round.cache_before = round.cache_before.map(|length| length + 1);
            })
        },
    },
    Mutation {
        law: "cache-length",
        what: "the rewind left a row behind",
        plan: plain,
        apply: |lines, pick| {
            round(lines, pick, every, |round| round.cache_after = round.cache_after.map(|length| length + 1))
        },
    },
    Mutation {
        law: "cache-length",
        what: "the rewind took a row too many",
        plan: plain,
        apply: |lines, pick| {
            inner(lines, pick, |round| round.cache_after = round.cache_after.map(|length| length - 1))
        },
    },
    Mutation {
        law: "cache-length",
        what: "a step's cache is short",
        plan: classic,
        apply: |lines, pick| step(lines, pick, |step| step.cache_len = Some(1)),
    },
    Mutation {
        law: "state-slot",
        what: "an old slot is read",
        plan: plain,
        apply: |lines, pick| round(lines, pick, |round| round.round > 0, |round| round.state_read = Some(77)),
    },
    Mutation {
        law: "shared-cache-length",
        what: "the drafter sees rejected rows",
        plan: |plan| plan.drafter = DrafterCache::Shared,
        apply: |lines, pick| {
            round(lines, pick, every, |round| {
                round.shared_cache = round.shared_cache.map(|length| length + 1);
            })
        },
    },
    Mutation {
        law: "accepted-prefix",
        what: "a rejected proposal is accepted",
        plan: plain,
        apply: |lines, pick| {
            round(lines, pick, |round| round.accepted < round.width - 1, |round| round.accepted += 1)
        },
    },
    Mutation {
        law: "accepted-prefix",
        what: "an agreed proposal is rejected",
        plan: plain,
        apply: |lines, pick| round(lines, pick, |round| round.accepted > 0, |round| round.accepted -= 1),
    },
    Mutation {
        law: "accepted-prefix",
        what: "the walk is told wrong",
        plan: plain,
        apply: |lines, pick| round(lines, pick, every, |round| round.walked = Some(round.accepted + 1)),
    },
    Mutation {
        law: "accepted-prefix",
        what: "a clamp that no row explains",
        plan: |plan| (plan.window, plan.sequences) = (Window::Clamp, 3),
        apply: |lines, pick| unexplained_clamp(lines, pick),
    },
    Mutation {
        law: "emission-empty",
        what: "nothing is emitted",
        plan: plain,
        apply: |lines, pick| round(lines, pick, every, |round| round.emitted.clear()),
    },
    Mutation {
        law: "row-leak",
        what: "another sequence's choices are emitted",
        plan: window,
        apply: |lines, pick| leak(lines, pick),
    },
    Mutation {
        law: "emission",
        what: "a token that no row chose",
        plan: window,
        apply: |lines, pick| round(lines, pick, every, |round| *round.emitted.last_mut().unwrap() = STRANGER),
    },
    Mutation {
        law: "emission",
        what: "a token too many",
        plan: plain,
        apply: |lines, pick| {
            round(lines, pick, every, |round| {
                round.emitted = round.target[..=usize::try_from(round.accepted).unwrap()].to_vec();
                round.emitted.push(STRANGER);
            })
        },
    },
    Mutation {
        law: "emission",
        what: "a round in the middle is cut",
        plan: plain,
        apply: |lines, pick| cut_inside(lines, pick),
    },
    Mutation {
        law: "truncation",
        what: "the last round is cut for no reason",
        plan: plain,
        apply: |lines, _| cut_last(lines),
    },
    Mutation {
        law: "state-kept",
        what: "the state keeps a row too many",
        plan: plain,
        apply: |lines, pick| {
            round(lines, pick, every, |round| round.state_kept = round.state_kept.map(|rows| rows + 1))
        },
    },
    Mutation {
        law: "state-kept",
        what: "nothing was committed",
        plan: plain,
        apply: |lines, pick| inner(lines, pick, |round| round.state_kept = Some(0)),
    },
    Mutation {
        law: "draft-cache-length",
        what: "the drafter fell behind",
        plan: plain,
        apply: |lines, pick| {
            inner(lines, pick, |round| {
                round.draft_cache_after = round.draft_cache_after.map(|length| length - 2);
            })
        },
    },
    Mutation {
        law: "row-choice",
        what: "a row's best entry is another",
        plan: plain,
        apply: |lines, pick| row(lines, pick, |row| row.top.as_mut().unwrap()[0].0 = STRANGER),
    },
    Mutation {
        law: "row-choice",
        what: "a row is missing",
        plan: plain,
        apply: |lines, pick| {
            round(lines, pick, every, |round| {
                round.rows.as_mut().unwrap().pop();
            })
        },
    },
    Mutation {
        law: "row-choice",
        what: "a step's row chose another",
        plan: classic,
        apply: |lines, pick| {
            step(lines, pick, |step| step.row.as_mut().unwrap().top.as_mut().unwrap()[0].0 = STRANGER)
        },
    },
    Mutation {
        law: "row-position",
        what: "a row stands elsewhere",
        plan: plain,
        apply: |lines, pick| row(lines, pick, |row| row.position = Some(1)),
    },
    Mutation {
        law: "row-position",
        what: "a row chooses another index",
        plan: plain,
        apply: |lines, pick| row(lines, pick, |row| row.index = Some(4_000)),
    },
    Mutation {
        law: "row-position",
        what: "the prefill row stands elsewhere",
        plan: plain,
        apply: |lines, _| {
            prefill(lines).row.as_mut().unwrap().position = Some(7);
            true
        },
    },
    Mutation {
        law: "step-chain",
        what: "a step feeds another token",
        plan: classic,
        apply: |lines, pick| step(lines, pick, |step| step.input = STRANGER),
    },
    Mutation {
        law: "after-eos",
        what: "tokens follow an end id in the last round",
        plan: plain,
        apply: |lines, _| end_in_last(lines),
    },
    Mutation {
        law: "after-eos",
        what: "steps follow an end id",
        plan: classic,
        apply: |lines, pick| end_in_stream(lines, pick),
    },
    Mutation {
        law: "budget",
        what: "one token above the budget",
        plan: plain,
        apply: |lines, _| {
            let budget = header(lines).max_tokens;
            header(lines).max_tokens = budget.map(|budget| budget - 1);
            true
        },
    },
    Mutation {
        law: "finish-reason",
        what: "\"stop\" without an end id",
        plan: plain,
        apply: |lines, _| {
            footer(lines).finish_reason = Some(FinishReason::Stop);
            true
        },
    },
    Mutation {
        law: "finish-reason",
        what: "\"length\" below the budget",
        plan: classic,
        apply: |lines, _| {
            let budget = header(lines).max_tokens;
            header(lines).max_tokens = budget.map(|budget| budget + 1);
            true
        },
    },
    Mutation {
        law: "stream-assembly",
        what: "a told token was not emitted",
        plan: plain,
        apply: |lines, pick| {
            let tokens = footer(lines).tokens.as_mut().unwrap();
            let place = pick % tokens.len();
            tokens[place] = STRANGER;
            true
        },
    },
    Mutation {
        law: "counter-rounds",
        what: "a round is not counted",
        plan: plain,
        apply: |lines, _| {
            counters(lines, |counters| counters.rounds = counters.rounds.map(|count| count - 1))
        },
    },
    Mutation {
        law: "counter-drafted",
        what: "proposals counted twice",
        plan: plain,
        apply: |lines, _| {
            counters(lines, |counters| counters.drafted = counters.drafted.map(|count| count * 2 + 1))
        },
    },
    Mutation {
        law: "counter-accepted",
        what: "the bonus is counted",
        plan: plain,
        apply: |lines, _| {
            counters(lines, |counters| {
                counters.accepted = counters.accepted.map(|count| count + counters.rounds.unwrap_or(1));
            })
        },
    },
    Mutation {
        law: "counter-per-position",
        what: "accepts rise",
        plan: plain,
        apply: |lines, _| counters(lines, |counters| counters.per_position.as_mut().unwrap().push(1_000)),
    },
    Mutation {
        law: "counter-per-position",
        what: "one position is short",
        plan: plain,
        apply: |lines, _| {
            counters(lines, |counters| counters.per_position = Some(vec![]))
                && footer(lines).counters.as_ref().unwrap().accepted > Some(0)
        },
    },
    Mutation {
        law: "emitted-count",
        what: "more tokens than rounds can make",
        plan: plain,
        apply: |lines, _| only_counters(lines, 1),
    },
    Mutation {
        law: "emitted-count",
        what: "fewer tokens than the last cut explains",
        plan: plain,
        apply: |lines, _| only_counters(lines, -20),
    },
    Mutation {
        law: "usage",
        what: "usage counts two more",
        plan: plain,
        apply: |lines, _| {
            let usage = footer(lines).usage.as_mut().unwrap();
            usage.completion_tokens = usage.completion_tokens.map(|count| count + 2);
            usage.total_tokens = usage.total_tokens.map(|count| count + 2);
            true
        },
    },
    Mutation {
        law: "usage",
        what: "the parts do not add up",
        plan: plain,
        apply: |lines, _| {
            footer(lines).usage.as_mut().unwrap().total_tokens = Some(1);
            true
        },
    },
    Mutation {
        law: "usage",
        what: "the prompt has other ids",
        plan: plain,
        apply: |lines, _| {
            let usage = footer(lines).usage.as_mut().unwrap();
            usage.prompt_tokens = Some(8);
            usage.total_tokens = usage.total_tokens.map(|count| count + 1);
            true
        },
    },
    Mutation {
        law: "usage",
        what: "the hidden part is larger than the whole",
        plan: classic,
        apply: |lines, _| {
            footer(lines).usage.as_mut().unwrap().reasoning_tokens = Some(10_000);
            true
        },
    },
    Mutation {
        law: "logprob-length",
        what: "log-probabilities past the stop",
        plan: plain,
        apply: |lines, _| {
            let logprobs = footer(lines).logprobs.as_mut().unwrap();
            logprobs.extend([Some(-9.0), Some(-9.5)]);
            true
        },
    },
    Mutation {
        law: "logprob-constant",
        what: "all log-probabilities are zero",
        plan: plain,
        apply: |lines, _| {
            let logprobs = footer(lines).logprobs.as_mut().unwrap();
            logprobs.fill(Some(0.0));
            logprobs.len() >= 4
        },
    },
];

fn step(lines: &mut [Line], pick: usize, change: impl Fn(&mut Step)) -> bool {
    let mut all = steps(lines);
    let Some(place) = pick.checked_rem(all.len()) else { return false };
    change(all[place]);
    true
}

fn row(lines: &mut [Line], pick: usize, change: impl Fn(&mut exactness::transcript::Row)) -> bool {
    round(lines, pick, every, |round| {
        let rows = round.rows.as_mut().unwrap();
        let place = pick % rows.len();
        change(&mut rows[place]);
    })
}

fn place_of(lines: &[Line], number: usize) -> Option<usize> {
    let own = |line: &Line| matches!(line, Line::Round(round) if round.sequence == 0 && usize::try_from(round.round) == Ok(number));
    lines.iter().position(own)
}

fn remove_round(lines: &mut Vec<Line>, pick: usize) -> bool {
    let inner = rounds(lines).len().saturating_sub(1);
    let Some(number) = pick.checked_rem(inner) else { return false };
    let place = place_of(lines, number).unwrap();
    lines.remove(place);
    true
}

/// Not the last one: if that is cut, its first copy is a cut round in the middle, which comes before.
fn double_round(lines: &mut Vec<Line>, pick: usize) -> bool {
    let Some(number) = pick.checked_rem(rounds(lines).len().saturating_sub(1)) else { return false };
    let place = place_of(lines, number).unwrap();
    lines.insert(place + 1, lines[place].clone());
    true
}

fn end_inside(lines: &mut [Line], pick: usize) -> bool {
    let mut all = rounds(lines);
    all.pop();
    let Some(place) = pick.checked_rem(all.len()) else { return false };
    let token = all[place].emitted[0];
    header(lines).eos_ids = Some(vec![token]);
    true
}

fn end_in_last(lines: &mut [Line]) -> bool {
    let all = rounds(lines);
    let Some(last) = all.last().filter(|round| round.emitted.len() > 1) else { return false };
    let token = last.emitted[0];
    header(lines).eos_ids = Some(vec![token]);
    true
}

fn end_in_stream(lines: &mut [Line], pick: usize) -> bool {
    let tokens = footer(lines).tokens.clone().unwrap();
    let Some(place) = pick.checked_rem(tokens.len() - 1) else { return false };
    header(lines).eos_ids = Some(vec![tokens[place]]);
    true
}

fn cut_inside(lines: &mut [Line], pick: usize) -> bool {
    let mut all = rounds(lines);
    all.pop();
    let mut fitting: Vec<&mut Round> = all.into_iter().filter(|round| round.emitted.len() > 1).collect();
    let Some(place) = pick.checked_rem(fitting.len()) else { return false };
    fitting[place].emitted.pop();
    true
}

fn cut_last(lines: &mut [Line]) -> bool {
    let mut all = rounds(lines);
    let Some(last) = all.pop().filter(|round| round.emitted.len() > 1) else { return false };
    last.emitted.pop();
    true
}

/// Sequence 0 commits fewer than it agreed on, in a round where no other row has just that many.
fn unexplained_clamp(lines: &mut [Line], pick: usize) -> bool {
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

fn leak(lines: &mut [Line], pick: usize) -> bool {
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
fn only_counters(lines: &mut Vec<Line>, more: i64) -> bool {
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

fn break_it(mutation: &Mutation, mut plan: Plan, pick: usize) -> Option<()> {
    (mutation.plan)(&mut plan);
    let mut lines = run(&plan);
    assert_eq!(judged(&lines).verdict, Verdict::Consistent, "before: {}", mutation.what);
    if !(mutation.apply)(&mut lines, pick) {
        return None;
    }
    let judgement = judged(&lines);
    if LAWS
        .iter()
        .any(|law| law.name == mutation.law && law.severity == exactness::algebra::laws::Severity::Warning)
    {
        assert_eq!(warnings(&judgement), [mutation.law], "{}", mutation.what);
        assert_eq!(judgement.verdict, Verdict::Consistent);
    } else {
        let found = finding(&judgement, 0).map(|(law, _)| law);
        assert_eq!(found, Some(mutation.law), "{}: {:?}", mutation.what, judgement.sequences);
        assert_eq!(judgement.verdict, Verdict::Inconsistent);
    }
    Some(())
}

#[test]
fn each_law_has_a_change_that_breaks_it() {
    for mutation in MUTATIONS {
        let broken =
            (0..40_u8).find_map(|seed| break_it(mutation, Plan::new(seed.into()), 3 + usize::from(seed)));
        assert!(broken.is_some(), "no run has a place for: {}", mutation.what);
    }
    let covered: BTreeSet<&str> = MUTATIONS.iter().map(|mutation| mutation.law).collect();
    let within = LAWS.iter().filter(|law| !law.on.iter().any(|on| matches!(on, On::BetweenArms)));
    assert_eq!(covered, within.map(|law| law.name).collect());
}

fn plans() -> impl Strategy<Value = Plan> {
    let shape = (any::<u64>(), 1..=9_i64, 1..=4_i64, 1..=40_i64);
    let kinds = (any::<bool>(), 0..3_usize, 0..4_usize, any::<bool>());
    (shape, kinds).prop_map(|((seed, width, sequences, tokens), (classic, window, drafter, interleaved))| {
        let window = [Window::Single, Window::Clamp, Window::PerRow][window];
        let drafters =
            [DrafterCache::Autoregressive, DrafterCache::Lazy, DrafterCache::Shared, DrafterCache::None];
        let (kind, width) = if classic { (ArmKind::Classic, 1) } else { (ArmKind::Speculative, width) };
        Plan { seed, kind, width, sequences, tokens, window, drafter: drafters[drafter], interleaved }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_runs_are_lawful(plan in plans()) {
        let judgement = judged(&run(&plan));
        prop_assert_eq!(judgement.verdict, Verdict::Consistent, "{:?}", judgement.sequences);
        prop_assert_eq!(warnings(&judgement), Vec::<&str>::new());
    }

    #[test]
    fn one_broken_thing_is_the_finding(seed in any::<u64>(), which in 0..MUTATIONS.len(), pick in 0..64_usize, width in 1..=8_i64, tokens in 2..=60_i64) {
        let plan = Plan { width, tokens, ..Plan::new(seed) };
        let _ = break_it(&MUTATIONS[which], plan, pick);
    }
}
