//! The printed schema describes what the reader reads: every line of every case, and no damaged one.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// The part of JSON Schema that the printed schema uses.
fn valid(root: &Value, schema: &Value, value: &Value) -> bool {
    let Some(keywords) = schema.as_object() else { return schema == &json!(true) };
    keywords.iter().all(|(keyword, rule)| match keyword.as_str() {
        "$ref" => valid(root, root.pointer(rule.as_str().unwrap().trim_start_matches('#')).unwrap(), value),
        "oneOf" => rule.as_array().unwrap().iter().filter(|option| valid(root, option, value)).count() == 1,
        "anyOf" => rule.as_array().unwrap().iter().any(|option| valid(root, option, value)),
        "const" => rule == value,
        "enum" => rule.as_array().unwrap().contains(value),
        "type" => match rule {
            Value::Array(types) => types.iter().any(|kind| is(kind, value)),
            kind => is(kind, value),
        },
        "required" => rule.as_array().unwrap().iter().all(|key| value.get(key.as_str().unwrap()).is_some()),
        "properties" => rule
            .as_object()
            .unwrap()
            .iter()
            .all(|(key, rule)| value.get(key).is_none_or(|value| valid(root, rule, value))),
        "items" => value.as_array().is_none_or(|items| items.iter().all(|item| valid(root, rule, item))),
        "prefixItems" => {
            let rules = rule.as_array().unwrap();
            value
                .as_array()
                .is_none_or(|items| rules.iter().zip(items).all(|(rule, item)| valid(root, rule, item)))
        }
        "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
        "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= rule.as_u64().unwrap()),
        "minimum" => value.as_f64().is_none_or(|number| number >= rule.as_f64().unwrap()),
        "$schema" | "$defs" | "title" | "description" | "format" | "default" => true,
        other => panic!("the schema uses {other}, which this test does not know"),
    })
}

fn is(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("unknown type {other}"),
    }
}

#[test]
fn every_line_of_the_cases_fits() {
    let schema: Value = serde_json::from_str(&exactness::cli::schema::text().unwrap()).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let mut lines = 0;
    for case in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")).unwrap() {
        let Ok(files) = fs::read_dir(case.unwrap().path()) else { continue };
        for file in files.map(|file| file.unwrap().path()) {
            if file.extension().is_some_and(|extension| extension == "jsonl") {
                for line in fs::read_to_string(&file).unwrap().lines() {
                    lines += 1;
                    assert!(
                        valid(&schema, &schema, &serde_json::from_str(line).unwrap()),
                        "{}: {line}",
                        file.display()
                    );
                }
            }
        }
    }
    assert!(lines > 150, "{lines}");
}

#[test]
fn damaged_lines_do_not_fit() {
    let schema: Value = serde_json::from_str(&exactness::cli::schema::text().unwrap()).unwrap();
    for line in [
        json!({"type": "prefill", "sequence": 0}),
        json!({"type": "prefill", "sequence": 0, "token": "5"}),
        json!({"type": "tree", "sequence": 0, "token": 5}),
        json!({"sequence": 0, "token": 5}),
        json!({"type": "prefill", "sequence": 0, "token": 5, "row": {"top": [[1, 2, 3]]}}),
    ] {
        assert!(!valid(&schema, &schema, &line), "{line}");
    }
}

/// Output that did not reach its file is not a success.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_exactness"))
        .arg("schema")
        .stdout(full)
        .stderr(std::process::Stdio::piped())
        .output()
        .unwrap();
    let says = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{says}");
    assert!(says.starts_with("error: failed to write to standard output: "), "{says}");
    assert_eq!(says.lines().count(), 1, "{says}");
}
