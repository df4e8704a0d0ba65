//! Log lines about the call stack, which people and tools search for (APP-101, LAY-260 to LAY-263).

use super::ActiveLayer;
use crate::library::RealPath;
use discovery::journal::LogBits;
use discovery::log::{self, Listener};
use discovery::trace;
use os::Raw;

const FRAME: LogBits = LogBits::LAYER;

/// Logs the call stack of an instance.
pub(crate) fn log_instance_stack(instance: &dyn Listener, layers: &[ActiveLayer]) {
    describe("vkCreateInstance", layers.iter());
    let line = |text: &str| log::emit(Some(instance), FRAME, format_args!("{text}"));
    line("vkCreateInstance layer callstack setup to:");
    top(&line);
    for layer in layers {
        log_layer(instance, layer, true);
        line("     ||");
    }
    line("   <Drivers>");
}

/// Logs the call stack of a device; the terminator adds the driver's line.
pub(crate) fn log_device_stack<'a>(instance: &dyn Listener, layers: impl Iterator<Item = &'a ActiveLayer> + Clone) {
    describe("vkCreateDevice", layers.clone());
    let line = |text: &str| log::emit(Some(instance), FRAME | LogBits::DRIVER, format_args!("{text}"));
    line("vkCreateDevice layer callstack setup to:");
    top(&line);
    for layer in layers {
        log_layer(instance, layer, false);
        log::emit(Some(instance), FRAME, format_args!("     ||"));
    }
    line("   <Device>");
}

/// Writes the chain of a call to the trace, from the application downwards.
fn describe<'a>(call: &str, layers: impl Iterator<Item = &'a ActiveLayer> + Clone) {
    trace::write("chain", |record| {
        record.word("call", call);
        record.objects("layers", layers.clone(), |record, layer| {
            record.text("name", layer.name.bytes());
            record.flag("implicit", layer.implicit);
            record.word("enabled-by", layer.enabled_by.word());
            record.text("manifest", layer.manifest.bytes());
            record.text("library", layer.library_path.bytes());
        });
    });
}

fn top(line: &impl Fn(&str)) {
    for text in ["   <Application>", "     ||", "   <Loader>", "     ||"] {
        line(text);
    }
}

fn log_layer(instance: &dyn Listener, layer: &ActiveLayer, with_enable_variable: bool) {
    let line = |text: core::fmt::Arguments<'_>| log::emit(Some(instance), FRAME, text);
    line(format_args!("   {}", Raw(layer.name.bytes())));
    line(format_args!(
        "           Type: {}",
        if layer.implicit { "Implicit" } else { "Explicit" }
    ));
    line(format_args!("           Enabled By: {}", layer.enabled_by.text()));
    if let (true, Some(variable)) = (layer.implicit, &layer.disable_variable) {
        line(format_args!(
            "               Disable Env Var:  {}",
            Raw(variable.bytes())
        ));
        if let (true, Some((name, value))) = (with_enable_variable, &layer.enable_variable) {
            line(format_args!(
                "               This layer was enabled because Env Var {} was set to Value {}",
                Raw(name.bytes()),
                Raw(value.bytes())
            ));
        }
    }
    line(format_args!("           Manifest: {}", Raw(layer.manifest.bytes())));
    line(format_args!(
        "           Library:  {}",
        RealPath(layer.library_path.bytes())
    ));
}

/// Logs the libraries that are about to close (LAY-201).
pub(crate) fn log_unloading(instance: &dyn Listener, layers: &[ActiveLayer]) {
    for layer in layers {
        log::emit(
            Some(instance),
            LogBits::DEBUG | LogBits::LAYER,
            format_args!("Unloading layer library {}", RealPath(layer.library_path.bytes())),
        );
    }
}
