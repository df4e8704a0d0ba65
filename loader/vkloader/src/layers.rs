//! `vkloader layers`: the chain of layers, the origin of each layer, and the needs of widely used layers.

use crate::child;
use crate::commands::{Library, NONE, USABLE, heard};
use crate::explain::KEPT;
use crate::report::{self, ActiveLayer, Received};
use crate::show;
use clap::Args;
use promises::layer_order::{Rule, broken};
use std::io;
use std::process::ExitCode;

/// Which chain to print, and what decides how the command ends.
#[derive(Args)]
pub(crate) struct Layers {
    #[command(flatten)]
    library: Library,
    /// Exit with 0 only if there is no warning about the order.
    #[arg(long)]
    check: bool,
    /// Enable this layer, as a program does by its name. May be given several times.
    #[arg(long, value_name = "NAME")]
    layer: Vec<String>,
}

/// Two layers in an order that a rule advises against.
pub(crate) struct Warning<'a> {
    /// The layer that is nearer to the program.
    pub(crate) above: &'a str,
    /// The layer that is nearer to the driver.
    pub(crate) below: &'a str,
    /// The rule.
    pub(crate) rule: &'static Rule,
}

impl Layers {
    pub(crate) fn run(mut self) -> io::Result<ExitCode> {
        self.library.use_carried(false)?;
        let mut command = self.library.probe()?;
        command.args(self.layer.iter().map(|layer| format!("--layer={layer}")));
        let finished = child::run(command, self.library.limit(), KEPT)?;
        let report = report::build(&finished, Received::default());
        if report.loader.is_none() {
            let words = "the library is another loader, or an older one, and writes no trace; see vkloader explain";
            return Err(io::Error::other(words));
        }
        if !report::has_chain(&finished.records) {
            return Err(io::Error::other("no instance could be created; see vkloader explain"));
        }
        let warnings = warnings(&report.layers);
        heard(show::chain(&report.layers, &warnings))?;
        let passed = warnings.is_empty() || !self.check;
        Ok(ExitCode::from(if passed { USABLE } else { NONE }))
    }
}

/// The rules that a chain breaks.
fn warnings(chain: &[ActiveLayer]) -> Vec<Warning<'_>> {
    let mut warnings = Vec::new();
    for (place, above) in chain.iter().enumerate() {
        for below in &chain[place + 1..] {
            warnings.extend(broken(&above.name, &below.name).map(|rule| Warning {
                above: &above.name,
                below: &below.name,
                rule,
            }));
        }
    }
    warnings
}
