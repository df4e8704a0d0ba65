//! The trace: a record of the loader's steps in this process, with one JSON object per line, for scripts (docs/trace.md).
//!
//! `VK_LOADER_TRACE` switches the trace on. The trace never changes a result. A record that cannot be written is dropped, and nothing is
//! written to the file after a failed write. While the trace is off, [`write()`] only reads one word.

mod record;

pub use record::Record;

use crate::env::Variable;
use core::fmt::Arguments;
use core::sync::atomic::{AtomicBool, Ordering};
use os::{Appended, Raw, SetOnce};

/// Version of the format in docs/trace.md. The version increases with each change that an older reader would misunderstand.
pub const SCHEMA: u64 = 1;

/// `true` if records are written.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// File to which the records are written.
static OUTPUT: SetOnce<Appended> = SetOnce::new();

/// Returns `true` if records are written now.
#[inline]
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Starts writing to the target that `VK_LOADER_TRACE` names: a path, or `fd:` and the number of a descriptor.
pub fn begin(named: &[u8]) {
    if named.is_empty() {
        return;
    }
    let opened = match named.strip_prefix(b"fd:") {
        Some(number) => Appended::open_as(descriptor(number)),
        None => Appended::at(named),
    };
    match opened {
        Ok(output) => {
            if OUTPUT.set(output).is_ok() {
                IS_ON.store(true, Ordering::Relaxed);
            }
        }
        Err(error) => complain(format_args!("cannot be written to {}: {error}", Raw(named))),
    }
}

/// Returns the number of a descriptor. For any other text, returns the largest number, which is never an open descriptor.
fn descriptor(number: &[u8]) -> u32 {
    let digits = core::str::from_utf8(number).ok();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(u32::MAX)
}

/// Ends the trace and closes the file.
pub fn end() {
    IS_ON.store(false, Ordering::Relaxed);
    if let Some(output) = OUTPUT.get() {
        output.close();
    }
}

/// Writes a record of the event called `event`. Does nothing while the trace is off.
#[inline]
pub fn write(event: &str, fill: impl Fn(&mut Record)) {
    if is_on() {
        append(event, &fill);
    }
}

#[cold]
fn append(event: &str, fill: &dyn Fn(&mut Record)) {
    let Some(output) = OUTPUT.get() else { return };
    let mut record = Record::new();
    record.word("event", event);
    record.number("time", os::since_start());
    record.number("process", os::current_process().into());
    record.shown("thread", format_args!("{:x}", os::current_thread()));
    fill(&mut record);
    let Some(line) = record.finish() else { return };
    if let Err(error) = output.append(&line)
        && IS_ON.swap(false, Ordering::Relaxed)
    {
        complain(format_args!("ends here: {error}"));
    }
}

/// Logs the message about a trace that cannot be written. There is no other message about the trace. The line has the usual header, and
/// goes to standard error.
fn complain(what: Arguments<'_>) {
    let name = Variable::Trace.name();
    os::write_to_standard_error(&os::render(format_args!(
        "[Vulkan Loader] ERROR:          {name}: the trace {what}\n"
    )));
}

/// A step that the trace records.
#[derive(Clone, Copy)]
pub enum Step<'a> {
    /// A call that the program makes.
    Call,
    /// Opening of a library.
    Open,
    /// A call of a function in the driver with this library.
    Driver(&'a [u8]),
    /// Work of the layers and drivers in the call chain of an instance or device.
    Chain,
}

/// A step that has begun. If the trace does not record the step's end, the process ended during the step, or another thread unloaded the
/// library.
pub struct Begun<'a> {
    step: Step<'a>,
    name: &'a [u8],
    since: Option<u64>,
}

impl<'a> Step<'a> {
    /// Writes that the step begins. `name` is the name of the called function or opened library. The function is not inlined, so that its
    /// callers stay small.
    #[inline(never)]
    pub fn begin(self, name: &'a [u8]) -> Begun<'a> {
        let mut begun = Begun {
            step: self,
            name,
            since: None,
        };
        if is_on() {
            begun.write("begin", &|_| ());
            begun.since = Some(os::since_start());
        }
        begun
    }

    fn describe(self, record: &mut Record) {
        let word = match self {
            Self::Call => "call",
            Self::Open => "open",
            Self::Driver(_) => "driver",
            Self::Chain => "chain",
        };
        record.word("step", word);
        if let Self::Driver(library) = self {
            record.text("library", library);
        }
    }
}

impl Begun<'_> {
    /// Writes that the step ended with this `VkResult`. The function is not inlined, so that its callers stay small.
    #[inline(never)]
    pub fn end(self, result: i32) {
        self.end_with(|record| record.signed("result", result.into()));
    }

    /// Writes that the step ended; `fill` adds the result.
    #[inline]
    pub fn end_with(self, fill: impl Fn(&mut Record)) {
        if let Some(since) = self.since {
            self.write("end", &|record| {
                record.number("nanoseconds", os::since_start().saturating_sub(since));
                fill(record);
            });
        }
    }

    #[cold]
    fn write(&self, event: &str, fill: &dyn Fn(&mut Record)) {
        append(event, &|record| {
            self.step.describe(record);
            record.text("name", self.name);
            fill(record);
        });
    }
}
