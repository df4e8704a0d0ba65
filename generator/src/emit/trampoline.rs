//! `trampoline/`: what the application calls.

use super::file::File;
use super::signature::{arguments, doc, lowered_arguments, params, returned};
use crate::names::{body, ident};
use crate::plan::{CommandPlan, Export, Place, Plan};
use crate::policy::Entry;
use heck::ToSnakeCase;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::BTreeMap;
use vk_registry::model::{Level, Param};

/// Commands by the module they are emitted into: one for each kind of first parameter.
pub(super) fn by_first_parameter<'p, 'a>(
    commands: impl Iterator<Item = &'p CommandPlan<'a>>,
) -> BTreeMap<String, Vec<&'p CommandPlan<'a>>>
where
    'a: 'p,
{
    let mut groups: BTreeMap<String, Vec<&CommandPlan<'_>>> = BTreeMap::new();
    for command in commands {
        let handle = command
            .command
            .first_handle
            .as_deref()
            .filter(|_| command.command.level != Level::Global);
        let module = handle.map_or("global".to_owned(), |handle| {
            handle.trim_start_matches("Vk").to_snake_case()
        });
        groups.entry(module).or_default().push(command);
    }
    groups
}

pub(super) fn files(plan: &Plan<'_>) -> Vec<File> {
    let groups = by_first_parameter(plan.commands.iter().filter(|command| command.entry != Entry::Shared));
    let modules: Vec<Ident> = groups.keys().map(|module| ident(module)).collect();
    let mut files = vec![
        File::rust(plan, "trampoline/mod.rs")
            .doc("The functions that the application calls, by first parameter.")
            .items(quote!(#(mod #modules;)*))
            .items(quote!(#(pub use #modules::*;)*)),
    ];
    for (module, commands) in &groups {
        let functions = commands.iter().map(|command| function(plan, command));
        files.push(
            File::rust(plan, &format!("trampoline/{module}.rs"))
                .doc(&format!(
                    "Trampolines of commands whose first parameter is {}.",
                    described(module)
                ))
                .items(uses(plan, commands))
                .items(quote!(#(#functions)*)),
        );
    }
    files
}

/// How a module's first parameter is called in prose.
pub(super) fn described(module: &str) -> String {
    match module {
        "global" => "no dispatchable object".to_owned(),
        module => format!("a {}", module.replace('_', " "))
            .replace("a instance", "an instance")
            .replace("a ext", "an ext"),
    }
}

fn uses(plan: &Plan<'_>, commands: &[&CommandPlan<'_>]) -> TokenStream {
    let any = |wanted: fn(&CommandPlan<'_>) -> bool| commands.iter().any(|command| wanted(command));
    let app = any(|command| command.generic).then(|| {
        quote!(
            use crate::handle::App;
        )
    });
    let is_checked = commands
        .iter()
        .any(|command| command.entry != Entry::Handwritten && !is_forwarded(plan, command));
    let checked = is_checked.then(|| {
        quote! {
            use crate::translation;
        }
    });
    let row = is_checked.then(|| {
        quote!(
            use super::super::lookup::row;
        )
    });
    let forwarded = |level| {
        let of_level = |command: &&CommandPlan<'_>| command.command.level == level && is_forwarded(plan, command);
        commands.iter().copied().any(|command| of_level(&command))
    };
    let device = forwarded(Level::Device).then(|| {
        quote!(
            use crate::forward::forward;
        )
    });
    let physical_device = forwarded(Level::PhysicalDevice).then(|| {
        quote!(
            use crate::forward::forward_of_physical_device;
        )
    });
    quote! {
        #row
        use super::super::types::*;
        #device
        #physical_device
        #app
        #checked
    }
}

fn function(plan: &Plan<'_>, command: &CommandPlan<'_>) -> TokenStream {
    let name = ident(&command.command.name);
    let doc = doc(&command.command.name);
    let export = export(&command.export);
    let params = params(plan, command, Place::App);
    let returned = returned(plan, command, Place::App);
    let body = match command.entry {
        Entry::Handwritten => handwritten(command),
        Entry::OutputHandles => output_handles(plan, command),
        Entry::Generated | Entry::Shared if is_forwarded(plan, command) => forward(command),
        Entry::Generated | Entry::Shared => check(command, call(plan, command)),
    };
    let naked = is_forwarded(plan, command).then(|| quote!(#[cfg_attr(target_arch = "x86_64", unsafe(naked))]));
    quote! {
        #doc
        #naked
        #export
        pub unsafe extern "system" fn #name(#(#params),*) #returned { #body }
    }
}

fn export(export: &Export<'_>) -> TokenStream {
    match export {
        Export::No => TokenStream::new(),
        Export::Everywhere => quote!(#[unsafe(no_mangle)]),
        Export::Where(cfg, _) => {
            let cfg: TokenStream = cfg.parse().unwrap_or_default();
            quote!(#[cfg_attr(#cfg, unsafe(no_mangle))])
        }
    }
}

fn handwritten(command: &CommandPlan<'_>) -> TokenStream {
    let (body, arguments) = (body(&command.command.name), arguments(command));
    quote!(unsafe { crate::entry::#body(#(#arguments),*) })
}

/// The check of the first parameter, and what it gives.
fn check(command: &CommandPlan<'_>, found: TokenStream) -> TokenStream {
    let name = ident(&command.command.name);
    let handle = ident(first_parameter(command));
    let (translation, pattern) = match command.command.level {
        Level::Instance => (quote!(instance), quote!((table, #handle))),
        Level::PhysicalDevice => (quote!(physical_device), quote!((table, #handle))),
        Level::Global | Level::Device => (quote!(device_table), quote!(table)),
    };
    quote! {
        match unsafe { translation::#translation(#handle) } {
            Some(#pattern) => unsafe { #found },
            None => translation::reject(row::#name),
        }
    }
}

pub(super) fn first_parameter<'c>(command: &'c CommandPlan<'_>) -> &'c str {
    command.command.params.first().map_or("", |param| &param.name)
}

/// Whether a trampoline only jumps on: the handle's table is all that it looks at.
fn is_forwarded(plan: &Plan<'_>, command: &CommandPlan<'_>) -> bool {
    let as_they_are = || {
        let (given, lowered) = (arguments(command), lowered_arguments(plan, command));
        given
            .iter()
            .map(TokenStream::to_string)
            .eq(lowered.iter().map(TokenStream::to_string))
    };
    matches!(command.entry, Entry::Generated | Entry::Shared)
        && matches!(command.command.level, Level::Device | Level::PhysicalDevice)
        && as_they_are()
}

fn forward(command: &CommandPlan<'_>) -> TokenStream {
    let (name, arguments) = (ident(&command.command.name), arguments(command));
    match command.command.level {
        Level::PhysicalDevice => quote!(forward_of_physical_device! { #name(#(#arguments),*) }),
        _ => quote!(forward! { #name(#(#arguments),*) }),
    }
}

fn call(plan: &Plan<'_>, command: &CommandPlan<'_>) -> TokenStream {
    let name = ident(&command.command.name);
    let arguments = lowered_arguments(plan, command);
    quote!((*table.#name)(#(#arguments),*))
}

/// After the call the returned objects get the dispatch pointer of their device (DRV-201).
fn output_handles(plan: &Plan<'_>, command: &CommandPlan<'_>) -> TokenStream {
    let call = call(plan, command);
    let output = command.command.params.iter().find(|param| is_output(plan, param));
    let Some(output) = output else {
        return check(command, call);
    };
    let pointer = ident(&output.name);
    // Without a length it is one object.
    let count = output.len.as_deref().map_or(quote!(1), count);
    let adopt = quote!(translation::adopt_all(table, #pointer, #count););
    if command.command.return_type == "VkResult" {
        check(
            command,
            quote! {
                let result = #call;
                if result == VkResult::VK_SUCCESS { #adopt }
                result
            },
        )
    } else {
        check(command, quote! { #call; #adopt })
    }
}

fn is_output(plan: &Plan<'_>, param: &Param) -> bool {
    let dispatchable = plan
        .registry
        .handles
        .get(&param.ty.base)
        .is_some_and(|handle| handle.dispatchable);
    dispatchable && param.ty.pointers.first() == Some(&false)
}

/// `len` as an expression: a sibling parameter or a member of one (GEN-48).
fn count(len: &str) -> TokenStream {
    match len.split_once("->") {
        Some((param, member)) => {
            let (param, member) = (ident(param), ident(member));
            quote!((*#param).#member)
        }
        None => {
            let param = ident(len);
            quote!(#param)
        }
    }
}
