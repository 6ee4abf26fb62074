//! The blocks of a record.

use crate::records::pictures::Canvas;
use crate::results::Table;
use serde::Serialize;

/// The most rows of a table in a record; all of them are in `data.csv`.
const MOST_ROWS: usize = 120;

/// A whole record.
#[derive(Debug, Serialize)]
pub struct Document {
    /// The record's name.
    pub title: String,
    /// How it ends.
    pub verdict: String,
    /// What the verdict rests on.
    pub lead: Vec<String>,
    /// In order.
    pub sections: Vec<Section>,
    /// The pictures, for files of their own.
    #[serde(skip)]
    pub pictures: Vec<Canvas>,
    /// What a page lets one walk through, as JSON.
    #[serde(skip)]
    pub explored: Vec<serde_json::Value>,
}

/// A part under a heading.
#[derive(Debug, Serialize)]
pub struct Section {
    /// For links.
    pub id: &'static str,
    /// What it is called.
    pub heading: &'static str,
    /// In order.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Block {
    /// A heading below the section's.
    Heading {
        /// What follows is about.
        text: String,
    },
    /// A paragraph.
    Text {
        /// One or more sentences.
        text: String,
    },
    /// What an input would have said.
    Missing {
        /// What is missing and how to get it.
        text: String,
        /// There is no input of a kind at all, which is told apart from what the record is about.
        #[serde(skip)]
        no_input: bool,
    },
    /// Sentences one by one.
    List {
        /// The sentences.
        items: Vec<String>,
    },
    /// A table with the files that its numbers come from.
    Table {
        /// The files.
        sources: Vec<String>,
        /// The table.
        table: Table,
        /// Rows that were left out.
        more: usize,
    },
    /// Command lines.
    Code {
        /// The lines.
        text: String,
        /// Backticks around it, more than it has itself.
        fence: String,
    },
    /// A picture.
    Picture {
        /// The file's name without its ending.
        name: String,
        /// What it shows.
        alt: String,
        /// Itself, for a page.
        svg: String,
        /// The place of what can be walked through in [`Document::explored`].
        explored: Option<usize>,
    },
}

impl Block {
    /// A heading where a section speaks of several experiments in turn.
    #[must_use]
    pub fn heading(text: &str, several: bool) -> Option<Self> {
        several.then(|| Self::Heading { text: text.to_owned() })
    }

    /// A paragraph.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// What is missing.
    pub fn missing(text: impl Into<String>) -> Self {
        Self::Missing { text: text.into(), no_input: false }
    }

    /// What there is no input of; it is gathered with its like near the end.
    pub fn absent(text: impl Into<String>) -> Self {
        Self::Missing { text: text.into(), no_input: true }
    }

    /// A table with a column that names the file of each row.
    #[must_use]
    pub fn named(table: Table) -> Self {
        Self::table(table, Vec::new())
    }

    /// A table and where its numbers stand.
    #[must_use]
    pub fn table(mut table: Table, mut sources: Vec<String>) -> Self {
        sources.dedup();
        let more = table.shorten(MOST_ROWS);
        Self::Table { sources, table, more }
    }

    /// A table of which every row is shown: the index of the data is what `--check` holds files against.
    #[must_use]
    pub const fn whole_table(table: Table) -> Self {
        Self::Table { sources: Vec::new(), table, more: 0 }
    }

    /// Command lines.
    #[must_use]
    pub fn code(text: String) -> Self {
        let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
        Self::Code { text, fence: "`".repeat(longest.max(2) + 1) }
    }
}

impl Section {
    /// A section.
    #[must_use]
    pub const fn new(id: &'static str, heading: &'static str, blocks: Vec<Block>) -> Self {
        Self { id, heading, blocks }
    }
}

/// Takes what has no input out of its sections, and sections that are nothing else; gives one that names it all.
#[must_use]
pub fn absent(sections: &mut Vec<Section>) -> Option<Section> {
    let mut items = Vec::new();
    for section in sections.iter_mut() {
        section.blocks.retain(|block| match block {
            Block::Missing { text, no_input: true } => {
                items.push(format!("{text}."));
                false
            }
            _ => true,
        });
    }
    sections.retain(|section| !section.blocks.is_empty());
    let told = Block::text("Missing, with what would bring it:");
    (!items.is_empty())
        .then(|| Section::new("absent", "Not part of this record", vec![told, Block::List { items }]))
}

impl Document {
    /// A picture in a section, and as a file.
    pub fn picture(&mut self, canvas: Canvas, explored: Option<serde_json::Value>) -> Block {
        let explored = explored.map(|value| {
            self.explored.push(value);
            self.explored.len() - 1
        });
        let (name, alt, svg) = (canvas.name().to_owned(), canvas.alt().to_owned(), canvas.inline());
        self.pictures.push(canvas);
        Block::Picture { name, alt, svg, explored }
    }
}

/// The sources of a table that is made of many files: the folder says enough.
#[must_use]
pub fn sources<'a>(files: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut all: Vec<String> = files.map(str::to_owned).collect();
    all.sort();
    all.dedup();
    if all.len() <= 4 {
        return all;
    }
    let folder = |file: &String| {
        file.rsplit_once('/').map_or_else(|| "*".to_owned(), |(folder, _)| format!("{folder}/*"))
    };
    let mut folders: Vec<String> = all.iter().map(folder).collect();
    folders.dedup();
    folders
}
