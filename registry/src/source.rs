//! Input files with their texts, and the conversion of byte offsets to lines and columns.

/// XML text with its file name.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// File name as shown in diagnostics.
    pub name: &'a str,
    /// Text of the file, with or without a byte-order mark.
    pub text: &'a str,
}

impl<'a> Source<'a> {
    /// Returns the text without a byte-order mark.
    pub(crate) fn body(&self) -> &'a str {
        self.text.strip_prefix('\u{feff}').unwrap_or(self.text)
    }
}

/// Place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    /// File name.
    pub(crate) file: &'a str,
    /// Line, counted from 1.
    pub(crate) line: u32,
    /// Column in characters, counted from 1.
    pub(crate) column: u32,
}

/// Files of which a text consists. Error messages use these files to name the file and line that the author wrote.
#[derive(Debug)]
pub(crate) struct Origins<'a> {
    files: Vec<(Source<'a>, LineTable)>,
    /// Pieces, sorted by start. The first piece starts at 0.
    pieces: Vec<Piece>,
}

/// Part of a text that comes from a single file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    /// Start of the piece in the text.
    pub(crate) start: usize,
    /// Index of the piece's file.
    pub(crate) file: usize,
    /// Start of the piece in its file.
    pub(crate) origin: usize,
}

impl<'a> Origins<'a> {
    pub(crate) fn new(files: &[Source<'a>], pieces: Vec<Piece>) -> Self {
        let with_lines = |source: &Source<'a>| (*source, LineTable::new(source.body()));
        Self {
            files: files.iter().map(with_lines).collect(),
            pieces,
        }
    }

    /// Creates the origins of a text that consists of a single file.
    pub(crate) fn one(source: Source<'a>) -> Self {
        let whole = Piece {
            start: 0,
            file: 0,
            origin: 0,
        };
        Self::new(&[source], vec![whole])
    }

    /// Returns the place of a byte offset of the text.
    pub(crate) fn place(&self, at: usize) -> Place<'a> {
        let index = self.pieces.partition_point(|piece| piece.start <= at).saturating_sub(1);
        let piece = self.pieces[index];
        let (source, lines) = &self.files[piece.file];
        let (line, column) = lines.place(source.body(), at - piece.start + piece.origin);
        Place {
            file: source.name,
            line,
            column,
        }
    }
}

/// Byte offsets of line starts. A binary search in the offsets finds the line of a byte without a scan of the text (GEN-14).
#[derive(Debug)]
pub(crate) struct LineTable {
    starts: Vec<usize>,
}

impl LineTable {
    pub(crate) fn new(text: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        Self { starts }
    }

    /// Returns line and column of a byte offset, both counted from 1. Columns count characters.
    pub(crate) fn place(&self, text: &str, at: usize) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= at).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let column = text.get(start..at).map_or(0, |before| before.chars().count());
        (
            u32::try_from(line + 1).unwrap_or(u32::MAX),
            u32::try_from(column + 1).unwrap_or(u32::MAX),
        )
    }
}
