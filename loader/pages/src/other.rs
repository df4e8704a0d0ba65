//! Writes the pages that are not about commands: `vulkan-loader(7)` and `vk-loader-service.json(5)`.

use crate::command::title;
use clap_mangen::roff::{Roff, bold, italic, roman};
use promises::variable::{DOCUMENTED, ReadAt, Separator, Trust};
use std::io;
use std::path::Path;

/// Text of the page about the library. The list of variables replaces the line `@VARIABLES@` of this text.
const LOADER: &str = include_str!("../sections/vulkan-loader.7.roff");
/// Text of the page about the configuration file of the driver service.
const SERVICE: &str = include_str!("../sections/vk-loader-service.json.5.roff");
/// The line in [`LOADER`] that the list of variables replaces.
const VARIABLES: &str = "@VARIABLES@\n";

/// Writes `vulkan-loader.7` and `vk-loader-service.json.5` into the subfolder `man` of a folder.
///
/// # Errors
///
/// Returns the system's error if a folder or file cannot be written.
pub fn write_others(folder: &Path) -> io::Result<()> {
    let folder = folder.join("man");
    std::fs::create_dir_all(&folder)?;
    for (name, text) in [
        ("vulkan-loader.7", LOADER.replace(VARIABLES, &variables())),
        ("vk-loader-service.json.5", SERVICE.to_owned()),
    ] {
        let (page, section) = name.rsplit_once('.').unwrap_or((name, "7"));
        std::fs::write(folder.join(name), title(page, section) + &text)?;
    }
    Ok(())
}

/// Returns the list of variables as manual text, each with its form and meaning.
fn variables() -> String {
    let mut list = Roff::new();
    for documented in DOCUMENTED {
        let row = documented.row;
        let form = match row.separator {
            Separator::Path => "list with \":\"",
            Separator::Comma => "list with \",\"",
            Separator::Whole => "one value",
        };
        let load = if documented.read_at == ReadAt::Load {
            "; read when the library is loaded"
        } else {
            ""
        };
        let trust = match row.trust {
            Trust::Secure => "; ignored in elevated processes",
            Trust::Plain => "",
        };
        list.control("TP", []);
        list.text([bold(row.name)]);
        list.text([roman(documented.meaning), roman(" ")]);
        list.text([italic(format!("({form}{load}{trust})"))]);
    }
    list.render()
}
