//! `lookup.rs`: a row for each command, and the search for a name (GEN-64).

use super::file::File;
use super::signature::pfn;
use super::trampoline::first_parameter;
use crate::names::ident;
use crate::plan::{CommandPlan, DeviceGate, Gate, Place, Plan};
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use vk_registry::model::Level;

/// Row types, the search, and the macro that makes rows.
const SEARCH: &str = include_str!("templates/lookup.rs");

pub(super) fn file(plan: &Plan<'_>) -> File {
    let rows = plan.commands.iter().map(|command| row(plan, command));
    File::rust(plan, "lookup.rs")
        .text(SEARCH)
        .items(parameters(plan))
        .rows("rows", rows)
}

/// The names that rows hold as numbers.
fn parameters(plan: &Plan<'_>) -> TokenStream {
    let names = &plan.policy.checked_parameters;
    let count = Literal::usize_unsuffixed(names.len() + 1);
    quote! {
        #[doc = " Every name that a checked parameter has, and the empty one."]
        const PARAMETERS: [&str; #count] = ["", #(#names),*];
    }
}

fn row(plan: &Plan<'_>, command: &CommandPlan<'_>) -> TokenStream {
    let name = ident(&command.command.name);
    let level = match command.command.level {
        Level::Global => quote!(Global),
        Level::Instance => quote!(Instance),
        Level::PhysicalDevice => quote!(PhysicalDevice),
        Level::Device => quote!(Device),
    };
    let (major, minor) = command
        .command
        .core
        .map_or((0, 0), |version| (version.major, version.minor));
    let (major, minor) = (Literal::u32_unsuffixed(major), Literal::u32_unsuffixed(minor));
    let gate = match &command.gate {
        Gate::Always => quote!([]),
        Gate::Instance(extensions) => {
            let extensions = extensions.iter().map(|extension| ident(extension));
            quote!([#(#extensions)*])
        }
    };
    let trampoline = served_by(plan, command, command.trampoline(), &quote!(trampoline), Place::App);
    let terminator = command
        .terminator()
        .map(|target| served_by(plan, command, target, &quote!(terminator), Place::Chain));
    let device_gate = device_gate(&command.device_gate);
    let slots = slots(plan, command);
    let parameter = parameter(command);
    let platform = command.platform.map(|predicate| {
        let predicate: TokenStream = predicate.parse().unwrap_or_default();
        quote!(, platform(#predicate))
    });
    quote!(#name: #level #parameter, (#major, #minor), #gate, [#trampoline], [#terminator], #device_gate, #slots #platform;)
}

/// The parameter that a trampoline checks.
fn parameter(command: &CommandPlan<'_>) -> TokenStream {
    match command.command.level {
        Level::Global => TokenStream::new(),
        Level::Instance | Level::PhysicalDevice | Level::Device => {
            let name = ident(first_parameter(command));
            quote!(#name)
        }
    }
}

/// A function as a pointer of the registry's type: a body that drifted from it does not compile (GEN-73).
fn served_by(
    plan: &Plan<'_>,
    command: &CommandPlan<'_>,
    target: &str,
    module: &TokenStream,
    place: Place,
) -> TokenStream {
    let ty = pfn(plan.command(target).unwrap_or(command), place);
    let target = ident(target);
    quote!(#module::#target as #ty)
}

fn device_gate(gate: &DeviceGate<'_>) -> TokenStream {
    let list = |extensions: &[&str]| {
        let extensions = extensions.iter().map(|extension| ident(extension));
        quote!(#(#extensions)*)
    };
    match gate {
        DeviceGate::Always => quote!([]),
        DeviceGate::Device(extensions) => {
            let list = list(extensions);
            quote!([Device #list])
        }
        DeviceGate::Instance(extensions) => {
            let list = list(extensions);
            quote!([Instance #list])
        }
    }
}

/// Slot of the chain's table, and of the driver's.
fn slots(plan: &Plan<'_>, command: &CommandPlan<'_>) -> TokenStream {
    let name = ident(&command.command.name);
    let holds = |mut table: Box<dyn Iterator<Item = &CommandPlan<'_>> + '_>| {
        table.any(|other| other.command.name == command.command.name)
    };
    let is_device = command.command.level == Level::Device;
    let chain = match (is_device, holds(Box::new(plan.instance_table()))) {
        (true, _) => quote!(device::#name),
        (false, true) => quote!(instance::#name),
        (false, false) => TokenStream::new(),
    };
    let driver = if holds(Box::new(plan.driver_table())) {
        quote!(driver::#name)
    } else if holds(Box::new(plan.device_terminator_table())) {
        quote!(device_terminator::#name)
    } else {
        TokenStream::new()
    };
    quote!([#chain], [#driver])
}
