//! Behind each law stands a change that breaks just that law in a lawful run, and the property that generated runs
//! are lawful and, with one thing broken at any place, give that law as the finding.

mod changes;
mod mutations;
mod properties;
