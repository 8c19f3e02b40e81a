//! HAR files as browsers of several kinds and versions write them, made here: what crossed the network counts, once.
use crate::traffic_common::*;
use mousehole_sim::traffic::Traffic;

const CACHED: &str = "from the browser's cache";
const NOT_NETWORK: &str = "not from the network (data: and blob: URLs and the like)";
const NO_ANSWER: &str = "request without an answer (status 0)";
const NO_SIZE: &str = "size not recorded";

/// What a browser writes of an answer; `None` where it leaves the field out.
#[derive(Clone, Copy)]
struct Answer {
    url: &'static str,
    status: u16,
    version: &'static str,
    headers: Option<i64>,
    body: Option<i64>,
    transferred: Option<i64>,
    content: i64,
    time: u32,
    /// Whether it names the server's address and a connection.
    has_end: bool,
    of_response: &'static str,
    of_entry: &'static str,
}

const PLAIN: Answer = Answer {
    url: "https://a.example/x",
    status: 200,
    version: "HTTP/1.1",
    headers: None,
    body: None,
    transferred: None,
    content: 0,
    time: 50,
    has_end: true,
    of_response: "",
    of_entry: "",
};

/// Returns a HAR file of a browser with this answer, and a second one of three bytes.
fn har_file(creator: &str, answer: Answer) -> String {
    let field = |name: &str, value: Option<i64>| {
        value.map_or_else(String::new, |value| format!("\"{name}\": {value}, "))
    };
    let end = if answer.has_end { r#""serverIPAddress": "192.0.2.1", "connection": "443", "# } else { "" };
    let Answer { url, status, version, content, time, of_response, of_entry, .. } = answer;
    let sizes = [
        field("headersSize", answer.headers),
        field("bodySize", answer.body),
        field("_transferSize", answer.transferred),
    ]
    .concat();
    format!(
        r#"{{"log": {{"version": "1.2", "creator": {creator}, "pages": [], "entries": [
        {{"startedDateTime": "2026-05-01T10:00:00.250Z", "time": {time}, {end}{of_entry} "cache": {{}},
          "request": {{"method": "GET", "url": "{url}", "httpVersion": "{version}", "headersSize": 200, "bodySize": 0}},
          "response": {{"status": {status}, "httpVersion": "{version}", {sizes}{of_response}
            "content": {{"size": {content}, "mimeType": "text/html"}}}},
          "timings": {{"blocked": 0, "send": 1, "wait": 5, "receive": 9}}}},
        {{"startedDateTime": "2026-05-01T10:00:01.250Z", "time": 50, "serverIPAddress": "192.0.2.1", "connection": "443",
          "request": {{"method": "GET", "url": "https://a.example/", "httpVersion": "HTTP/1.1"}},
          "response": {{"status": 200, "httpVersion": "HTTP/1.1", "headersSize": 1, "bodySize": 2, "content": {{"size": 2}}}}}}
        ]}}}}"#
    )
}

/// Returns the bytes that are read of the answer of [`har_file`].
///
/// # Errors
/// The reason for which the answer is left out.
fn read_outcome(traffic: &Traffic) -> Result<u64, String> {
    // The second entry, of three bytes, makes the file usable.
    let bytes: u64 = traffic.connections.iter().map(|one| one.bytes()).sum();
    match &traffic.skipped[..] {
        [] => Ok(bytes - 3),
        [skipped] => {
            assert_eq!((bytes, skipped.rows), (3, 1));
            Err(skipped.reason.clone())
        }
        more => panic!("{more:?}"),
    }
}

/// Checks the outcome of each case, with and without a byte order mark.
fn check_cases(creator: &str, cases: &[(&str, Answer, Result<u64, &str>)]) {
    for (name, answer, expected) in cases {
        let text = har_file(creator, *answer);
        let expected = expected.map_err(str::to_string);
        assert_eq!(read_outcome(&one(&text)), expected, "{creator}: {name}");
        assert_eq!(
            read_outcome(&one(&format!("\u{feff}{text}"))),
            expected,
            "with a byte order mark: {name}"
        );
    }
}

#[test]
fn har__of_chrome_and_edge() {
    let h1 =
        Answer { headers: Some(300), body: Some(9700), transferred: Some(10_000), content: 9700, ..PLAIN };
    let h2 = Answer {
        version: "http/2.0",
        headers: Some(-1),
        body: Some(-1),
        transferred: Some(9_730),
        content: 40_000,
        ..PLAIN
    };
    let none = Answer { transferred: Some(0), ..h2 };
    let cases = [
        ("HTTP/1.1", h1, Ok(10_000)),
        ("HTTP/2, whose headers are compressed", h2, Ok(9_730)),
        ("HTTP/3", Answer { version: "h3", ..h2 }, Ok(9_730)),
        ("before version 60, which has no _transferSize", Answer { transferred: None, ..h1 }, Ok(10_000)),
        ("the body is still good", Answer { status: 304, transferred: Some(140), ..h2 }, Ok(140)),
        (
            "the same before version 60",
            Answer { status: 304, headers: Some(210), body: Some(0), transferred: None, ..h1 },
            Ok(210),
        ),
        (
            "redirected",
            Answer { status: 302, headers: Some(350), body: Some(0), transferred: Some(350), ..h1 },
            Ok(350),
        ),
        ("from memory", Answer { of_entry: r#""_fromCache": "memory","#, ..none }, Err(CACHED)),
        ("from disk", Answer { of_entry: r#""_fromCache": "disk","#, ..none }, Err(CACHED)),
        (
            "from a service worker",
            Answer { of_response: r#""_fetchedViaServiceWorker": true,"#, ..none },
            Err(CACHED),
        ),
        (
            "fetched by a service worker",
            Answer { of_response: r#""_fetchedViaServiceWorker": false,"#, ..h2 },
            Ok(9_730),
        ),
        ("data in the URL", Answer { url: "data:image/png;base64,AA", ..none }, Err(NOT_NETWORK)),
        ("a blob", Answer { url: "blob:https://a.example/1", ..none }, Err(NOT_NETWORK)),
        ("an extension's own", Answer { url: "chrome-extension://abc/x.js", ..h1 }, Err(NOT_NETWORK)),
        (
            "blocked",
            Answer { status: 0, of_response: r#""_error": "net::ERR_BLOCKED_BY_CLIENT","#, ..none },
            Err(NO_ANSWER),
        ),
        (
            "aborted before the answer",
            Answer { status: 0, of_response: r#""_error": "net::ERR_ABORTED","#, ..none },
            Err(NO_ANSWER),
        ),
        (
            "aborted within the answer",
            Answer { transferred: Some(4_000), of_response: r#""_error": "net::ERR_ABORTED","#, ..h2 },
            Ok(4_000),
        ),
    ];
    check_cases(r#"{"name": "WebInspector", "version": "537.36"}"#, &cases);
}

#[test]
fn har__of_firefox() {
    let plain = Answer { headers: Some(465), body: Some(3_871), content: 3_406, ..PLAIN };
    let coded = Answer { headers: Some(400), body: Some(2_400), content: 9_000, version: "HTTP/2", ..PLAIN };
    let none = Answer { headers: Some(0), body: Some(-1), content: 9_000, has_end: false, ..PLAIN };
    let cases = [
        ("bodySize has the headers in it", plain, Ok(3_871)),
        ("coded, over HTTP/2", coded, Ok(2_400)),
        ("over HTTP/3", Answer { version: "HTTP/3", ..coded }, Ok(2_400)),
        (
            "bodySize is the content's, as old versions have it",
            Answer { body: Some(3_406), ..plain },
            Ok(3_871),
        ),
        (
            "the body is still good, and bodySize the cached one",
            Answer { status: 304, headers: Some(380), body: Some(5_760), content: 5_380, ..PLAIN },
            Ok(380),
        ),
        (
            "redirected",
            Answer { status: 301, headers: Some(350), body: Some(350), content: 0, ..PLAIN },
            Ok(350),
        ),
        ("from the cache", Answer { time: 0, body: Some(9_000), ..none }, Err(CACHED)),
        ("from a service worker", Answer { time: 12, headers: Some(200), ..none }, Err(CACHED)),
        (
            "behind a proxy of an old version",
            Answer { body: Some(2_000), headers: Some(400), ..none },
            Ok(2_000),
        ),
        ("blocked", Answer { status: 0, time: 0, ..none }, Err(NO_ANSWER)),
        ("data in the URL", Answer { url: "data:text/css,x", ..none }, Err(NOT_NETWORK)),
    ];
    check_cases(r#"{"name": "Firefox", "version": "140.0"}"#, &cases);
}

#[test]
fn har__of_safari() {
    let h2 = Answer {
        version: "h2",
        headers: Some(-1),
        body: Some(9_000),
        transferred: Some(9_210),
        content: 30_000,
        of_entry: r#""_fetchType": "Network Load","#,
        ..PLAIN
    };
    let stored = |of_entry| Answer { of_entry, transferred: Some(0), body: Some(0), ..h2 };
    let cases = [
        ("HTTP/2", h2, Ok(9_210)),
        ("HTTP/3", Answer { version: "h3", ..h2 }, Ok(9_210)),
        (
            "HTTP/1.1 of an old version",
            Answer { version: "HTTP/1.1", headers: Some(300), transferred: None, ..h2 },
            Ok(9_300),
        ),
        ("from disk", stored(r#""_fetchType": "Disk Cache","#), Err(CACHED)),
        ("from memory", stored(r#""_fetchType": "Memory Cache","#), Err(CACHED)),
        ("from a service worker", stored(r#""_fetchType": "Service Worker","#), Err(CACHED)),
        ("failed", Answer { status: 0, transferred: None, body: None, headers: None, ..h2 }, Err(NO_ANSWER)),
    ];
    check_cases(r#"{"name": "WebKit Web Inspector", "version": "1.0"}"#, &cases);
}

#[test]
fn har__of_proxies_that_record() {
    let plain = Answer { headers: Some(300), body: Some(2_000), content: 7_000, ..PLAIN };
    let cases = [
        ("plain", plain, Ok(2_300)),
        ("headers unknown", Answer { headers: Some(-1), ..plain }, Ok(2_000)),
        ("nothing known but the content", Answer { headers: Some(-1), body: Some(-1), ..plain }, Ok(7_000)),
        ("nothing known", Answer { headers: Some(-1), body: Some(-1), content: -1, ..plain }, Err(NO_SIZE)),
    ];
    check_cases(r#"{"name": "mitmproxy", "version": "11"}"#, &cases);
    check_cases(r#"{"name": "Charles Proxy", "version": "5"}"#, &cases);
}
