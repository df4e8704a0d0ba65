//! Selects the extensions for which enumerations and sets are emitted.

use super::problem::{Code, Problem, Problems};
use crate::policy::Policy;
use vk_registry::model::{Extension, ExtensionKind, Registry};

/// Extensions for which enumerations and sets are emitted.
pub struct ExtensionPlan<'a> {
    /// All instance extensions of the registry (GEN-67).
    pub instance: Vec<&'a Extension>,
    /// Device extensions that the policy lists.
    pub device: Vec<&'a Extension>,
}

/// Number of bits in a set of instance extensions.
const INSTANCE_LIMIT: usize = 64;
/// Number of bits in a set of device extensions.
const DEVICE_LIMIT: usize = 32;

impl<'a> ExtensionPlan<'a> {
    pub(super) fn new(registry: &'a Registry, policy: &'a Policy, problems: &mut Problems) -> Self {
        let is_instance = |extension: &&Extension| extension.kind == ExtensionKind::Instance;
        let instance: Vec<&Extension> = registry.extensions.values().filter(is_instance).collect();
        let mut device = Vec::new();
        for name in &policy.device_extensions {
            match registry.extensions.get(name) {
                Some(extension) if extension.kind == ExtensionKind::Device => device.push(extension),
                _ => {
                    let text = "device-extensions: there is no such device extension";
                    problems.push(Problem::new(Code::UnknownName, name, text));
                }
            }
        }
        device.sort_by(|a, b| a.name.cmp(&b.name));
        for (kind, count, limit) in [
            ("instance", instance.len(), INSTANCE_LIMIT),
            ("device", device.len(), DEVICE_LIMIT),
        ] {
            if count > limit {
                let text = format!("{count} extensions do not fit into a set of {limit} bits");
                problems.push(Problem::new(Code::Limit, kind, text));
            }
        }
        for row in &policy.exports.extensions {
            if !registry.extensions.contains_key(row) {
                problems.push(Problem::new(
                    Code::UnknownName,
                    row,
                    "exports: there is no such extension",
                ));
            }
        }
        let gates = policy.gates.iter().flat_map(|row| &row.extensions);
        for name in gates.chain(&policy.implemented_extensions) {
            if !instance.iter().any(|extension| &extension.name == name) {
                problems.push(Problem::new(
                    Code::UnknownName,
                    name,
                    "there is no such instance extension",
                ));
            }
        }
        for name in policy.treatments.iter().flat_map(|row| &row.needs) {
            if !instance.iter().chain(&device).any(|extension| &extension.name == name) {
                let text = "needs: neither an instance extension nor listed in device-extensions";
                problems.push(Problem::new(Code::UnknownName, name, text));
            }
        }
        Self { instance, device }
    }
}
