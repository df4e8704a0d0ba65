//! Reads the policy.

use super::overlay::PolicyOverlay;
use super::rows::Policy;
use super::text::{PolicyFile, reasons, syntax};
use crate::error::Error;
use std::path::{Path, PathBuf};

impl Policy {
    /// Reads the policy file and checks its form, and adds the rows of the overlay files.
    pub fn read(path: &Path, overlays: &[PathBuf]) -> Result<(Self, Vec<PolicyFile>), Error> {
        let refused = |line| Error::Policy(vec![line]);
        let mut files = vec![PolicyFile::read(path)?];
        let mut policy = Self::parse(&files[0].name, &files[0].text).map_err(refused)?;
        for path in overlays {
            let file = PolicyFile::read(path)?;
            policy.add(PolicyOverlay::parse(&file.name, &file.text).map_err(refused)?);
            files.push(file);
        }
        Ok((policy, files))
    }

    /// Parses the text of `file`. Error messages contain the line and column in the file.
    pub fn parse(file: &str, text: &str) -> Result<Self, String> {
        let policy: Self = syntax(file, text)?;
        reasons(file, text, &policy.treatments, &policy.gates, &policy.slots)?;
        Ok(policy)
    }
}
