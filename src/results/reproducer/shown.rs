//! A reproducer's run as people read it: the table, the sentences, the verdict.

use super::{About, Reproduced, Side};
use crate::results::{Table, counted};
use crate::transcript::format::Backend;

/// Digits of a digest in a table; the JSON has all.
const DIGITS: usize = 16;

impl Reproduced {
    /// One row a side.
    #[must_use]
    pub fn table(&self) -> Table {
        let mut table = Table::new().text("side").text("function").text("route").number("rows").number("row");
        table = table.text("row's sha256").text("as recorded").text("as in the model");
        self.sides.iter().for_each(|side| table.row(side.cells()));
        table
    }

    /// What the lines come to, one sentence each.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut says = vec![format!("Chain against block: {}.", self.difference)];
        if self.difference != self.recorded {
            says.push(format!("When the folder was made: {}.", self.recorded));
        }
        says.extend(self.caveat.clone());
        let changing = self.sides.iter().filter(|side| !side.repeats);
        says.extend(changing.map(|side| {
            format!("The {} gave other bytes when it was run again: nothing else here counts.", side.side)
        }));
        says.extend(self.elsewhere());
        says
    }

    /// Another library or machine than that of the record.
    fn elsewhere(&self) -> Option<String> {
        let same = self.about.backend == self.backend;
        let (then, now) = (text(&self.about.backend), text(&self.backend));
        let says = "bytes may differ from the recorded ones for that alone";
        (!same).then(|| format!("Note: recorded with {then}, run with {now}: {says}."))
    }

    /// The verdict in one line.
    #[must_use]
    pub fn summary(&self) -> String {
        let About { site, .. } = &self.about;
        let (bytes, backend) = (counted(self.difference.bytes, "byte"), text(&self.backend));
        format!("verdict: {} ({site}, {bytes} compared; {backend})", self.verdict)
    }
}

fn text(backend: &Backend) -> String {
    let parts = [&backend.name, &backend.version, &backend.device, &backend.driver];
    let known: Vec<&str> = parts.into_iter().filter_map(Option::as_deref).collect();
    if known.is_empty() { "an unknown library".to_owned() } else { known.join(" ") }
}

impl Side {
    fn cells(&self) -> Vec<String> {
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        vec![
            self.side.to_string(),
            self.function.clone(),
            self.route.clone(),
            self.rows.to_string(),
            self.row.to_string(),
            format!("{}…", self.sha256.chars().take(DIGITS).collect::<String>()),
            yes(self.as_recorded),
            yes(self.as_in_model),
        ]
    }
}
