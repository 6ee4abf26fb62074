//! The kernels that an operation launched on each side, as they were seen to run.

use serde::{Deserialize, Serialize};

/// A kernel that ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Launch {
    /// Its name with template arguments, as C++ writes it.
    pub name: String,
    /// The module that it was compiled in at run time; absent for one that is in the library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Blocks of threads along x, y and z.
    pub grid: [i32; 3],
    /// Threads of a block along x, y and z.
    pub threads: [i32; 3],
}

/// What one operation launched, in the order in which it ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kernels {
    /// For the one row of plain decoding.
    pub chain: Vec<Launch>,
    /// For the call of the block that has the row.
    pub block: Vec<Launch>,
}

/// What tracing the named operation's kernels came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measured {
    /// They were seen.
    Seen {
        /// Them.
        kernels: Kernels,
        /// Whether they are the predicted ones; absent where nothing was predicted or the table's word has no kernel's
        /// name.
        predicted: Option<bool>,
    },
    /// They were not.
    Missing {
        /// Why.
        why: String,
    },
}

impl Launch {
    /// The name without what it returns, its namespaces, template arguments and parameters: `qmv_kernel`.
    #[must_use]
    pub fn short(&self) -> String {
        let outside = outside_brackets(&self.name);
        let path = outside.split('(').next().unwrap_or_default();
        let path = path.rsplit(' ').next().unwrap_or_default();
        path.rsplit("::").next().unwrap_or_default().to_owned()
    }

    /// The short name, or the module's where there is one, with the shape of its launch:
    /// `qmv_kernel [1×4×1 of 32×8×1]`.
    #[must_use]
    pub fn says(&self) -> String {
        let shape = |[x, y, z]: [i32; 3]| format!("{x}×{y}×{z}");
        format!("{} [{} of {}]", self.word(), shape(self.grid), shape(self.threads))
    }

    /// The module's name, else the short one.
    fn word(&self) -> String {
        self.module.clone().unwrap_or_else(|| self.short())
    }
}

/// A name without anything between `<` and `>`.
fn outside_brackets(name: &str) -> String {
    let mut depth = 0usize;
    let kept = name.chars().filter(|letter| {
        let before = depth;
        match letter {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before == 0 && depth == 0
    });
    kept.collect()
}

impl Kernels {
    /// Both sides by short names; equal neighbours are counted.
    #[must_use]
    pub fn says(&self) -> String {
        format!("chain {}, block {}", row(&self.chain), row(&self.block))
    }

    /// True when both sides ran kernels of the same names in the same order, whatever their launches' shapes.
    #[must_use]
    pub fn same_names(&self) -> bool {
        self.chain.iter().map(|one| &one.name).eq(self.block.iter().map(|one| &one.name))
    }
}

/// What was launched, without shapes; equal neighbours are counted.
pub(super) fn names(launches: &[Launch]) -> String {
    in_runs(launches.iter().map(Launch::word))
}

fn row(launches: &[Launch]) -> String {
    in_runs(launches.iter().map(Launch::says))
}

fn in_runs(all: impl Iterator<Item = String>) -> String {
    let mut names: Vec<(String, usize)> = Vec::new();
    for says in all {
        match names.last_mut() {
            Some((last, times)) if *last == says => *times += 1,
            _ => names.push((says, 1)),
        }
    }
    let parts = names.into_iter().map(|(says, times)| match times {
        1 => says,
        _ => format!("{times} times {says}"),
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "none".to_owned() } else { parts.join(" + ") }
}

impl Measured {
    /// One sentence.
    #[must_use]
    pub fn says(&self) -> String {
        match self {
            Self::Seen { kernels, predicted } => {
                let fits = match predicted {
                    Some(true) => ", as predicted",
                    Some(false) => ", not as predicted",
                    None => "",
                };
                format!("Kernels, measured: {}{fits}.", kernels.says())
            }
            Self::Missing { why } => format!("The kernels were not measured: {why}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kernels, Launch};

    fn launch(name: &str) -> Launch {
        Launch { name: name.to_owned(), module: None, grid: [1, 2, 3], threads: [32, 8, 1] }
    }

    #[test]
    fn short_names_are_the_last_part_of_the_path() {
        let short = |name| launch(name).short();
        assert_eq!(
            short("void mlx::core::cu::qmv_kernel<8, __nv_bfloat16, (bool)1>(void const*, int)"),
            "qmv_kernel"
        );
        assert_eq!(short("plain_name"), "plain_name");
        assert_eq!(short("void a::b<c::d<1>, e>::run<f>(g<h>)"), "run");
    }

    #[test]
    fn equal_neighbours_are_counted() {
        let kernels = Kernels { chain: vec![launch("a"), launch("a")], block: Vec::new() };
        assert_eq!(kernels.says(), "chain 2 times a [1×2×3 of 32×8×1], block none");
        assert!(!kernels.same_names());
    }
}
