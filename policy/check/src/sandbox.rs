//! Plays records to a policy in a separate process, built with the compiler's sanitizers.
//!
//! The program is `c/driver.c`. Its input, in words of 8 bytes in the machine's order: cases, records a case; then of
//! each case whether set-up is to be called, rate and bottleneck (as doubles), buffer in bytes and in packets, shares;
//! the parameters' struct, filled up to words; the states; the records. Its output, of each case: whether set-up
//! allowed the parameters, the outcomes, the states.

use crate::build::Workshop;
use crate::generate::Generator;
use crate::parameters;
use crate::random::Random;
use crate::record::{Case, RECORDS, bytes_of, state_words};
use mousehole_policy::process::{self, Ended, Limits};
use mousehole_policy::{LinkContext, Params, Policy, Settings};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// Seconds that one call may take before it counts as endless.
const CALL_SECONDS: u64 = 5;

const FLAGS: [&str; 4] = ["-std=gnu11", "-O1", "-g", "-fno-omit-frame-pointer"];
const SANITIZERS: [&str; 2] = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

/// The compiled program of a policy.
pub(crate) struct Sandbox<'a> {
    policy: &'static Policy,
    workshop: &'a Workshop,
    program: PathBuf,
    /// Why the program has no sanitizers; `None` if it has them.
    pub bare: Option<String>,
}

/// The program's input for one case.
struct Input {
    set_up: bool,
    params: Params,
    before: Vec<u64>,
    records: Vec<u8>,
}

/// The program's result of a case: outcomes and states; `None` if set-up refused the parameters.
type Played = Option<(Vec<u64>, Vec<u64>)>;

impl<'a> Sandbox<'a> {
    /// Compiles the program in the workshop, with sanitizers if the compiler has them and the program starts with them.
    ///
    /// # Errors
    /// One sentence, with the compiler's messages if the program does not compile.
    pub fn new(
        policy: &'static Policy,
        workshop: &'a Workshop,
        compiler: &str,
    ) -> Result<Sandbox<'a>, String> {
        let program = workshop.folder.join("driver");
        let build = |flags: &[&str]| {
            let done = workshop.compile(compiler, flags, "driver.c", &program);
            done.map_err(|error| format!("{compiler} cannot be run; {error}"))
        };
        let done = build(&[&FLAGS[..], &SANITIZERS].concat())?;
        let runs = done.status.success()
            && program_command(&program).output().is_ok_and(|ran| ran.status.code() == Some(2)); // no arguments
        let mut bare = None;
        if !runs {
            bare = Some(format!("{compiler} has no address and undefined-behaviour sanitizers"));
            let done = build(&FLAGS)?;
            if !done.status.success() {
                return Err(format!(
                    "does not compile:\n{}",
                    crate::build::compiler_messages(&done, workshop)
                ));
            }
        }
        Ok(Sandbox { policy, workshop, program, bare })
    }

    /// Plays records that are drawn without calling the policy in this process, as it may have any fault. The program calls
    /// set-up, for the first case with the defaults.
    ///
    /// # Errors
    /// One sentence about the first fault.
    pub fn play_blind(&self, cases: usize, seed: u64) -> Result<(), String> {
        let mut random = Random::new(seed);
        let mut inputs = Vec::with_capacity(cases);
        let mut drawn = Some((Settings::new(self.policy), LinkContext::EXAMPLE));
        while inputs.len() < cases {
            let (settings, context) = drawn.take().unwrap_or_else(|| {
                (parameters::draw_settings(self.policy, &mut random), parameters::draw_context(&mut random))
            });
            let Ok(params) = settings.before_set_up(&context) else { continue };
            let records = Generator::draw_blind(self.policy, &params, random.bits());
            inputs.push(Input {
                set_up: true,
                params,
                before: vec![0; state_words(self.policy)],
                records: bytes_of(&records).to_vec(),
            });
        }
        self.play(&inputs).map(drop)
    }

    /// Plays cases in the separate process, without set-up, and compares outcomes and states with those of the native
    /// build.
    ///
    /// # Errors
    /// One sentence about the first fault or difference.
    pub fn play_cases(&self, cases: &[Case]) -> Result<(), String> {
        let input = |case: &Case| Input {
            set_up: false,
            params: case.params.clone(),
            before: case.before.clone(),
            records: bytes_of(&case.records).to_vec(),
        };
        let played = self.play(&cases.iter().map(input).collect::<Vec<_>>())?;
        for (case, played) in cases.iter().zip(played) {
            if played.is_none_or(|(outcomes, after)| outcomes != case.outcomes || after != case.after) {
                return Err("decides otherwise when compiled with less optimisation; a value may be used before it is set, \
                            or memory read as another type"
                    .into());
            }
        }
        Ok(())
    }

    /// Runs the program on the inputs and returns the result of each, in their order. Overwrites the workshop's files
    /// `in` and `out`.
    ///
    /// # Errors
    /// One sentence about the first fault, or why the program cannot be run.
    fn play(&self, inputs: &[Input]) -> Result<Vec<Played>, String> {
        let (input, output) = (self.workshop.folder.join("in"), self.workshop.folder.join("out"));
        let cannot = |error: std::io::Error| format!("cannot be played; {error}");
        fs::write(&input, encode_inputs(inputs)).map_err(cannot)?;
        let seconds = CALL_SECONDS.to_string();
        let mut program = program_command(&self.program);
        program.args([&input, &output]).arg(seconds);
        let (done, status) = match process::run(&mut program, &LIMITS).map_err(cannot)? {
            Ended::ByItself(done) => (done.clone(), Some(done.status)),
            Ended::TooLong(done) | Ended::Waiting(done) => (done, None),
        };
        if !status.is_some_and(|status| status.success()) {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            return Err(self.fault_sentence(status, &text(&done.stdout), &text(&done.stderr)));
        }
        let bytes = fs::read(&output).map_err(cannot)?;
        let words: Vec<u64> =
            bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().expect("8 bytes"))).collect();
        let states = state_words(self.policy);
        let case = |words: &[u64]| {
            (words[0] != 0).then(|| (words[1..=RECORDS].to_vec(), words[RECORDS + 1..].to_vec()))
        };
        let played: Vec<Played> = words.chunks_exact(1 + RECORDS + states).map(case).collect();
        match played.len() == inputs.len() {
            true => Ok(played),
            false => Err("ends the program before a call returns; a policy only returns an answer".into()),
        }
    }

    /// Returns one sentence about a program that failed, from its status (`None` if it took too long), its standard output
    /// and its standard error.
    fn fault_sentence(&self, status: Option<ExitStatus>, said: &str, complaint: &str) -> String {
        let words: Vec<&str> = said.split_whitespace().collect();
        if let ["fault", kind, _, record, function, value] = words[..] {
            return self.printed_fault_sentence(kind, record, function, value);
        }
        if let Some(sentence) = sanitizer_sentence(complaint) {
            return sentence;
        }
        match status {
            None => "does not come to an end; a loop needs a constant bound".into(),
            Some(status) => {
                format!("ends the program ({status}): a division by zero, or memory outside its own")
            }
        }
    }

    /// Returns the sentence for a fault that the program has printed; the arguments are its fields (`c/driver.c`).
    fn printed_fault_sentence(&self, kind: &str, record: &str, function: &str, value: &str) -> String {
        let at = format!("{function} (record {record})");
        match kind {
            "exit" => format!("{at} calls exit; a policy only returns an answer"),
            "endless" => {
                format!("{function} does not return within {CALL_SECONDS} s; a loop needs a constant bound")
            }
            "range" if self.policy.returns_hint() => {
                format!("{at} returns {value}; allowed: a hint from 0 to 255")
            }
            "range" if self.policy.bands() > 0 => {
                let most = self.policy.bands() - 1;
                format!("{at} returns {value}; allowed: a band from 0 to {most}, and what queue.h lists")
            }
            "range" if self.policy.marker().is_some() => format!(
                "{at} returns {value}; allowed: MH_GREEN (0), MH_YELLOW (1), MH_RED (2) or MH_DISCARD (3)"
            ),
            "range" => format!(
                "{at} returns {value}; allowed: MH_PASS (0), MH_MARK (1), MH_DROP_EARLY (2) or MH_DROP_FORCED (3)"
            ),
            "outside" => format!("{at} writes outside its structs"),
            "parameters" => format!("{at} changes its parameters, which it may only read"),
            "arguments" => {
                format!("{at} changes the packet's view, the backlog or the counts, which it may only read")
            }
            "differs" => format!(
                "{at} decides otherwise on the same input; something outside its arguments plays a part"
            ),
            "draws" => format!(
                "{at} depends on random though draws() returns 0; let draws() return 1 with these parameters"
            ),
            "strictest" => format!(
                "{at} is not strictest at random 0, which .flags = MH_LEAST_IS_STRICTEST promises; leave the flag out"
            ),
            "writes_part" => format!(
                "{at} writes a part of the state that is not its own; packets write what stands before the member published, slow steps published and what stands after it"
            ),
            "reads_part" => format!(
                "{at} reads a part of the state that is not its own; packets read no further than the member published, slow steps nothing before it"
            ),
            "period" => "period returns 0 ns; the caller would sweep without end".into(),
            _ => format!("{at} fails ({kind})"),
        }
    }
}

/// Returns the command of the program, with the sanitizers' options.
fn program_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("ASAN_OPTIONS", "detect_leaks=0").env("UBSAN_OPTIONS", "print_stacktrace=0");
    command
}

/// Returns the program's input file; the head of this file describes the layout.
fn encode_inputs(inputs: &[Input]) -> Vec<u8> {
    let mut all = Vec::new();
    let word = |value: u64, all: &mut Vec<u8>| all.extend_from_slice(&value.to_ne_bytes());
    word(inputs.len() as u64, &mut all);
    word(RECORDS as u64, &mut all);
    for input in inputs {
        let context = input.params.context();
        word(input.set_up.into(), &mut all);
        word(context.rate_bps.to_bits(), &mut all);
        word(context.bottleneck_bps.to_bits(), &mut all);
        word(context.buffer_bytes, &mut all);
        word(context.buffer_packets, &mut all);
        word(input.params.shares(), &mut all);
        all.extend_from_slice(&input.params.bytes());
        all.resize(all.len().next_multiple_of(8), 0);
        input.before.iter().for_each(|state| word(*state, &mut all));
        all.extend_from_slice(&input.records);
    }
    all
}

/// Limits of the program, without one of memory, as a sanitizer reserves more than it uses.
const LIMITS: Limits = Limits {
    seconds: 120,
    waiting_seconds: None,
    processor_seconds: 120,
    memory_bytes: None,
    file_bytes: 1 << 30,
};

/// Returns one sentence from a sanitizer's report on standard error; `None` if there is no report.
fn sanitizer_sentence(report: &str) -> Option<String> {
    if let Some(line) = report.lines().find(|line| line.contains(": runtime error: ")) {
        let (context, fault) = line.split_once(": runtime error: ")?;
        return Some(format!("{}: {fault}", without_column(context)));
    }
    let line = report.lines().find(|line| line.contains("ERROR: AddressSanitizer: "))?;
    let kind = line.split("AddressSanitizer: ").nth(1)?.split(' ').next()?;
    let access =
        report.lines().find(|line| line.starts_with("WRITE of size") || line.starts_with("READ of size"));
    let does = match access {
        Some(line) if line.starts_with("WRITE") => "writes outside its structs",
        Some(_) => "reads outside its structs",
        None => "uses memory outside its own",
    };
    let frame = report.lines().find(|line| line.trim_start().starts_with("#0"));
    let context = frame.and_then(|line| line.rsplit(' ').next()).filter(|context| context.contains(':'));
    Some(match context {
        Some(context) => format!("{}: {does} ({kind})", without_column(context)),
        None => format!("{does} ({kind})"),
    })
}

/// Returns `file:line` of `file:line:column`; any other text unchanged.
fn without_column(context: &str) -> &str {
    let mut parts = context.rmatch_indices(':');
    match (parts.next(), parts.next()) {
        (Some((last, _)), Some(_)) => &context[..last],
        _ => context,
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn sanitizer_sentence__is_one_sentence() {
        let report = "a.h:31:14: runtime error: division by zero\n";
        assert_eq!(sanitizer_sentence(report).unwrap(), "a.h:31: division by zero");
        let report = "==1==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x1\nWRITE of size 4 at 0x1\n    \
                      #0 0x5 in mh_x_packet /t/x.h:12\n    #1 0x6 in main d.c:1\n";
        assert_eq!(
            sanitizer_sentence(report).unwrap(),
            "/t/x.h:12: writes outside its structs (heap-buffer-overflow)"
        );
        assert_eq!(sanitizer_sentence("nothing"), None);
    }
}
