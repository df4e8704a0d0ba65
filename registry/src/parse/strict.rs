//! Compares a tree with the lists of known constructs (GEN-80).

use super::element::Element;
use super::schema::{Content, Rule};
use crate::diagnostic::{Code, Reporter};
use std::collections::HashMap;

/// Reports every construct below `root` that `rules` does not list.
pub(super) fn check(root: Element<'_>, rules: &'static [Rule], report: &mut Reporter<'_>) {
    let rules = rules.iter().map(|rule| (rule.path, rule)).collect();
    Walk {
        rules,
        report,
        path: String::new(),
    }
    .element(root);
}

struct Walk<'r, 'a> {
    rules: HashMap<&'static str, &'static Rule>,
    report: &'r mut Reporter<'a>,
    path: String,
}

impl Walk<'_, '_> {
    /// Checks an element and its children. Recursion is safe, because `guard` limits the depth before the tree is built.
    fn element(&mut self, node: Element<'_>) {
        let outer = self.path.len();
        if outer > 0 {
            self.path.push('/');
        }
        self.path.push_str(node.tag_name().name());
        match self.rules.get(self.path.as_str()).copied() {
            Some(rule) if node.tag_name().namespace().is_none() => {
                if rule.content != Content::Skipped {
                    self.attributes(node, rule);
                    self.children(node, rule);
                }
            }
            _ => {
                let text = format!("unknown element `{}`", node.tag_name().name());
                self.unknown(node.range().start, Code::UnknownElement, text);
            }
        }
        self.path.truncate(outer);
    }

    fn unknown(&mut self, at: usize, code: Code, text: String) {
        self.report.unknown(at, code, &self.path, text);
    }

    fn attributes(&mut self, node: Element<'_>, rule: &Rule) {
        for attribute in node.attributes() {
            let name = attribute.name();
            let known = [rule.used, rule.informational, rule.irrelevant]
                .iter()
                .any(|group| group.contains(&name));
            if !known || attribute.namespace().is_some() {
                let text = format!("unknown attribute `{name}`");
                self.unknown(attribute.range().start, Code::UnknownAttribute, text);
            } else if attribute.value().contains(char::is_control) {
                let text = format!("the value of `{name}` holds a control character");
                self.report.report(attribute.range().start, Code::BadValue, text);
            }
        }
    }

    fn children(&mut self, node: Element<'_>, rule: &Rule) {
        for child in node.children() {
            if child.is_element() {
                self.element(child);
            } else if child.is_pi() {
                let text = "a processing instruction".to_owned();
                self.unknown(child.range().start, Code::UnknownElement, text);
            } else if child.is_text() && rule.content == Content::Elements {
                let blank = child.text().is_none_or(|text| text.trim().is_empty());
                if !blank {
                    let text = "text where only elements are known".to_owned();
                    self.unknown(node.range().start, Code::UnexpectedText, text);
                }
            }
        }
    }
}
