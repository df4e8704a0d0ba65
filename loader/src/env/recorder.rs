//! Which variables were read, and whether they still have the values that were found.

use super::elevated::has_value;
use super::environment::{Process, Source};
use super::variable::Trust;
use core::cell::RefCell;
use core::ffi::CStr;
use rust_alloc::borrow::ToOwned;
use rust_alloc::ffi::CString;
use rust_alloc::vec::Vec;

/// One variable that was read.
#[derive(Debug, PartialEq, Eq)]
struct Value {
    name: CString,
    trust: Trust,
    value: Option<CString>,
}

/// Variables with the values that were found.
#[derive(Debug)]
pub struct Values {
    /// First those that are nowhere else.
    read: Vec<Value>,
    /// How many that are.
    own: usize,
}

impl Values {
    /// Whether reading them again, with the privileges of this moment, would give the same.
    pub fn hold(&self) -> bool {
        Self::all_hold(&self.read)
    }

    /// The same for those that are not among the others of [`Values::share`].
    pub fn own_hold(&self) -> bool {
        Self::all_hold(&self.read[..self.own])
    }

    /// Notes which of them are among `others` too, with the same value.
    pub fn share(&mut self, others: &Self) {
        self.own = 0;
        for place in 0..self.read.len() {
            if !others.read.contains(&self.read[place]) {
                self.read.swap(self.own, place);
                self.own += 1;
            }
        }
    }

    fn all_hold(values: &[Value]) -> bool {
        values
            .iter()
            .all(|read| has_value(&read.name, read.trust, read.value.as_deref()))
    }
}

/// The environment of the process, with a note of what was read.
#[derive(Debug, Default)]
pub struct Recorder(RefCell<Vec<Value>>);

impl Recorder {
    /// What was read.
    pub fn into_values(self) -> Values {
        let read = self.0.into_inner();
        let own = read.len();
        Values { read, own }
    }

    fn note(&self, name: &CStr, trust: Trust, value: Option<&Vec<u8>>) {
        let mut values = self.0.borrow_mut();
        if values.iter().all(|known| *known.name != *name || known.trust != trust) {
            values.push(Value {
                name: name.to_owned(),
                trust,
                // No value has a NUL inside.
                value: value.map(|value| CString::new(value.as_slice()).unwrap_or_default()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn values(read: &[(&CStr, Option<&CStr>)]) -> Values {
        let recorder = Recorder::default();
        for (name, value) in read {
            recorder.note(
                name,
                Trust::Plain,
                value.map(|value| value.to_bytes().to_vec()).as_ref(),
            );
        }
        recorder.into_values()
    }

    #[test]
    fn app_216_only_what_another_result_compares_is_left_to_it() {
        const ABSENT: &CStr = c"VKL_TEST_ABSENT";
        const WRONG: (&CStr, Option<&CStr>) = (c"VKL_TEST_WRONG", Some(c"x"));
        let mut read = values(&[WRONG, (ABSENT, None)]);
        assert!(!read.hold() && !read.own_hold());
        read.share(&values(&[WRONG]));
        assert!(read.own_hold() && !read.hold());
        // Another value, or another name.
        read.share(&values(&[(WRONG.0, Some(c"y")), (ABSENT, Some(c"x"))]));
        assert!(!read.own_hold());
        read.share(&values(&[]));
        assert!(!read.own_hold());
        assert!(values(&[(ABSENT, None)]).hold());
        assert!(values(&[(c"PATH", None)]).hold() == std::env::var_os("PATH").is_none());
    }
    #[test]
    fn app_211_each_way_to_read_a_variable_is_noted() {
        const NAME: &CStr = c"VKL_TEST_TRUST";
        let recorder = Recorder::default();
        recorder.note(NAME, Trust::Secure, None);
        recorder.note(NAME, Trust::Plain, Some(&b"x".to_vec()));
        // Only the first of them is so.
        assert!(!recorder.into_values().hold());
    }
}
