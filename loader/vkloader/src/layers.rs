//! `vkloader layers`: prints the chain of layers, the origin of each layer, and warnings about the order of widely used layers.

mod order;

use crate::child;
use crate::commands::{Library, NONE, USABLE, heard, json, print};
use crate::explain::KEPT;
use crate::report::{self, ActiveLayer, Received};
use crate::show;
use clap::Args;
pub(crate) use order::Warning;
use serde::Serialize;
use std::io;
use std::process::ExitCode;

/// Options of `vkloader layers`.
#[derive(Args)]
pub(crate) struct Layers {
    #[command(flatten)]
    library: Library,
    /// Exits with 0 only if there is no warning about the order.
    #[arg(long)]
    check: bool,
    /// Prints the chain and the warnings as JSON.
    #[arg(long)]
    json: bool,
    /// Enables the layer called NAME, as a program does. May be given several times.
    #[arg(long, value_name = "NAME")]
    layer: Vec<String>,
}

/// The chain as JSON, for scripts.
#[derive(Serialize)]
struct Chain<'a> {
    /// Version of the format that `docs/layers.schema.json` describes.
    schema: u32,
    /// The layers, starting at the program.
    layers: &'a [ActiveLayer],
    warnings: Vec<Advice<'a>>,
    /// The value of `VK_LOADER_LAYERS_ORDER` that avoids the warnings, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'a str>,
}

/// A warning about the order of two layers as JSON, for scripts.
#[derive(Serialize)]
struct Advice<'a> {
    above: &'a str,
    below: &'a str,
    reason: &'a str,
    source: &'a str,
    decided_by: &'static str,
}

impl<'a> Chain<'a> {
    fn of(layers: &'a [ActiveLayer], warnings: &[Warning<'a>], order: Option<&'a str>) -> Self {
        let warnings = warnings.iter().map(|warning| Advice {
            above: warning.above,
            below: warning.below,
            reason: warning.rule.reason,
            source: warning.rule.source,
            decided_by: if warning.is_of_program { "program" } else { "variable" },
        });
        Self {
            schema: 1,
            layers,
            warnings: warnings.collect(),
            order,
        }
    }
}

impl Layers {
    pub(crate) fn run(mut self) -> io::Result<ExitCode> {
        self.library.use_carried(false, None)?;
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
        let warnings = order::warnings(&report.layers);
        let before = std::env::var("VK_LOADER_LAYERS_ORDER").unwrap_or_default();
        let order = order::remedy(&report.layers, &before);
        heard(if self.json {
            print(json(&Chain::of(&report.layers, &warnings, order.as_deref()))?)
        } else {
            show::chain(&report.layers, &warnings, order.as_deref())
        })?;
        let passed = warnings.is_empty() || !self.check;
        Ok(ExitCode::from(if passed { USABLE } else { NONE }))
    }
}
