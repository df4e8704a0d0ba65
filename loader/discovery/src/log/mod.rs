//! Messages for standard error, which `VK_LOADER_DEBUG` selects, and for the application's messengers.
//!
//! A message has severity and category bits (APP-231). Without an instance, a message can only go to standard error. With an instance, it
//! also reaches every messenger of that instance, regardless of the filter for standard error (APP-194).

mod line;

use crate::journal::{LogBits, Sink};
use crate::trace;
use core::ffi::CStr;
use core::fmt::Arguments;
use core::sync::atomic::{AtomicU32, Ordering};
use line::Line;

/// Severities that `VK_LOADER_DEBUG` selected when the process loaded this library (APP-230).
static LOG_MASK: AtomicU32 = AtomicU32::new(0);

/// Severities that the process-wide settings file selects instead of the variable; zero if the file selects none (APP-234).
static SETTINGS_LOG_MASK: AtomicU32 = AtomicU32::new(0);

/// Prints lines of the severities and categories in `bits` on standard error from now on, unless settings select others (APP-230).
pub fn select(bits: LogBits) {
    LOG_MASK.store(bits.word(), Ordering::Relaxed);
}

/// Sets the severities that the process-wide settings file selects instead of the variable; empty if the file selects none (APP-234).
pub fn select_by_settings(bits: LogBits) {
    SETTINGS_LOG_MASK.store(bits.word(), Ordering::Relaxed);
}

/// An instance that receives messages.
pub trait Listener {
    /// Returns the severities that the settings of the instance select; empty if the settings select none (APP-234).
    fn settings_mask(&self) -> LogBits;

    /// Returns `true` if the instance has a messenger or report callback that may receive a message now.
    fn hears(&self) -> bool;

    /// Passes a message to messengers and report callbacks, regardless of the filter for standard error (APP-194).
    fn deliver(&self, bits: LogBits, text: &CStr);
}

/// Reports a message that does not belong to an instance.
pub fn message(bits: LogBits, text: Arguments<'_>) {
    emit(None, bits, text);
}

/// Reports a message, and passes it to the messengers of the instance if there is one.
pub fn emit(instance: Option<&dyn Listener>, bits: LogBits, text: Arguments<'_>) {
    traced(bits, text);
    tell(instance, bits, text);
}

/// Reports a message like [`emit`], for a message that the trace already has.
fn tell(instance: Option<&dyn Listener>, bits: LogBits, text: Arguments<'_>) {
    let wanted = selected(instance, bits);
    let heard = instance.is_some_and(Listener::hears);
    if !wanted && !heard {
        return;
    }
    let mut line = Line::new(bits, text);
    if wanted {
        line.write();
    }
    if let (Some(instance), true) = (instance, heard) {
        instance.deliver(bits, line.text());
    }
}

/// Logs a message about an error that ends the process or fails a call, regardless of the log level (APP-233).
#[cold]
pub fn fatal(text: Arguments<'_>) {
    traced(LogBits::ERROR, text);
    Line::new(LogBits::ERROR, text).write();
}

/// Logs a message like [`fatal`], and passes it to the messengers of an instance as an error of `category` (APP-194). Writes the line
/// first, because a messenger may end the process (APP-180).
#[cold]
pub fn fatal_with(instance: Option<&dyn Listener>, category: LogBits, text: Arguments<'_>) {
    traced(LogBits::ERROR | category, text);
    let mut line = Line::new(LogBits::ERROR, text);
    line.write();
    if let Some(instance) = instance {
        instance.deliver(LogBits::ERROR | category, line.text());
    }
}

/// Writes a message to the trace, if the trace is on.
fn traced(bits: LogBits, text: Arguments<'_>) {
    trace::write("message", |record| {
        bits.describe(record);
        record.shown("text", text);
    });
}

fn selected(instance: Option<&dyn Listener>, bits: LogBits) -> bool {
    let settings = instance.map_or_else(
        || LogBits::from_word(SETTINGS_LOG_MASK.load(Ordering::Relaxed)),
        Listener::settings_mask,
    );
    bits.intersects(if settings.is_empty() {
        LogBits::from_word(LOG_MASK.load(Ordering::Relaxed))
    } else {
        settings
    })
}

/// Sink that passes lines to the log, for modules whose decisions depend only on files and variables.
#[derive(Clone, Copy)]
pub struct LogSink<'a>(pub Option<&'a dyn Listener>);

impl Sink for LogSink<'_> {
    fn wants(&self, bits: LogBits) -> bool {
        selected(self.0, bits) || self.0.is_some_and(Listener::hears) || trace::is_on()
    }

    fn log(&self, bits: LogBits, text: Arguments<'_>) {
        emit(self.0, bits, text);
    }

    fn log_decision(&self, bits: LogBits, text: Arguments<'_>) {
        tell(self.0, bits, text);
    }
}
