//! `dispatch/`: the tables and the order of their slots.

use super::file::File;
use super::signature::pfn;
use crate::names::ident;
use crate::plan::{CommandPlan, Gate, Place, Plan};
use crate::policy::Entry;
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use vk_registry::model::Level;

/// The module with what all tables share.
const SHARED: &str = include_str!("templates/dispatch.rs");

/// What differs between the tables.
struct Table<'p, 'a> {
    name: &'static str,
    file: &'static str,
    /// Documentation of the structure.
    doc: &'static str,
    place: Place,
    /// Whether a slot may be empty.
    optional: bool,
    /// Whether slots for functions unknown at build time follow.
    unknown: bool,
    commands: Vec<&'p CommandPlan<'a>>,
}

pub(super) fn files(plan: &Plan<'_>) -> Vec<File> {
    let [instance, device, driver, device_terminator] = tables(plan);
    vec![
        File::rust(plan, "dispatch/mod.rs").text(SHARED),
        shared_entries(plan, file(plan, &instance)),
        numbers(
            file(plan, &device),
            "NULL_TOLERANT",
            NULL_TOLERANT_DOC,
            &null_tolerant(plan),
        ),
        numbers(file(plan, &driver), "MANDATORY", MANDATORY_DOC, &mandatory(plan)),
        file(plan, &device_terminator),
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
            doc: " Functions of the instance chain: one for each instance and physical-device command.",
            place: Place::Chain,
            optional: false,
            unknown: true,
            commands: plan.instance_table().collect(),
        },
        Table {
            name: "DeviceTable",
            file: "device",
            doc: " Functions of a device chain: one for each device-level command.",
            place: Place::Chain,
            optional: false,
            unknown: true,
            commands: plan.device_table().collect(),
        },
        Table {
            name: "DriverTable",
            file: "driver",
            doc: " A driver's instance and physical-device functions, and the one that finds its device functions.",
            place: Place::Driver,
            optional: true,
            unknown: false,
            commands: plan.driver_table().collect(),
        },
        Table {
            name: "DeviceTerminatorTable",
            file: "device_terminator",
            doc: " A driver's functions behind the device commands that have terminators.",
            place: Place::Driver,
            optional: true,
            unknown: false,
            commands: plan.device_terminator_table().collect(),
        },
    ]
}

fn file(plan: &Plan<'_>, table: &Table<'_, '_>) -> File {
    let name = format_ident!("{}", table.name);
    let place = if table.place == Place::Chain {
        quote!(Chain)
    } else {
        quote!(Driver)
    };
    let unknown_use = table.unknown.then(|| {
        quote!(
            use super::{Slot, UNKNOWN_SLOTS};
        )
    });
    let entry_use = table.unknown.then(|| {
        quote!(
            use crate::table::Entry;
        )
    });
    let slots: Vec<Ident> = table
        .commands
        .iter()
        .map(|command| ident(&command.command.name))
        .collect();
    let first = slots.first().into_iter();
    let rows = std::iter::once(quote!(#name, #(#first)*:)).chain(slots.iter().map(|slot| quote!(#slot)));
    File::rust(plan, &format!("dispatch/{}.rs", table.file))
        .doc(&format!("[`{}`] and the order of its slots.", table.name))
        .items(quote! {
            use super::super::pfn::*;
            #unknown_use
            use crate::handle::#place;
            #entry_use
        })
        .items(structure(table, &name))
        .rows("table_slots", rows)
}

fn structure(table: &Table<'_, '_>, name: &Ident) -> TokenStream {
    let doc = table.doc;
    let slots = table.commands.iter().map(|command| {
        let (slot, ty) = (ident(&command.command.name), pfn(command, table.place));
        if table.optional {
            quote!(pub #slot: Option<#ty>)
        } else {
            quote!(pub #slot: Entry<#ty>)
        }
    });
    let magic = (table.name == "DeviceTable").then(|| {
        quote! {
            #[doc = " Tells a table of this loader from anything else a handle may point to."]
            pub magic: u64,
        }
    });
    let unknown = table.unknown.then(|| {
        quote! {
            #[doc = " Functions that were not known when the loader was built."]
            pub unknown: [Entry<Slot>; UNKNOWN_SLOTS],
        }
    });
    let shared = (!table.optional).then(|| {
        quote! {
            // SAFETY: every slot is an entry.
            unsafe impl crate::table::SharedSlots for #name {}
        }
    });
    quote! {
        #[doc = #doc]
        #[repr(C)]
        pub struct #name { #magic #(#slots,)* #unknown }
        #shared
    }
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

/// Two names of one trampoline: which slot it enters depends on an extension (DRV-159).
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
