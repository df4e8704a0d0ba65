//! Which variables were read, and whether they still have the values that were found.

use super::elevated::{has_secure_value, has_value};
use super::environment::{Process, Source};
use super::variable::Trust;
use core::cell::RefCell;
use core::ffi::CStr;
use rust_alloc::borrow::ToOwned;
use rust_alloc::ffi::CString;
use rust_alloc::vec::Vec;

/// One variable that was read.
#[derive(Debug)]
struct Value {
    name: CString,
    trust: Trust,
    value: Option<Vec<u8>>,
}

/// Variables with the values that were found.
#[derive(Debug)]
pub struct Values(Vec<Value>);

impl Values {
    /// Whether reading them again, with the privileges of this moment, would give the same.
    pub fn hold(&self) -> bool {
        self.0.iter().all(|read| {
            let expected = read.value.as_deref();
            match read.trust {
                Trust::Secure => has_secure_value(&read.name, expected),
                Trust::Plain => has_value(&read.name, expected),
            }
        })
    }
}

/// The environment of the process, with a note of what was read.
#[derive(Debug, Default)]
pub struct Recorder(RefCell<Vec<Value>>);

impl Recorder {
    /// What was read.
    pub fn into_values(self) -> Values {
        Values(self.0.into_inner())
    }

    fn note(&self, name: &CStr, trust: Trust, value: Option<&Vec<u8>>) {
        let mut values = self.0.borrow_mut();
        if values.iter().all(|known| *known.name != *name || known.trust != trust) {
            values.push(Value {
                name: name.to_owned(),
                trust,
                value: value.cloned(),
            });
        }
    }
}

impl Source for Recorder {
    fn plain_value(&self, name: &CStr) -> Option<Vec<u8>> {
        let value = Process.plain_value(name);
        self.note(name, Trust::Plain, value.as_ref());
        value
    }

    fn secure_value(&self, name: &CStr) -> Option<Vec<u8>> {
        let value = Process.secure_value(name);
        self.note(name, Trust::Secure, value.as_ref());
        value
    }
}
