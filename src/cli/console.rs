//! The only writer to the terminal: results to standard output, everything else to standard error.

use std::borrow::Cow;
#[cfg(feature = "engine")]
use std::io::IsTerminal as _;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// Set when results could not be printed.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints a result line. A reader that has gone away (`| head`) is not an error of ours, a full disk is one.
pub fn out(text: &str) {
    let mut terminal = io::stdout().lock();
    let printed = writeln!(terminal, "{}", harmless(text)).and_then(|()| terminal.flush());
    let Err(error) = printed else { return };
    if error.kind() != io::ErrorKind::BrokenPipe && !LOST.swap(true, Ordering::Relaxed) {
        note(&format!("error: failed to write to standard output: {error}"));
    }
}

/// Whether results were lost on the way to standard output.
#[must_use]
pub fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// Prints a remark beside the results.
pub fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", harmless(text));
}

/// Text for a terminal: what a transcript quotes must not move the cursor or change its colours.
fn harmless(text: &str) -> Cow<'_, str> {
    let harms = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    if !text.contains(harms) {
        return Cow::Borrowed(text);
    }
    let shown =
        |letter: char| if harms(letter) { letter.escape_default().to_string() } else { letter.to_string() };
    Cow::Owned(text.chars().map(shown).collect())
}

/// Prints help or the version, with the terminal's colours where there is one.
pub fn help(text: &clap::Error) {
    let _ = text.print();
}

/// Prints an error as one line: what failed, then why.
pub fn error(error: &anyhow::Error) {
    note(&format!("error: {}", one_line(error).replace('\n', "\\n")));
}

/// The chain of causes; a cause that the text before it has quoted already is not repeated.
fn one_line(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |line, cause| {
        let text = cause.to_string();
        match line.as_str() {
            "" => text,
            said if said.ends_with(&text) => line,
            said => format!("{said}: {text}"),
        }
    })
}

/// A bar on the terminal while something takes time; nothing where nobody watches.
#[cfg(feature = "engine")]
pub struct Progress(indicatif::ProgressBar);

#[cfg(feature = "engine")]
impl Progress {
    /// A bar of `tokens` tokens.
    #[must_use]
    pub fn new(tokens: usize) -> Self {
        Self::counting(tokens, "tokens")
    }

    /// A bar of `count` things of a kind.
    #[must_use]
    pub fn counting(count: usize, what: &str) -> Self {
        let target = if io::stderr().is_terminal() {
            indicatif::ProgressDrawTarget::stderr()
        } else {
            indicatif::ProgressDrawTarget::hidden()
        };
        let bar = indicatif::ProgressBar::with_draw_target(Some(count as u64), target);
        let template = format!("{{msg:8}} {{wide_bar}} {{pos}}/{{len}} {what}, {{eta}} left");
        if let Ok(style) = indicatif::ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// Names what is running.
    pub fn label(&self, name: &str) {
        self.0.set_message(name.to_owned());
    }

    /// Counts decoded tokens.
    pub fn add(&self, tokens: u64) {
        self.0.inc(tokens);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::one_line;
    use crate::transcript::files::WriteError;

    #[test]
    fn a_cause_is_said_once() {
        let error = WriteError { path: "out".into(), source: std::io::Error::other("the disk is full") };
        let error = anyhow::Error::new(error).context("failed to finish");
        assert_eq!(one_line(&error), "failed to finish: write out: the disk is full");
    }
}
