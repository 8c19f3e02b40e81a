//! Users' own headers: what loads, and the sentence that each fault gets.

use crate::common::Marker;
use mousehole_policy::{
    Backlog, Colour, LinkContext, Origin, Params, Policy, PolicyKind, Verdict, View, find, gather_params,
    headers_folder, load, take_fault,
};
use std::path::PathBuf;
use std::sync::LazyLock;
use tempfile::TempDir;

/// The cache that loading uses here, in place of the user's.
static CACHE: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cache");
    // SAFETY: this program reads its environment through the standard library alone, which takes a lock.
    unsafe { std::env::set_var("XDG_CACHE_HOME", &folder) };
    folder
});

/// A folder with a header in it.
struct Header {
    path: PathBuf,
    _folder: TempDir,
}

impl Header {
    fn new(file: &str, text: &str) -> Header {
        LazyLock::force(&CACHE);
        let folder = TempDir::new().unwrap();
        let path = folder.path().join(file);
        std::fs::write(&path, text).unwrap();
        Header { path, _folder: folder }
    }

    fn load(&self) -> &'static Policy {
        load(&self.path).unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Returns what is wrong with a header.
fn problem(file: &str, text: &str) -> String {
    let header = Header::new(file, text);
    let error = load(&header.path).expect_err("must be refused");
    assert_eq!(error.to_string(), format!("{}: {}", header.path.display(), error.problem));
    error.problem
}

/// Asserts that a problem is one sentence, which begins and ends so that it can follow the header's name.
fn assert_sentence(got: &str, expected: &str) {
    assert_eq!(got, expected);
    assert!(!got.contains('\n') && !got.ends_with('.') && got.starts_with(char::is_lowercase), "{got}");
}

/// Returns a marker of two colours by bytes sent, of the name `name` in C, with this table of parameters.
fn marker(name: &str, table: &str) -> String {
    r#"
#include "mousehole/flow_meter.h"
#include "mousehole/policy.h"

struct mh_NAME_params {
	struct mh_flow_meter_params meter;
	u32 limit; /* bytes */
	u32 colour;
};

MH_FN u32 mh_NAME_packet(const struct mh_NAME_params *params, struct mh_flow_meter *flow, struct mh_none *state,
			 const struct mh_view *view, u64 now_ns, u32 random)
{
	(void)state;
	(void)random;
	mh_flow_meter_packet(&params->meter, flow, view, now_ns);
	return flow->bytes <= params->limit ? MH_GREEN : params->colour;
}

#ifdef MH_DESCRIBE
static const struct mh_parameter mh_NAME_parameters[] = { ENTRIES };

static inline struct mh_fault mh_NAME_setup(struct mh_NAME_params *params, const struct mh_link_context *link)
{
	(void)link;
	params->meter.timeout_ns = MH_NEVER;
	return params->limit == 13 ? MH_FAULT("limit", "any number but 13") : MH_NO_FAULT;
}
#endif

MH_SETUP(NAME)
MH_MARKER(NAME, mh_NAME_params, mh_flow_meter, mh_none, .summary = "two colours by bytes sent", .source = "ours",
	  MH_TABLE_OF(NAME), MH_OFFERS(NAME, setup))
"#
    .replace("ENTRIES", table)
    .replace("NAME", name)
}

/// Returns the entry of parameter `limit` with a default.
fn limit(name: &str, default: &str) -> String {
    format!(
        "{{ MH_FIELD(mh_{name}_params, limit), .kind = MH_SIZE, .name = \"limit\", .value = \"{default}\", .least = 0, \
         .most = 1e9, .meaning = \"green up to this count\", .source = \"ours\" }}"
    )
}

/// Returns the entry of parameter `beyond`, of any kind and with anything else.
fn beyond(name: &str, rest: &str) -> String {
    format!(
        "{{ MH_FIELD(mh_{name}_params, colour), .name = \"beyond\", .meaning = \"colour\", .source = \"ours\", {rest} }}"
    )
}

const WORDS: &str = ".kind = MH_CHOICE, .mask = 3, .choices = \"- yellow red\", .value = \"yellow\"";

#[test]
fn load__makes_a_header_a_policy_like_any_other() {
    let table = [limit("two_colours", "3kB"), beyond("two_colours", WORDS)].join(", ");
    let header = Header::new("two-colours.h", &marker("two_colours", &table));
    let policy = header.load();
    assert_eq!(
        (policy.name(), policy.c_name(), policy.kind()),
        ("two-colours", "two_colours", PolicyKind::Marker)
    );
    assert_eq!(policy.parameters().iter().map(|one| one.name).collect::<Vec<_>>(), ["limit", "beyond"]);
    let Origin::Header { path, sha256 } = policy.origin() else { panic!("{:?}", policy.origin()) };
    assert_eq!((path, sha256.len()), (&header.path, 64));
    assert!(std::ptr::eq(find("two-colours").unwrap(), policy));

    let colours = |given: &[(&str, &str)]| {
        let mut marker = Marker::new(Params::from_text(policy, given, &LinkContext::EXAMPLE).unwrap());
        let mut flow = marker.new_flow();
        [0, 1, 2, 3].map(|second| marker.packet(&mut flow, &View::new(1500), second, 0))
    };
    use Colour::{Green, Red, Yellow};
    assert_eq!(colours(&[]), [Green, Green, Yellow, Yellow]);
    assert_eq!(colours(&[("limit", "1500B"), ("beyond", "red")]), [Green, Red, Red, Red]);
    let error = Params::from_text(policy, &[("limit", "13B")], &LinkContext::EXAMPLE).unwrap_err();
    assert_eq!(error.to_string(), "limit: its value is not allowed here; allowed: any number but 13");

    // The same text again is the same policy.
    assert!(std::ptr::eq(header.load(), policy));
}

#[test]
fn load__of_a_header_whose_name_is_own() {
    // What stands between callers and an own header has names that no header gives.
    for name in ["own", "own_call", "policy", "fault"] {
        let header =
            Header::new(&format!("{}.h", name.replace('_', "-")), &marker(name, &limit(name, "1kB")));
        assert_eq!(header.load().c_name(), name);
    }
}

#[test]
fn load__of_a_changed_header_replaces_the_policy() {
    let text = |default| marker("changing", &limit("changing", default));
    let header = Header::new("changing.h", &text("1kB"));
    let first = header.load();
    std::fs::write(&header.path, text("2kB")).unwrap();
    let second = header.load();
    assert!(std::ptr::eq(find("changing").unwrap(), second));
    // Whoever still holds the first one may use it.
    let default = |policy| Params::from_text(policy, &[], &LinkContext::EXAMPLE).unwrap().number("limit");
    assert_eq!([default(first), default(second)], [1000.0, 2000.0]);
}

#[test]
fn load__takes_a_dropper_without_parameters() {
    let text = r#"
#include "mousehole/policy.h"

struct mh_ten_params {
	u32 unused;
};

MH_FN u32 mh_ten_packet(const struct mh_ten_params *params, struct mh_none *state, const struct mh_view *view,
			const struct mh_backlog *backlog, u64 now_ns, u32 random)
{
	(void)params, (void)state, (void)view, (void)now_ns, (void)random;
	return backlog->packets < 10 ? MH_PASS : MH_DROP_EARLY;
}

MH_DROPPER(ten, mh_ten_params, mh_none, .summary = "ten packets", .source = "ours")
"#;
    let policy = Header::new("ten.h", text).load();
    assert!(policy.parameters().is_empty() && policy.readings().is_empty());
    let params = Params::from_text(policy, &[], &LinkContext::EXAMPLE).unwrap();
    let verdict = |packets| {
        let backlog = Backlog::new(packets, 0, 0);
        policy.dropper().unwrap().call(&params, &mut policy.new_state(), &View::new(1), &backlog, 0, 0)
    };
    assert_eq!([verdict(9), verdict(10)], [Verdict::Pass, Verdict::Early]);
}

/// Whoever asks first writes the headers; all who ask at once find all of them.
#[test]
fn headers_folder__can_be_called_concurrently() {
    LazyLock::force(&CACHE);
    let all = || {
        let folder = headers_folder().unwrap();
        assert!(
            folder.join("mousehole/policy.h").is_file() && folder.join("mousehole/window_marker.h").is_file()
        );
    };
    std::thread::scope(|scope| (0..16).for_each(|_| drop(scope.spawn(all))));
}

#[test]
fn load__leaves_nothing_but_the_headers_in_the_cache() {
    Header::new("tidy.h", &marker("tidy", &limit("tidy", "1B"))).load();
    let folder = headers_folder().unwrap();
    assert!(folder.join("mousehole/policy.h").is_file() && folder.starts_with(&*CACHE));
    // Folders of other tests may be there, which run in the same process.
    let folders = std::fs::read_dir(CACHE.join("mousehole")).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten().flatten());
    let left: Vec<_> = files
        .map(|file| file.path())
        .filter(|path| path.file_stem().is_some_and(|stem| stem == "tidy"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn fault__wrong_file_name() {
    let expected =
        "a policy's file is named after it, in lower-case letters, digits and hyphens: my-marker.h";
    for file in ["My-Marker.h", "9th.h", "my marker.h", "my-marker.c", "my-marker"] {
        assert_sentence(&problem(file, ""), expected);
    }
}

#[test]
fn fault__file_cannot_be_read() {
    let error = load("/nowhere/no-such-header.h".as_ref()).unwrap_err();
    assert!(error.problem.starts_with("cannot be read; "), "{error}");
}

#[test]
fn fault__name_of_a_shipped_policy() {
    let expected = "a policy named sfd is shipped already; give the header another name";
    assert_sentence(&problem("sfd.h", &marker("sfd", &limit("sfd", "1B"))), expected);
}

#[test]
fn fault__described_under_another_name() {
    let expected =
        "describes no policy one; it must end in MH_MARKER(one, …), MH_DROPPER(one, …) or MH_QUEUE(one, …)";
    assert_sentence(&problem("one.h", &marker("other", &limit("other", "1B"))), expected);
}

#[test]
fn fault__no_description() {
    let expected = "describes no policy nothing; it must end in MH_MARKER(nothing, …), MH_DROPPER(nothing, …) or \
                    MH_QUEUE(nothing, …)";
    assert_sentence(&problem("nothing.h", "#include \"mousehole/policy.h\"\n"), expected);
}

/// Returns a queue of so many bands that serves the first, and further fields of its description.
fn queue(name: &str, bands: usize, more: &str) -> String {
    r#"#include "mousehole/policy.h"

struct mh_NAME_params {
	struct mh_limit limit;
};

MH_FN u32 mh_NAME_enqueue(const struct mh_NAME_params *params, struct mh_none *state, const struct mh_waiting *waiting,
			  const struct mh_view *view, u32 hash, u64 now_ns, u32 random)
{
	return params->limit.count + view->colour + hash + now_ns + random ? 0 : waiting->all.packets + state->unused;
}

MH_FN u32 mh_NAME_dequeue(const struct mh_NAME_params *params, struct mh_none *state, const struct mh_waiting *waiting,
			  u64 now_ns)
{
	return params->limit.count + now_ns ? 0 : waiting->all.packets + state->unused;
}

MH_QUEUE(NAME, mh_NAME_params, mh_none, BANDS, .summary = "one band", .source = "ours", MORE)
"#
    .replace("BANDS", &bands.to_string())
    .replace("MORE", more)
    .replace("NAME", name)
}

#[test]
fn load__takes_a_queue_of_as_many_bands_as_the_kernel() {
    let policy = Header::new("widest.h", &queue("widest", 1024, ".colours = 3")).load();
    assert_eq!((policy.kind(), policy.bands()), (PolicyKind::Queue, 1024));
    assert!(policy.queue().is_some() && policy.marker().is_none() && policy.dropper().is_none());
}

#[test]
fn fault__bands_beyond_what_the_kernel_takes() {
    for bands in [0, 1025] {
        let expected =
            format!("has {bands} bands; a queue has 1 to 1024, an element of a map in the kernel for each");
        assert_sentence(&problem("too-wide.h", &queue("too_wide", bands, ".colours = 3")), &expected);
    }
}

#[test]
fn fault__one_kind_under_anothers_name() {
    let of_queue =
        "is a queue and offers functions of a marker or dropper; a queue has enqueue, dequeue and overflow";
    let text = queue("two_kinds", 1, ".expired = (u32 (*)(const void *, const void *, u64))(void *)16");
    assert_sentence(&problem("two-kinds.h", &text), of_queue);
    let of_others = "offers functions of a queue and is none; end it with MH_QUEUE(…)";
    let text = marker("no_queue", &limit("no_queue", "1B"));
    let text = text
        .replace("MH_OFFERS(NAME, setup)", "")
        .replace("MH_TABLE_OF(no_queue)", ".bands = 3, MH_TABLE_OF(no_queue)");
    assert_sentence(&problem("no-queue.h", &text), of_others);
}

#[test]
fn fault__does_not_compile() {
    let got = problem("broken.h", "#include \"mousehole/policy.h\"\nint x = ;\n");
    let (sentence, compiler) = got.split_once('\n').unwrap();
    assert_eq!(sentence, "does not compile:");
    assert!(compiler.contains("broken.h:2"), "{compiler}");
}

#[test]
fn fault__field_that_does_not_exist() {
    let table = limit("no_field", "1B").replace("limit)", "limits)");
    let got = problem("no-field.h", &marker("no_field", &table));
    assert!(got.starts_with("does not compile:") && got.contains("limits"), "{got}");
}

#[test]
fn fault__default_that_is_not_allowed() {
    assert_sentence(
        &problem("bad-default.h", &marker("bad_default", &limit("bad_default", "3kX"))),
        "has a default that is not allowed; limit: \"3kX\" is not allowed; allowed: a size, such as 1500B or 15kB; \
         0 to 1000000000 B",
    );
    assert_sentence(
        &problem("big-default.h", &marker("big_default", &limit("big_default", "2GB"))),
        "has a default that is not allowed; limit: \"2GB\" is not allowed; allowed: a size, such as 1500B or 15kB; \
         0 to 1000000000 B",
    );
}

#[test]
fn fault__defaults_that_do_not_fit_each_other() {
    assert_sentence(
        &problem("unfit.h", &marker("unfit", &limit("unfit", "13B"))),
        "has defaults that do not fit each other; limit: its value is not allowed here; allowed: any number but 13",
    );
}

#[test]
fn fault__two_parameters_of_one_name() {
    let table = [limit("twice", "1B"), limit("twice", "2B")].join(", ");
    assert_sentence(&problem("twice.h", &marker("twice", &table)), "has two parameters named limit");
}

#[test]
fn fault__name_of_a_parameter() {
    for (name, file) in [("my-limit", "named-a.h"), ("", "named-b.h")] {
        let c_name = file.trim_end_matches(".h").replace('-', "_");
        let table = limit(&c_name, "1B").replace(".name = \"limit\"", &format!(".name = \"{name}\""));
        assert_sentence(
            &problem(file, &marker(&c_name, &table)),
            &format!("has a parameter named \"{name}\"; allowed: letters, digits and underscores"),
        );
    }
}

#[test]
fn fault__field_whose_width_does_not_fit_its_kind() {
    let table = beyond("narrow", ".kind = MH_TIME, .value = \"1s\", .most = 9");
    assert_sentence(
        &problem("narrow.h", &marker("narrow", &table)),
        "parameter beyond: its field has 4 bytes; its kind takes 8",
    );
    let table = beyond("wide", ".kind = MH_FLAG, .mask = 1, .value = \"true\"")
        .replace("colour)", "meter.timeout_ns)");
    assert_sentence(
        &problem("wide.h", &marker("wide", &table)),
        "parameter beyond: its field has 8 bytes; its kind takes 4",
    );
    let table = beyond("odd", ".kind = MH_COUNT, .value = \"1\", .most = 9, .bytes = 2");
    let text = marker("odd", &table).replace(
        "#include \"mousehole/policy.h\"",
        "#include \"mousehole/policy.h\"\n#pragma GCC diagnostic ignored \"-Woverride-init\"",
    );
    assert_sentence(
        &problem("odd.h", &text),
        "parameter beyond: its field has 2 bytes; its kind takes 4 or 8",
    );
}

#[test]
fn fault__field_outside_the_struct() {
    let table = beyond("outside", ".kind = MH_COUNT, .value = \"1\", .most = 9, .offset = 4000");
    assert_sentence(
        &problem("outside.h", &marker("outside", &table)),
        "parameter beyond: its field is outside the struct; locate it by MH_FIELD(…)",
    );
    let table = beyond("nowhere", ".kind = MH_COUNT, .value = \"1\", .most = 9, .count = 0");
    assert_sentence(
        &problem("nowhere.h", &marker("nowhere", &table)),
        "parameter beyond: its field is outside the struct; locate it by MH_FIELD(…)",
    );
}

#[test]
fn fault__field_of_a_packed_struct() {
    let table = beyond("packed", ".kind = MH_TIME, .value = \"1s\", .most = 9, .offset = 4, .bytes = 8");
    assert_sentence(
        &problem("packed.h", &marker("packed", &table)),
        "parameter beyond: its field is not aligned; do not pack the struct",
    );
}

#[test]
fn fault__kind_that_does_not_exist() {
    let table = beyond("unkind", ".kind = 13, .value = \"1s\", .most = 9");
    assert_sentence(&problem("unkind.h", &marker("unkind", &table)), "parameter beyond: there is no kind 13");
}

#[test]
fn fault__choice_without_a_mask() {
    let table = beyond("maskless", &WORDS.replace(".mask = 3", ".mask = 0"));
    assert_sentence(
        &problem("maskless.h", &marker("maskless", &table)),
        "parameter beyond: a flag or choice needs a mask of its bits",
    );
}

#[test]
fn fault__control_without_a_period() {
    let text = marker("adrift", &limit("adrift", "1B"))
        .replace("MH_SETUP(adrift)", CONTROL)
        .replace("MH_OFFERS(adrift, setup)", "MH_OFFERS(adrift, control)");
    assert_sentence(
        &problem("adrift.h", &text),
        "offers control but no period, so that nobody would call it; add MH_PERIOD(…)",
    );
}

#[test]
fn fault__restarts_without_an_end() {
    let text = marker("endless", &limit("endless", "1B"))
        .replace("MH_SETUP(endless)", RESTARTS)
        .replace("MH_OFFERS(endless, setup)", "MH_OFFERS(endless, restarts)");
    assert_sentence(
        &problem("endless.h", &text),
        "offers restarts but no flow_end, so that nothing would follow; add MH_FLOW_END(…)",
    );
}

const RESTARTS: &str = "
MH_FN u32 mh_endless_restarts(const struct mh_endless_params *params, const struct mh_flow_meter *flow,
			      const struct mh_view *view, u64 now_ns)
{
	(void)params, (void)flow, (void)view, (void)now_ns;
	return 1;
}

MH_RESTARTS(endless)
";

#[test]
fn fault__publishes_what_its_state_does_not_hold() {
    for (bytes, published) in [("9", "9 bytes"), ("65", "65 bytes")] {
        let text = marker("beyond_state", &limit("beyond_state", "1B")).replace(
            "MH_OFFERS(beyond_state, setup)",
            &format!("MH_OFFERS(beyond_state, setup), .published_bytes = {bytes}"),
        );
        assert_sentence(
            &problem("beyond-state.h", &text),
            &format!(
                "publishes {published}; allowed: a member of the state of at most 64 bytes, by MH_PUBLISHES(…)"
            ),
        );
    }
}

const CONTROL: &str = "
MH_FN u32 mh_adrift_control(const struct mh_adrift_params *params, struct mh_none *state,
			    const struct mh_counts *counts, u64 now_ns)
{
	(void)params, (void)state, (void)counts, (void)now_ns;
	return 1;
}

MH_CONTROL(adrift)
";

#[test]
fn fault__made_for_another_version_of_the_description() {
    let text = marker("stale", &limit("stale", "1B"))
        .replace("MH_SETUP(stale)", "#undef MH_POLICY_ABI\n#define MH_POLICY_ABI 99\nMH_SETUP(stale)");
    assert_sentence(&problem("stale.h", &text), "was made for version 99 of policy.h; this is version 7");
}

#[test]
fn fault__what_installs_it_is_not_understood() {
    for (field, expected) in [
        (".install = \"wred mode=total\"", "install names mode, which is no parameter of its"),
        (".install = \"firewall:bytes\"", "install names bytes, which is no parameter of its"),
        (
            ".install = \"red\"",
            "install must begin with qdisc:KIND,KERNEL, wred, classes or firewall:NAME, not \"red\"",
        ),
        (".colours = 4", "gives 4 colours; there are 3"),
    ] {
        let text = marker("counterpart", &limit("counterpart", "1B")).replace(
            ".source = \"ours\",\n\t  MH_TABLE",
            &format!(".source = \"ours\", {field},\n\t  MH_TABLE"),
        );
        assert!(text.contains(field));
        assert_sentence(&problem("counterpart.h", &text), expected);
    }
}

#[test]
fn load__refuses_code_that_runs_when_it_is_loaded() {
    for attribute in ["constructor", "destructor"] {
        let text = format!(
            "{}\n__attribute__(({attribute})) static void at_load(void) {{ __builtin_trap(); }}\n",
            marker("early_bird", &limit("early_bird", "1B"))
        );
        let problem = problem("early-bird.h", &text);
        assert!(problem.starts_with("has a function that runs when it is loaded (section ."), "{problem}");
        assert!(problem.ends_with("remove the constructor"), "{problem}");
    }
}

#[test]
fn load__refuses_functions_that_are_chosen_when_it_is_loaded() {
    let text = format!(
        "{}\nstatic int one(void) {{ return 1; }}\nstatic void *pick(void) {{ __builtin_trap(); return one; }}\n\
         int chosen(void) __attribute__((ifunc(\"pick\")));\n",
        marker("chooser", &limit("chooser", "1B"))
    );
    let problem = problem("chooser.h", &text);
    assert!(problem.starts_with("chooses a function when it is loaded (ifunc chosen);"), "{problem}");
}

#[test]
fn load__refuses_calls_that_end_the_process_unseen() {
    let text = marker("leaver", &limit("leaver", "1B")).replace(
        "\t(void)state;",
        "\textern void _exit(int);\n\tif (flow->bytes > 1000000)\n\t\t_exit(0);\n\t(void)state;",
    );
    assert_sentence(
        &problem("leaver.h", &text),
        "calls _exit, which may end the program; a policy only returns an answer",
    );
}

#[test]
fn load__refuses_functions_that_do_not_exist() {
    let text = marker("caller", &limit("caller", "1B"))
        .replace("\t(void)state;", "\textern void mh_nobody(void);\n\tmh_nobody();\n\t(void)state;");
    let problem = problem("caller.h", &text);
    assert!(problem.starts_with("the compiled header cannot be loaded; "), "{problem}");
    assert!(problem.contains("mh_nobody"), "{problem}");
}

#[test]
fn fault__what_it_includes_has_no_end() {
    let problem = problem("no-end.h", "#include \"/dev/zero\"\n");
    assert!(problem.starts_with("does not compile"), "{problem}");
}

#[test]
fn take_fault__keeps_the_first_answer_out_of_range() {
    let table = limit("seventy_seven", "1kB");
    let text = marker("seventy_seven", &table).replace(": params->colour", ": 77");
    let header = Header::new("seventy-seven.h", &text);
    let mut marker = Marker::new(Params::from_text(header.load(), &[], &LinkContext::EXAMPLE).unwrap());
    let mut flow = marker.new_flow();
    let mut colour = |bytes| marker.packet(&mut flow, &View::new(bytes), 5, 0);
    assert_eq!((colour(600), take_fault()), (Colour::Green, None));
    assert_eq!([colour(601), colour(602)], [Colour::Red; 2]);
    let fault = take_fault().expect("77 is no colour");
    assert_eq!(fault.header, header.path.display().to_string());
    assert!(fault.problem.starts_with("packet returned 77; allowed are 0 to 3 (call "), "{fault:?}");
    assert!(fault.problem.ends_with(", a packet of 601 B with flags 0x00 at 5 ns)"), "{fault:?}");
    assert_eq!(take_fault(), None);
}

#[test]
fn gather__returns_the_parameters_of_own_policies() {
    let own = Header::new("gathered.h", &marker("gathered", &limit("gathered", "1kB"))).load();
    let make = |policy| Params::from_text(policy, &[], &LinkContext::EXAMPLE).unwrap();
    let (made, gathered) = gather_params(|| [make(own), make(find("sfd").unwrap())]);
    assert_eq!(gathered.len(), 1);
    assert_eq!(gathered[0].bytes(), made[0].bytes());
    assert!(std::ptr::eq(gathered[0].policy(), own));
}
