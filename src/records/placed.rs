//! Where a file that a result names lies in the record. The result has the path of the machine that made it, which is
//! nothing to a reader: he has the record's data.

use super::gather::BEHIND;
use super::input::Input;
use super::kind::Kind;
use crate::results::stored::{Arm, Judgement};

/// The record's name of a file that `holder` names; nothing where the record does not have it, or has several that it
/// could be.
#[must_use]
pub fn place<'a>(inputs: &'a [Input], holder: &Input, path: &str) -> Option<&'a str> {
    let parts = parts(path);
    let transcripts = || inputs.iter().filter(|one| matches!(one.kind, Kind::Transcript | Kind::Unjudged));
    let base = if holder.folder() == "." { String::new() } else { format!("{}/", holder.folder()) };
    let mut beside = (0..parts.len()).map(|from| format!("{base}{}", parts[from..].join("/")));
    if let Some(found) = beside.find_map(|name| transcripts().find(|one| one.name == name)) {
        return Some(&found.name);
    }
    // A file name alone is shared by too many runs.
    for from in 0..parts.len().saturating_sub(1) {
        let tail = format!("/{}", parts[from..].join("/"));
        let mut ending = transcripts().filter(|one| format!("/{}", one.name).ends_with(&tail));
        match (ending.next(), ending.next()) {
            (Some(only), None) => return Some(&only.name),
            (None, _) => {}
            (Some(_), Some(_)) => return None,
        }
    }
    None
}

/// The folders and the name of a path, without what leads upwards.
fn parts(path: &str) -> Vec<&str> {
    path.split(['/', '\\']).filter(|part| !["", ".", ".."].contains(part)).collect()
}

/// Names the files of a stored comparison behind its own name: as the record's data has them where `same` says that
/// it is the same run, else by as many of their last folders as tell them apart.
pub fn rename(
    judgement: &mut Judgement,
    holder: &Input,
    inputs: &[Input],
    same: impl Fn(&Arm, &str) -> bool,
) {
    let paths: Vec<String> = judgement.arms.iter().map(|arm| arm.file.clone()).collect();
    let mut names = Vec::new();
    for arm in &mut judgement.arms {
        let placed = place(inputs, holder, &arm.file).filter(|name| same(arm, name));
        let name = placed.map_or_else(|| elsewhere(&arm.file, &paths), str::to_owned);
        names.push((arm.file.clone(), name.clone()));
        arm.file = format!("{}{BEHIND}{name}", holder.name);
    }
    // Longer paths first: one may be the end of another.
    names.sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
    texts(judgement).for_each(|text| {
        for (path, name) in names.iter().filter(|(path, name)| path.contains('/') && path != name) {
            *text = text.replace(path, name);
        }
    });
}

/// Sentences that may name a file.
fn texts(judgement: &mut Judgement) -> impl Iterator<Item = &mut String> {
    let Judgement { arms, patterns, .. } = judgement;
    let read = patterns.iter_mut().flat_map(|one| one.evidence.iter_mut().chain([&mut one.says]));
    let sequences = arms.iter_mut().flat_map(|arm| &mut arm.sequences);
    read.chain(sequences.flat_map(|one| one.against.iter_mut()).flat_map(|against| &mut against.notes))
}

/// The shortest end of a path that no other path has.
fn tail(path: &str, all: &[String]) -> String {
    let own = parts(path);
    let end = |parts: &[&str], length: usize| parts[parts.len().saturating_sub(length)..].join("/");
    let others: Vec<Vec<&str>> = all.iter().map(|one| parts(one)).filter(|one| *one != own).collect();
    let alone = |length: &usize| others.iter().all(|other| end(other, *length) != end(&own, *length));
    let length = (1..=own.len()).find(alone).unwrap_or(own.len());
    end(&own, length)
}

/// A run of a remedy: in its folder, or as it stands below the remedy's own.
#[must_use]
pub fn of_remedy(inputs: &[Input], holder: &Input, path: &str) -> String {
    let below = || {
        let parts = parts(path);
        let runs = parts.iter().rposition(|part| *part == "runs");
        let leads = elsewhere(path, &[]) != path;
        let runs = runs.filter(|_| leads).map(|from| parts[from..].join("/"));
        runs.unwrap_or_else(|| elsewhere(path, &[]))
    };
    place(inputs, holder, path).map_or_else(below, str::to_owned)
}

/// The recording that a bisect's rounds are of, which stands between words.
pub fn of_rounds(says: &mut String, inputs: &[Input], holder: &Input) {
    let Some(rest) = says.strip_prefix("rounds of ") else { return };
    let path = rest.split(", sequence ").next().unwrap_or(rest).to_owned();
    let name = place(inputs, holder, &path).map_or_else(|| elsewhere(&path, &[]), str::to_owned);
    *says = says.replacen(&path, &name, 1);
}

/// A file that the record does not have: a relative path as it is, of another one the end that tells it apart.
fn elsewhere(path: &str, all: &[String]) -> String {
    let leads = path.starts_with(['/', '\\', '.']) || path.contains(":\\");
    if leads { tail(path, all) } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{of_remedy, of_rounds, place, tail};
    use crate::records::input::Input;
    use crate::records::kind::Kind;

    fn input(name: &str, kind: Kind) -> Input {
        let (path, sha256) = (name.into(), String::new());
        Input { name: name.to_owned(), path, kind, bytes: 0, sha256 }
    }

    #[test]
    fn a_file_is_found_beside_its_result_or_by_its_last_folders() {
        let names =
            ["data/w4.jsonl", "data/a/w4.jsonl", "data/a/w6.jsonl", "data/b/c/w6.jsonl", "d/c/w6.jsonl"];
        let inputs: Vec<Input> = names.iter().map(|name| input(name, Kind::Transcript)).collect();
        let placed = |holder: &str, path: &str| {
            place(&inputs, &input(holder, Kind::Judgement), path).map(str::to_owned)
        };
        assert_eq!(placed("data/x.json", "/home/somebody/run/w4.jsonl").unwrap(), "data/w4.jsonl");
        assert_eq!(placed("data/x.json", "../a/w4.jsonl").unwrap(), "data/a/w4.jsonl");
        assert_eq!(placed("other/x.json", "/tmp/a/w6.jsonl").unwrap(), "data/a/w6.jsonl");
        assert_eq!(placed("other/x.json", "/tmp/b/c/w6.jsonl").unwrap(), "data/b/c/w6.jsonl");
        assert_eq!(placed("other/x.json", "/tmp/c/w6.jsonl"), None, "two could be meant");
        assert_eq!(placed("other/x.json", "w6.jsonl"), None, "a name alone is any run's");
    }

    #[test]
    fn the_rounds_of_a_bisect_are_those_of_a_file_of_the_record() {
        let inputs = [input("data/arms/w4.jsonl", Kind::Transcript)];
        let said = |text: &str| {
            let mut says = text.to_owned();
            of_rounds(&mut says, &inputs, &input("data/bisect/bisect.json", Kind::Bisect));
            says
        };
        assert_eq!(
            said("rounds of /home/s/arms/w4.jsonl, sequence 0"),
            "rounds of data/arms/w4.jsonl, sequence 0"
        );
        assert_eq!(said("rounds of /home/s/other/w4.jsonl"), "rounds of w4.jsonl");
        assert_eq!(said("rounds of other/w4.jsonl"), "rounds of other/w4.jsonl");
        assert_eq!(said("a live arm at width 4"), "a live arm at width 4");
    }

    #[test]
    fn a_run_of_a_remedy_stands_below_its_folder() {
        let inputs = [input("data/remedy/runs/w4-1/w4.jsonl", Kind::Transcript)];
        let said = |path: &str| of_remedy(&inputs, &input("data/remedy/remedy.json", Kind::Remedy), path);
        assert_eq!(said("/home/s/r/runs/w4-1/w4.jsonl"), "data/remedy/runs/w4-1/w4.jsonl");
        assert_eq!(said("/home/s/r/runs/w4-2/w4.jsonl"), "runs/w4-2/w4.jsonl");
        assert_eq!(said("r/runs/w4-2/w4.jsonl"), "r/runs/w4-2/w4.jsonl");
    }

    #[test]
    fn a_path_is_cut_to_what_tells_it_apart() {
        let all = ["/home/s/a/w4.jsonl", "/home/s/b/w4.jsonl", "/home/s/b/classic.jsonl"].map(str::to_owned);
        let tails: Vec<String> = all.iter().map(|path| tail(path, &all)).collect();
        assert_eq!(tails, ["a/w4.jsonl", "b/w4.jsonl", "classic.jsonl"]);
    }
}
