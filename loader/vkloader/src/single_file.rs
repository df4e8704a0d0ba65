//! The program `vkloader` for several C libraries in one file. `make single` sets `VKL_SETS` to the folder with the sets.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use vkloader::Set;

macro_rules! set {
    ($c_library:literal) => {
        Set {
            program: include_bytes!(concat!(env!("VKL_SETS"), "/", $c_library, "/vkloader")),
            library: include_bytes!(concat!(env!("VKL_SETS"), "/", $c_library, "/libvulkan.so.1")),
        }
    };
}

fn main() -> ExitCode {
    vkloader::become_program_of(&[set!("glibc"), set!("musl")])
}
