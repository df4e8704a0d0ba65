//! Messages: to standard error as `VK_LOADER_DEBUG` asks, and to the application's messengers.
//!
//! A message carries severity and category bits (APP-231). Without an instance it can only go to standard error; with
//! one it also reaches every messenger of that instance, whatever the standard-error filter says (APP-194).

mod line;

/// A byte string in a message, printed byte for byte whatever it holds.
pub use crate::journal::Raw as Bytes;

use crate::instance::Instance;
use crate::journal::{LogBits, Sink};
use crate::state;
use core::fmt::Arguments;
use core::sync::atomic::Ordering;
use line::Line;

/// Reports a message about no particular instance.
pub fn message(bits: LogBits, text: Arguments<'_>) {
    emit(None, bits, text);
}

/// Reports a message; with an instance also to its messengers.
pub fn emit(instance: Option<&Instance>, bits: LogBits, text: Arguments<'_>) {
    let wanted = selected(instance, bits);
    let heard = instance.is_some_and(|instance| instance.messengers.any());
    if !wanted && !heard {
        return;
    }
    let mut line = Line::new(bits, text);
    if wanted {
        line.write();
    }
    if let (Some(instance), true) = (instance, heard) {
        crate::debug::deliver_loader_message(instance, bits, line.text());
    }
}

/// Reports, whatever was asked for, what is about to end the process or fail a call (APP-233).
#[cold]
pub fn fatal(text: Arguments<'_>) {
    Line::new(LogBits::ERROR, text).write();
}

/// [`fatal`], and to the messengers of an instance as an error of a category (APP-194). The line is out first: a
/// messenger may end the process (APP-180).
#[cold]
pub fn fatal_with(instance: Option<&Instance>, category: LogBits, text: Arguments<'_>) {
    let mut line = Line::new(LogBits::ERROR, text);
    line.write();
    if let Some(instance) = instance {
        crate::debug::deliver_loader_message(instance, LogBits::ERROR | category, line.text());
    }
}

fn selected(instance: Option<&Instance>, bits: LogBits) -> bool {
    let settings = instance.map_or_else(
        || state::SETTINGS_LOG_MASK.load(Ordering::Relaxed),
        |instance| instance.settings_log_mask.load(Ordering::Relaxed),
    );
    let mask = LogBits::from_word(if settings != 0 {
        settings
    } else {
        state::LOG_MASK.load(Ordering::Relaxed)
    });
    bits.intersects(mask)
}

/// Gives the pure modules a place to report to.
#[derive(Clone, Copy)]
pub struct InstanceSink<'a>(pub Option<&'a Instance>);

impl Sink for InstanceSink<'_> {
    fn wants(&self, bits: LogBits) -> bool {
        selected(self.0, bits) || self.0.is_some_and(|instance| instance.messengers.any())
    }

    fn log(&self, bits: LogBits, text: Arguments<'_>) {
        emit(self.0, bits, text);
    }
}
