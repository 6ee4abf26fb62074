//! The laws in the order in which they are judged. The first that is broken is the finding, so the order is part of
//! what the tool says; `exactness laws` prints this table and nothing else.

use super::law::{Law, On, Severity};
use super::{accept, caches, chain, counters, ending, reported, rows, shape};

const fn law(
    name: &'static str,
    statement: &'static str,
    keys: &'static [&'static str],
    on: &'static [On],
) -> Law {
    Law { name, severity: Severity::Finding, statement, keys, on }
}

const fn warning(
    name: &'static str,
    statement: &'static str,
    keys: &'static [&'static str],
    on: &'static [On],
) -> Law {
    Law { name, severity: Severity::Warning, statement, keys, on }
}

/// Every law, in order.
pub static LAWS: &[Law] = &[
    law(
        "vocabulary",
        "Every bonus, target and emitted id is in 0 … vocab_size − 1; a placeholder among rejected proposals is only a warning.",
        &["vocab_size"],
        &[On::Token(shape::token_vocabulary), On::Round(shape::vocabulary)],
    ),
    law(
        "round-sequence",
        "The rounds of a sequence are numbered 0, 1, 2 …",
        &[],
        &[On::Round(shape::round_sequence)],
    ),
    law("draft-length", "draft holds width − 1 proposals.", &[], &[On::Round(shape::draft_length)]),
    law("target-length", "target holds width choices, one a row.", &[], &[On::Round(shape::target_length)]),
    law("accept-range", "accepted is in 0 … width − 1.", &[], &[On::Round(shape::accept_range)]),
    law(
        "round-after-stop",
        "No round starts after an end id was emitted, unless ignore_eos.",
        &["eos_ids", "ignore_eos"],
        &[On::Round(chain::round_after_stop)],
    ),
    law(
        "bonus-chain",
        "bonus is the last token emitted before the round.",
        &["prefill"],
        &[On::Round(chain::bonus_chain)],
    ),
    law(
        "cache-length",
        "Before a round the target's cache holds the prompt and everything emitted except the last token; after a \
         prefill or step, everything fed.",
        &["cache_before", "cache_len", "prompts[].ids", "prefill"],
        &[On::Token(caches::token), On::Round(caches::before)],
    ),
    law(
        "state-slot",
        "The verify forward reads the state slot that was committed last.",
        &["state_read", "state_committed"],
        &[On::Round(caches::state_slot)],
    ),
    warning(
        "shared-cache-length",
        "A drafter that reads the target's cache sees cache_before rows of it.",
        &["shared_cache", "cache_before"],
        &[On::Round(caches::shared)],
    ),
    law(
        "accepted-prefix",
        "accepted is the longest common prefix of draft and target; less only where a clamped window has a row with that much less.",
        &["window"],
        &[On::Round(accept::accepted_prefix)],
    ),
    law("emission-empty", "A round emits at least one token.", &[], &[On::Round(accept::emission_empty)]),
    law(
        "row-leak",
        "A sequence that emits what its own rows did not choose does not emit another sequence's choices of the same round.",
        &[],
        &[On::Round(accept::row_leak)],
    ),
    law(
        "emission",
        "emitted is the accepted drafts and then the token of the row after them; a beginning of that in the last round.",
        &["footer"],
        &[On::Round(accept::emission)],
    ),
    law(
        "truncation",
        "A cut last round is explained by the budget, an end id, or the reason stop_string, context or aborted.",
        &["max_tokens", "eos_ids", "finish_reason"],
        &[On::Round(accept::truncation)],
    ),
    law(
        "cache-length",
        "After the rewind the target's cache has grown by accepted + 1 rows; in a cut last round by anything from the tokens emitted up to that.",
        &["cache_before", "cache_after"],
        &[On::Round(caches::after)],
    ),
    law(
        "state-kept",
        "The recurrent state keeps as many rows as the cache.",
        &["state_kept"],
        &[On::Round(caches::state_kept)],
    ),
    warning(
        "draft-cache-length",
        "A drafter's own cache holds cache_before + accepted + 1 entries, or one less after a full accept.",
        &["drafter.cache", "draft_cache_after", "cache_before"],
        &[On::Round(caches::drafter)],
    ),
    law(
        "row-choice",
        "The best entry of a row is the token that the row is said to choose; a round has one row a position.",
        &["rows", "rows[].top", "row", "row.top"],
        &[On::Token(rows::token_choice), On::Round(rows::choice)],
    ),
    law(
        "row-position",
        "A row stands at the position, and chooses the stream index, that follow from the prompt and what was emitted.",
        &["rows", "rows[].position", "row", "row.position", "cache_before", "prompts[].ids"],
        &[On::Token(rows::token_position), On::Round(rows::position)],
    ),
    law(
        "step-chain",
        "Steps count up by one, and each feeds the token before it.",
        &["prefill"],
        &[On::Token(chain::step_chain)],
    ),
    law(
        "after-eos",
        "Nothing follows an end id in the stream, unless ignore_eos.",
        &["eos_ids", "ignore_eos", "tokens"],
        &[On::End(ending::after_eos)],
    ),
    law(
        "budget",
        "The stream holds at most max_tokens tokens.",
        &["max_tokens", "tokens"],
        &[On::End(ending::budget)],
    ),
    law(
        "finish-reason",
        "\"length\" only when the budget was reached and no end id stands before it; \"stop\" only with an end id at the \
         end. Not judged under ignore_eos or where a server strips the end id.",
        &["finish_reason", "eos_ids", "ignore_eos", "max_tokens", "tokens"],
        &[On::End(ending::finish_reason)],
    ),
    law(
        "stream-assembly",
        "tokens is the prefill token and everything emitted.",
        &["tokens", "prefill", "round", "step"],
        &[On::End(ending::stream_assembly)],
    ),
    law(
        "counter-rounds",
        "The counted rounds are the recorded ones.",
        &["counters.rounds", "round"],
        &[On::End(counters::rounds)],
    ),
    law(
        "counter-drafted",
        "The counted proposals are the recorded ones.",
        &["counters.drafted", "round"],
        &[On::End(counters::drafted)],
    ),
    law(
        "counter-accepted",
        "The counted accepts are those of the walks, the final cut not subtracted.",
        &["counters.accepted", "round"],
        &[On::End(counters::accepted)],
    ),
    law(
        "counter-per-position",
        "Accepts by draft position never rise, and are the recorded ones.",
        &["counters.per_position"],
        &[On::End(counters::per_position)],
    ),
    law(
        "emitted-count",
        "Where only counters are known: tokens = 1 + rounds + accepted − cut, with cut in 0 … width − 1.",
        &["counters.rounds", "counters.accepted", "tokens", "width"],
        &[On::End(counters::emitted_count)],
    ),
    law(
        "usage",
        "Reported usage and token strings agree with the ids and with themselves; a stripped end id allows one more.",
        &["usage", "usage.completion_tokens", "tokens"],
        &[On::End(reported::usage)],
    ),
    law(
        "logprob-length",
        "There is one log-probability a token; a stripped end id allows one more.",
        &["logprobs", "tokens"],
        &[On::End(reported::logprob_length)],
    ),
    warning(
        "logprob-constant",
        "Four or more log-probabilities that are all equal carry no information; no near tie is judged from them.",
        &["logprobs"],
        &[On::End(reported::logprob_constant)],
    ),
    law(
        "prompt",
        "Both arms have the same prompt ids. Otherwise the comparison ends.",
        &["prompts[].ids"],
        &[On::BetweenArms],
    ),
    law(
        "null-arm",
        "An arm equals its own repeat. Otherwise the comparison ends.",
        &["repeat"],
        &[On::BetweenArms],
    ),
    law(
        "vacuous",
        "Something was compared: tokens, and for a width above 1 rounds and proposals. Otherwise the comparison ends.",
        &[],
        &[On::BetweenArms],
    ),
    law("stream", "Both arms emit the same stream.", &["tokens"], &[On::BetweenArms]),
    law("length", "Neither stream is a proper beginning of the other.", &["tokens"], &[On::BetweenArms]),
];

#[cfg(test)]
mod tests {
    use super::LAWS;

    #[test]
    fn the_order_is_the_formats() {
        let names: Vec<&str> = LAWS.iter().map(|law| law.name).collect();
        assert_eq!(names.len(), 38);
        assert_eq!(names.iter().filter(|name| **name == "cache-length").count(), 2);
        let place = |wanted: &str| names.iter().position(|name| *name == wanted);
        assert!(place("row-leak") < place("emission"));
        assert!(place("accepted-prefix") < place("emission-empty"));
        assert!(place("after-eos") < place("finish-reason"));
    }
}
