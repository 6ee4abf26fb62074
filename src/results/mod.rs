//! What commands store and print: one result struct a command, and the one table builder.

pub mod arms;
pub mod bench;
pub mod bisect;
pub mod comparing;
pub mod judgement;
pub mod judging;
pub mod outcomes;
pub mod parity;
pub mod probe;
pub mod provenance;
pub mod quoted;
pub mod remedy;
pub mod reproducer;
pub mod shown;
pub mod stored;
pub mod sweep;
pub mod table;
pub mod word;

pub use crate::transcript::counted::{agreed, counted, part_of};
pub use judgement::{ArmJudgement, Breach, Compared, Judgement, NotCheckable, Pattern, SequenceJudgement};
pub use quoted::quoted;
pub use table::Table;
pub use word::Word;
