//! Checks the rules for a header's text and its compiled functions: no floating point, no headers of the system, no
//! clocks, no calls of other functions, no variables that last.

use crate::build::{Workshop, compiler_messages};
use object::{Object as _, ObjectSymbol as _, SymbolKind};
use std::collections::BTreeSet;
use std::fs;

/// Functions that a compiler may call for plain C; for eBPF it inlines them.
const COMPILERS_OWN: [&str; 4] = ["memcpy", "memset", "memmove", "memcmp"];

/// Parts of the names of calls and built-in functions that stand for a clock or a random number generator.
const CLOCKS: [&str; 9] =
    ["clock", "gettime", "ktime", "jiffies", "rdtsc", "cyclecounter", "timeofday", "getcpuclock", "time"];
const CHANCE: [&str; 5] = ["rand", "random", "prandom", "rdrand", "rdseed"];

/// Returns a sentence for each violation of a rule; none if the header keeps every rule. The object is checked only if the
/// text has no violation.
///
/// # Errors
/// One sentence, if the compiler cannot be run or its output cannot be read.
pub(crate) fn check_source(workshop: &Workshop, compiler: &str) -> Result<Vec<String>, String> {
    let mut found = check_text(workshop, compiler)?;
    if found.is_empty() {
        found = check_object(workshop, compiler)?;
    }
    Ok(found)
}

/// Returns the faults of the source, preprocessed in the workshop; a header that does not compile is one.
///
/// # Errors
/// As [`check_source`].
fn check_text(workshop: &Workshop, compiler: &str) -> Result<Vec<String>, String> {
    let path = workshop.folder.join("calls.i");
    let done = workshop.compile(compiler, &["-E", "-std=gnu11"], "calls.c", &path);
    let done = done.map_err(|error| format!("{compiler} cannot be run; {error}"))?;
    if !done.status.success() {
        return Ok(vec![format!(
            "does not compile without MH_DESCRIBE:\n{}",
            compiler_messages(&done, workshop)
        )]);
    }
    let text = fs::read(&path).map_err(|error| format!("{} cannot be read; {error}", path.display()))?;
    Ok(find_text_faults(&String::from_utf8_lossy(&text)))
}

/// Returns the faults in a preprocessed text with line markers, each once and in alphabetical order, with file and
/// line. The text of the system's headers is not checked.
fn find_text_faults(text: &str) -> Vec<String> {
    let (mut file, mut line, mut is_system) = (String::new(), 0, false);
    let mut found = BTreeSet::new();
    for row in text.lines() {
        if let Some((at, name, system)) = parse_line_marker(row) {
            let is_of_compiler = file.starts_with('<'); // what it includes of itself, such as stdc-predef.h
            if system && !is_system && !is_of_compiler {
                found.insert(format!(
                    "{file}:{line}: includes {name}, a header of the system; only user space may, under #ifdef MH_DESCRIBE"
                ));
            }
            (file, line, is_system) = (name.to_string(), at, system);
            continue;
        }
        if !is_system {
            found.extend(find_token_faults(row).into_iter().map(|fault| format!("{file}:{line}: {fault}")));
        }
        line += 1;
    }
    found.into_iter().collect()
}

/// Returns line, file and whether it is a system's header from a row such as `# 1 "/usr/include/time.h" 1 3 4`; `None` for
/// any other row.
fn parse_line_marker(row: &str) -> Option<(u64, &str, bool)> {
    let rest = row.strip_prefix("# ")?;
    let (number, rest) = rest.split_once(" \"")?;
    let (name, flags) = rest.split_once('"')?;
    Some((number.parse().ok()?, name, flags.split(' ').any(|flag| flag == "3")))
}

/// Returns the faults of a row: floating point, 128-bit integers, assembly, and built-in clocks and random numbers.
fn find_token_faults(row: &str) -> Vec<String> {
    let faults = split_tokens(row).into_iter().filter_map(|token| match token {
        "float" | "double" | "_Complex" => {
            Some(format!("uses floating point ({token}), which the kernel has not"))
        }
        _ if token.starts_with("_Float") || token == "__float128" => {
            Some(format!("uses floating point ({token}), which the kernel has not"))
        }
        "__int128" | "__int128_t" | "__uint128_t" => Some("uses 128-bit integers, which eBPF has not".into()),
        "asm" | "__asm" | "__asm__" => Some("uses assembly; a policy must compile for any target".into()),
        _ if is_real(token) => Some(format!("uses floating point ({token}), which the kernel has not")),
        _ if token.starts_with("__builtin_") && contains_any(token, &CLOCKS) => {
            Some(format!("reads a clock ({token}); the time is the argument now_ns"))
        }
        _ if token.starts_with("__builtin_") && contains_any(token, &CHANCE) => {
            Some(format!("draws random numbers ({token}); chance is the argument random"))
        }
        _ => None,
    });
    faults.collect()
}

/// Returns the identifiers, keywords and numbers of a row, without text in quotes.
fn split_tokens(row: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (index, part) in row.split('"').enumerate() {
        if index % 2 == 0 {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            found.extend(part.split(|c| !is_part(c)).filter(|token| !token.is_empty()));
        }
    }
    found
}

/// Returns whether a token is a floating-point constant of C.
fn is_real(token: &str) -> bool {
    if !token.trim_start_matches('.').starts_with(|c: char| c.is_ascii_digit()) {
        return false; // a name, or a member such as `.average`
    }
    let lower = token.to_ascii_lowercase();
    lower.contains('.') || if lower.starts_with("0x") { lower.contains('p') } else { lower.contains('e') }
}

/// Returns whether a name contains one of these parts.
fn contains_any(name: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| name.contains(part))
}

/// Returns the faults of the compiled object: calls of functions outside the header, and variables that can be written.
///
/// # Errors
/// As [`check_source`].
fn check_object(workshop: &Workshop, compiler: &str) -> Result<Vec<String>, String> {
    let path = workshop.folder.join("calls.o");
    let arguments = ["-c", "-std=gnu11", "-O2", "-Wno-implicit-function-declaration", "-fno-stack-protector"];
    let done = workshop.compile(compiler, &arguments, "calls.c", &path);
    let done = done.map_err(|error| format!("{compiler} cannot be run; {error}"))?;
    if !done.status.success() {
        return Ok(vec![format!(
            "does not compile without MH_DESCRIBE:\n{}",
            compiler_messages(&done, workshop)
        )]);
    }
    let bytes = fs::read(&path).map_err(|error| format!("{} cannot be read; {error}", path.display()))?;
    let file = object::File::parse(&*bytes).map_err(|error| format!("the object cannot be read; {error}"))?;
    let mut found = BTreeSet::new();
    for symbol in file.symbols() {
        let Ok(name) = symbol.name() else { continue };
        let plain =
            if file.format() == object::BinaryFormat::MachO { name.trim_start_matches('_') } else { name };
        if symbol.is_undefined()
            && !plain.is_empty()
            && !COMPILERS_OWN.contains(&plain)
            && !plain.starts_with("_GLOBAL_")
        {
            found.insert(call_fault(plain));
        } else if symbol.kind() == SymbolKind::Data && is_writable(&file, &symbol) {
            let variable = plain.split('.').next().unwrap_or(plain);
            found.insert(format!(
                "keeps a variable of its own ({variable}); everything that lasts belongs into the flow or the state"
            ));
        }
    }
    Ok(found.into_iter().collect())
}

/// Returns the sentence for a call of a function that the header does not define.
fn call_fault(name: &str) -> String {
    if contains_any(name, &CLOCKS) {
        return format!("reads a clock ({name}); the time is the argument now_ns");
    }
    if contains_any(name, &CHANCE) {
        return format!("draws random numbers ({name}); chance is the argument random");
    }
    format!("calls {name}, which the header does not define; the kernel has no libraries")
}

/// Returns whether a symbol lies in a section of an object that can be written.
fn is_writable<'data>(file: &object::File<'data>, symbol: &object::Symbol<'data, '_>) -> bool {
    use object::{ObjectSection as _, SectionKind};
    let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
    let kinds = [SectionKind::Data, SectionKind::UninitializedData, SectionKind::Common, SectionKind::Tls];
    symbol.is_common() || section.is_some_and(|section| kinds.contains(&section.kind()))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn find_text_faults__name_file_and_line() {
        let text = "# 1 \"a.h\"\nint x;\nreturn 1.5 * x;\n# 7 \"b.h\" 1\ndouble y;\n\"no 2.5 here\"";
        let found = find_text_faults(text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("a.h:2: uses floating point (1.5)"), "{found:?}");
        assert!(found[1].starts_with("b.h:7: uses floating point (double)"), "{found:?}");
    }

    #[test]
    fn find_text_faults__name_system_headers_once_and_skip_their_text() {
        let text =
            "# 3 \"a.h\"\n# 1 \"/usr/include/math.h\" 1 3 4\ndouble sin(double);\n# 4 \"a.h\" 2\nint x;";
        let found = find_text_faults(text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("includes /usr/include/math.h"), "{found:?}");
    }

    #[test]
    fn is_real__is_false_for_integers_and_names() {
        let real = ["1.0", ".5", "1e9", "0x1p3", "5.f"];
        assert!(real.iter().all(|token| is_real(token)));
        assert!(
            ["10", "0xE5", "1ULL", "e5", "state.x", ".avg_q32", "0xffu", "..."]
                .iter()
                .all(|token| !is_real(token))
        );
    }
}
