//! Constants, base types, function pointers, opaque types and aliases.

use super::start::file;
use crate::emit::file::File;
use crate::emit::signature::doc;
use crate::names::ident;
use crate::plan::{Place, Plan};
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use vk_registry::model::{BaseType, CType, Constant};

pub(super) fn constants(plan: &Plan<'_>) -> File {
    let constants = plan.registry.constants.values().filter_map(constant);
    let header = plan.registry.header;
    let number = |number: u32| Literal::u32_unsuffixed(number);
    let (major, minor, patch) = (
        number(header.version.major),
        number(header.version.minor),
        number(header.patch),
    );
    let versions = plan.registry.core_versions.iter().map(|version| {
        let name = format_ident!("VK_API_VERSION_{}_{}", version.major, version.minor);
        let (major, minor) = (number(version.major), number(version.minor));
        quote!(pub const #name: u32 = ApiVersion::new(#major, #minor).0;)
    });
    File::rust("types/constants.rs")
        .doc("Constants.")
        .items(quote!(
            use discovery::version::ApiVersion;
        ))
        .items(quote!(#(#constants)*))
        .items(quote! {
            #[doc = " The header that this was generated from, packed."]
            pub const VK_HEADER_VERSION_COMPLETE: u32 = ApiVersion::new(#major, #minor).0 | #patch;
            #(#versions)*
        })
}

/// Returns a constant from its C text, which is a number with a suffix, or the complement of a number in parentheses.
fn constant(constant: &Constant) -> Option<TokenStream> {
    let name = ident(&constant.name);
    let text = constant.value.trim_start_matches('(').trim_end_matches(')');
    let (complement, digits) = match text.strip_prefix('~') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let number = digits.trim_end_matches(['U', 'L', 'F', 'f']);
    let ty = match constant.ty.as_str() {
        "uint32_t" => quote!(u32),
        "uint64_t" => quote!(u64),
        "float" => quote!(f32),
        _ => return None,
    };
    let value = if constant.ty == "float" {
        let value = Literal::f64_unsuffixed(number.parse().ok()?);
        quote!(#value)
    } else {
        let value = Literal::u64_unsuffixed(number.parse().ok()?);
        if complement { quote!(!#value) } else { quote!(#value) }
    };
    Some(quote!(pub const #name: #ty = #value;))
}

pub(super) fn base(plan: &Plan<'_>) -> File {
    let bases = plan.types.base_types.iter().filter_map(|name| {
        let base = &plan.registry.base_types[*name];
        let target = base.target.as_deref().filter(|_| !is_opaque(base))?;
        let (name, ty) = (ident(name), base_target(plan, target));
        Some(quote!(pub type #name = #ty;))
    });
    let by_value = plan.types.by_value.iter().filter_map(|name| {
        let rust: TokenStream = plan.policy.types.by_value.get(*name)?.rust.parse().ok()?;
        let name = ident(name);
        Some(quote!(pub type #name = #rust;))
    });
    file("base", "Base types, and platform types that occur by value.").items(quote!(#(#bases)* #(#by_value)*))
}

/// Returns `true` if a base type only declares that a structure of this name exists (GEN-44).
fn is_opaque(base: &BaseType) -> bool {
    base.target
        .as_ref()
        .is_none_or(|target| target.starts_with("struct ") && !target.contains('*'))
}

/// Returns the target of a base type: a plain C type, or a pointer to an opaque type.
fn base_target(plan: &Plan<'_>, target: &str) -> TokenStream {
    match target.parse::<CType>() {
        Ok(ty) if ty.pointers.is_empty() && !ty.is_struct_tag => plan.types.member(&ty, Place::Any),
        _ => quote!(*mut c_void),
    }
}

pub(super) fn function_pointers(plan: &Plan<'_>) -> File {
    let pointers = plan.types.function_pointers.iter().map(|name| {
        let pointer = &plan.registry.function_pointers[*name];
        let params = pointer.params.iter().map(|(name, ty)| {
            let (name, ty) = (ident(name), plan.types.param(ty, Place::Any));
            quote!(#name: #ty)
        });
        let returned = plan.types.returned(&pointer.return_type, Place::Any);
        let level = plan.types.is_generic(name).then(|| quote!(<L>));
        let (doc, name) = (doc(name), ident(name));
        quote! {
            #doc
            pub type #name #level = Option<unsafe extern "system" fn(#(#params),*) #returned>;
        }
    });
    file(
        "function_pointers",
        "Types of function pointers that structures and commands use.",
    )
    .items(quote!(#(#pointers)*))
}

pub(super) fn opaque(plan: &Plan<'_>) -> File {
    let forward = plan
        .types
        .base_types
        .iter()
        .filter(|name| is_opaque(&plan.registry.base_types[**name]));
    let mut names: Vec<&str> = plan.types.opaque.iter().chain(forward).copied().collect();
    names.sort_unstable();
    let types = names.into_iter().map(|name| {
        let name = ident(name);
        quote! {
            #[repr(C)]
            pub struct #name { _opaque: [u8; 0] }
        }
    });
    File::rust("types/opaque.rs")
        .doc("Types that the loader only points to.")
        .items(quote!(#(#types)*))
}

pub(super) fn aliases(plan: &Plan<'_>) -> File {
    let aliases = plan.types.aliases.iter().map(|name| {
        let target = ident(&plan.registry.type_aliases[*name]);
        let level = plan.types.is_generic(name).then(|| quote!(<L>));
        let name = ident(name);
        quote!(pub type #name #level = #target #level;)
    });
    let aliases: Vec<_> = aliases.collect();
    if aliases.is_empty() {
        File::rust("types/aliases.rs").doc("Other names of types; there are none.")
    } else {
        file("aliases", "Other names of types.").items(quote!(#(#aliases)*))
    }
}
