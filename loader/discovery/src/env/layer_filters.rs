//! The three variables that filter layers by name, which are read together (LAY-120 to LAY-124).

use super::glob::{DisableGlobs, Globs, Item};
use super::{Environment, Variable};
use crate::text::Text;

/// Values of `VK_LOADER_LAYERS_ENABLE`, `VK_LOADER_LAYERS_DISABLE` and `VK_LOADER_LAYERS_ALLOW` at the time of the call.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LayerFilters {
    enable: Globs,
    disable: DisableGlobs,
    allow: Globs,
}

impl LayerFilters {
    /// Reads the three variables that filter layers by name.
    pub fn read(environment: &Environment<'_>) -> Self {
        let value = |variable| environment.get(variable).unwrap_or_default();
        Self {
            enable: Globs::parse(&value(Variable::LayersEnable)),
            disable: DisableGlobs::parse(&value(Variable::LayersDisable)),
            allow: Globs::parse(&value(Variable::LayersAllow)),
        }
    }

    /// Returns the variables that had more patterns than the limit.
    pub fn truncated(&self) -> impl Iterator<Item = Variable> {
        let each = [
            (&self.enable, Variable::LayersEnable),
            (&self.disable.names, Variable::LayersDisable),
            (&self.allow, Variable::LayersAllow),
        ];
        each.into_iter()
            .filter(|(globs, _)| globs.truncated)
            .map(|(_, variable)| variable)
    }

    /// Returns `true` if a filter enables the layer (condition E of LAY-123).
    pub fn enables(&self, name: &[u8]) -> bool {
        self.enable.matches(name)
    }

    /// Returns `true` if the layer or its whole kind is disabled, and nothing allows the layer (condition D of LAY-123).
    pub fn disables(&self, name: &[u8], implicit: bool) -> bool {
        self.disable.matching(name, implicit).is_some() && !self.allow.matches(name)
    }

    /// Returns the pattern or word that makes [`Self::disables`] return `true`.
    pub fn disabling(&self, name: &[u8], implicit: bool) -> Text {
        self.disable
            .matching(name, implicit)
            .map(Item::text)
            .unwrap_or_default()
    }

    /// Runs test (3) of LAY-154, for the layers of a settings file. The word for implicit layers matches layers of both kinds, and the word
    /// for explicit layers matches no layer (LAY-155).
    pub fn disables_in_settings(&self, name: &[u8]) -> bool {
        self.disables(name, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Fixed;

    fn filters(enable: &str, disable: &str, allow: &str) -> LayerFilters {
        let source = Fixed::new(&[
            ("VK_LOADER_LAYERS_ENABLE", enable),
            ("VK_LOADER_LAYERS_DISABLE", disable),
            ("VK_LOADER_LAYERS_ALLOW", allow),
        ]);
        LayerFilters::read(&Environment::new(&source))
    }

    #[test]
    fn lay_123_lay_124_disable_enable_allow() {
        // Columns: the disable filter, the allow filter, `true` for an implicit layer, the expected result of `disables`.
        let cases = [
            ("", "", true, false),
            ("~all~", "", true, true),
            ("~all~", "VK_*", true, false),
            ("~implicit~", "", true, true),
            ("~implicit~", "", false, false),
            ("~explicit~", "", false, true),
            ("*layer_a", "", true, true),
            ("*layer_b", "", true, false),
            ("*LAYER_A", "*a", true, false),
        ];
        for (disable, allow, implicit, expected) in cases {
            assert_eq!(
                filters("", disable, allow).disables(b"VK_LAYER_a", implicit),
                expected,
                "{disable} {allow}"
            );
        }
        for (disable, implicit, told) in [
            ("~ALL~", true, "*"),
            ("~Implicit~,x", true, "~implicit~"),
            ("~implicit~,*_A", false, "*_A"),
            ("~explicit~,*", false, "*"),
            ("VK_LAYER_*,~explicit~", false, "~explicit~"),
        ] {
            assert_eq!(
                filters("", disable, "").disabling(b"VK_LAYER_a", implicit),
                told,
                "{disable}"
            );
        }
        assert!(filters("vk_layer_*", "", "").enables(b"VK_LAYER_a"));
        assert!(!filters("", "", "*").enables(b"VK_LAYER_a"));
    }

    #[test]
    fn lay_155_kind_words_in_settings_mode() {
        assert!(filters("", "~implicit~", "").disables_in_settings(b"x"));
        assert!(!filters("", "~explicit~", "").disables_in_settings(b"x"));
    }

    #[test]
    fn lay_67_filters_are_ignored_when_elevated() {
        let source = Fixed::new(&[("VK_LOADER_LAYERS_DISABLE", "*")]).elevated();
        assert_eq!(LayerFilters::read(&Environment::new(&source)), LayerFilters::default());
    }
}
