//! Extensions and platforms.

/// Object on which an extension is enabled: an instance or a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExtensionKind {
    /// Enabled at instance creation.
    Instance,
    /// Enabled at device creation.
    Device,
}

/// A supported extension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// Name, such as `VK_KHR_surface`.
    pub name: String,
    /// The registry's extension number, from which enumerant values are computed.
    pub number: u32,
    /// Instance or device.
    pub kind: ExtensionKind,
    /// Platform word, if the extension needs one.
    pub platform: Option<String>,
    /// `true` if the extension is provisional.
    pub provisional: bool,
    /// `promotedto`.
    pub promoted_to: Option<String>,
    /// `deprecatedby`; present and empty means deprecated without a successor (GEN-37).
    pub deprecated_by: Option<String>,
    /// `obsoletedby`.
    pub obsoleted_by: Option<String>,
    /// `depends` of the whole extension, as written.
    pub depends: Option<String>,
    /// Value of the `_SPEC_VERSION` enumerant.
    pub spec_version: u32,
}

/// A platform of the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    /// The word, such as `xcb`.
    pub name: String,
    /// The macro that guards it, such as `VK_USE_PLATFORM_XCB_KHR`.
    pub protect: String,
}
