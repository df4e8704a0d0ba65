//! Conditions of providers, from their attribute `depends` (GEN-31).

use std::fmt;

/// Condition of a provider. The two operators have equal precedence and group to the left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Depends {
    /// Condition that consists of one name.
    Term(Term),
    /// Condition `a+b`: both parts must be true.
    All(Box<Depends>, Box<Depends>),
    /// Condition `a,b`: at least one part must be true.
    Any(Box<Depends>, Box<Depends>),
}

/// Name in a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// Name of a feature or an extension.
    Provider(String),
    /// Name of a feature bit, as `Struct::member`.
    Member {
        /// Name of the structure.
        structure: String,
        /// Name of the member.
        member: String,
    },
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(name) => f.write_str(name),
            Self::Member { structure, member } => write!(f, "{structure}::{member}"),
        }
    }
}

/// Reason why a condition cannot be read. Positions are byte offsets into the text of the condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependsError {
    /// At this position, a name or an opening parenthesis was expected.
    ExpectedName(usize),
    /// A parenthesis has no counterpart, or text comes after the end of the condition.
    Unbalanced(usize),
    /// The condition has more operators and opening parentheses than `MAX_TERMS`.
    TooComplex,
}

impl fmt::Display for DependsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExpectedName(at) => write!(f, "a name is expected at byte {at}"),
            Self::Unbalanced(at) => write!(f, "unbalanced text at byte {at}"),
            Self::TooComplex => f.write_str("the condition has too many names"),
        }
    }
}

impl std::error::Error for DependsError {}

/// Upper bound on the number of operators and opening parentheses in a condition, because recursive functions walk and drop its tree.
const MAX_TERMS: usize = 256;

impl Depends {
    /// Parses a condition.
    pub fn parse(text: &str) -> Result<Self, DependsError> {
        if text.bytes().filter(|byte| matches!(byte, b'+' | b',' | b'(')).count() > MAX_TERMS {
            return Err(DependsError::TooComplex);
        }
        let mut parser = Parser { text, at: 0 };
        let tree = parser.expression()?;
        parser.spaces();
        if parser.at < text.len() {
            Err(DependsError::Unbalanced(parser.at))
        } else {
            Ok(tree)
        }
    }

    /// Calls `visit` with every name, left to right.
    pub fn terms(&self, visit: &mut dyn FnMut(&Term)) {
        match self {
            Self::Term(term) => visit(term),
            Self::All(left, right) | Self::Any(left, right) => {
                left.terms(visit);
                right.terms(visit);
            }
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, byte: u8) -> bool {
        self.spaces();
        let is_next = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expression(&mut self) -> Result<Depends, DependsError> {
        let mut left = self.operand()?;
        loop {
            if self.take(b'+') {
                left = Depends::All(Box::new(left), Box::new(self.operand()?));
            } else if self.take(b',') {
                left = Depends::Any(Box::new(left), Box::new(self.operand()?));
            } else {
                return Ok(left);
            }
        }
    }

    fn operand(&mut self) -> Result<Depends, DependsError> {
        if self.take(b'(') {
            let inner = self.expression()?;
            return if self.take(b')') {
                Ok(inner)
            } else {
                Err(DependsError::Unbalanced(self.at))
            };
        }
        let name = self.word()?;
        if !self.text[self.at..].starts_with("::") {
            return Ok(Depends::Term(Term::Provider(name)));
        }
        self.at += 2;
        Ok(Depends::Term(Term::Member {
            structure: name,
            member: self.word()?,
        }))
    }

    fn word(&mut self) -> Result<String, DependsError> {
        let rest = &self.text[self.at..];
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(rest.len());
        if end == 0 {
            return Err(DependsError::ExpectedName(self.at));
        }
        self.at += end;
        Ok(rest[..end].to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(tree: &Depends) -> String {
        match tree {
            Depends::Term(term) => term.to_string(),
            Depends::All(left, right) => format!("({}+{})", shape(left), shape(right)),
            Depends::Any(left, right) => format!("({},{})", shape(left), shape(right)),
        }
    }

    #[test]
    fn gen_31_operators_have_equal_precedence_and_group_left() {
        for (text, expected) in [
            ("A", "A"),
            ("A+B,C", "((A+B),C)"),
            ("A,B+C", "((A,B)+C)"),
            ("A,(B+C)", "(A,(B+C))"),
            ("(A,B)+(C,D)", "((A,B)+(C,D))"),
            ("S::m,A", "(S::m,A)"),
            ("((A))", "A"),
        ] {
            assert_eq!(
                Depends::parse(text).map(|tree| shape(&tree)),
                Ok(expected.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn gen_31_other_texts_are_refused() {
        use DependsError::{ExpectedName, TooComplex, Unbalanced};
        for (text, expected) in [
            ("", ExpectedName(0)),
            ("A+", ExpectedName(2)),
            ("A++B", ExpectedName(2)),
            ("(A", Unbalanced(2)),
            ("A)", Unbalanced(1)),
            ("A B", Unbalanced(2)),
            ("A::", ExpectedName(3)),
            ("!A", ExpectedName(0)),
        ] {
            assert_eq!(Depends::parse(text), Err(expected), "{text}");
        }
        assert_eq!(Depends::parse(&"(".repeat(100_000)), Err(TooComplex));
    }
}
