//! `trampoline/`: the functions that applications call.

use super::file::File;
use super::signature::{arguments, doc, lowered_arguments, params, returned};
use crate::names::{body, ident};
use crate::plan::{CommandPlan, Export, Place, Plan};
use crate::policy::{Entry, ExportList};
use heck::ToSnakeCase;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};
use vk_registry::model::Level;

/// Returns the commands by output module. Each kind of first parameter has a module.
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
        File::rust("trampoline/mod.rs")
            .doc("The functions that the application calls, by first parameter.")
            .items(quote!(#(mod #modules;)*))
            .items(quote!(#(pub use #modules::*;)*)),
    ];
    for (module, commands) in &groups {
        let functions = commands.iter().map(|command| function(plan, command));
        files.push(
            File::rust(&format!("trampoline/{module}.rs"))
                .doc(&format!(
                    "Trampolines of commands whose first parameter is {}.",
                    described(module)
                ))
                .items(uses(commands))
                .items(quote!(#(#functions)*)),
        );
    }
    files
}

/// Returns words for doc comments that describe the first parameter of a module's commands.
pub(super) fn described(module: &str) -> String {
    match module {
        "global" => "not a dispatchable object".to_owned(),
        module => format!("a {}", module.replace('_', " "))
            .replace("a instance", "an instance")
            .replace("a ext", "an ext"),
    }
}

fn uses(commands: &[&CommandPlan<'_>]) -> TokenStream {
    let any = |wanted: fn(&CommandPlan<'_>) -> bool| commands.iter().any(|command| wanted(command));
    let app = any(|command| command.generic).then(|| {
        quote!(
            use crate::handle::App;
        )
    });
    // Imports the macros that expand to the bodies.
    let bodies: BTreeSet<Ident> = commands.iter().copied().filter_map(body_macro).collect();
    let bodies = bodies.into_iter();
    quote! {
        use super::super::types::*;
        #(use crate::forward::#bodies;)*
        #app
    }
}

fn function(plan: &Plan<'_>, command: &CommandPlan<'_>) -> TokenStream {
    let name = ident(&command.command.name);
    let doc = doc(&command.command.name);
    let export = export(command);
    let params = params(plan, command, Place::App);
    let returned = returned(plan, command, Place::App);
    let body = match command.entry {
        Entry::Handwritten => handwritten(command),
        Entry::OutputHandles | Entry::Generated | Entry::Shared => passed_on(plan, command),
    };
    let naked = is_jump(command).then(|| {
        quote! {
            #[cfg_attr(any(target_arch = "x86", target_arch = "x86_64"), unsafe(naked))]
            #[cfg_attr(vkl_one_frame, unsafe(link_section = ".text.vkl_jumps"))]
        }
    });
    quote! {
        #doc
        #naked
        #export
        pub unsafe extern "system" fn #name(#(#params),*) #returned { #body }
    }
}

/// Returns the attribute that exports a function under its own name. A library that passes its calls to the
/// system's library exports the jumps in `exports/aside.rs` under these names instead, on Linux.
fn export(command: &CommandPlan<'_>) -> TokenStream {
    let cfg: Option<TokenStream> = match &command.export {
        Export::No => return TokenStream::new(),
        Export::Everywhere => None,
        Export::Where(cfg, _) => Some(cfg.parse().unwrap_or_default()),
    };
    let stays = command.is_in(ExportList::Linux).then(|| quote!(not(vkl_steps_aside)));
    let condition = match (stays, cfg) {
        (Some(stays), Some(cfg)) => quote!(all(#stays, #cfg)),
        (stays, cfg) => stays.or(cfg).unwrap_or_default(),
    };
    quote!(#[cfg_attr(#condition, unsafe(no_mangle))])
}

fn handwritten(command: &CommandPlan<'_>) -> TokenStream {
    let (body, arguments) = (body(&command.command.name), arguments(command));
    quote!(unsafe { crate::entry::#body(#(#arguments),*) })
}

/// Returns the loader's macro that expands to the body of a trampoline, or `None` if the body is hand-written.
fn body_macro(command: &CommandPlan<'_>) -> Option<Ident> {
    let name = match (command.entry, command.command.level) {
        (Entry::Handwritten, _) => return None,
        (Entry::OutputHandles, _) => "forward_and_adopt",
        (Entry::Generated | Entry::Shared, Level::Instance) => "forward_of_instance",
        (Entry::Generated | Entry::Shared, Level::PhysicalDevice) => "forward_of_physical_device",
        (Entry::Generated | Entry::Shared, Level::Global | Level::Device) => "forward",
    };
    Some(ident(name))
}

pub(super) fn first_parameter<'c>(command: &'c CommandPlan<'_>) -> &'c str {
    command.command.params.first().map_or("", |param| &param.name)
}

/// Returns `true` if a trampoline only reads the handle's table and jumps.
fn is_jump(command: &CommandPlan<'_>) -> bool {
    matches!(command.entry, Entry::Generated | Entry::Shared)
        && matches!(command.command.level, Level::Device | Level::PhysicalDevice)
}

/// Returns a body that calls the next function with the same arguments.
fn passed_on(plan: &Plan<'_>, command: &CommandPlan<'_>) -> TokenStream {
    let (name, arguments) = (ident(&command.command.name), lowered_arguments(plan, command));
    let output = command.command.params.iter().find(|param| plan.is_output(param));
    let objects = output.filter(|_| command.entry == Entry::OutputHandles).map(|output| {
        let pointer = ident(&output.name);
        // An output parameter without a length returns one object.
        let count = output.len.as_deref().map_or(quote!(1), count);
        quote!(, #pointer, #count)
    });
    let body = body_macro(command);
    quote!(#body! { #name(#(#arguments),*) #objects })
}

/// Returns `len` as an expression: a sibling parameter or a member of one (GEN-48).
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
