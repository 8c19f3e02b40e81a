use super::*;

#[track_caller]
fn assert_message(error: Error, sentence: &str) {
    assert_eq!(error.to_string(), sentence);
}

#[test]
fn error__is_one_line_for_any_quoted_text() {
    let error = Error::field("link.ra\tte", "\"1\n2\r\u{1b}[31m\u{2028}\"", "a rate, such as 5mbit");
    let expected =
        "link.ra\\tte: \"1\\n2\\r\\u{1b}[31m\\u{2028}\" is not allowed; it must be a rate, such as 5mbit";
    assert_message(error, expected);
    assert_message(Error::file("a\nb", "is\u{85}empty"), "a\\nb: is\\u{85}empty");
    let known = ["\u{7}c", "d"];
    assert_message(
        Error::unknown("a\n", "b", "\u{7}", known),
        "a\\n: there is no b \"\\u{7}\"; the bs are \\u{7}c and d; did you mean \"\\u{7}c\"?",
    );
    assert_message(Error::conflict("a", "\n", "\u{7}", "\r"), "a: \\n cannot be combined with \\u{7}; \\r");
}

#[test]
fn error__each_problem_has_a_sentence_of_its_own() {
    assert_message(Error::field("seeds", 0, "at least 1"), "seeds: 0 is not allowed; it must be at least 1");
    assert_message(
        Error::faulty("link.rate", quote("10"), "has no unit", "a rate"),
        "link.rate: \"10\" has no unit; it must be a rate",
    );
    assert_message(
        Error::choice("pieces", "parallal", &["parallel", "consecutive"]),
        "pieces: \"parallal\" is not allowed; it must be parallel or consecutive; did you mean \"parallel\"?",
    );
    assert_message(
        Error::missing("traffic", "one of files, model or connections"),
        "traffic: give one of files, model or connections; none was given",
    );
    assert_message(
        Error::conflict("tcp.variant", quote("tahoe"), "tcp.profile \"rfc\"", "give an ns2 profile"),
        "tcp.variant: \"tahoe\" cannot be combined with tcp.profile \"rfc\"; give an ns2 profile",
    );
    assert_message(
        Error::unknown("scheme sfd", "parameter", "k", ["th", "timeout"]),
        "scheme sfd: there is no parameter \"k\"; the parameters are th and timeout",
    );
    let form = Problem::Form { value: None, problem: "missing field `bytes`".into() };
    assert_message(form.for_field("traffic.connections"), "traffic.connections: missing field `bytes`");
}

#[test]
fn unknown__lists_what_exists_and_suggests_what_is_near() {
    let sentence =
        |name: &str, known: &[&str]| Error::unknown("f", "link", name, known.iter().copied()).to_string();
    assert_eq!(sentence("x", &[]), "f: there is no link \"x\"; there are no links");
    assert_eq!(sentence("xyz", &["abc"]), "f: there is no link \"xyz\"; the only link is abc");
    assert!(sentence("AB", &["ab", "cdefgh"]).ends_with("; did you mean \"ab\"?"));
    let many: Vec<String> = (0..32).map(|number| format!("link{number:02}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(sentence("x", &many).ends_with("link28, link29 and 2 more"));
}

#[test]
fn inside__extends_the_path_of_a_field_only() {
    let path = |field: &str| Error::missing(field, "it").inside("traffic.mix").path().map(str::to_string);
    assert_eq!(path("load").as_deref(), Some("traffic.mix.load"));
    assert_eq!(path("[1].load").as_deref(), Some("traffic.mix[1].load"));
    assert_eq!(path("").as_deref(), Some("traffic.mix"));
    assert_eq!(Error::file("a", "is empty").inside("traffic"), Error::file("a", "is empty"));
}

#[test]
fn problem__has_kind_value_and_what_is_allowed() {
    let parts = |error: Error| match error {
        Error::Field { problem, .. } => {
            (problem.kind(), problem.value().map(Given::to_string), problem.allowed())
        }
        other => panic!("{other}"),
    };
    assert_eq!(quote("c").into_given().text, "c");
    let some = |text: &str| Some(text.to_string());
    assert_eq!(parts(Error::field("f", 3, "1 or 2")), ("value", some("3"), "1 or 2".into()));
    assert_eq!(parts(Error::missing("f", "one")), ("missing", None, "one".into()));
    assert_eq!(parts(Error::conflict("f", 3, "g", "drop one")), ("conflict", some("3"), "drop one".into()));
    assert_eq!(
        parts(Error::unknown("f", "link", "c", ["a", "b"])),
        ("unknown", some("\"c\""), "a and b".into())
    );
}
