//! Observable events of a run, and their differences from another run.

use std::path::Path;

use loader_tests::Outcome;

/// Name of a stream (`calls`, `names` and so on), and its lines in order.
type Stream = (&'static str, Vec<String>);

/// Events that the test observed in a run.
pub(crate) struct Trace {
    streams: Vec<Stream>,
}

/// Loader under which a line was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Side {
    Ours,
    There,
}

impl Side {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Side::Ours => "ours",
            Side::There => "there",
        }
    }
}

/// A line that only one of the two runs has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) side: Side,
    pub(crate) stream: &'static str,
    pub(crate) line: String,
}

impl Trace {
    /// Splits the journal of a run into calls and looked-up names. The order of the looked-up names has no meaning.
    pub(crate) fn of(outcome: &Outcome, root: &Path) -> Self {
        let names = Names::of(outcome, root);
        let (mut asked, calls): (Vec<String>, Vec<String>) = outcome
            .journal()
            .into_iter()
            .map(|line| names.replace(line))
            .filter(|line| !line.starts_with("== name "))
            .partition(|line| is_lookup(line));
        asked.sort_unstable();
        asked.dedup();
        let replaced = |lines: Vec<&str>| lines.into_iter().map(|line| names.replace(line)).collect();
        Trace {
            streams: vec![
                ("end", vec![outcome.ending().into()]),
                ("calls", calls),
                ("names", asked),
                ("messages", replaced(outcome.said("message"))),
                ("log", replaced(outcome.stderr.lines().collect())),
            ],
        }
    }

    /// Prints the whole run, so that a reader sees the lines around a difference.
    pub(crate) fn print(&self, side: Side) {
        for (stream, lines) in &self.streams {
            for line in lines {
                println!("{:<5} {stream} {line}", side.word());
            }
        }
    }

    /// Returns the lines that only one of the runs has, stream by stream.
    pub(crate) fn differences(ours: &Trace, there: &Trace) -> Vec<Difference> {
        let streams = ours.streams.iter().zip(&there.streams);
        streams
            .flat_map(|((stream, ours), (_, there))| {
                different(ours, there).into_iter().map(|(side, line)| Difference {
                    side,
                    stream,
                    line: line.into(),
                })
            })
            .collect()
    }
}

/// Returns `true` for a line in which a driver or a layer records a look-up.
fn is_lookup(line: &str) -> bool {
    const LOOKUPS: [&str; 6] = [
        "vk_icdGetInstanceProcAddr",
        "vk_icdGetPhysicalDeviceProcAddr",
        "vkGetDeviceProcAddr",
        "gipa",
        "gpdpa",
        "gdpa",
    ];
    line.split(' ').nth(1).is_some_and(|word| LOOKUPS.contains(&word))
}

/// Replacements for the folder of the scene and for addresses, which are different in each run. The program's name for an object replaces
/// the object's address. A single word replaces all other addresses.
struct Names {
    root: String,
    known: Vec<(String, String)>,
}

impl Names {
    fn of(outcome: &Outcome, root: &Path) -> Self {
        let given = outcome.journal().into_iter().filter_map(|line| {
            let (name, number) = line.strip_prefix("== name ")?.split_once(' ')?;
            Some((number.into(), name.into()))
        });
        let mut known: Vec<(String, String)> = given.collect();
        // The checksum of a set of callbacks depends on addresses, which are different in each run. Names therefore replace the checksums.
        let sums = outcome.journal().into_iter().filter_map(|line| {
            let (_, callbacks) = line.split_once("alloc=0x")?;
            callbacks.split_once('/')
        });
        for (_, rest) in sums {
            let sum = rest.split(' ').next().unwrap_or(rest);
            if known.iter().all(|(have, _)| have != sum) {
                known.push((sum.into(), format!("callbacks-{}", known.len())));
            }
        }
        Names {
            root: root.display().to_string(),
            known,
        }
    }

    /// Replaces addresses in a line. A hexadecimal number is treated as an address if it is at least 2^20 and below 2^47. Handles of the
    /// mock driver's non-dispatchable objects have their highest bit set, so they are not replaced.
    fn replace(&self, line: &str) -> String {
        let line = line.replace(&self.root, "@ROOT@");
        let mut parts = line.split("0x");
        let mut out = String::from(parts.next().unwrap_or_default());
        for part in parts {
            let end = part
                .find(|letter: char| !letter.is_ascii_hexdigit())
                .unwrap_or(part.len());
            let (digits, rest) = part.split_at(end);
            let number = format!("0x{digits}");
            let known = self.known.iter().find(|(have, _)| *have == number);
            match (known, u64::from_str_radix(digits, 16)) {
                (Some((_, name)), _) => out += name,
                (None, Ok(0x10_0000..0x8000_0000_0000)) => out += "0x...",
                (None, _) => out += &number,
            }
            out += rest;
        }
        out
    }
}

/// Returns the lines that are not in the longest common subsequence, in order.
fn different<'l>(ours: &'l [String], there: &'l [String]) -> Vec<(Side, &'l str)> {
    let front = ours.iter().zip(there).take_while(|(one, other)| one == other).count();
    let (ours, there) = (&ours[front..], &there[front..]);
    let back = ours.iter().rev().zip(there.iter().rev());
    let back = back.take_while(|(one, other)| one == other).count();
    let (ours, there) = (&ours[..ours.len() - back], &there[..there.len() - back]);
    // lengths[i][j] is the length of the longest common subsequence of ours[i..] and there[j..].
    let mut lengths = vec![vec![0u32; there.len() + 1]; ours.len() + 1];
    for (i, one) in ours.iter().enumerate().rev() {
        for (j, other) in there.iter().enumerate().rev() {
            lengths[i][j] = if one == other {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut list) = (0, 0, Vec::new());
    while i < ours.len() || j < there.len() {
        if i < ours.len() && j < there.len() && ours[i] == there[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == there.len() || i < ours.len() && lengths[i + 1][j] >= lengths[i][j + 1] {
            list.push((Side::Ours, ours[i].as_str()));
            i += 1;
        } else {
            list.push((Side::There, there[j].as_str()));
            j += 1;
        }
    }
    list
}
