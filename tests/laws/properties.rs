//! Every law has its change, and a change at any place of any generated run is found as that law.

use super::mutations::{MUTATIONS, Mutation};
use crate::lawful::{Plan, finding, judged, run, warnings};
use exactness::algebra::Verdict;
use exactness::algebra::laws::{LAWS, On};
use exactness::transcript::format::{ArmKind, DrafterCache, Window};
use proptest::prelude::*;
use std::collections::BTreeSet;

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
