//! Which of MLX's run-time compiled modules a kernel came from, by the lists that MLX leaves beside them.
//!
//! A module's name tells the route in MLX's own words: `qmm_sm80_tn_bfloat16_m16_b4_g64_affine`. Its list has the
//! symbol of every kernel in it; kernels that were compiled with the library are in none.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

/// The lists that were read so far.
#[derive(Debug, Default)]
pub(super) struct Modules {
    folder: Option<PathBuf>,
    read: BTreeSet<PathBuf>,
    /// Module by symbol.
    symbols: BTreeMap<String, String>,
    /// Symbols that were in no list when they were asked for: compiled with the library.
    inside: BTreeSet<String>,
}

impl Modules {
    /// Those in `folder`, where MLX keeps them.
    pub(super) fn at(folder: Option<PathBuf>) -> Self {
        Self { folder, ..Self::default() }
    }

    /// The module that has the symbol; what cannot be read has none.
    pub(super) fn of(&mut self, symbol: &str) -> Option<String> {
        if !self.symbols.contains_key(symbol) && self.inside.insert(symbol.to_owned()) {
            self.read_more();
        }
        self.symbols.get(symbol).cloned()
    }

    /// Reads the lists that have come since the last time.
    fn read_more(&mut self) {
        let listed = self.folder.as_ref().and_then(|folder| fs::read_dir(folder).ok());
        let paths = listed.into_iter().flatten().flatten().map(|entry| entry.path());
        for path in paths.filter(|path| path.extension().is_some_and(|end| end == "txt")) {
            let module = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let text = if self.read.contains(&path) { None } else { fs::read_to_string(&path).ok() };
            let Some(text) = text else { continue };
            let symbols = text.lines().filter_map(|line| line.split_once('\t'));
            self.symbols.extend(symbols.map(|(_, symbol)| (symbol.to_owned(), module.clone())));
            self.read.insert(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Modules;
    use crate::transcript::files::write_whole;

    #[test]
    fn a_list_that_comes_later_is_read_too() {
        let folder = tempfile::tempdir().unwrap();
        let mut modules = Modules::at(Some(folder.path().to_owned()));
        assert_eq!(modules.of("_Zc"), None);
        write_whole(&folder.path().join("qmm_m16.txt"), b"kernel<1>\t_Za\nkernel<2>\t_Zb\n\n").unwrap();
        write_whole(&folder.path().join("qmm_m16.ptx"), b"kernel<3>\t_Zc\n").unwrap();
        assert_eq!(modules.of("_Zb").as_deref(), Some("qmm_m16"));
        assert_eq!(modules.of("_Zc"), None);
        assert_eq!(Modules::at(None).of("_Za"), None);
    }
}
