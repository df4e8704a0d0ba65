//! The sections of a command's page that follow the options: exit status, environment, files, examples.

/// Names of pages, each with its sections after the options.
const TABLE: [(&str, &str); 15] = [
    ("vkloader", include_str!("../sections/vkloader.roff")),
    ("vkloader-explain", include_str!("../sections/vkloader-explain.roff")),
    ("vkloader-devices", include_str!("../sections/vkloader-devices.roff")),
    ("vkloader-layers", include_str!("../sections/vkloader-layers.roff")),
    ("vkloader-run", include_str!("../sections/vkloader-run.roff")),
    ("vkloader-files", include_str!("../sections/vkloader-files.roff")),
    ("vkloader-service", include_str!("../sections/vkloader-service.roff")),
    (
        "vkloader-catalogue",
        include_str!("../sections/vkloader-catalogue.roff"),
    ),
    (
        "vkloader-catalogue-update",
        include_str!("../sections/vkloader-catalogue-update.roff"),
    ),
    (
        "vkloader-catalogue-show",
        include_str!("../sections/vkloader-catalogue-show.roff"),
    ),
    (
        "vkloader-catalogue-verify",
        include_str!("../sections/vkloader-catalogue-verify.roff"),
    ),
    (
        "vkloader-catalogue-clear",
        include_str!("../sections/vkloader-catalogue-clear.roff"),
    ),
    ("vk-loader-service", include_str!("../sections/vk-loader-service.roff")),
    (
        "vk-loader-service-package",
        include_str!("../sections/vk-loader-service-package.roff"),
    ),
    (
        "vk-loader-service-packages",
        include_str!("../sections/vk-loader-service-packages.roff"),
    ),
];

/// Returns the sections of a page; `None` if the table does not contain the page.
pub(crate) fn of(page: &str) -> Option<&'static str> {
    TABLE.iter().find(|(name, _)| *name == page).map(|(_, text)| *text)
}

/// Returns the number of the manual's section for a program or one of its commands. Section 8 is for programs that administrators run.
pub(crate) fn number(name: &str) -> &'static str {
    if name.starts_with("vk-loader-service") {
        "8"
    } else {
        "1"
    }
}
