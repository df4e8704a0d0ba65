//! Widely used layers whose order matters. `vkloader layers` warns if a chain has these layers in a bad order.
//!
//! The library does not use these tables.

/// Purpose of a layer, which decides the layer's place in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reports wrong use of the API.
    Validation,
    /// Records calls, for people or for a replay.
    Recorder,
    /// Implements an extension that a driver lacks, or hides an extension that the driver has.
    Emulation,
    /// Limits the number of frames.
    Limiter,
    /// Draws on the frames of the program.
    Overlay,
    /// Changes the image of a frame.
    PostProcessing,
    /// Adds frames between the frames of the program.
    FrameGeneration,
    /// Copies frames into a file or to another program.
    Capture,
}

impl Kind {
    /// Returns a short description of the purpose.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::Recorder => "recorder of calls",
            Self::Emulation => "emulation",
            Self::Limiter => "frame limiter",
            Self::Overlay => "overlay",
            Self::PostProcessing => "post-processing",
            Self::FrameGeneration => "frame generation",
            Self::Capture => "capture of frames",
        }
    }
}

/// A widely used layer.
#[derive(Clone, Copy, Debug)]
pub struct Layer {
    /// Name of the layer. `*` at the end stands for any text.
    pub name: &'static str,
    /// Purpose of the layer.
    pub kind: Kind,
}

impl Layer {
    /// Returns `true` if the entry describes the layer of this name.
    pub fn is(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == self.name,
        }
    }
}

/// A rule for two kinds of layers: one kind belongs above the other, which means nearer to the application.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The kind that belongs above.
    pub above: Kind,
    /// The kind that belongs below.
    pub below: Kind,
    /// The disadvantage of the opposite order, as a sentence.
    pub reason: &'static str,
    /// Origin of the rule.
    pub source: &'static str,
}

/// Widely used layers and their purposes.
pub const LAYERS: &[Layer] = &[
    layer("VK_LAYER_KHRONOS_validation", Kind::Validation),
    layer("VK_LAYER_LUNARG_api_dump", Kind::Recorder),
    layer("VK_LAYER_LUNARG_gfxreconstruct", Kind::Recorder),
    layer("VK_LAYER_RENDERDOC_Capture", Kind::Recorder),
    layer("VK_LAYER_KHRONOS_profiles", Kind::Emulation),
    layer("VK_LAYER_KHRONOS_shader_object", Kind::Emulation),
    layer("VK_LAYER_KHRONOS_synchronization2", Kind::Emulation),
    layer("VK_LAYER_KHRONOS_timeline_semaphore", Kind::Emulation),
    layer("VK_LAYER_MESA_anti_lag", Kind::Emulation),
    layer("VK_LAYER_TORKEL104_libstrangle*", Kind::Limiter),
    layer("VK_LAYER_MANGOHUD_overlay*", Kind::Overlay),
    layer("VK_LAYER_MESA_overlay", Kind::Overlay),
    layer("VK_LAYER_VALVE_steam_overlay*", Kind::Overlay),
    layer("VK_LAYER_EOS_Overlay*", Kind::Overlay),
    layer("VK_LAYER_RTSS*", Kind::Overlay),
    layer("VK_LAYER_VKBASALT_post_processing*", Kind::PostProcessing),
    layer("VK_LAYER_reshade*", Kind::PostProcessing),
    layer("VK_LAYER_LS_frame_generation*", Kind::FrameGeneration),
    layer("VK_LAYER_LSFGVK_frame_generation*", Kind::FrameGeneration),
    layer("VK_LAYER_OBS*", Kind::Capture),
    layer("VK_LAYER_LUNARG_screenshot", Kind::Capture),
    layer("VK_LAYER_MESA_screenshot", Kind::Capture),
];

/// Rules for the order of layers.
pub const RULES: &[Rule] = &[
    Rule {
        above: Kind::Validation,
        below: Kind::Recorder,
        reason: "Validation reports calls that the recorder makes as calls of the program.",
        source: PASSING,
    },
    Rule {
        above: Kind::Validation,
        below: Kind::Emulation,
        reason: "Validation does not see what the emulation offers and hides, and checks calls that the emulation replaced.",
        source: PASSING,
    },
    Rule {
        above: Kind::Validation,
        below: Kind::Overlay,
        reason: "Validation reports calls of the overlay as calls of the program.",
        source: PASSING,
    },
    Rule {
        above: Kind::Validation,
        below: Kind::PostProcessing,
        reason: "Validation reports calls of the post-processing as calls of the program.",
        source: PASSING,
    },
    Rule {
        above: Kind::Validation,
        below: Kind::FrameGeneration,
        reason: "Validation reports calls of the frame generation as calls of the program.",
        source: PASSING,
    },
    Rule {
        above: Kind::Validation,
        below: Kind::Capture,
        reason: "Validation reports calls of the capture as calls of the program.",
        source: PASSING,
    },
    Rule {
        above: Kind::Recorder,
        below: Kind::Overlay,
        reason: "The record contains the calls of the overlay.",
        source: PASSING,
    },
    Rule {
        above: Kind::Recorder,
        below: Kind::PostProcessing,
        reason: "The record contains the calls of the post-processing.",
        source: PASSING,
    },
    Rule {
        above: Kind::Limiter,
        below: Kind::FrameGeneration,
        reason: "The limit counts generated frames as frames of the program.",
        source: PASSING,
    },
    Rule {
        above: Kind::PostProcessing,
        below: Kind::Overlay,
        reason: "The effects also change the text of the overlay.",
        source: "pictures of vkcube with both orders",
    },
    Rule {
        above: Kind::Overlay,
        below: Kind::FrameGeneration,
        reason: "The overlay counts generated frames as frames of the program.",
        source: PASSING,
    },
    Rule {
        above: Kind::Overlay,
        below: Kind::Capture,
        reason: "The captured frames lack the overlay.",
        source: PASSING,
    },
    Rule {
        above: Kind::PostProcessing,
        below: Kind::Capture,
        reason: "The captured frames lack the effects.",
        source: PASSING,
    },
];

/// Source of a rule that follows from how layers work.
const PASSING: &str = "commands pass from the application down";

const fn layer(name: &'static str, kind: Kind) -> Layer {
    Layer { name, kind }
}

/// Returns the purpose of a layer, if the table has it.
pub fn kind_of(name: &str) -> Option<Kind> {
    LAYERS.iter().find(|layer| layer.is(name)).map(|layer| layer.kind)
}

/// Returns the rule that two layers break if the first is above the second.
pub fn broken(above: &str, below: &str) -> Option<&'static Rule> {
    let (above, below) = (kind_of(above)?, kind_of(below)?);
    RULES.iter().find(|rule| rule.above == below && rule.below == above)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `true` if at most `steps` rules lead from one kind down to another.
    fn leads(from: Kind, to: Kind, steps: usize) -> bool {
        let mut next = RULES.iter().filter(|rule| rule.above == from);
        steps > 0 && next.any(|rule| rule.below == to || leads(rule.below, to, steps - 1))
    }

    #[test]
    fn no_rules_contradict_each_other() {
        for rule in RULES {
            assert!(!leads(rule.below, rule.above, RULES.len()), "{rule:?}");
        }
    }

    #[test]
    fn every_kind_has_a_layer_and_a_rule() {
        for layer in LAYERS {
            let kind = layer.kind;
            assert!(
                RULES.iter().any(|rule| rule.above == kind || rule.below == kind),
                "{kind:?}"
            );
        }
        for rule in RULES {
            assert!(rule.reason.ends_with('.') && !rule.source.is_empty());
            for kind in [rule.above, rule.below] {
                assert!(LAYERS.iter().any(|layer| layer.kind == kind), "{kind:?}");
            }
        }
    }

    #[test]
    fn names_with_a_star_are_beginnings() {
        assert_eq!(kind_of("VK_LAYER_MANGOHUD_overlay_x86"), Some(Kind::Overlay));
        assert_eq!(kind_of("VK_LAYER_MESA_overlay2"), None);
        assert!(broken("VK_LAYER_MESA_overlay", "VK_LAYER_KHRONOS_validation").is_some());
        assert!(broken("VK_LAYER_KHRONOS_validation", "VK_LAYER_MESA_overlay").is_none());
        assert!(broken("VK_LAYER_MESA_overlay", "VK_LAYER_other").is_none());
    }
}
