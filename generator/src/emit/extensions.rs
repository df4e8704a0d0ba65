//! `extensions.rs`: rows for the enumerations and sets of extensions, and a row for each extension of the registry.

use super::file::File;
use crate::names::ident;
use crate::plan::Plan;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use vk_registry::model::{Extension, ExtensionKind};

pub(super) fn file(plan: &Plan<'_>) -> File {
    let instance = plan.extensions.instance.iter().map(|extension| {
        let (name, version) = (ident(&extension.name), Literal::u32_unsuffixed(extension.spec_version));
        let built_in = built_in(plan, extension);
        quote!(#name, #version, #built_in;)
    });
    let device = plan.extensions.device.iter().map(|extension| {
        let (name, version) = (ident(&extension.name), Literal::u32_unsuffixed(extension.spec_version));
        quote!(#name, #version, true;)
    });
    let all = plan.registry.extensions.values().map(row);
    File::rust("extensions.rs")
        .doc(
            "Extensions that the loader itself handles, for an instance and for a device: name, revision, and `true` if the \
             target\nbuilds the platform. The last list has all extensions: name, kind, revision, platform.",
        )
        .items(quote!(
            use crate::extension::{all_extensions, extension_kind};
        ))
        .rows(
            "extension_kind",
            std::iter::once(quote!(InstanceExtension, InstanceExtensionSet, u64;)).chain(instance),
        )
        .rows(
            "extension_kind",
            std::iter::once(quote!(DeviceExtension, DeviceExtensionSet, u32;)).chain(device),
        )
        .rows("all_extensions", all)
}

fn row(extension: &Extension) -> TokenStream {
    let (name, version) = (ident(&extension.name), Literal::u32_unsuffixed(extension.spec_version));
    let kind = match extension.kind {
        ExtensionKind::Instance => quote!(Instance),
        ExtensionKind::Device => quote!(Device),
    };
    let platform = extension
        .platform
        .as_deref()
        .map_or(quote!(None), |platform| quote!(Some(#platform)));
    quote!(#name, #kind, #version, #platform;)
}

/// Returns the condition under which a target builds the extension's platform. `provisional` is a degree of maturity, and not a platform
/// (GEN-54).
fn built_in(plan: &Plan<'_>, extension: &Extension) -> TokenStream {
    let Some(platform) = extension.platform.as_ref().filter(|word| *word != "provisional") else {
        return quote!(true);
    };
    let cfg = plan.policy.platforms.get(platform).and_then(|row| row.cfg.as_deref());
    let cfg: Option<TokenStream> = cfg.and_then(|cfg| cfg.parse().ok());
    cfg.map_or(quote!(false), |cfg| quote!(cfg!(#cfg)))
}
