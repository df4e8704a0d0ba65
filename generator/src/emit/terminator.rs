//! `terminator/`: the functions at the end of the instance chain, and the functions at the end of the device chain of a
//! few commands.

use super::file::File;
use super::signature::{arguments, doc, lowered_arguments, params, returned};
use super::trampoline::{by_first_parameter, described};
use crate::names::{body, ident};
use crate::plan::{CommandPlan, Place, Plan};
use crate::policy::{Absent, End, Severity};
use proc_macro2::{Ident, TokenStream};
use quote::quote;

pub(super) fn files(plan: &Plan<'_>) -> Vec<File> {
    let own = |command: &&CommandPlan<'_>| matches!(command.end, End::Generated | End::Handwritten);
    let groups = by_first_parameter(plan.commands.iter().filter(own));
    let modules: Vec<Ident> = groups.keys().map(|module| ident(module)).collect();
    let mut files = vec![
        File::rust("terminator/mod.rs")
            .doc("The functions at the end of the chain, by first parameter.")
            .items(quote!(#(mod #modules;)*))
            .items(quote!(#(pub use #modules::*;)*)),
    ];
    for (module, commands) in &groups {
        let functions = commands.iter().map(|command| function(plan, command));
        files.push(
            File::rust(&format!("terminator/{module}.rs"))
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
    let chain = any(|command| command.generic).then(|| {
        quote!(
            use crate::handle::Chain;
        )
    });
    let body = any(|command| command.end == End::Generated).then(|| {
        quote!(
            use crate::forward::ask_driver;
        )
    });
    quote! {
        use super::super::types::*;
        #body
        #chain
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
    let (name, arguments) = (ident(&command.command.name), lowered_arguments(plan, command));
    let absent = command.absent.map(absent);
    quote!(ask_driver! { #name(#(#arguments),*) #absent })
}

/// Returns the tokens of the value that is returned if the driver lacks the function.
fn absent(absent: &Absent) -> TokenStream {
    let (severity, value) = (severity(absent.severity), value(&absent.value));
    let requires = absent.requires.as_deref().map(|extension| {
        let extension = ident(extension);
        quote!(, requires(#extension))
    });
    quote!(, absent(#severity, #value) #requires)
}

/// Returns the constant that the terminator returns: an enumerant of `VkResult`, or a plain constant.
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
        Severity::Info => quote!(INFO),
        Severity::Warn => quote!(WARN),
        Severity::Error => quote!(ERROR),
    }
}
