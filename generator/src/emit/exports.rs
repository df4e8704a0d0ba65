//! `exports/`: the exported symbols of the library, for each family of systems (GEN-53).

use super::file::File;
use crate::names::ident;
use crate::plan::Plan;
use crate::policy::ExportList;
use quote::quote;

pub(super) fn files(plan: &Plan<'_>) -> Vec<File> {
    let names = |list: ExportList| -> Vec<&str> {
        let exported = plan.commands.iter().filter(|command| command.is_in(list));
        exported.map(|command| command.command.name.as_str()).collect()
    };
    let lines = |list: ExportList, prefix: &str| -> String {
        names(list).iter().map(|name| format!("{prefix}{name}\n")).collect()
    };
    let jumps = names(ExportList::Linux).into_iter().map(|name| {
        let name = ident(name);
        quote!(#name;)
    });
    vec![
        File::rust("exports/aside.rs")
            .doc("The exports of a library that steps aside.")
            .items(quote!(
                use crate::aside::exports;
            ))
            .rows("exports", jumps),
        File::other("exports/linux.txt", "#").text(&lines(ExportList::Linux, "")),
        File::other("exports/macos.txt", "#").text(&lines(ExportList::Macos, "_")),
        File::other("exports/windows.def", ";").text(&format!(
            "LIBRARY vulkan-1\nEXPORTS\n{}",
            lines(ExportList::Windows, "    ")
        )),
    ]
}
