//! The administrator's list, which assigns packages to devices (LSV-26).

use crate::package::{Class, is_name, package_for};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use tracing::warn;

/// Properties of a device that the service can read without opening the device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Name of the device's kernel driver; empty if unknown.
    pub driver: String,
    /// PCI vendor ID of the device.
    pub vendor: Option<u16>,
    /// PCI device ID of the device.
    pub device: Option<u16>,
}

/// A rule of the administrator's list, with the members that it has in the configuration file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// Kernel driver of the devices to which the rule applies; `None` for any driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Vendor of the devices to which the rule applies; `None` for any vendor.
    #[serde(skip_serializing_if = "Option::is_none", with = "id")]
    pub vendor: Option<u16>,
    /// Device ID to which the rule applies; `None` for any device.
    #[serde(skip_serializing_if = "Option::is_none", with = "id")]
    pub device: Option<u16>,
    /// Names of the packages, in order of preference.
    #[serde(rename = "icds", deserialize_with = "packages")]
    pub packages: Vec<String>,
}

impl Rule {
    fn matches(&self, identity: &Identity) -> bool {
        self.driver.as_ref().is_none_or(|driver| *driver == identity.driver)
            && self.vendor.is_none_or(|vendor| Some(vendor) == identity.vendor)
            && self.device.is_none_or(|device| Some(device) == identity.device)
    }
}

/// The rules for all devices, and for the software driver, which is used if no device has a hardware driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The rules. The first rule that matches a device takes precedence.
    pub devices: Vec<Rule>,
    /// Name of the software driver's package.
    pub fallback: String,
    /// `true` if the service may use the software driver's package.
    pub allow_fallback: bool,
}

impl Rules {
    /// Returns the packages for a device and programs of a class; an empty list if no rule matches.
    pub fn packages(&self, identity: &Identity, class: Class) -> Vec<String> {
        let rule = self.devices.iter().find(|rule| rule.matches(identity));
        let names = rule.into_iter().flat_map(|rule| &rule.packages);
        names.filter_map(|name| package_for(name, class)).collect()
    }

    /// Returns the package of the software driver for programs of a class, if the rules allow it.
    pub fn fallback(&self, class: Class) -> Option<String> {
        package_for(&self.fallback, class).filter(|_| self.allow_fallback)
    }
}

impl Default for Rules {
    /// Returns rules for the drivers of Mesa and NVIDIA, with the names that the packages of these projects have.
    fn default() -> Self {
        const TABLE: &[(&str, &[&str])] = &[
            ("amdgpu", &["radv", "amdvlk"]),
            ("i915", &["anv", "hasvk"]),
            ("xe", &["anv"]),
            ("nvidia", &["nvidia"]),
            ("nouveau", &["nvk"]),
            ("msm", &["turnip"]),
            ("v3d", &["v3dv"]),
            ("panthor", &["panvk"]),
            ("panfrost", &["panvk"]),
            ("asahi", &["honeykrisp"]),
            ("virtio_gpu", &["venus", "gfxstream"]),
        ];
        let rule = |(driver, packages): &(&str, &[&str])| Rule {
            driver: Some((*driver).to_owned()),
            packages: packages.iter().map(|name| (*name).to_owned()).collect(),
            ..Rule::default()
        };
        Self {
            devices: TABLE.iter().map(rule).collect(),
            fallback: "lavapipe".to_owned(),
            allow_fallback: true,
        }
    }
}

/// A PCI ID as a text, for example `0x1002`.
mod id {
    use super::*;

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u16>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let number = text.strip_prefix("0x").map(|digits| u16::from_str_radix(digits, 16));
        match number {
            Some(Ok(number)) => Ok(Some(number)),
            _ => Err(D::Error::custom(format_args!(
                "{text:?} is not a number like \"0x1002\""
            ))),
        }
    }

    pub(super) fn serialize<S: Serializer>(number: &Option<u16>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("0x{:04x}", number.unwrap_or_default()))
    }
}

/// Reads the list of a device's packages. Skips an invalid name with a warning (LSV-26).
fn packages<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let mut names = Vec::new();
    for value in Vec::<Value>::deserialize(deserializer)? {
        match value.as_str().filter(|name| is_name(name)) {
            Some(name) => names.push(name.to_owned()),
            None => warn!("invalid name of a package, which is skipped: {value}"),
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_26_the_first_entry_that_matches_counts() {
        let rule = |driver: Option<&str>, vendor, device, package: &str| Rule {
            driver: driver.map(str::to_owned),
            vendor,
            device,
            packages: vec![package.to_owned()],
        };
        let rules = Rules {
            devices: vec![
                rule(Some("amdgpu"), Some(0x1002), Some(7), "special"),
                rule(Some("amdgpu"), Some(0x1002), None, "radv"),
                rule(None, Some(0x1002), None, "other"),
            ],
            ..Rules::default()
        };
        let packages = |driver: &str, vendor, device| {
            let identity = Identity {
                driver: driver.to_owned(),
                vendor,
                device,
            };
            rules.packages(&identity, Class::Bits64).join(" ")
        };
        assert_eq!(packages("amdgpu", Some(0x1002), Some(7)), "special");
        assert_eq!(packages("amdgpu", Some(0x1002), Some(8)), "radv");
        assert_eq!(packages("radeon", Some(0x1002), None), "other");
        assert_eq!(packages("amdgpu", None, None), "");
        assert_eq!(packages("", Some(0x8086), None), "");
    }
}
