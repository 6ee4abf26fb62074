//! The only reader of the environment.
#![expect(clippy::disallowed_methods, reason = "this module is the environment's home")]

/// The columns to print for: what `COLUMNS` says, else the terminal's own; `None` where results go to a file or a pipe.
#[must_use]
pub fn columns() -> Option<u16> {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    told.or_else(|| terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0))
}

/// The command line for the record, with the program's path cut to its name: where it lay says nothing about a run.
#[must_use]
pub fn command_line() -> Vec<String> {
    let mut words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(program) = words.first_mut() {
        let name = std::path::Path::new(program.as_str())
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        *program = name.unwrap_or_else(|| "exactness".to_owned());
    }
    words
}

/// The setting that lets widths be used whose bytes differ, as written; nothing where it is not set, or no text.
#[must_use]
pub fn allow_inexact() -> String {
    std::env::var("EXACTNESS_ALLOW_INEXACT").unwrap_or_default()
}

/// The user's folder for what can be made again; `None` where the system does not say.
#[must_use]
pub fn cache_folder() -> Option<std::path::PathBuf> {
    let named = |name| std::env::var_os(name).filter(|path| !path.is_empty()).map(std::path::PathBuf::from);
    let own = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    let folder = named("XDG_CACHE_HOME").or_else(|| named("HOME").map(|home| home.join(own)));
    folder.map(|folder| folder.join("exactness"))
}

/// Where MLX keeps what it compiles at run time: what its own setting says, else its default.
#[must_use]
pub fn module_folder(mlx_version: &str) -> std::path::PathBuf {
    let told = std::env::var_os("MLX_PTX_CACHE_DIR").filter(|path| !path.is_empty());
    let default = || std::env::temp_dir().join("mlx").join(mlx_version).join("ptx");
    told.map_or_else(default, std::path::PathBuf::from)
}
