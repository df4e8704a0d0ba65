//! Behaviour tests of the built loader.
