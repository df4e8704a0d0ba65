//! The log on standard error (LSV-64). A separate thread writes the log, so a full pipe stops only that thread. The thread ignores write
//! errors. Messages beyond the rate are counted and dropped.

use crate::limits::Rate;
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Upper bound on the messages in each [`PERIOD`]. The messages may come all at once.
const MESSAGES: u32 = 100;
/// Period to which the limit [`MESSAGES`] applies.
const PERIOD: Duration = Duration::from_secs(60);
/// Upper bound on the messages that wait for the writing thread.
const WAITING: usize = 64;
/// Upper bound on the characters of a message. The rest is cut off.
const LONGEST: usize = 2000;

/// The log of the service.
#[derive(Debug)]
pub struct Log(Mutex<State>);

#[derive(Debug)]
struct State {
    rate: Rate,
    left_out: u64,
    /// Channel to the thread that writes the log.
    to: SyncSender<String>,
    /// The other end of the channel; `None` after the thread has started.
    messages: Option<Receiver<String>>,
}

impl Default for Log {
    fn default() -> Self {
        let (to, messages) = sync_channel(WAITING);
        Self(Mutex::new(State {
            rate: Rate::new(MESSAGES, PERIOD, Instant::now()),
            left_out: 0,
            to,
            messages: Some(messages),
        }))
    }
}

impl Log {
    /// Starts the thread that writes the log. Must be called after the process has given up the rights that threads inherit. Earlier messages
    /// wait for the thread.
    ///
    /// # Errors
    /// Returns the error that the system reported.
    pub fn start(&self) -> io::Result<()> {
        let messages = self.state().messages.take();
        let thread = std::thread::Builder::new().name("log".to_owned());
        thread.spawn(move || messages.iter().flatten().for_each(|message| print(&message)))?;
        Ok(())
    }

    /// Prints the messages that wait, unless the thread was started.
    pub fn print_waiting(&self) {
        let messages = self.state().messages.take();
        messages
            .iter()
            .flat_map(Receiver::try_iter)
            .for_each(|message| print(&message));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, message: &str, now: Instant) {
        if !self.rate.admits(now) {
            self.left_out += 1;
            return;
        }
        let mut lines = String::new();
        if self.left_out > 0 {
            lines = format!("{} messages were left out\n", self.left_out);
        }
        lines.push_str(&line(message));
        if self.to.try_send(lines).is_ok() {
            self.left_out = 0;
        } else {
            self.left_out += 1;
        }
    }
}

/// Returns a message as one line. If the message quotes a package or a client, that quotation cannot start another line or move a
/// terminal's cursor.
fn line(message: &str) -> String {
    let message = message.strip_suffix('\n').unwrap_or(message);
    let mut line = String::new();
    for character in message.chars().take(LONGEST) {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line.push('\n');
    line
}

/// Writes to standard error. Ignores errors.
pub fn print(text: &str) {
    // Ignores an error, because standard error is the only place to report it.
    let _ = io::stderr().write_all(text.as_bytes());
}

impl Write for &Log {
    /// Receives a complete message, because the formatter writes each message in one call.
    fn write(&mut self, message: &[u8]) -> io::Result<usize> {
        self.state().add(&String::from_utf8_lossy(message), Instant::now());
        Ok(message.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_64_a_message_is_one_line() {
        assert_eq!(line("INFO a\nb\x1b[2Jc\u{9b}\n"), "INFO a\\nb\\u{1b}[2Jc\\u{9b}\n");
        assert_eq!(line("\u{e4}\"'\n"), "\u{e4}\"'\n");
        assert_eq!(line(&"x".repeat(10_000)).len(), LONGEST + 1);
    }

    #[test]
    fn lsv_64_messages_have_a_rate() {
        let (to, messages) = sync_channel(1000);
        let log = Log::default();
        let mut state = log.0.into_inner().unwrap();
        state.to = to;
        let start = Instant::now();
        (0..1000).for_each(|_| state.add("a\n", start));
        assert_eq!(messages.try_iter().count(), MESSAGES as usize);
        state.add("b\n", start + PERIOD);
        assert_eq!(messages.try_recv().unwrap(), "900 messages were left out\nb\n");
        state.add("c\n", start + PERIOD);
        assert_eq!(messages.try_recv().unwrap(), "c\n");
    }

    #[test]
    fn lsv_64_a_log_that_nobody_reads_is_left_out() {
        let (to, messages) = sync_channel(2);
        let mut state = Log::default().0.into_inner().unwrap();
        state.to = to;
        let now = Instant::now();
        (0..10).for_each(|_| state.add("a\n", now));
        assert_eq!(messages.try_iter().count(), 2);
        state.add("b\n", now);
        assert_eq!(messages.try_recv().unwrap(), "8 messages were left out\nb\n");
    }
}
