//! Writes the snapshot of a registry: `import vk.xml video.xml DIRECTORY`.

use std::path::Path;
use std::process::ExitCode;
use vk_registry::{Source, load, snapshot};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [vk, video, directory] = arguments.as_slice() else {
        eprintln!("usage: import vk.xml video.xml DIRECTORY");
        return ExitCode::from(3);
    };
    match import(vk, video, Path::new(directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Registry(text)) => {
            eprintln!("{text}");
            ExitCode::from(2)
        }
        Err(Failure::File(text)) => {
            eprintln!("{text}");
            ExitCode::from(3)
        }
    }
}

enum Failure {
    Registry(String),
    File(String),
}

fn import(vk: &str, video: &str, directory: &Path) -> Result<(), Failure> {
    let bytes = |path: &str| std::fs::read(path).map_err(|error| Failure::File(format!("{path}: {error}")));
    let (vk_bytes, video_bytes) = (bytes(vk)?, bytes(video)?);
    let refused = |diagnostic: vk_registry::Diagnostic| Failure::Registry(diagnostic.to_string());
    let vk = Source::from_bytes(vk, &vk_bytes).map_err(refused)?;
    let video = Source::from_bytes(video, &video_bytes).map_err(refused)?;
    let registry = load(vk, video).map_err(|found| {
        let lines: Vec<_> = found.iter().map(ToString::to_string).collect();
        Failure::Registry(lines.join("\n"))
    })?;
    for (name, text) in snapshot::write(&registry) {
        let path = directory.join(name);
        std::fs::write(&path, text).map_err(|error| Failure::File(format!("{}: {error}", path.display())))?;
    }
    Ok(())
}
