//! `exactness man`: manual pages made from the command line's own definition.

use super::{Cli, console};
use crate::transcript::files::write_whole;
use anyhow::Context as _;
use clap::{Args, Command, CommandFactory as _};
use std::path::PathBuf;

/// Prints the manual page, or writes those of all verbs.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Folder for the pages of the program and of each verb.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl ManArgs {
    /// Runs the verb.
    ///
    /// # Errors
    /// When a page cannot be written.
    pub fn run(&self) -> anyhow::Result<u8> {
        let mut root = Cli::command();
        root.build();
        let Some(folder) = &self.out else {
            let page = String::from_utf8_lossy(&page(&root)?).into_owned();
            console::out(page.trim_end());
            return Ok(0);
        };
        let mut commands = Vec::new();
        collect(&root, "", &mut commands);
        for (name, command) in &commands {
            write_whole(&folder.join(format!("{name}.1")), &page(command)?)?;
        }
        console::out(&format!("{} pages written to {}", commands.len(), folder.display()));
        Ok(0)
    }
}

/// A command and all below it, each under its page's name.
fn collect(command: &Command, above: &str, found: &mut Vec<(String, Command)>) {
    let name = if above.is_empty() {
        command.get_name().to_owned()
    } else {
        format!("{above}-{}", command.get_name())
    };
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help" && !verb.is_hide_set()) {
        collect(verb, &name, found);
    }
    found.push((name.clone(), command.clone().display_name(name)));
}

fn page(command: &Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page).context("write a manual page")?;
    Ok(page)
}
