//! Completion answers of OpenAI-like servers: what a client can know without touching the engine.
//!
//! Ids are taken where the server gives them (`token_ids`, `id`, or tokens spelled `token_id:N`); else the token
//! strings by position stay strings, because two ids can share one. An answer never says how it was decoded, so the
//! width comes from the person who asked.

use super::error::ImportError;
use super::record::{Extras, Imported, Recorded, number};
use crate::transcript::format::{ArmKind, Counters, FinishReason, Model, Usage};
use crate::transcript::said::bare;
use crate::transcript::{Footer, TokenId};
use serde_json::{Deserializer, Value};

/// One answer, as far as it was given.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Stream ids.
    pub tokens: Option<Vec<TokenId>>,
    /// Stream strings.
    pub strings: Option<Vec<String>>,
    /// Text.
    pub text: Option<String>,
    /// Log-probability of each token.
    pub logprobs: Option<Vec<Option<f64>>>,
    /// Prompt ids as the server tokenised them.
    pub prompt: Option<Vec<TokenId>>,
    /// Why it ended.
    pub finish_reason: Option<FinishReason>,
    /// Usage.
    pub usage: Option<Usage>,
    /// Counters of the speculation.
    pub counters: Option<Counters>,
}

/// Every answer of one source: a sequence each, or the runs of one request again and again.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    /// The answers.
    pub answers: Vec<Answer>,
    /// They answer the same request: the second is a null arm, not a second sequence.
    pub repeats: bool,
    /// The arm's label.
    pub arm: Option<String>,
    /// The width that the source states.
    pub width: Option<i64>,
    /// The model's name.
    pub model: Option<String>,
    /// The server's command line.
    pub command: Option<Vec<String>>,
}

/// Reads one source: an answer, a list or lines of them, or a recording with `responses`.
///
/// # Errors
/// When it is not JSON, or a key that is there has the wrong type.
pub fn parse(text: &str) -> Result<Answers, ImportError> {
    let mut all = Answers::default();
    for value in Deserializer::from_str(text).into_iter::<Value>() {
        let value = value.map_err(|error| ImportError::NotJson {
            line: error.line(),
            column: error.column(),
            says: bare(&error),
        })?;
        match value {
            Value::Array(list) => list.iter().try_for_each(|value| all.add(value))?,
            value => all.add(&value)?,
        }
    }
    if all.answers.is_empty() {
        return Err(ImportError::Nothing("no `choices` and no `responses` in the answer"));
    }
    Ok(all)
}

impl Answers {
    fn add(&mut self, value: &Value) -> Result<(), ImportError> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        self.model = self.model.take().or_else(|| text("model")).or_else(|| text("model_id"));
        if let Some(responses) = value["responses"].as_array() {
            self.repeats = true;
            self.arm = text("tag");
            self.width = width(&value["width"]);
            self.command = strings(&value["cmd"]);
            return responses.iter().try_for_each(|response| self.take(response, response));
        }
        let Some(choices) = value["choices"].as_array() else { return Ok(()) };
        // Usage and timings are told once an answer; with several choices they belong to none of them.
        let shared = if choices.len() == 1 { value } else { &Value::Null };
        choices.iter().try_for_each(|choice| self.take(choice, shared))
    }

    fn take(&mut self, choice: &Value, shared: &Value) -> Result<(), ImportError> {
        let place = Choice { answer: self.answers.len(), choice };
        self.answers.push(place.answer(shared)?);
        Ok(())
    }

    /// Adds the answers of another source.
    pub fn join(&mut self, other: Self) {
        self.answers.extend(other.answers);
        self.repeats |= other.repeats;
        self.arm = self.arm.take().or(other.arm);
        self.width = self.width.or(other.width);
        self.model = self.model.take().or(other.model);
        self.command = self.command.take().or(other.command);
    }

    /// The transcripts: one, or one a repeat.
    ///
    /// # Errors
    /// When the ids given beside the answers do not fit them.
    pub fn import(self, extras: &Extras) -> Result<Vec<Imported>, ImportError> {
        let extras = Extras {
            width: extras.width.or(self.width),
            arm: extras.arm.clone().or_else(|| self.arm.clone()),
            ..extras.clone()
        };
        let groups: Vec<Vec<Answer>> = if self.repeats {
            self.answers.into_iter().map(|answer| vec![answer]).collect()
        } else {
            vec![self.answers]
        };
        let several = groups.len() > 1;
        let transcripts = groups.into_iter().enumerate().map(|(repeat, answers)| {
            let mut imported = transcript(answers, &extras, repeat)?;
            imported.header.model =
                self.model.clone().map(|name| Model { name: Some(name), ..Model::default() });
            imported.header.command.clone_from(&self.command);
            imported.header.repeat = several.then(|| number(repeat));
            Ok(imported)
        });
        transcripts.collect()
    }
}

fn transcript(answers: Vec<Answer>, extras: &Extras, repeat: usize) -> Result<Imported, ImportError> {
    extras.check(answers.len())?;
    let speculative = extras.width.is_some_and(|width| width > 1);
    let (label, kind) =
        if speculative { ("speculative", ArmKind::Speculative) } else { ("classic", ArmKind::Classic) };
    let mut header = extras.header(label, kind, answers.len());
    let mut sequences = Vec::new();
    for (index, mut answer) in answers.into_iter().enumerate() {
        // Ids given beside the answers are those of the first run; a repeat proves itself by what it said.
        if let Some(tokens) = extras.tokens.get(index).filter(|_| repeat == 0) {
            answer.check_length(Some(tokens.len()))?;
            answer.tokens = Some(tokens.clone());
        }
        if let Some(prompt) = header.prompts.get_mut(index).filter(|prompt| prompt.ids.is_none()) {
            prompt.ids = answer.prompt.take();
        }
        let mut footer = Footer { sequence: number(index), complete: true, ..Footer::default() };
        answer.fill(&mut footer);
        sequences.push(Recorded { footer: Some(footer), ..Recorded::default() });
    }
    Ok(Imported { header, sequences })
}

impl Answer {
    /// Refuses a stream of another length than this answer's.
    ///
    /// # Errors
    /// When both lengths are known and differ.
    pub fn check_length(&self, stream: Option<usize>) -> Result<(), ImportError> {
        let own = self.tokens.as_ref().map(Vec::len).or_else(|| self.strings.as_ref().map(Vec::len));
        match (own, stream) {
            (Some(own), Some(stream)) if own != stream => Err(ImportError::Mismatch {
                left: format!("an answer of {own} tokens"),
                right: format!("a stream of {stream} ids"),
            }),
            _ => Ok(()),
        }
    }

    /// Copies what the answer knows into a footer.
    pub fn fill(&self, footer: &mut Footer) {
        footer.tokens.clone_from(&self.tokens);
        footer.token_strings.clone_from(&self.strings);
        footer.text.clone_from(&self.text);
        footer.logprobs.clone_from(&self.logprobs);
        footer.finish_reason = self.finish_reason;
        footer.usage = self.usage;
        footer.counters.clone_from(&self.counters);
    }
}

/// One choice of an answer, with its number for messages.
struct Choice<'a> {
    answer: usize,
    choice: &'a Value,
}

impl Choice<'_> {
    fn answer(&self, shared: &Value) -> Result<Answer, ImportError> {
        let choice = self.choice;
        let content = choice["logprobs"]["content"].as_array();
        let (strings, logprobs) = match content {
            Some(content) => self.content(content)?,
            None => self.lists(&choice["logprobs"])?,
        };
        let listed = self.ids("token_ids")?.or_else(|| ids_of(content?));
        let spelled = strings.as_deref().and_then(spelled_ids);
        let strings = strings.filter(|_| spelled.is_none());
        let text = choice["text"].as_str().or_else(|| choice["message"]["content"].as_str());
        Ok(Answer {
            tokens: listed.or(spelled),
            strings,
            text: text.map(str::to_owned),
            logprobs,
            prompt: self.ids("prompt_token_ids")?,
            finish_reason: finish_reason(choice),
            usage: usage(&shared["usage"]),
            counters: counters(&shared["timings"]),
        })
    }

    fn fault(&self, field: &'static str, says: &str) -> ImportError {
        ImportError::Answer { answer: self.answer, field, says: says.to_owned() }
    }

    fn ids(&self, field: &'static str) -> Result<Option<Vec<TokenId>>, ImportError> {
        let list = present(&self.choice[field]);
        list.map(|list| ids(list).ok_or_else(|| self.fault(field, "not a list of ids"))).transpose()
    }

    /// Parallel lists, in `logprobs` as completions have them or in the answer itself.
    fn lists(&self, logprobs: &Value) -> Result<Spoken, ImportError> {
        let source = if logprobs.is_object() { logprobs } else { self.choice };
        let wrong = |field, says| move || self.fault(field, says);
        let tokens = present(&source["tokens"])
            .map(|tokens| strings(tokens).ok_or_else(wrong("tokens", "not a list of strings")));
        let values = present(&source["token_logprobs"])
            .map(|values| numbers(values).ok_or_else(wrong("token_logprobs", "not a list of numbers")));
        let (tokens, values) = (tokens.transpose()?, values.transpose()?);
        Ok((tokens, values))
    }

    /// One object a token, as chat answers have them.
    fn content(&self, content: &[Value]) -> Result<Spoken, ImportError> {
        let token = |entry: &Value| entry["token"].as_str().map(str::to_owned);
        let tokens: Option<Vec<String>> = content.iter().map(token).collect();
        let fault = || self.fault("logprobs.content", "an entry whose `logprob` is no number");
        let values = content.iter().map(|entry| entry["logprob"].as_f64().ok_or_else(fault).map(Some));
        Ok((tokens, Some(values.collect::<Result<_, _>>()?)))
    }
}

/// Token strings and their log-probabilities.
type Spoken = (Option<Vec<String>>, Option<Vec<Option<f64>>>);

/// A key that is absent and one that is null are the same: not known.
fn present(value: &Value) -> Option<&Value> {
    (!value.is_null()).then_some(value)
}

fn ids(value: &Value) -> Option<Vec<TokenId>> {
    value.as_array()?.iter().map(Value::as_i64).collect()
}

fn ids_of(content: &[Value]) -> Option<Vec<TokenId>> {
    content.iter().map(|entry| entry["id"].as_i64()).collect()
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

fn numbers(value: &Value) -> Option<Vec<Option<f64>>> {
    let number = |entry: &Value| if entry.is_null() { Some(None) } else { entry.as_f64().map(Some) };
    value.as_array()?.iter().map(number).collect()
}

/// Tokens that a server spelled as ids on request.
fn spelled_ids(strings: &[String]) -> Option<Vec<TokenId>> {
    let spelled = |word: &String| word.strip_prefix("token_id:").and_then(|id| id.parse().ok());
    (!strings.is_empty()).then(|| strings.iter().map(spelled).collect()).flatten()
}

/// "classic" is a width of 1.
fn width(value: &Value) -> Option<i64> {
    match value.as_str() {
        Some("classic") => Some(1),
        Some(text) => text.parse().ok(),
        None => value.as_i64(),
    }
}

fn finish_reason(choice: &Value) -> Option<FinishReason> {
    match choice["finish_reason"].as_str()? {
        // vLLM names the stop string that was hit; an end id has no reason or its number.
        "stop" if choice["stop_reason"].is_string() => Some(FinishReason::StopString),
        "stop" => Some(FinishReason::Stop),
        "length" => Some(FinishReason::Length),
        "abort" | "aborted" => Some(FinishReason::Aborted),
        _ => None,
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |key: &str| value[key].as_i64();
    value.is_object().then(|| Usage {
        prompt_tokens: count("prompt_tokens"),
        completion_tokens: count("completion_tokens"),
        reasoning_tokens: value["completion_tokens_details"]["reasoning_tokens"].as_i64(),
        total_tokens: count("total_tokens"),
    })
}

/// llama.cpp counts proposals in its timings, and only when it speculated.
fn counters(timings: &Value) -> Option<Counters> {
    let drafted = timings["draft_n"].as_i64()?;
    let accepted = timings["draft_n_accepted"].as_i64();
    Some(Counters { rounds: None, drafted: Some(drafted), accepted, per_position: None })
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::transcript::format::{ArmKind, FinishReason};
    use crate::transcript::import::{Extras, ImportError};

    #[test]
    fn ids_are_taken_where_the_server_gives_them() {
        let vllm = r#"{"model":"m","choices":[{"text":"ab","token_ids":[5,6],"prompt_token_ids":[1,2],
            "finish_reason":"stop","stop_reason":"\n","logprobs":{"tokens":["a","b"],"token_logprobs":[-0.5,null]}}],
            "usage":{"prompt_tokens":2,"completion_tokens":2}}"#;
        let answer = &parse(vllm).unwrap().answers[0];
        assert_eq!(answer.tokens.as_deref(), Some([5, 6].as_slice()));
        assert_eq!(answer.logprobs.as_deref(), Some([Some(-0.5), None].as_slice()));
        assert_eq!(answer.finish_reason, Some(FinishReason::StopString));
        let imported = parse(vllm).unwrap().import(&Extras { width: Some(4), ..Extras::default() }).unwrap();
        assert_eq!(imported[0].header.kind, ArmKind::Speculative);
        assert_eq!(imported[0].header.prompts[0].ids.as_deref(), Some([1, 2].as_slice()));
    }

    #[test]
    fn tokens_spelled_as_ids_and_chat_entries_read_too() {
        let spelled = r#"{"choices":[{"text":"","logprobs":{"tokens":["token_id:7","token_id:8"]}}]}"#;
        let answer = parse(spelled).unwrap().answers.remove(0);
        assert_eq!((answer.tokens.as_deref(), answer.strings), (Some([7, 8].as_slice()), None));
        let chat = r#"{"choices":[{"message":{"content":"x"},"logprobs":{"content":[{"token":"x","logprob":-1,"id":9}]}}]}"#;
        let answer = parse(chat).unwrap().answers.remove(0);
        assert_eq!((answer.tokens.as_deref(), answer.text.as_deref()), (Some([9].as_slice()), Some("x")));
    }

    #[test]
    fn a_recording_of_one_request_is_repeats_not_sequences() {
        let text = r#"{"tag":"w4","width":"4","responses":[{"text":"a","tokens":["a"]},{"text":"a","tokens":["a"]}]}"#;
        let imported = parse(text).unwrap().import(&Extras::default()).unwrap();
        assert_eq!(imported.iter().map(|run| run.header.repeat).collect::<Vec<_>>(), [Some(0), Some(1)]);
        assert_eq!((imported[1].header.arm.as_str(), imported[1].header.width), ("w4", Some(4)));
    }

    #[test]
    fn what_is_no_answer_is_named() {
        assert!(matches!(parse("{\"choices\":"), Err(ImportError::NotJson { line: 1, .. })));
        assert!(matches!(parse("[]"), Err(ImportError::Nothing(_))));
        let wrong = r#"{"choices":[{"token_ids":["a"]}]}"#;
        assert!(matches!(parse(wrong), Err(ImportError::Answer { answer: 0, field: "token_ids", .. })));
        let extras = Extras { tokens: vec![vec![1, 2, 3]], ..Extras::default() };
        let short = r#"{"choices":[{"text":"a","token_ids":[1]}]}"#;
        assert!(matches!(parse(short).unwrap().import(&extras), Err(ImportError::Mismatch { .. })));
    }
}
