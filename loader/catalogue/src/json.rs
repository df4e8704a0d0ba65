//! What a catalogue is read from.

/// A value of a JSON document, whoever parsed it.
pub trait Json<'a>: Copy {
    /// The member of that name, where this is an object that has one.
    fn member(self, name: &str) -> Option<Self>;
    /// The content of a string.
    fn text(self) -> Option<&'a [u8]>;
    /// A number.
    fn number(self) -> Option<f64>;
    /// The elements of an array, and how many they are.
    fn elements(self) -> Option<(usize, impl Iterator<Item = Self> + Clone)>;

    /// The string member of that name.
    fn member_text(self, name: &str) -> Option<&'a [u8]> {
        self.member(name)?.text()
    }

    /// The member of that name that is a whole number from 0 to 2^53.
    fn member_count(self, name: &str) -> Option<u64> {
        const MOST: f64 = (1_u64 << 53) as f64;
        let number = self.member(name)?.number()?;
        let whole = number as u64;
        ((0.0..=MOST).contains(&number) && whole as f64 == number).then_some(whole)
    }

    /// The elements of an array member with at most `most` of them.
    fn few(self, name: &str, most: usize) -> Option<impl Iterator<Item = Self> + Clone> {
        let (count, elements) = self.member(name)?.elements()?;
        (count <= most).then_some(elements)
    }
}
