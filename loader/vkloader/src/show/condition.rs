//! Conditions for devices, which scripts use with `--check`.

use crate::paths::file_name;
use crate::report::Device;
use promises::pattern::Pattern;
use std::str::FromStr;

/// A condition, for example `type:discrete`.
#[derive(Clone, Debug)]
pub(crate) enum Condition {
    /// The device has this type.
    Type(String),
    /// The device has any type except `cpu`.
    Hardware,
    /// The name of the device matches this pattern.
    Name(String),
    /// The file name of the driver's library contains this text.
    Driver(String),
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = "type:hardware|discrete|integrated|virtual|cpu|other, name:GLOB or driver:NAME";
        match text.split_once(':') {
            Some(("type", "hardware")) => Ok(Self::Hardware),
            Some(("type", kind)) if ["discrete", "integrated", "virtual", "cpu", "other"].contains(&kind) => {
                Ok(Self::Type(kind.into()))
            }
            Some(("name", glob)) if !glob.is_empty() => Ok(Self::Name(glob.into())),
            Some(("driver", name)) if !name.is_empty() => Ok(Self::Driver(name.into())),
            _ => Err(format!("a condition is {known}")),
        }
    }
}

impl Condition {
    /// Returns `true` if a device fulfils the condition.
    pub(crate) fn fits(&self, device: &Device) -> bool {
        match self {
            Self::Type(kind) => device.kind == *kind,
            Self::Hardware => !device.is_software(),
            Self::Name(glob) => matches(glob, &device.name),
            Self::Driver(name) => {
                let file = file_name(&device.driver);
                file.to_lowercase().contains(&name.to_lowercase())
            }
        }
    }
}

/// Returns `true` if a text matches a pattern, in the syntax of the patterns in variables.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    Pattern::parse(pattern.as_bytes()).matches(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (glob, text, expected) in [
            ("llvmpipe*", "llvmpipe (LLVM 15)", true),
            ("*LLVM*", "llvmpipe", true),
            ("*radeon*", "llvmpipe", false),
            ("*llvm*pipe*", "llvmpipe", false),
            ("llvm", "llvmpipe", false),
            ("*", "", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(glob, text), expected, "{glob} {text}");
        }
    }

    #[test]
    fn only_known_conditions_are_taken() {
        assert!("type:discrete".parse::<Condition>().is_ok());
        for wrong in ["type:fast", "name:", "discrete", ""] {
            assert!(wrong.parse::<Condition>().is_err(), "{wrong}");
        }
    }
}
