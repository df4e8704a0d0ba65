//! Records the variables that a scan reads, and checks that their values have not changed.

use crate::env::variable::Trust;
use crate::env::{Process, VariableSource};
use crate::index::{Key, NameIndex};
use alloc::borrow::Cow;
use alloc::ffi::CString;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::ffi::CStr;
use os::environment::{has_plain_value, has_secure_value};
use os::memory::{Grow, OutOfMemory, copy_terminated, shortage};

/// Number of variables that a scan usually reads, for the initial allocation.
const USUAL_VARIABLES: usize = 24;

/// Name of a variable.
#[derive(Clone, Copy)]
enum Name<'n> {
    /// A constant, as the names of all variables of class [`Trust::Secure`] are.
    Lasting(&'static CStr),
    /// A name that may come from a manifest.
    Passing(&'n CStr),
}

/// An environment variable that a scan has read, with the value at that time.
#[derive(Debug, PartialEq, Eq)]
struct Value {
    name: Cow<'static, CStr>,
    trust: Trust,
    value: Option<CString>,
}

/// Variables with their values at the time of the scan.
#[derive(Debug, Default)]
pub(super) struct Values {
    read: Vec<Value>,
    by_name: NameIndex,
}

impl Values {
    /// Reads the variables again with the current privileges, and returns `true` if the values are the same.
    pub(super) fn hold(&self) -> bool {
        self.read.iter().all(Value::holds)
    }

    fn find(&self, key: Key, name: &CStr, trust: Trust) -> Option<usize> {
        self.by_name.find(key, |place| {
            let known = &self.read[place];
            *known.name == *name && known.trust == trust
        })
    }

    fn add(&mut self, key: Key, name: Name<'_>, trust: Trust, value: Option<&[u8]>) -> Result<(), OutOfMemory> {
        let added = Value {
            // Neither the name nor the value contains a null byte, so `copy_terminated` always returns a copy.
            name: match name {
                Name::Lasting(name) => Cow::Borrowed(name),
                Name::Passing(name) => Cow::Owned(copy_terminated(name.to_bytes())?.unwrap_or_default()),
            },
            trust,
            value: match value {
                Some(value) => Some(copy_terminated(value)?.unwrap_or_default()),
                None => None,
            },
        };
        if self.read.is_empty() {
            self.read.try_exact_room(USUAL_VARIABLES)?;
            self.by_name = NameIndex::with_room(USUAL_VARIABLES)?;
        }
        self.read.try_room(1)?;
        self.by_name.add(key, self.read.len())?;
        self.read.push(added);
        Ok(())
    }
}

impl Value {
    fn holds(&self) -> bool {
        let has_value = match self.trust {
            Trust::Secure => has_secure_value,
            Trust::Plain => has_plain_value,
        };
        has_value(&self.name, self.value.as_deref())
    }
}

/// The environment of the process, with a record of the variables that were read.
#[derive(Debug, Default)]
pub struct VariableRecorder(RefCell<Values>);

impl VariableRecorder {
    /// Returns the recorded values.
    pub(super) fn into_values(self) -> Values {
        self.0.into_inner()
    }

    /// Records the first value of each variable. If memory runs out, the call fails, so the incomplete record is never used.
    fn note(&self, name: Name<'_>, trust: Trust, value: Option<&[u8]>) {
        let mut values = self.0.borrow_mut();
        let (Name::Lasting(text) | Name::Passing(text)) = name;
        let key = Key::of(&[text.to_bytes()]);
        if values.find(key, text, trust).is_none() && values.add(key, name, trust, value).is_err() {
            shortage::note();
        }
    }
}

impl VariableSource for VariableRecorder {
    fn plain_value(&self, name: &CStr) -> Option<Vec<u8>> {
        let value = Process.plain_value(name);
        self.note(Name::Passing(name), Trust::Plain, value.as_deref());
        value
    }

    fn secure_value(&self, name: &'static CStr) -> Option<Vec<u8>> {
        let value = Process.secure_value(name);
        self.note(Name::Lasting(name), Trust::Secure, value.as_deref());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(read: &[(&CStr, Option<&CStr>)]) -> Values {
        let recorder = VariableRecorder::default();
        for (name, value) in read {
            recorder.note(Name::Passing(name), Trust::Plain, value.map(CStr::to_bytes));
        }
        recorder.into_values()
    }

    #[test]
    fn app_216_values_that_changed_are_seen() {
        const ABSENT: &CStr = c"VKL_TEST_ABSENT";
        assert!(!values(&[(c"VKL_TEST_WRONG", Some(c"x")), (ABSENT, None)]).hold());
        assert!(values(&[(ABSENT, None)]).hold());
        assert!(values(&[(c"PATH", None)]).hold() == std::env::var_os("PATH").is_none());
    }

    #[test]
    fn app_211_each_way_to_read_a_variable_is_noted() {
        const NAME: &CStr = c"VKL_TEST_TRUST";
        let recorder = VariableRecorder::default();
        recorder.note(Name::Lasting(NAME), Trust::Secure, None);
        recorder.note(Name::Passing(NAME), Trust::Plain, Some(b"x"));
        // The variable is unset now. The first reading still has the same result, but the second one does not.
        assert!(!recorder.into_values().hold());
    }

    #[test]
    fn app_216_whatever_is_read_is_noted() {
        let recorder = VariableRecorder::default();
        let (plain, secure) = (recorder.plain_value(c"PATH"), recorder.secure_value(c"HOME"));
        let values = recorder.into_values();
        let found = values.read.iter().map(|read| {
            let value = read.value.as_ref().map(|value| value.to_bytes().to_vec());
            (&*read.name, read.trust, value)
        });
        assert!(found.eq([(c"PATH", Trust::Plain, plain), (c"HOME", Trust::Secure, secure)]));
        assert!(values.hold());
    }

    #[test]
    fn app_216_the_first_value_of_each_variable_counts() {
        const ONE: &CStr = c"VKL_TEST_ONE";
        let recorder = VariableRecorder::default();
        for _ in 0..3 {
            recorder.note(Name::Passing(ONE), Trust::Plain, None);
            recorder.note(Name::Passing(ONE), Trust::Plain, Some(b"x"));
            recorder.note(Name::Lasting(ONE), Trust::Secure, Some(b"y"));
        }
        let values = recorder.into_values();
        let found: Vec<_> = values
            .read
            .iter()
            .map(|read| (read.trust, read.value.as_deref()))
            .collect();
        assert_eq!(found, [(Trust::Plain, None), (Trust::Secure, Some(c"y"))]);
    }

    #[test]
    fn app_216_each_of_many_variables_is_noted_in_constant_time() {
        const COUNT: usize = 200_000;
        let recorder = VariableRecorder::default();
        let begin = std::time::Instant::now();
        for number in 0..COUNT {
            let name = CString::new(format!("VKL_TEST_{number}")).unwrap();
            recorder.note(Name::Passing(&name), Trust::Plain, None);
        }
        assert_eq!(recorder.into_values().read.len(), COUNT);
        // The time limit of this test allows a linear algorithm, which takes less than a second. Comparing each name with all earlier ones
        // would take many minutes.
        assert!(begin.elapsed() < steady::HANG, "{:?}", begin.elapsed());
    }
}
