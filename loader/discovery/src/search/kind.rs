//! Differences between searches for drivers and for layers.

use crate::env::Variable;
use crate::journal::{LogBits, Subject};
use os::registry::List;

/// A kind of manifest. Each kind has its own places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestKind {
    /// Drivers.
    Driver,
    /// Layers that are active unless switched off.
    ImplicitLayer,
    /// Layers that something must ask for.
    ExplicitLayer,
}

/// The row of a kind.
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

    /// Returns the journal's subject for manifests of this kind.
    pub fn subject(self) -> Subject {
        match self {
            Self::Driver => Subject::DriverManifest,
            Self::ImplicitLayer | Self::ExplicitLayer => Subject::LayerManifest,
        }
    }

    /// Name in log lines.
    pub fn label(self) -> &'static str {
        self.row().label
    }

    /// The folder of such manifests below a base folder.
    pub fn suffix(self) -> &'static str {
        self.row().suffix
    }

    /// The list of such manifests in a system's registry.
    pub fn registered(self) -> List {
        self.row().registered
    }

    /// Variables that replace all other places; the first one set counts (DRV-15, LAY-61).
    pub fn replacing(self) -> &'static [Variable] {
        self.row().replacing
    }

    /// The variable whose places come before all others.
    pub fn adding(self) -> Variable {
        self.row().adding
    }

    /// The category of log lines about it.
    pub fn category(self) -> LogBits {
        self.row().category
    }
}
