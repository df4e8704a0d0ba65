//! The properties in which searches for drivers and for layers differ.

use crate::env::Variable;
use crate::journal::{LogBits, Subject};
use os::registry::List;

/// A kind of manifest. Each kind is searched in separate places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestKind {
    /// Manifests of drivers.
    Driver,
    /// Manifests of layers that are active unless they are switched off.
    ImplicitLayer,
    /// Manifests of layers that are active only on request.
    ExplicitLayer,
}

/// Properties of a kind of manifest.
struct Row {
    label: &'static str,
    suffix: &'static str,
    registered: List,
    replacing: &'static [Variable],
    adding: Variable,
    category: LogBits,
}

impl ManifestKind {
    fn row(self) -> Row {
        match self {
            Self::Driver => Row {
                label: "driver",
                suffix: "vulkan/icd.d",
                registered: List::Drivers,
                replacing: &[Variable::DriverFiles, Variable::IcdFilenames],
                adding: Variable::AddDriverFiles,
                category: LogBits::DRIVER,
            },
            Self::ImplicitLayer => Row {
                label: "implicit layer",
                suffix: "vulkan/implicit_layer.d",
                registered: List::ImplicitLayers,
                replacing: &[Variable::ImplicitLayerPath],
                adding: Variable::AddImplicitLayerPath,
                category: LogBits::LAYER,
            },
            Self::ExplicitLayer => Row {
                label: "explicit layer",
                suffix: "vulkan/explicit_layer.d",
                registered: List::ExplicitLayers,
                replacing: &[Variable::LayerPath],
                adding: Variable::AddLayerPath,
                category: LogBits::LAYER,
            },
        }
    }

    /// Returns the subject of journal entries about manifests of this kind.
    pub fn subject(self) -> Subject {
        match self {
            Self::Driver => Subject::DriverManifest,
            Self::ImplicitLayer | Self::ExplicitLayer => Subject::LayerManifest,
        }
    }

    /// Returns the name by which log lines refer to this kind.
    pub fn label(self) -> &'static str {
        self.row().label
    }

    /// Returns the subfolder of a base folder for manifests of this kind.
    pub fn suffix(self) -> &'static str {
        self.row().suffix
    }

    /// Returns the list of manifests of this kind in the system's registry.
    pub fn registered(self) -> List {
        self.row().registered
    }

    /// Returns the variables that replace all other places. The first variable that is set takes precedence (DRV-15, LAY-61).
    pub fn replacing(self) -> &'static [Variable] {
        self.row().replacing
    }

    /// Returns the variable whose places precede all others.
    pub fn adding(self) -> Variable {
        self.row().adding
    }

    /// Returns the category of log lines about manifests of this kind.
    pub fn category(self) -> LogBits {
        self.row().category
    }
}
