//! Validates JSON against a JSON schema (draft 2020-12). Supports only the keywords in this file, because a complete validator needs fifty
//! crates.

use regex_lite::Regex;
use serde_json::{Map, Value};

/// A schema whose keywords are all known and have valid values.
pub(crate) struct Schema(Value);

impl Schema {
    /// Reads the schema in a file of the project.
    pub(crate) fn read(file: &str) -> Self {
        let file = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read(file).expect("the schema is there");
        Self::new(serde_json::from_slice(&text).expect("JSON"))
    }

    /// Creates a schema. Panics if a keyword is unknown, even in a part that no value reaches.
    pub(crate) fn new(root: Value) -> Self {
        let schema = Self(root);
        schema.inspect(&schema.0);
        schema
    }

    /// Checks a value.
    ///
    /// # Errors
    /// Returns the first part of the value that violates the schema, with the keyword.
    pub(crate) fn validate(&self, value: &Value) -> Result<(), String> {
        self.check(&self.0, value)
    }

    /// Returns the part of the schema that a reference refers to.
    fn definition(&self, reference: &Value) -> &Value {
        let pointer = text(reference)
            .strip_prefix('#')
            .expect("a reference within the schema");
        self.0
            .pointer(pointer)
            .unwrap_or_else(|| panic!("no {pointer} in the schema"))
    }

    /// Panics if a keyword in this part is unknown or has an invalid value.
    fn inspect(&self, part: &Value) {
        if part.is_boolean() {
            return;
        }
        let part = object(part);
        for (keyword, wanted) in part {
            match keyword.as_str() {
                "$schema" => assert_eq!(wanted, "https://json-schema.org/draft/2020-12/schema"),
                "$id" | "title" | "description" => _ = text(wanted),
                "$ref" => _ = self.definition(wanted),
                "$defs" | "properties" => object(wanted).values().for_each(|part| self.inspect(part)),
                "items" | "additionalProperties" | "not" => self.inspect(wanted),
                "if" => self.inspect(wanted),
                "then" => {
                    assert!(part.contains_key("if"), "`then` without `if`");
                    self.inspect(wanted);
                }
                "allOf" | "anyOf" => {
                    assert!(!list(wanted).is_empty(), "{keyword} is empty");
                    list(wanted).iter().for_each(|part| self.inspect(part));
                }
                "required" => list(wanted).iter().for_each(|name| _ = text(name)),
                "enum" => _ = list(wanted),
                "const" => {}
                "type" => names(wanted).for_each(|name| _ = is_of_type(&Value::Null, name)),
                "pattern" => _ = pattern(wanted),
                "minimum" | "maximum" => _ = number(wanted),
                "minItems" | "maxItems" | "minLength" | "maxLength" | "minProperties" => _ = count(wanted),
                _ => panic!("unknown keyword {keyword}"),
            }
        }
    }

    fn check(&self, part: &Value, value: &Value) -> Result<(), String> {
        if let Some(accepts) = part.as_bool() {
            return told(accepts, "false", value);
        }
        let part = object(part);
        for (keyword, wanted) in part {
            match keyword.as_str() {
                "$ref" => self.check(self.definition(wanted), value)?,
                "allOf" => list(wanted).iter().try_for_each(|part| self.check(part, value))?,
                "anyOf" => {
                    let accepts = list(wanted).iter().any(|part| self.check(part, value).is_ok());
                    told(accepts, keyword, value)?;
                }
                "not" => told(self.check(wanted, value).is_err(), keyword, value)?,
                "if" => {
                    let then = part.get("then").unwrap_or(&Value::Bool(true));
                    if self.check(wanted, value).is_ok() {
                        self.check(then, value)?;
                    }
                }
                _ => self.check_members(part, keyword, value)?,
            }
            told(is_accepted(keyword, wanted, value), keyword, value)?;
        }
        Ok(())
    }

    /// Checks the members of an object or the items of a list against a keyword that applies to them.
    fn check_members(&self, part: &Map<String, Value>, keyword: &str, value: &Value) -> Result<(), String> {
        match (keyword, value) {
            ("items", Value::Array(items)) => items.iter().try_for_each(|item| self.check(&part[keyword], item)),
            ("properties", Value::Object(members)) => object(&part[keyword])
                .iter()
                .filter_map(|(name, part)| Some((part, members.get(name)?)))
                .try_for_each(|(part, member)| self.check(part, member)),
            ("additionalProperties", Value::Object(members)) => {
                let named = |name: &str| part.get("properties").is_some_and(|named| named.get(name).is_some());
                members
                    .iter()
                    .filter(|(name, _)| !named(name))
                    .try_for_each(|(_, member)| self.check(&part[keyword], member))
            }
            _ => Ok(()),
        }
    }
}

/// Returns `false` if the value violates the keyword. Ignores keywords for other types of values, as the standard requires.
fn is_accepted(keyword: &str, wanted: &Value, value: &Value) -> bool {
    match (keyword, value) {
        ("const", _) => value == wanted,
        ("enum", _) => list(wanted).contains(value),
        ("type", _) => names(wanted).any(|name| is_of_type(value, name)),
        ("required", Value::Object(members)) => list(wanted).iter().all(|name| members.contains_key(text(name))),
        ("minProperties", Value::Object(members)) => members.len() >= count(wanted),
        ("minItems", Value::Array(items)) => items.len() >= count(wanted),
        ("maxItems", Value::Array(items)) => items.len() <= count(wanted),
        ("minLength", Value::String(value)) => value.chars().count() >= count(wanted),
        ("maxLength", Value::String(value)) => value.chars().count() <= count(wanted),
        ("pattern", Value::String(value)) => pattern(wanted).is_match(value),
        ("minimum", Value::Number(_)) => number(value) >= number(wanted),
        ("maximum", Value::Number(_)) => number(value) <= number(wanted),
        _ => true,
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_number() && number(value).fract() == 0.0,
        _ => panic!("{name} is not a type"),
    }
}

fn told(accepts: bool, keyword: &str, value: &Value) -> Result<(), String> {
    if accepts {
        Ok(())
    } else {
        Err(format!("refused by {keyword}: {value}"))
    }
}

/// Returns the name in `value`, or each name if `value` is a list.
fn names(value: &Value) -> impl Iterator<Item = &str> {
    let names = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    names.iter().map(text)
}

fn pattern(value: &Value) -> Regex {
    Regex::new(text(value)).expect("a pattern")
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap_or_else(|| panic!("not an object: {value}"))
}

fn list(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap_or_else(|| panic!("not a list: {value}"))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("not a number: {value}"))
}

fn count(value: &Value) -> usize {
    let count = value.as_u64().unwrap_or_else(|| panic!("not a count: {value}"));
    count.try_into().expect("a small count")
}
