//! `lookup.rs`: a row for each command (GEN-64).

use super::file::File;
use super::signature::pfn;
use super::trampoline::first_parameter;
use crate::names::ident;
use crate::plan::{CommandPlan, DeviceGate, Gate, Place, Plan};
use crate::policy::Table;
use proc_macro2::{Literal, TokenStream};
use quote::quote;
use vk_registry::model::Level;

pub(super) fn file(plan: &Plan<'_>) -> File {
    let rows = plan.commands.iter().map(|command| row(plan, command));
    File::rust("lookup.rs")
        .doc("Facts about each command.")
        .items(quote! {
            use super::pfn::*;
            use super::{terminator, trampoline};
            use crate::handle::{App, Chain};
            use crate::lookup::commands;
        })
        .items(parameters(plan))
        .rows("commands", rows)
}

/// Returns the list of parameter names, to which rows refer by number.
fn parameters(plan: &Plan<'_>) -> TokenStream {
    let names = plan.policy.checked_parameters.keys();
    let count = Literal::usize_unsuffixed(names.len() + 1);
    quote! {
        #[doc = " All names of checked parameters, and the empty name."]
        pub const PARAMETERS: [&str; #count] = ["", #(#names),*];
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
    let parameter = parameter(command);
    let core = command.command.core.map(|version| {
        let number = Literal::u32_unsuffixed;
        let (major, minor) = (number(version.major), number(version.minor));
        quote!(, core(#major, #minor))
    });
    let gate = match &command.gate {
        Gate::Always => TokenStream::new(),
        Gate::Instance(extensions) => listed("gate", extensions),
    };
    let trampoline = served_by(plan, command, command.trampoline(), Place::App);
    let terminator = command.terminator().map(|target| {
        let function = served_by(plan, command, target, Place::Chain);
        quote!(, terminator(#function))
    });
    let device_gate = match &command.device_gate {
        DeviceGate::Always => TokenStream::new(),
        DeviceGate::Device(extensions) => listed("if_on_device", extensions),
        DeviceGate::Instance(extensions) => listed("if_on_instance", extensions),
    };
    let slots = slots(plan, command);
    let platform = command.platform.map(|predicate| {
        let predicate: TokenStream = predicate.parse().unwrap_or_default();
        quote!(, platform(#predicate))
    });
    quote!(#name: #level #parameter, #trampoline #core #gate #terminator #device_gate #slots #platform;)
}

/// Returns the part of a row that starts with the word `part` and lists `extensions`.
fn listed(part: &str, extensions: &[&str]) -> TokenStream {
    let part = ident(part);
    let extensions = extensions.iter().map(|extension| ident(extension));
    quote!(, #part(#(#extensions)*))
}

/// Returns the parameter that a trampoline checks.
fn parameter(command: &CommandPlan<'_>) -> TokenStream {
    match command.command.level {
        Level::Global => TokenStream::new(),
        Level::Instance | Level::PhysicalDevice | Level::Device => {
            let name = ident(first_parameter(command));
            quote!(#name)
        }
    }
}

/// Emits a function as a pointer of the registry's type, so that a body with another signature does not compile (GEN-73).
fn served_by(plan: &Plan<'_>, command: &CommandPlan<'_>, target: &str, place: Place) -> TokenStream {
    let ty = pfn(plan.command(target).unwrap_or(command), place);
    let target = ident(target);
    quote!(#target as #ty)
}

/// Returns the slot numbers of a command in the tables of the chain and of the driver.
fn slots(plan: &Plan<'_>, command: &CommandPlan<'_>) -> TokenStream {
    let is_device = command.command.level == Level::Device;
    let chain = match (is_device, plan.has_slot(command, Table::Instance)) {
        (true, _) => quote!(, slot(device)),
        (false, true) => quote!(, slot(instance)),
        (false, false) => TokenStream::new(),
    };
    let driver = if plan.has_slot(command, Table::Driver) {
        quote!(, driver_slot(driver))
    } else if plan.has_slot(command, Table::DeviceTerminator) {
        quote!(, driver_slot(device_terminator))
    } else {
        TokenStream::new()
    };
    quote!(#chain #driver)
}
