//! Policies for opening drivers and keeping them open. All policies are off unless `VK_LOADER_DRIVER_POLICY` or the settings file turns
//! them on.

use super::Settings;
use crate::env::{Environment, Variable};
use core::sync::atomic::{AtomicU32, Ordering};

/// The policies in the value of `VK_LOADER_DRIVER_POLICY` when the library was loaded; [`UNSET`] if the variable was not set.
static ASKED: AtomicU32 = AtomicU32::new(UNSET);
/// Value of [`ASKED`] if the variable was not set.
const UNSET: u32 = u32::MAX;

/// A set of enabled policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DriverPolicies(u8);

impl DriverPolicies {
    /// Opens software drivers only if no other driver is known to have a device.
    pub const SOFTWARE_LAST: Self = Self(1);
    /// Does not open a driver while the kernel has suspended all known devices of the driver, if other drivers have devices.
    pub const NO_WAKE: Self = Self(2);
    /// Keeps the libraries of drivers open after the last instance is destroyed.
    pub const KEEP_OPEN: Self = Self(4);
    /// Does not open a driver whose devices are recorded until a program needs more than the record.
    pub const LAZY: Self = Self(8);
    /// Has the effect of [`Self::LAZY`], but only for drivers whose devices are all suspended.
    pub const LAZY_ASLEEP: Self = Self(16);

    /// Each policy with its name.
    pub const NAMES: [(Self, &str); 5] = [
        (Self::SOFTWARE_LAST, "software-last"),
        (Self::NO_WAKE, "no-wake"),
        (Self::KEEP_OPEN, "keep-open"),
        (Self::LAZY, "lazy"),
        (Self::LAZY_ASLEEP, "lazy-asleep"),
    ];

    /// Enables the policies that `VK_LOADER_DRIVER_POLICY` names.
    pub fn read(environment: &Environment<'_>) {
        let mut all = Self::default();
        let set = environment.each_item(Variable::DriverPolicy, |word| all = all.with(word));
        if set.is_some() {
            ASKED.store(all.0.into(), Ordering::Relaxed);
        }
    }

    /// Returns the enabled policies. If `VK_LOADER_DRIVER_POLICY` is set, it overrides the settings file.
    pub fn in_force(settings: Option<&Settings>) -> Self {
        match u8::try_from(ASKED.load(Ordering::Relaxed)) {
            Ok(mask) => Self(mask),
            Err(_) => settings.map_or(Self::default(), |settings| settings.driver_policies),
        }
    }

    /// Returns the set with the policy called `word` added. A word that is not a policy has no effect.
    pub fn with(self, word: &[u8]) -> Self {
        let known = Self::NAMES.iter().find(|(_, name)| name.as_bytes() == word);
        Self(self.0 | known.map_or(0, |(policy, _)| policy.0))
    }

    /// Returns the set without the policies that leave drivers out or closed. Only [`Self::KEEP_OPEN`] can remain.
    pub fn without_choices(self) -> Self {
        Self(self.0 & Self::KEEP_OPEN.0)
    }

    /// Returns `true` if all policies in `policy` are on.
    pub fn has(self, policy: Self) -> bool {
        self.0 & policy.0 == policy.0
    }

    /// Returns `true` if all policies are off.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the names of the policies that are on.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES
            .into_iter()
            .filter_map(move |(policy, name)| self.has(policy).then_some(name))
    }
}
