//! Plays scenes under two libraries, and compares everything that drivers, layers and the program can see.
//!
//! Arguments are words, which select the scenes whose names contain one of them. The default is all scenes. `VKL_LIBRARY` and
//! `VKL_PEER_LIBRARY` name the libraries. `WHOLE=1` also prints all observations of each run. `tests/README.md` describes the details.

mod catalogue;
mod explained;
#[allow(
    dead_code,
    unused_imports,
    unused_macros,
    reason = "the cases of layers need more of it than scenes do"
)]
#[path = "../tests/layers/kit.rs"]
mod kit;
mod player;
mod queries;
mod stage;
mod trace;

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{env, thread};

use catalogue::{Catalogue, Play};
use explained::Explained;
use loader_tests::Scene;
use trace::{Difference, Side, Trace};

/// Variables that name the libraries: this project's library, and the Khronos loader. The child processes of a run use one of them.
const LIBRARIES: [&str; 2] = ["VKL_LIBRARY", "VKL_PEER_LIBRARY"];

fn main() -> ExitCode {
    let catalogue = Catalogue::read();
    let words: Vec<String> = env::args().skip(1).collect();
    // A child process receives the name of its scene as an argument, like in other tests.
    if let [exact, name, ..] = &words[..]
        && exact == "--exact"
    {
        let play = catalogue.play(name);
        play_twice(&mut Scene::open(&play.name), play);
        unreachable!("a child leaves in the run that it was started for");
    }
    let chosen = |play: &&Play| words.is_empty() || words.iter().any(|word| play.name.contains(word.as_str()));
    let plays: Vec<&Play> = catalogue.plays.iter().filter(chosen).collect();
    let mut explained = Explained::read();
    let mut failed = 0;
    for (play, differences) in plays.iter().zip(compare(&plays)) {
        let open: Vec<Difference> = differences
            .into_iter()
            .filter(|difference| !explained.covers(&play.name, difference))
            .collect();
        failed += usize::from(!open.is_empty());
        report(&play.name, &open);
    }
    println!(
        "{} scenes, {} with differences that tests/differential.txt does not explain",
        plays.len(),
        failed
    );
    // If only some scenes were played, an unused row can belong to another scene.
    let idle = if words.is_empty() { explained.idle() } else { Vec::new() };
    for row in &idle {
        println!("tests/differential.txt: nothing needs `{row}`");
    }
    println!("{} passed, {} failed", plays.len() - failed, failed + idle.len());
    ExitCode::from(u8::from(failed + idle.len() > 0))
}

/// Returns the differences of each scene. Scenes are played in parallel, each in its own folder and processes.
fn compare(plays: &[&Play]) -> Vec<Vec<Difference>> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(vec![Vec::new(); plays.len()]);
    let workers = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(play) = plays.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut scene = Scene::open(&play.name);
                    let [ours, there] = play_twice(&mut scene, play);
                    scene.remove();
                    if env::var_os("WHOLE").is_some() {
                        ours.print(Side::Ours);
                        there.print(Side::There);
                    }
                    let index = plays.iter().position(|other| other.name == play.name);
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found[index.expect("the play is of the list")] = Trace::differences(&ours, &there);
                }
            });
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Sets up the scene and plays it under both libraries. A child plays its part and exits.
fn play_twice(scene: &mut Scene, play: &Play) -> [Trace; 2] {
    stage::build(scene, &play.pieces);
    LIBRARIES.map(|variable| {
        // A child process receives the path of its library from its parent, so it sets no variable.
        if !scene.is_child() {
            let library = env::var_os(variable).unwrap_or_else(|| panic!("{variable} is not set"));
            scene.env("VKL_LIBRARY", library);
        }
        let outcome = scene.run(|vk| player::play(vk, &play.steps));
        Trace::of(&outcome, scene.root())
    })
}

fn report(name: &str, open: &[Difference]) {
    if open.is_empty() {
        return;
    }
    println!("== {name}");
    let mut stream = "";
    for difference in open {
        if difference.stream != stream {
            stream = difference.stream;
            println!("  {stream}");
        }
        println!("    {:<5}  {}", difference.side.word(), difference.line);
    }
}
