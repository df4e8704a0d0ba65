//! Access to the environment, restricted by the trust class of each variable.

use alloc::vec::Vec;
use core::ffi::CStr;
use core::fmt;

use os::environment::{plain_value, secure_value};
use os::{LIST_SEPARATOR, with_terminated};
use promises::variable::{Separator, Trust, Variable};

/// Source of the variables' values: the process environment, or a table in a test.
pub trait VariableSource {
    /// Returns the value of a variable, regardless of the privileges of the process.
    fn plain_value(&self, name: &CStr) -> Option<Vec<u8>>;
    /// Returns the value of a variable of trust class [`Trust::Secure`]; `None` in an elevated process.
    fn secure_value(&self, name: &'static CStr) -> Option<Vec<u8>>;
}

/// The environment of the process.
pub struct Process;

impl VariableSource for Process {
    fn plain_value(&self, name: &CStr) -> Option<Vec<u8>> {
        plain_value(name)
    }

    fn secure_value(&self, name: &'static CStr) -> Option<Vec<u8>> {
        secure_value(name)
    }
}

/// The variables that this process may read. Values are not cached: each read asks the source (APP-216).
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    source: &'a dyn VariableSource,
}

// If each source had to implement `Debug`, the library would contain the formatting of all recorded values.
impl fmt::Debug for Environment<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Environment")
    }
}

impl Environment<'static> {
    /// Returns the environment of this process.
    pub fn process() -> Self {
        Self { source: &Process }
    }
}

impl<'a> Environment<'a> {
    /// Returns an environment that reads from `source`.
    pub fn new(source: &'a dyn VariableSource) -> Self {
        Self { source }
    }

    /// Returns the bytes of a variable; `None` if the variable is unset, or if its trust class forbids reading it in this process.
    pub fn get(&self, variable: Variable) -> Option<Vec<u8>> {
        let row = variable.row();
        match row.trust {
            Trust::Secure => self.source.secure_value(row.c_name),
            Trust::Plain => self.source.plain_value(row.c_name),
        }
    }

    /// Returns the value like [`Environment::get`], but treats an empty value as unset (APP-213).
    pub fn get_non_empty(&self, variable: Variable) -> Option<Vec<u8>> {
        self.get(variable).filter(|value| !value.is_empty())
    }

    /// Returns `true` if a variable is set, even to an empty value.
    pub fn is_set(&self, variable: Variable) -> bool {
        self.get(variable).is_some()
    }

    /// Passes the non-empty items of a variable to `take`, in order. Returns the length of the value in bytes; `None` if the variable is
    /// not set.
    pub fn each_item(&self, variable: Variable, take: impl FnMut(&[u8])) -> Option<usize> {
        let value = self.get(variable)?;
        split(&value, variable.row().separator).for_each(take);
        Some(value.len())
    }

    /// Returns `true` if the value of a variable is a number other than 0 (DRV-103, DRV-137). Text that does not begin with a number is
    /// treated as 0.
    pub fn is_non_zero(&self, variable: Variable) -> bool {
        self.get(variable)
            .is_some_and(|value| super::numbers::decimal(&value) != 0)
    }

    /// Returns the value of a variable that a layer manifest names to enable or disable its layer (LAY-67). Reads the variable even in an
    /// elevated process, because the variable only affects layers that a search has found. A name that the system does not accept is
    /// treated as unset.
    pub fn named_by_manifest(&self, name: &[u8]) -> Option<Vec<u8>> {
        if name.is_empty() || name.contains(&b'=') {
            return None;
        }
        let value = with_terminated(name, |name| Ok(self.source.plain_value(name)));
        value.ok().flatten()
    }
}

/// Iterates over the non-empty items of a list (APP-210). Does not trim spaces.
pub fn split(value: &[u8], separator: Separator) -> impl Iterator<Item = &[u8]> {
    let separator = match separator {
        Separator::Whole => None,
        Separator::Path => Some(LIST_SEPARATOR),
        Separator::Comma => Some(b','),
    };
    let mut left = Some(value);
    core::iter::from_fn(move || {
        let text = left?;
        let Some(end) = separator.and_then(|byte| os::find_byte(text, byte)) else {
            left = None;
            return Some(text);
        };
        left = text.get(end + 1..);
        text.get(..end)
    })
    .filter(|item| !item.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Fixed;
    use crate::env::variable::TABLE;

    #[test]
    fn app_211_secure_variables_read_as_unset_when_elevated() {
        let all: Vec<(&str, &str)> = TABLE.iter().map(|row| (row.name, "1")).collect();
        let elevated = Fixed::new(&all).elevated();
        let ordinary = Fixed::new(&all);
        for row in TABLE {
            assert!(Environment::new(&ordinary).is_set(row.variable), "{}", row.name);
            let honoured = Environment::new(&elevated).is_set(row.variable);
            assert_eq!(honoured, row.trust == Trust::Plain, "{}", row.name);
        }
    }

    #[test]
    fn drv_30_only_these_variables_survive_elevation() {
        let plain: Vec<&str> = TABLE
            .iter()
            .filter(|row| row.trust == Trust::Plain)
            .map(|row| row.name)
            .collect();
        let expected = [
            "VK_INSTANCE_LAYERS",
            "VK_LOADER_DEBUG",
            "VK_LOADER_DEVICE_SELECT",
            "VK_LOADER_DISABLE_SELECT",
            "VK_LOADER_CATALOGUE",
            "VK_LOADER_DRIVER_POLICY",
            "VK_LOADER_DISABLE_INST_EXT_FILTER",
            "VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING",
        ];
        assert_eq!(plain, expected);
    }

    #[test]
    fn lay_67_manifest_named_variables_are_read_plainly() {
        let source = Fixed::new(&[("DISABLE_IT", "")]).elevated();
        let environment = Environment::new(&source);
        assert_eq!(environment.named_by_manifest(b"DISABLE_IT"), Some(Vec::new()));
        for refused in [&b""[..], b"A=B", b"A\0B"] {
            assert_eq!(environment.named_by_manifest(refused), None);
        }
    }

    #[test]
    fn app_210_lists_drop_empty_items_and_keep_blanks() {
        let path: Vec<&[u8]> = split(b"::a: b :c", Separator::Path).collect();
        assert_eq!(path, [&b"a"[..], b" b ", b"c"]);
        let comma: Vec<&[u8]> = split(b",x,,y:z", Separator::Comma).collect();
        assert_eq!(comma, [&b"x"[..], b"y:z"]);
        assert_eq!(split(b"a:b,c", Separator::Whole).count(), 1);
        assert_eq!(split(b"", Separator::Whole).count(), 0);
    }

    #[test]
    fn every_row_sits_at_the_index_of_its_variable() {
        for (index, row) in TABLE.iter().enumerate() {
            assert_eq!(row.variable as usize, index);
            assert_eq!(row.variable.name(), row.name);
        }
    }
}
