//! `dispatch/`: the tables and the order of their slots.

use super::file::File;
use super::signature::pfn;
use crate::names::ident;
use crate::plan::{CommandPlan, Gate, Place, Plan};
use crate::policy::Entry;
use quote::{format_ident, quote};
use vk_registry::model::Level;

/// Properties in which the emitted tables differ.
struct Table<'p, 'a> {
    name: &'static str,
    file: &'static str,
    place: Place,
    commands: Vec<&'p CommandPlan<'a>>,
}

pub(super) fn files(plan: &Plan<'_>) -> Vec<File> {
    let [instance, device, driver, device_terminator] = tables(plan);
    vec![
        shared_entries(plan, file(&instance)),
        numbers(file(&device), "NULL_TOLERANT", NULL_TOLERANT_DOC, &null_tolerant(plan)),
        numbers(file(&driver), "MANDATORY", MANDATORY_DOC, &mandatory(plan)),
        file(&device_terminator),
    ]
}

const NULL_TOLERANT_DOC: &str =
    " Slots whose function may be missing: calling it then does nothing and returns zero (GEN-51).";
const MANDATORY_DOC: &str =
    " Slots that must not be empty: a driver without one of these functions is rejected (GEN-62).";

fn tables<'p, 'a>(plan: &'p Plan<'a>) -> [Table<'p, 'a>; 4] {
    [
        Table {
            name: "InstanceTable",
            file: "instance",
            place: Place::Chain,
            commands: plan.instance_table().collect(),
        },
        Table {
            name: "DeviceTable",
            file: "device",
            place: Place::Chain,
            commands: plan.device_table().collect(),
        },
        Table {
            name: "DriverTable",
            file: "driver",
            place: Place::Driver,
            commands: plan.driver_table().collect(),
        },
        Table {
            name: "DeviceTerminatorTable",
            file: "device_terminator",
            place: Place::Driver,
            commands: plan.device_terminator_table().collect(),
        },
    ]
}

fn file(table: &Table<'_, '_>) -> File {
    let name = format_ident!("{}", table.name);
    // A slot for the next element of a chain is never empty. A slot for a driver's function is optional, because a driver can lack the
    // function.
    let (place, kind, number) = match table.place {
        Place::Chain => (
            quote!(Chain),
            "chain_table",
            (table.file == "device").then(|| quote!(, magic)),
        ),
        Place::Any | Place::App | Place::Driver => (quote!(Driver), "driver_table", None),
    };
    let declared = format_ident!("{kind}");
    let macros = match table.file {
        "instance" => quote!({#declared, shared_entries}),
        _ => quote!(#declared),
    };
    let slots = table.commands.iter().map(|command| {
        let (slot, ty) = (ident(&command.command.name), pfn(command, table.place));
        quote!(#slot: #ty;)
    });
    File::rust(&format!("dispatch/{}.rs", table.file))
        .doc(&format!("Commands of [`{}`], in the order of their slots.", table.name))
        .items(quote! {
            use super::super::pfn::*;
            use crate::dispatch_table::#macros;
            use crate::handle::#place;
        })
        .rows(kind, std::iter::once(quote!(#name #number;)).chain(slots))
}

/// Appends a list of slot numbers.
fn numbers(file: File, name: &str, doc: &str, commands: &[&CommandPlan<'_>]) -> File {
    let (name, count) = (format_ident!("{name}"), commands.len());
    let count = proc_macro2::Literal::usize_unsuffixed(count);
    let slots = commands.iter().map(|command| ident(&command.command.name));
    file.items(quote! {
        #[doc = #doc]
        pub static #name: [usize; #count] = [#(slot::#slots),*];
    })
}

fn null_tolerant<'p, 'a>(plan: &'p Plan<'a>) -> Vec<&'p CommandPlan<'a>> {
    plan.device_table().filter(|command| command.null_tolerant).collect()
}

fn mandatory<'p, 'a>(plan: &'p Plan<'a>) -> Vec<&'p CommandPlan<'a>> {
    plan.driver_table().filter(|command| command.is_mandatory()).collect()
}

/// Emits the pairs of commands that share a trampoline. The enabled extensions determine the slot that the trampoline
/// uses (DRV-159).
fn shared_entries(plan: &Plan<'_>, file: File) -> File {
    let shared = plan
        .instance_table()
        .filter(|command| command.entry == Entry::Shared && command.command.level == Level::PhysicalDevice);
    let rows = shared.filter_map(|command| {
        let Gate::Instance(extensions) = &command.gate else {
            return None;
        };
        let (core, alias) = (ident(command.trampoline()), ident(&command.command.name));
        let extension = ident(extensions.first()?);
        Some(quote!(#core #alias #extension;))
    });
    file.rows("shared_entries", rows)
}
