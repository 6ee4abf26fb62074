//! Finding the first of many that says yes, when asking is dear and some will not answer.
//!
//! The elements are ordered and the last one is known to say yes. A question has three answers: an element that cannot
//! be judged (a control failed, a run was vacuous) says nothing and is passed over, so that it costs one question and
//! never turns into a yes or a no. What could not be told apart is part of the answer.

/// What an element says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It does.
    Yes,
    /// It does not.
    No,
    /// It cannot be judged.
    Unknown,
}

/// The border between no and yes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Border {
    /// The first element that is known to say yes.
    pub first: usize,
    /// Elements right before it that could not be judged: one of them may be the first.
    pub unknown: Vec<usize>,
    /// Questions asked; at most ⌈log₂ n⌉ and one for each unknown met.
    pub questions: usize,
}

/// Finds the border among `count` elements, the last of which is known to say yes and is not asked.
///
/// Where the answers are no up to some element and yes from there on, [`Border::first`] is that element, or the first
/// judged one after it. Where they are not ordered so, it is a yes whose nearest judged element before it says no.
///
/// # Errors
/// What `ask` fails with; when there is no element, nothing is asked and the border is at 0.
pub fn first_yes<E>(count: usize, mut ask: impl FnMut(usize) -> Result<Answer, E>) -> Result<Border, E> {
    let mut first = count.saturating_sub(1);
    let mut open: Vec<usize> = (0..first).collect();
    let mut unknown = Vec::new();
    let mut questions = 0;
    while !open.is_empty() {
        let middle = open.len() / 2;
        let element = open[middle];
        questions += 1;
        match ask(element)? {
            Answer::Yes => {
                first = element;
                open.truncate(middle);
            }
            Answer::No => {
                open.drain(..=middle);
                unknown.retain(|one| *one > element);
            }
            Answer::Unknown => unknown.push(open.remove(middle)),
        }
    }
    unknown.retain(|one| *one < first);
    unknown.sort_unstable();
    Ok(Border { first, unknown, questions })
}

#[cfg(test)]
mod tests {
    use super::{Answer, Border, first_yes};
    use proptest::prelude::*;
    use std::convert::Infallible;

    /// Elements say no before `border` and yes from it on, but for those that `hidden` says nothing of.
    fn searched(count: usize, border: usize, hidden: &dyn Fn(usize) -> bool) -> Border {
        let mut asked = vec![false; count];
        let found = first_yes(count, |element| {
            assert!(!std::mem::replace(&mut asked[element], true), "{element} was asked twice");
            assert!(element + 1 < count, "the last is known");
            Ok::<_, Infallible>(match hidden(element) {
                true => Answer::Unknown,
                false if element >= border => Answer::Yes,
                false => Answer::No,
            })
        });
        found.unwrap()
    }

    fn check(count: usize, border: usize, hidden: &dyn Fn(usize) -> bool) {
        let found = searched(count, border, hidden);
        let judged = |element: usize| element + 1 == count || !hidden(element);
        let expected = (border..count).find(|element| judged(*element)).unwrap();
        assert_eq!(found.first, expected, "{count} {border}");
        let before = (0..expected).rev().take_while(|element| !judged(*element));
        let mut before: Vec<usize> = before.collect();
        before.reverse();
        assert_eq!(found.unknown, before, "{count} {border}");
        let unknowns = (0..count).filter(|element| !judged(*element)).count();
        let bound = count.next_power_of_two().trailing_zeros() as usize + unknowns;
        assert!(found.questions <= bound, "{} questions for {count}, bound {bound}", found.questions);
    }

    #[test]
    fn every_border_with_every_pattern_of_unknowns_up_to_twelve() {
        let mut tried = 0;
        for count in 1..=12 {
            for border in 0..count {
                for pattern in 0..1u32 << count {
                    check(count, border, &|element| pattern >> element & 1 == 1);
                    tried += 1;
                }
            }
        }
        assert_eq!(tried, (1..=12).map(|count| count << count).sum::<usize>());
    }

    #[test]
    fn nothing_to_search() {
        assert_eq!(searched(1, 0, &|_| false), Border { first: 0, unknown: vec![], questions: 0 });
        let none = first_yes(0, |_| Ok::<_, Infallible>(Answer::Yes)).unwrap();
        assert_eq!((none.first, none.questions), (0, 0));
    }

    #[test]
    fn a_failure_ends_the_search() {
        assert_eq!(first_yes(9, Err), Err(4));
    }

    proptest! {
        #[test]
        fn larger_ones_too(count in 13usize..3000, border in 0usize..3000, seed in any::<u64>(), rate in 0u64..9) {
            let hidden = |element: usize| {
                let mixed = (element as u64 ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
                mixed % 10 < rate
            };
            check(count, border % count, &hidden);
        }

        #[test]
        fn whatever_the_answers_the_border_is_between_a_no_and_a_yes(answers in prop::collection::vec(0..3, 1..200)) {
            let say = |element: usize| match answers[element] {
                _ if element + 1 == answers.len() => Answer::Yes,
                0 => Answer::No,
                1 => Answer::Yes,
                _ => Answer::Unknown,
            };
            let found = first_yes(answers.len(), |element| Ok::<_, Infallible>(say(element))).unwrap();
            prop_assert_eq!(say(found.first), Answer::Yes);
            let before = found.first - found.unknown.len();
            prop_assert!((before..found.first).all(|element| say(element) == Answer::Unknown));
            prop_assert!(before == 0 || say(before - 1) == Answer::No);
        }
    }
}
