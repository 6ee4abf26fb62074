//! One change behind each law: which run it needs, and what it breaks.

use super::changes::*;
use crate::lawful::{Plan, STRANGER};
use exactness::transcript::Line;
use exactness::transcript::format::{DrafterCache, FinishReason, Window};

/// A change that breaks one law.
pub(super) struct Mutation {
    pub(super) law: &'static str,
    pub(super) what: &'static str,
    pub(super) plan: fn(&mut Plan),
    /// Changes sequence 0 at a place chosen by the number; false when the run has no such place.
    pub(super) apply: fn(&mut Vec<Line>, usize) -> bool,
}

pub(super) const MUTATIONS: &[Mutation] = &[
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
