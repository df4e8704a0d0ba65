//! The trait for reading the values of a catalogue.

/// A JSON value of a catalogue, in the text form or in the binary form.
pub trait Json<'a>: Copy {
    /// Returns the member called `name` if the value is an object that contains it.
    fn member(self, name: &str) -> Option<Self>;
    /// Returns the content of a string.
    fn text(self) -> Option<&'a [u8]>;
    /// Returns a number.
    fn number(self) -> Option<f64>;
    /// Returns the number of elements of an array, and the elements.
    fn elements(self) -> Option<(usize, impl Iterator<Item = Self> + Clone)>;

    /// Returns the member called `name` if it is a string.
    fn member_text(self, name: &str) -> Option<&'a [u8]> {
        self.member(name)?.text()
    }

    /// Returns the member called `name` if it is a whole number from 0 to 2^53.
    fn member_count(self, name: &str) -> Option<u64> {
        const MOST: f64 = (1_u64 << 53) as f64;
        let number = self.member(name)?.number()?;
        let whole = number as u64;
        ((0.0..=MOST).contains(&number) && whole as f64 == number).then_some(whole)
    }

    /// Returns the elements of the member called `name` if it is an array with at most `most` elements.
    fn few(self, name: &str, most: usize) -> Option<impl Iterator<Item = Self> + Clone> {
        let (count, elements) = self.member(name)?.elements()?;
        (count <= most).then_some(elements)
    }
}
