//! Lists of numbers on the command line: `8,32,64`, `1..3`, or both.

use super::exit::Failure;
use std::str::FromStr;

/// The most numbers of one list.
const MOST: usize = 10_000;

/// Numbers in the order in which they were given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbers(Vec<u64>);

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = Vec::new();
        for word in text.split(',') {
            let (first, last) = word.split_once("..").unwrap_or((word, word));
            let ends =
                first.parse::<u64>().ok().zip(last.parse::<u64>().ok()).filter(|(first, last)| first <= last);
            let (first, last) = ends.ok_or_else(|| {
                format!(
                    "{word:?} is neither a number nor a range; write 8,32 or 1..3, which has both its ends"
                )
            })?;
            if last - first >= MOST as u64 || all.len() >= MOST {
                return Err(format!("{text:?} has more than {MOST} numbers"));
            }
            all.extend(first..=last);
        }
        Ok(Self(all))
    }
}

impl Numbers {
    /// The numbers.
    #[must_use]
    pub fn all(&self) -> &[u64] {
        &self.0
    }

    /// The numbers, all of them from `least` to `most`.
    ///
    /// # Errors
    /// Naming the first that is not.
    pub fn within(&self, flag: &str, least: u64, most: u64) -> Result<Vec<usize>, Failure> {
        let number = |&number: &u64| {
            let inside = (least..=most).contains(&number).then(|| usize::try_from(number).ok()).flatten();
            inside.ok_or_else(|| {
                Failure::usage(format!("failed to read {flag}: {number} is not from {least} to {most}"))
            })
        };
        self.0.iter().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers;

    #[test]
    fn lists_and_ranges() {
        assert_eq!("8,1..3,2".parse(), Ok(Numbers(vec![8, 1, 2, 3, 2])));
        for wrong in ["", "a", "1,", "3..1", "1..", "-1", "0..10000", "0..18446744073709551615"] {
            assert!(wrong.parse::<Numbers>().is_err(), "{wrong}");
        }
        let says = Numbers(vec![2, 9]).within("--widths", 1, 8).unwrap_err().to_string();
        assert_eq!(says, "failed to read --widths: 9 is not from 1 to 8");
    }
}
