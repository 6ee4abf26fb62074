//! `--routes`: given in full, or `auto`, the routes that a remedy chose for the width, kept beside the gate's verdict; and
//! `--plain-routes`, which change what is compared with.
//!
//! A choice counts only with an equal verdict about the very same model, width, routes, dtype, library and device;
//! anything else is said in one line, and nothing is run under routes that nobody asked for.

use super::exit::Failure;
use super::model::Loaded;
use super::{console, settings};
use crate::arms::identity;
use crate::engine::cache::Rewind;
use crate::engine::routes::{RouteError, Routes};
use crate::engine::rows::dtype_name;
use crate::engine::side_routes::SideRoutes;
use crate::probe::memo::Memo;
use crate::results::probe::{Key, Outcome};
use crate::results::remedy::{Choice, or_defaults};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// How plain decoding computes.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct PlainArgs {
    /// How plain decoding computes, the prompt of every arm included, as in `linear=padded:8`. This changes the bytes and
    /// the cost of plain decoding itself: the two sides are then held against each other, not against plain decoding as it
    /// is without this flag.
    #[arg(long, value_name = "ROUTES", value_parser = str::parse::<Routes>)]
    plain_routes: Option<Routes>,
}

impl PlainArgs {
    /// The routes that were given; none where the flag was not.
    #[must_use]
    pub fn given(&self) -> Routes {
        self.plain_routes.clone().unwrap_or_default()
    }

    /// True when the flag was given.
    #[must_use]
    pub const fn is_given(&self) -> bool {
        self.plain_routes.is_some()
    }
}

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
    /// The routes that were given, none of blocks with `auto`.
    #[must_use]
    pub fn given(&self, plain: &PlainArgs) -> SideRoutes {
        let block = match self {
            Self::Auto => Routes::default(),
            Self::Given(routes) => routes.clone(),
        };
        SideRoutes { block, plain: plain.given() }
    }

    /// The routes of blocks of `width` rows, and of the plain decoding beside them.
    ///
    /// # Errors
    /// When `auto` has no stored choice, or the choice no equal verdict.
    pub fn of_width(
        &self,
        plain: &PlainArgs,
        loaded: &Loaded,
        (width, rewind): (usize, Rewind),
        memo: Option<&Path>,
    ) -> Result<SideRoutes, Failure> {
        let Self::Auto = self else { return Ok(self.given(plain)) };
        let (memo, warning) = memo_path(memo).map_or((Memo::in_memory(), None), |path| Memo::load(&path));
        if let Some(warning) = warning {
            console::note(&warning);
        }
        let refuse = |says: &str| {
            let name = loaded.checkpoint.name();
            Err(Failure::unavailable(format!(
                "failed to choose routes for width {width} of {name}: {says}; run exactness remedy --width {width} with the same \
                 --dtype, --rewind, --plain-routes and --memo"
            )))
        };
        let key = auto_key(loaded, (width, rewind), &plain.given());
        let Some(choice) = memo.choice(&key) else {
            return refuse(
                "no remedy has chosen any here for this dtype, rewind and these plain routes (planted ones do not count)",
            );
        };
        let Ok(routes) = SideRoutes::of_texts(&choice.routes, &choice.plain) else {
            return refuse("the stored ones cannot be read");
        };
        let key = verdict_key(loaded, (width, rewind), &routes);
        let differs = |one: &Outcome| matches!(one, Outcome::Differs { .. });
        let spans = memo.equal_spans(&key);
        if spans.is_empty() || memo.verdicts(&key).iter().any(|one| differs(&one.outcome)) {
            return refuse(&format!("the stored {routes} have no equal verdict"));
        }
        let spans: Vec<String> = spans.iter().map(|(from, to)| format!("{from}..{to}")).collect();
        let changed = (routes.plain != plain.given()).then_some(&routes.plain);
        console::note(&taken(choice, width, (&spans.join(", "), changed)));
        Ok(routes)
    }
}

/// The line that says what `auto` took.
fn taken(choice: &Choice, width: usize, (spans, changed): (&str, Option<&Routes>)) -> String {
    let shown = or_defaults(&choice.routes);
    let plain =
        changed.map(|plain| format!("; plain decoding takes {plain}, which changes its own bytes and cost"));
    let pace = choice.pace.map(|pace| format!("; when it was chosen it {}", pace.says()));
    let [plain, pace] = [plain, pace].map(Option::unwrap_or_default);
    format!("note: width {width} takes {shown}, proven over positions {spans}{plain}{pace}")
}

/// The file with verdicts and choices; `None` where the system names no folder for it.
#[must_use]
pub fn memo_path(told: Option<&Path>) -> Option<PathBuf> {
    let default = || settings::cache_folder().map(|folder| folder.join("gate.json"));
    told.map(Path::to_owned).or_else(default)
}

/// What a verdict is about.
#[must_use]
pub fn verdict_key(loaded: &Loaded, (width, rewind): (usize, Rewind), routes: &SideRoutes) -> Key {
    key(loaded, width, &routes_text(routes, rewind))
}

/// Everything that says how both sides compute: a block's defaults, overrides, those of plain decoding, rewind.
#[must_use]
pub fn routes_text(routes: &SideRoutes, rewind: Rewind) -> String {
    format!("{},{}", routes.block_text(), rewind_text(rewind))
}

/// What a choice is about: the plain decoding that was asked for is part of it.
#[must_use]
pub fn auto_key(loaded: &Loaded, (width, rewind): (usize, Rewind), plain: &Routes) -> Key {
    let plain = SideRoutes { plain: plain.clone(), ..SideRoutes::default() }.to_string();
    let parts = ["auto", &plain, rewind_text(rewind)];
    key(loaded, width, &parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(","))
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
