//! `--routes`: given in full, or `auto`, the routes that a remedy chose for the width, kept beside the gate's verdict.
//!
//! A choice counts only with an equal verdict about the very same model, width, routes, dtype, library and device;
//! anything else is said in one line, and nothing is run under routes that nobody asked for.

use super::exit::Failure;
use super::model::Loaded;
use super::{console, settings};
use crate::arms::identity;
use crate::engine::cache::Rewind;
use crate::engine::routes::{Defaults, RouteError, Routes};
use crate::engine::rows::dtype_name;
use crate::probe::memo::Memo;
use crate::results::probe::{Key, Outcome};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What `--routes` was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoutesArg {
    /// The stored choice.
    Auto,
    /// These.
    Given(Routes),
}

impl FromStr for RoutesArg {
    type Err = RouteError;

    fn from_str(text: &str) -> Result<Self, RouteError> {
        if text.trim() == "auto" { Ok(Self::Auto) } else { text.parse().map(Self::Given) }
    }
}

impl RoutesArg {
    /// The routes that were given, none with `auto`.
    #[must_use]
    pub fn given(&self) -> Routes {
        match self {
            Self::Auto => Routes::default(),
            Self::Given(routes) => routes.clone(),
        }
    }

    /// The routes of blocks of `width` rows.
    ///
    /// # Errors
    /// When `auto` has no stored choice, or the choice no equal verdict.
    pub fn of_width(
        &self,
        loaded: &Loaded,
        (width, rewind): (usize, Rewind),
        memo: Option<&Path>,
    ) -> Result<Routes, Failure> {
        let Self::Auto = self else { return Ok(self.given()) };
        let (memo, warning) = memo_path(memo).map_or((Memo::in_memory(), None), |path| Memo::load(&path));
        if let Some(warning) = warning {
            console::note(&warning);
        }
        let refuse = |says: &str| {
            let name = loaded.checkpoint.name();
            Err(Failure::unavailable(format!(
                "failed to choose routes for width {width} of {name}: {says}; run exactness remedy --width {width}"
            )))
        };
        let key = auto_key(loaded, width, rewind);
        let Some(text) = memo.choice(&key) else { return refuse("no remedy has chosen any here") };
        let Ok(routes) = text.parse::<Routes>() else { return refuse("the stored ones cannot be read") };
        let key = verdict_key(loaded, (width, rewind), &routes);
        let differs = |one: &Outcome| matches!(one, Outcome::Differs { .. });
        let spans = memo.equal_spans(&key);
        if spans.is_empty() || memo.verdicts(&key).iter().any(|one| differs(&one.outcome)) {
            return refuse(&format!("the stored {text} have no equal verdict"));
        }
        let spans: Vec<String> = spans.iter().map(|(from, to)| format!("{from}..{to}")).collect();
        let shown = if text.is_empty() { "the defaults" } else { text };
        console::note(&format!(
            "note: width {width} takes {shown}, proven over positions {}",
            spans.join(", ")
        ));
        Ok(routes)
    }
}

/// The file with verdicts and choices; `None` where the system names no folder for it.
#[must_use]
pub fn memo_path(told: Option<&Path>) -> Option<PathBuf> {
    let default = || settings::cache_folder().map(|folder| folder.join("gate.json"));
    told.map(Path::to_owned).or_else(default)
}

/// What a verdict is about.
#[must_use]
pub fn verdict_key(loaded: &Loaded, (width, rewind): (usize, Rewind), overrides: &Routes) -> Key {
    key(loaded, width, &routes_text(overrides, rewind))
}

/// Everything that says how a block computes: defaults, overrides, rewind.
#[must_use]
pub fn routes_text(overrides: &Routes, rewind: Rewind) -> String {
    let parts = [Defaults::Verify.text(), &overrides.to_string(), rewind_text(rewind)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
}

/// What a choice is about.
#[must_use]
pub fn auto_key(loaded: &Loaded, width: usize, rewind: Rewind) -> Key {
    key(loaded, width, &format!("auto,{}", rewind_text(rewind)))
}

const fn rewind_text(rewind: Rewind) -> &'static str {
    match rewind {
        Rewind::KeepStates => "rewind=keep",
        Rewind::Replay => "rewind=replay",
    }
}

fn key(loaded: &Loaded, width: usize, routes: &str) -> Key {
    let (backend, version, device) = machine();
    Key {
        model: loaded.checkpoint.digest(),
        width: width as u64,
        window: "single".to_owned(),
        routes: routes.to_owned(),
        dtype: dtype_name(loaded.model.dtype()).to_owned(),
        backend,
        version,
        device,
        program: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Library, its version, and the device.
#[must_use]
pub fn machine() -> (String, String, String) {
    let (backend, host) = (identity::backend(), identity::host());
    let device = [backend.device, backend.driver, (!identity::on_gpu()).then_some(host.cpu).flatten()];
    let device: Vec<String> = device.into_iter().flatten().collect();
    (backend.name.unwrap_or_default(), backend.version.unwrap_or_default(), device.join(", "))
}
