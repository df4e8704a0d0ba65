//! `terminator/`: where the instance chain ends, and the device chain for a few commands.

use super::file::File;
use super::signature::{arguments, doc, lowered_arguments, params, returned};
use super::trampoline::{by_first_parameter, described};
use crate::names::{body, ident, short};
use crate::plan::{CommandPlan, Place, Plan};
use crate::policy::{Absent, End, Severity};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

pub(super) fn files(plan: &Plan<'_>) -> Vec<File> {
    let own = |command: &&CommandPlan<'_>| matches!(command.end, End::Generated | End::Handwritten);
    let groups = by_first_parameter(plan.commands.iter().filter(own));
    let modules: Vec<Ident> = groups.keys().map(|module| ident(module)).collect();
    let mut files = vec![
        File::rust(plan, "terminator/mod.rs")
            .doc("The functions at the end of the chain, by first parameter.")
            .items(quote!(#(mod #modules;)*))
            .items(quote!(#(pub use #modules::*;)*)),
    ];
    for (module, commands) in &groups {
        let functions = commands.iter().map(|command| function(plan, command));
        files.push(
            File::rust(plan, &format!("terminator/{module}.rs"))
                .doc(&format!(
                    "Terminators of commands whose first parameter is {}.",
                    described(module)
                ))
                .items(uses(commands))
                .items(quote!(#(#functions)*)),
        );
    }
    files
}

fn uses(commands: &[&CommandPlan<'_>]) -> TokenStream {
    let any = |wanted: fn(&CommandPlan<'_>) -> bool| commands.iter().any(|command| wanted(command));
    let extension = any(|command| command.absent.is_some_and(|absent| absent.requires.is_some())).then(|| {
        quote!(
            use super::super::extensions::InstanceExtension;
        )
    });
    let chain = any(|command| command.generic).then(|| {
        quote!(
            use crate::handle::Chain;
        )
    });
    let bits = any(|command| command.absent.is_some()).then(|| {
        quote!(
            use crate::journal::LogBits;
        )
    });
    let translation = any(|command| command.end == End::Generated).then(|| {
        quote!(
            use crate::translation;
        )
    });
    quote! {
        #extension
        use super::super::types::*;
        #chain
        #bits
        #translation
    }
}

fn function(plan: &Plan<'_>, command: &CommandPlan<'_>) -> TokenStream {
    let name = ident(&command.command.name);
    let doc = doc(&command.command.name);
    let params = params(plan, command, Place::Chain);
    let returned = returned(plan, command, Place::Chain);
    let body = if command.end == End::Handwritten {
        handwritten(command)
    } else {
        generated(plan, command)
    };
    quote! {
        #doc
        pub unsafe extern "system" fn #name(#(#params),*) #returned { #body }
    }
}

fn handwritten(command: &CommandPlan<'_>) -> TokenStream {
    let (body, arguments) = (body(&command.command.name), arguments(command));
    quote!(unsafe { crate::terminator::#body(#(#arguments),*) })
}

fn generated(plan: &Plan<'_>, command: &CommandPlan<'_>) -> TokenStream {
    let name = ident(&command.command.name);
    let short = short(&command.command.name);
    let arguments = lowered_arguments(plan, command);
    let handle = &arguments[..1];
    let required = command.absent.map(|absent| required(command, absent));
    let missing = match command.absent {
        None => quote!(translation::unsupported(#short)),
        Some(absent) => {
            let (bits, value) = (severity(absent.severity), value(&absent.value));
            let full = &command.command.name;
            quote!(translation::absent(driver, #full, #bits, #value))
        }
    };
    quote! {
        #required
        let (driver, #(#handle)*) = unsafe { translation::driver_of(#(#handle)*) };
        match driver.#name {
            Some(function) => unsafe { function(#(#arguments),*) },
            None => #missing,
        }
    }
}

/// DRV-164: without its extension a query is not executed.
fn required(command: &CommandPlan<'_>, absent: &Absent) -> TokenStream {
    let Some(extension) = &absent.requires else {
        return TokenStream::new();
    };
    let (extension, name, value) = (ident(extension), &command.command.name, value(&absent.value));
    let handle = command.command.params.first().map(|param| ident(&param.name));
    quote! {
        let enabled = unsafe { translation::enabled(#handle, InstanceExtension::#extension, #name) };
        if !enabled { return #value; }
    }
}

/// The returned constant: an enumerant of `VkResult`, or a plain constant.
fn value(name: &str) -> TokenStream {
    let ident = ident(name);
    if name.starts_with("VK_ERROR_") {
        quote!(VkResult::#ident)
    } else {
        quote!(#ident)
    }
}

fn severity(severity: Severity) -> TokenStream {
    match severity {
        Severity::Info => quote!(LogBits::INFO),
        Severity::Warn => quote!(LogBits::WARN),
        Severity::Error => quote!(LogBits::ERROR),
    }
}
