//! Running programs, and saying what runs and how long it took.

use crate::children::{Ending, Running};
use anyhow::{Result, bail};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant, SystemTime};

/// After how long of silence whoever watches is told that the work goes on.
const SILENCE: Duration = Duration::from_secs(30);

/// Announces a piece of work, does it, and says how long it took.
pub fn step<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    say(&format!("==> {what}"));
    let started = Instant::now();
    let outcome = work();
    let took = seconds(started.elapsed());
    match &outcome {
        Ok(_) => say(&format!("    {what}: {took}")),
        Err(_) => say(&format!("    {what}: failed after {took}")),
    }
    outcome
}

/// Prints a line at once, also where stdout is a pipe.
pub fn say(line: &str) {
    println!("{line}");
    // A reader that went away is no reason to stop the work.
    let _ = std::io::stdout().flush();
}

/// A duration for people.
pub fn seconds(duration: Duration) -> String {
    match duration.as_secs() {
        0..120 => format!("{:.1} s", duration.as_secs_f64()),
        long => format!("{} min {:02} s", long / 60, long % 60),
    }
}

/// Does a piece of work that says nothing itself, and says at times that it goes on.
fn patiently<T>(what: &str, every: Duration, mut say: impl FnMut(&str) + Send, work: impl FnOnce() -> T) -> T {
    let (done, is_done) = channel::<()>();
    let started = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while is_done.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                say(&format!("    … {what}: {} so far", seconds(started.elapsed())));
            }
        });
        let outcome = work();
        drop(done);
        outcome
    })
}

/// Runs a program to its end; anything but success is an error that shows the command line.
pub fn run(command: &mut Command) -> Result<()> {
    let status = Running::start(command, Ending::Group)?.wait()?;
    if !status.success() {
        bail!("`{}` ended with {status}", line(command));
    }
    Ok(())
}

/// Runs a program that says nothing for minutes but what goes wrong.
pub fn run_silent(command: &mut Command) -> Result<()> {
    patiently(&brief(command), SILENCE, say, || run(command))
}

/// Runs a program that is not expected to say anything of interest: its output is shown only when it fails.
pub fn run_quietly(command: &mut Command) -> Result<()> {
    patiently(&brief(command), SILENCE, say, || output(command)).map(drop)
}

/// Runs a program and gives its standard output; anything but success is an error with what it wrote to both streams.
pub fn output(command: &mut Command) -> Result<String> {
    let mut running = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()), Ending::Group)?;
    let (stdout, stderr) = (running.child.stdout.take(), running.child.stderr.take());
    let (stdout, stderr) = std::thread::scope(|scope| {
        let stderr = scope.spawn(|| read(stderr));
        (read(stdout), stderr.join().unwrap_or_default())
    });
    let status = running.wait()?;
    if !status.success() {
        bail!("`{}` ended with {status}\n{stdout}{stderr}", line(command));
    }
    Ok(stdout)
}

fn read(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // What was read until then is worth showing.
        let _ = pipe.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A program's name and its first argument.
fn brief(command: &Command) -> String {
    let name = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    match command.get_args().next() {
        Some(argument) if !argument.as_encoded_bytes().contains(&b'/') => format!("{name} {}", argument.to_string_lossy()),
        _ => name,
    }
}

/// The command line as a person would type it.
pub fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(|arg| arg.to_string_lossy()));
    words.join(" ")
}

/// Where a program is: on the PATH, or in the folders of system programs that a user's PATH often lacks.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(&path).chain(system).map(|dir| dir.join(name)).find(|file| file.is_file())
}

/// Whether every product exists and is no older than every source.
pub fn is_fresh(products: &[PathBuf], sources: &[PathBuf]) -> bool {
    let modified = |path: &Path| -> Option<SystemTime> { path.metadata().ok()?.modified().ok() };
    let oldest = products.iter().map(|path| modified(path)).collect::<Option<Vec<_>>>().and_then(|times| times.into_iter().min());
    let newest = sources.iter().map(|path| modified(path)).collect::<Option<Vec<_>>>().and_then(|times| times.into_iter().max());
    matches!((oldest, newest), (Some(product), Some(source)) if product >= source)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, FileTimes};

    #[test]
    fn a_product_older_than_a_source_or_missing_is_not_fresh() {
        let dir = std::env::temp_dir().join(format!("xtask-fresh-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let (source, product, missing) = (dir.join("source"), dir.join("product"), dir.join("missing"));
        let stamp = |path: &Path, age: u64| {
            let time = SystemTime::now() - Duration::from_secs(age);
            File::create(path).unwrap().set_times(FileTimes::new().set_modified(time)).unwrap();
        };
        stamp(&source, 20);
        stamp(&product, 10);
        assert!(is_fresh(std::slice::from_ref(&product), std::slice::from_ref(&source)));
        stamp(&product, 30);
        assert!(!is_fresh(std::slice::from_ref(&product), std::slice::from_ref(&source)));
        stamp(&product, 10);
        assert!(!is_fresh(&[product, missing], &[source]));
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn long_work_says_that_it_goes_on_and_short_work_says_nothing() {
        let (said, is_said) = channel();
        let outcome = patiently(
            "npm ci",
            Duration::from_millis(1),
            move |line| said.send(line.to_owned()).unwrap(),
            || is_said.recv().unwrap(),
        );
        assert!(outcome.contains("npm ci") && outcome.contains("so far"), "{outcome}");
        patiently("npm ci", Duration::from_secs(3600), |line| panic!("{line}"), || ());
    }

    #[test]
    fn a_failing_program_is_an_error_that_shows_its_command_line_and_words() {
        let error = output(Command::new("sh").args(["-c", "echo to out; echo to err >&2; exit 3"])).unwrap_err().to_string();
        assert!(error.contains("sh -c") && error.contains("to out") && error.contains("to err"), "{error}");
    }
}
