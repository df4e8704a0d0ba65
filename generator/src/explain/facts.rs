//! Formats facts as lines: a label in the first column, and values in the second.

/// Width of the label column.
const LABEL_WIDTH: usize = 16;

/// Text of the explanation so far.
pub(super) struct Facts(String);

impl Facts {
    pub(super) fn new(name: &str) -> Self {
        Self(format!("{name}\n"))
    }

    /// Adds a value. Additional lines of the value are aligned with its first line.
    pub(super) fn add(&mut self, label: &str, value: impl AsRef<str>) {
        let lines: Vec<&str> = value.as_ref().lines().collect();
        self.lines(label, &lines);
    }

    /// Adds a value. Does nothing if the value is missing.
    pub(super) fn optional(&mut self, label: &str, value: Option<impl AsRef<str>>) {
        if let Some(value) = value {
            self.add(label, value);
        }
    }

    /// Adds a list with one line per element. Adds nothing if the list is empty.
    pub(super) fn lines<T: AsRef<str>>(&mut self, label: &str, lines: &[T]) {
        for (index, line) in lines.iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            let text = format!("  {label:LABEL_WIDTH$}{}", line.as_ref());
            self.0.push_str(text.trim_end());
            self.0.push('\n');
        }
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}
