//! Extensions and platforms.

/// Object on which an extension is enabled: an instance or a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExtensionKind {
    /// Extension that is enabled at instance creation.
    Instance,
    /// Extension that is enabled at device creation.
    Device,
}

/// Supported extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Name of the extension, for example `VK_KHR_surface`.
    pub name: String,
    /// The registry's extension number, from which enumerant values are computed.
    pub number: u32,
    /// Object on which the extension is enabled.
    pub kind: ExtensionKind,
    /// Platform word, or `None` if the extension is for all platforms.
    pub platform: Option<String>,
    /// `true` if the extension is provisional.
    pub provisional: bool,
    /// Value of the attribute `promotedto`.
    pub promoted_to: Option<String>,
    /// Value of the attribute `deprecatedby`. An empty text means that the extension is deprecated without a successor
    /// (GEN-37).
    pub deprecated_by: Option<String>,
    /// Value of the attribute `obsoletedby`.
    pub obsoleted_by: Option<String>,
    /// Text of `depends` for the whole extension.
    pub depends: Option<String>,
    /// Value of the `_SPEC_VERSION` enumerant.
    pub spec_version: u32,
}

/// Platform of the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// Name of the platform, for example `xcb`.
    pub name: String,
    /// Macro that guards the platform, for example `VK_USE_PLATFORM_XCB_KHR`.
    pub protect: String,
}
