//! `status`, `flows`, `explain`, `tune` and `persist` on a device with real packets, as root. Each
//! test runs in its own namespaces, which end with it. Without root it prints why it is not run.

#![allow(non_snake_case, missing_docs)]
#![cfg(target_os = "linux")]

use serde_json::Value;
use std::ffi::CString;
use std::fs;
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_mousehole-live");
/// IP bytes of the packets that [`Sender`] sends.
const PACKET: u64 = 1028;

/// Moves this thread into new namespaces: mounts with a BPF file system, and a network with the
/// device `w0`, by which 10.99.0.2 is reached. Returns whether that is possible; without root it
/// prints why not and changes nothing.
fn enter_namespaces() -> bool {
    // SAFETY: the calls change this thread's namespaces only.
    let done = unsafe {
        if libc::geteuid() != 0 {
            println!("NOT RUN: needs root");
            return false;
        }
        libc::unshare(libc::CLONE_NEWNS | libc::CLONE_NEWNET)
    };
    assert_eq!(done, 0, "unshare: {}", std::io::Error::last_os_error());
    mount(None, "/", None, libc::MS_REC | libc::MS_PRIVATE);
    mount(Some("bpf"), "/sys/fs/bpf", Some("bpf"), 0);
    for line in [
        "link add w0 type veth peer name w1",
        "link set dev w0 addrgenmode none",
        "link set dev w1 addrgenmode none",
        "addr add 10.99.0.1/24 dev w0",
        "link set w0 up",
        "link set w1 up",
        "neigh add 10.99.0.2 lladdr 02:00:00:00:00:02 dev w0",
    ] {
        succeed(Command::new("ip").args(line.split(' ')));
    }
    true
}

/// Mounts a file system by mount(2), which must succeed.
fn mount(source: Option<&str>, target: &str, kind: Option<&str>, flags: libc::c_ulong) {
    let text = |text: &str| CString::new(text).unwrap();
    let (source, target, kind) = (source.map(text), text(target), kind.map(text));
    let pointer = |text: &Option<CString>| text.as_ref().map_or(std::ptr::null(), |text| text.as_ptr());
    // SAFETY: the texts end in a zero byte and live until the call returns.
    let done =
        unsafe { libc::mount(pointer(&source), target.as_ptr(), pointer(&kind), flags, std::ptr::null()) };
    assert_eq!(done, 0, "mount {target:?}: {}", std::io::Error::last_os_error());
}

/// Runs a command that must succeed. Returns what it printed.
fn succeed(command: &mut Command) -> String {
    let done = command.output().unwrap();
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Runs mousehole-live with the arguments in `line`, separated by single blanks. Returns its output
/// and exit status.
fn run(line: &str) -> Output {
    Command::new(PROGRAM).args(line.split(' ')).output().unwrap()
}

/// Runs mousehole-live, which must succeed. Returns what it printed on standard output.
fn run_ok(line: &str) -> String {
    succeed(Command::new(PROGRAM).args(line.split(' ')))
}

/// Runs mousehole-live, which must print JSON.
fn run_json(line: &str) -> Value {
    serde_json::from_str(&run_ok(line)).unwrap()
}

/// Runs mousehole-live, which must refuse with status 2 and one sentence. Returns that.
fn run_refused(line: &str) -> String {
    let done = run(line);
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(2), "{line}: {said}");
    assert_eq!(said.lines().count(), 1, "{line}: {said}");
    said
}

/// Returns the status of `w0`.
fn read_status() -> Value {
    run_json("status w0 --json")["devices"][0].clone()
}

/// Returns the root queue discipline of `w0`, as tc prints it.
fn read_root_qdisc() -> Value {
    let text = succeed(Command::new("tc").args(["-j", "qdisc", "show", "dev", "w0"]));
    serde_json::from_str::<Value>(&text).unwrap()[0].clone()
}

/// Sends datagrams from one port of 10.99.0.1 to 10.99.0.2.
struct Sender(UdpSocket);

impl Sender {
    /// Binds the source port.
    fn new(port: u16) -> Sender {
        Sender(UdpSocket::bind(("10.99.0.1", port)).unwrap())
    }

    /// Sends datagrams of 1000 bytes.
    fn send(&self, packets: usize) {
        for _ in 0..packets {
            self.0.send_to(&[0; 1000], "10.99.0.2:5000").unwrap();
        }
    }
}

#[test]
fn counters_and_flows__are_what_was_sent() {
    if !enter_namespaces() {
        return;
    }
    assert!(run_ok("status").starts_with("nothing of ours is in this network namespace"));
    run_ok("mark w0 --marker sfd(th=30kB) --dscp cs1");
    Sender::new(40_000).send(60);
    Sender::new(40_001).send(5);

    let device = read_status();
    assert_eq!((&device["state"], &device["mode"]), (&"running".into(), &"mark".into()));
    assert_eq!(device["problems"], serde_json::json!([]));
    let counters = &device["counters"];
    assert_eq!(counters["kinds"]["ipv4"], serde_json::json!({"packets": 65, "bytes": 65 * PACKET}));
    // 29 packets have 29,812 bytes; the next one goes beyond 30 kB.
    assert_eq!(counters["colours"]["yellow"]["packets"], 31);
    assert_eq!(counters["colours_dropped"]["yellow"]["packets"], 0);

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mousehole.prom");
    assert_eq!(run_ok(&format!("status --metrics {}", file.display())), "");
    let metrics = fs::read_to_string(&file).unwrap();
    assert!(metrics.contains("mousehole_packets_total{device=\"w0\",colour=\"yellow\"} 31\n"), "{metrics}");

    let tables = run_json("flows --top 1 --json");
    let table = &tables["devices"][0];
    assert_eq!(table["flows"].as_array().unwrap().len(), 1, "only the largest is listed");
    let flow = &table["flows"][0];
    assert_eq!((&flow["source_port"], &flow["destination_port"]), (&40_000.into(), &5_000.into()));
    assert_eq!((&flow["packets"], &flow["bytes"]), (&60.into(), &(60 * PACKET).into()));
    assert_eq!(flow["colour_packets"], serde_json::json!({"green": 29, "yellow": 31, "red": 0}));
    assert_eq!(flow["colour"], "yellow");

    let text = run_ok("explain 10.99.0.1:40000");
    for part in [
        "udp 10.99.0.1:40000 > 10.99.0.2:5000 at w0",
        "61.7 kB in 60 packets",
        "yellow now; 48 % green, 52 % yellow",
        "rule    sfd: ",
        "th = 30 kB ",
        "green packets stay as they are; DSCP of yellow packets is set to 8",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let both = run_json("explain 10.99.0.2:5000-10.99.0.1 --json");
    assert_eq!((&both["matching"], &both["not_seen"]), (&2.into(), &serde_json::json!([])));
    let none = run_ok("explain 10.99.0.9");
    assert!(none.starts_with("10.99.0.9: not seen here\n") && none.contains("none of this flow"), "{none}");
    assert!(run_refused("explain nonsense").contains("\"nonsense\" names no flow"));
    run_ok("down w0");
    assert!(run_refused("flows").contains("nothing of ours is in this network namespace"));
}

#[test]
fn large_tables__are_read_whole() {
    if !enter_namespaces() {
        return;
    }
    run_ok("mark w0 --via dscp --flows 65536");
    let sender = UdpSocket::bind(("10.99.0.1", 40_000)).unwrap();
    for port in 1..=20_000u16 {
        sender.send_to(&[0; 10], ("10.99.0.2", port)).unwrap();
    }
    sender.send_to(&[0; 100], ("10.99.0.2", 7777)).unwrap();
    let table = run_json("flows --top 3 --json")["devices"][0].clone();
    assert_eq!(table["entries"], 20_000);
    assert_eq!(table["flows"].as_array().unwrap().len(), 3);
    assert_eq!(table["flows"][0]["destination_port"], 7777);
    let found = run_json("explain 10.99.0.2 --json");
    assert_eq!((&found["matching"], found["flows"].as_array().unwrap().len()), (&20_000.into(), 20));
}

/// Sends frames by `w0` that bypass queue disciplines, as offload does, until `stop` is set, for
/// some seconds at most.
fn send_past_qdiscs(stop: &std::sync::atomic::AtomicBool) {
    let name = CString::new("w0").unwrap();
    // SAFETY: the socket is closed below; address and option have the sizes that are said.
    unsafe {
        let socket = libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0);
        assert!(socket >= 0);
        let mut to: libc::sockaddr_ll = std::mem::zeroed();
        (to.sll_family, to.sll_ifindex) =
            (libc::AF_PACKET as u16, libc::if_nametoindex(name.as_ptr()) as i32);
        let on = 1i32;
        let bytes = size_of::<i32>() as libc::socklen_t;
        assert_eq!(
            libc::setsockopt(
                socket,
                libc::SOL_PACKET,
                libc::PACKET_QDISC_BYPASS,
                std::ptr::from_ref(&on).cast(),
                bytes
            ),
            0
        );
        for _ in 0..5000 {
            let frame = [2u8; 60];
            let bytes = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
            libc::sendto(socket, frame.as_ptr().cast(), 60, 0, std::ptr::from_ref(&to).cast(), bytes);
            std::thread::sleep(Duration::from_millis(1));
            if stop.load(std::sync::atomic::Ordering::Relaxed) {
                break;
            }
        }
        libc::close(socket);
    }
}

#[test]
fn packets_that_go_past__are_noticed() {
    if !enter_namespaces() {
        return;
    }
    run_ok("mark w0 --via dscp");
    assert!(!run_ok("explain 10.99.0.9").contains("past every program"));
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| send_past_qdiscs(&stop));
        let text = run_ok("explain 10.99.0.9");
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(text.contains("packets go past every program: the device sent "), "{text}");
    });
}

#[test]
fn marks_of_others__are_counted_as_left_alone() {
    if !enter_namespaces() {
        return;
    }
    run_ok("mark w0 --marker sfd(th=3kB) --via dscp");
    let sender = Sender::new(40_000);
    // SAFETY: the value is an int, as the option wants it.
    let done = unsafe {
        let (tos, bytes) = (0x20i32, size_of::<i32>() as libc::socklen_t);
        let socket = std::os::fd::AsRawFd::as_raw_fd(&sender.0);
        libc::setsockopt(socket, libc::IPPROTO_IP, libc::IP_TOS, std::ptr::from_ref(&tos).cast(), bytes)
    };
    assert_eq!(done, 0);
    sender.send(10);
    assert_eq!(read_status()["counters"]["already_marked"]["packets"], 8);
    assert!(run_ok("explain 10.99.0.1").contains("8 packets left alone because somebody had marked them"));
}

#[test]
fn tune__changes_parameters_and_keeps_flows() {
    if !enter_namespaces() {
        return;
    }
    run_ok("mark w0 --marker sfd(th=30kB) --via dscp");
    let old = Sender::new(40_000);
    old.send(10);
    assert_eq!(read_status()["active_slot"], 0);
    run_ok("tune w0 --marker sfd(th=5kB)");
    let device = read_status();
    assert_eq!((&device["active_slot"], &device["scheme"]), (&1.into(), &"sfd(th=5kB)".into()));
    // The flow has sent 10,280 bytes: it is beyond the new threshold at once, since its count stays.
    old.send(1);
    Sender::new(40_001).send(10);
    let flows = run_json("flows --json");
    let flow = |port: u16| {
        let all = flows["devices"][0]["flows"].as_array().unwrap();
        all.iter().find(|flow| flow["source_port"] == port).unwrap().clone()
    };
    assert_eq!(flow(40_000)["colour_packets"], serde_json::json!({"green": 10, "yellow": 1, "red": 0}));
    assert_eq!(flow(40_001)["colour_packets"], serde_json::json!({"green": 4, "yellow": 6, "red": 0}));
    assert!(run_ok("explain 10.99.0.1:40001").contains("th = 5 kB "));

    let said = run_refused("tune w0 --marker lfp --rate 9mbit");
    assert!(
        said.contains("another policy")
            && said.contains("mousehole-live mark w0 --rate 9mbit --marker 'lfp'"),
        "{said}"
    );
    assert!(run_refused("tune w0 --burst 20kB").contains("--burst is no option of `mark`"));
    assert!(run_refused("tune w0").contains("nothing is to be changed at w0"));
    assert_eq!(read_status()["active_slot"], 1, "what is refused changes nothing");
    run_ok("tune w0 --shadow on");
    assert_eq!(read_status()["shadow"], true);
    run_ok("tune w0 --shadow off");
    assert_eq!(read_status()["shadow"], false);
    run_ok("down w0");
    assert!(run_refused("tune w0 --shadow on").contains("nothing of ours is at w0"));
}

#[test]
fn tune__changes_the_rate_of_the_queue() {
    if !enter_namespaces() {
        return;
    }
    for (scheme, kind) in [("s-sfd", "tbf"), ("pias", "htb")] {
        let before = read_root_qdisc();
        run_ok(&format!("up w0 --rate 2mbit --scheme {scheme} --buffer 10p --no-agent"));
        Sender::new(40_000).send(40);
        let drops = read_status()["counters"]["colours_dropped"].clone();
        run_ok("tune w0 --rate 3mbit --buffer 20p");
        let device = read_status();
        assert_eq!((&device["rate"], &device["buffer"]), (&"3mbit".into(), &"20p".into()));
        assert_eq!(device["counters"]["colours_dropped"], drops);
        assert_eq!(device["root"], format!("{kind} 6d48:"));
        match kind {
            "tbf" => {
                assert_eq!(read_root_qdisc()["options"]["rate"], 375_000, "bytes per second");
                assert!(drops["yellow"]["packets"].as_u64() > Some(0), "{drops}");
                assert!(
                    run_ok("explain 10.99.0.1:40000")
                        .contains("multi-red at 3 Mbit/s, buffer 20 packets: dropped")
                );
            }
            _ => {
                let classes = succeed(Command::new("tc").args(["class", "show", "dev", "w0"]));
                assert_eq!(classes.matches("ceil 3Mbit").count(), 4, "{classes}");
                let qdiscs = succeed(Command::new("tc").args(["qdisc", "show", "dev", "w0"]));
                assert_eq!(qdiscs.matches("limit 20p").count(), 3, "{qdiscs}");
            }
        }
        assert!(run_refused("tune w0 --shadow on").contains("--shadow cannot change at w0"));
        run_ok("down w0");
        assert_eq!(read_root_qdisc(), before);
    }
    run_ok("up w0 --rate 2mbit --scheme s-sfd");
    succeed(Command::new("tc").args(["qdisc", "replace", "dev", "w0", "root", "pfifo"]));
    assert!(run_refused("tune w0 --rate 1mbit").contains("the qdisc at w0 is not ours any more"));
    assert!(
        read_status()["problems"][0].as_str().unwrap().contains("the qdisc 6d48: that belongs to it is gone")
    );
}

#[test]
fn tune__may_be_killed_at_any_time() {
    if !enter_namespaces() {
        return;
    }
    let before = read_root_qdisc();
    run_ok("up w0 --rate 2mbit --scheme s-sfd");
    for turn in 0..12 {
        let rate = format!("{}mbit", 3 + turn % 2);
        let mut child = Command::new(PROGRAM)
            .args(["tune", "w0", "--rate", &rate])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(2 * turn));
        child.kill().unwrap();
        child.wait().unwrap();
        Sender::new(41_000 + turn as u16).send(3);
        assert_eq!(read_status()["state"], "running");
    }
    run_ok("tune w0 --rate 5mbit");
    assert_eq!(read_root_qdisc()["options"]["rate"], 625_000);
    run_ok("down w0");
    assert_eq!(read_root_qdisc(), before);
    assert!(!Path::new("/sys/fs/bpf/mousehole").exists());
}

#[test]
fn what_does_not_run__is_said_with_the_cure() {
    if !enter_namespaces() {
        return;
    }
    let namespace = mousehole_live::namespace::current_cookie().unwrap();
    let index = fs::read_to_string("/proc/thread-self/net/dev_snmp6/w0")
        .ok()
        .and_then(|text| text.split_whitespace().nth(1).map(String::from))
        .unwrap_or_else(|| "3".into());
    let left = format!("/sys/fs/bpf/mousehole/{namespace}-{index}");
    fs::create_dir_all(format!("{left}/maps")).unwrap();
    let device = read_status();
    assert_eq!(device["state"], "incomplete");
    assert!(
        device["problems"][0].as_str().unwrap().contains("`mousehole-live down w0` removes what it left")
    );
    run_ok("down w0");
    assert!(!Path::new(&left).exists());

    run_ok("mark w0 --via dscp --attach clsact --confirm 100s");
    let device = read_status();
    assert_eq!((&device["state"], &device["attachment"]), (&"running".into(), &"clsact".into()));
    assert!(
        device["unconfirmed_s"].as_u64().is_some_and(|seconds| (90..=100).contains(&seconds)),
        "{device}"
    );
    succeed(Command::new("tc").args(["filter", "del", "dev", "w0", "egress"]));
    assert_eq!(read_status()["state"], "stopped");
    assert!(run_ok("status").contains("NOT RUNNING"));
    run_ok("down w0");

    run_ok("mark w0 --via dscp");
    succeed(Command::new("ip").args(["link", "del", "w0"]));
    let device = read_status();
    assert_eq!(device["state"], "stopped");
    assert!(device["problems"][0].as_str().unwrap().contains("the device is gone"), "{device}");
    run_ok("down w0");
    assert!(run_refused("status w0").contains("there is no device \"w0\""));
}

#[test]
fn persist__keeps_what_runs_now() {
    if !enter_namespaces() {
        return;
    }
    fs::create_dir_all("/etc/mousehole").unwrap();
    mount(Some("tmpfs"), "/etc/mousehole", Some("tmpfs"), 0);
    fs::set_permissions("/etc/mousehole", fs::Permissions::from_mode(0o700)).unwrap();
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    let line = format!("persist w0 --directory {}", folder.display());
    assert!(run_refused(&line).contains("nothing of ours is at w0"));
    run_ok("up w0 --rate 2mbit --scheme rio-ps --no-agent");
    run_ok("tune w0 --rate 3mbit");
    assert!(run_ok(&line).contains("enable --now mousehole-live.service"));
    let file = fs::read_to_string("/etc/mousehole/w0.toml").unwrap();
    assert!(file.contains("mode = \"up\"") && file.contains("rate = \"3mbit\""), "{file}");
    let printed = run_ok(&format!("{line} --print"));
    assert!(printed.contains(&file) && printed.contains("mousehole-live guard\n"), "{printed}");
    run_ok("down w0");
    run_ok("boot w0");
    let device = read_status();
    assert_eq!((&device["state"], &device["rate"]), (&"running".into(), &"3mbit".into()));
    run_ok(&format!("{line} --remove"));
    assert_eq!(fs::read_dir(folder).unwrap().count() + fs::read_dir("/etc/mousehole").unwrap().count(), 0);
    assert!(run_refused("boot w0").contains("nothing is kept of w0 in /etc/mousehole"));
    fs::write(folder.join("mousehole-live.service"), "[Unit]\n").unwrap();
    assert!(run_refused(&line).contains("is not ours and stays"));
}

#[test]
fn host__shape_is_shown_by_status_explain_and_persist() {
    if !enter_namespaces() {
        return;
    }
    let fault = run_refused("host w0 --scheme shred --rate 5mbit --shape");
    assert!(fault.contains("the scheme \"shred\" has none here"), "{fault}");
    for (time, reason) in [("11s", "from 1ms to 10s"), ("soon", "--shape")] {
        let fault = run_refused(&format!("host w0 --shape {time}"));
        assert!(fault.contains(reason), "{fault}");
    }
    // A shadow needs no fq, which not every kernel has.
    let said = run_ok("host w0 --shadow --scheme tcp-ds(high_rate=1mbit) --shape 1s");
    assert!(
        said.contains("without --shadow packets beyond a user's profile wait for tokens, at most 1 s"),
        "{said}"
    );
    // ICMP has no window; datagrams are red. So a SYN is what is green.
    let _ =
        std::net::TcpStream::connect_timeout(&"10.99.0.2:5000".parse().unwrap(), Duration::from_millis(100));
    let device = read_status();
    assert_eq!(device["longest_wait_s"], 1.0);
    assert_eq!(device["tuned_s"], Value::Null);
    let parameter = |device: &Value, name: &str| {
        let rules = device["rules"].as_array().unwrap().iter();
        let all = rules.flat_map(|rule| rule["parameters"].as_array().unwrap().clone());
        all.into_iter().find(|one| one["name"] == name).unwrap()["value"].clone()
    };
    assert_eq!(parameter(&device, "high"), "40", "scaled by the initial window");
    assert_eq!(parameter(&device, "high_rate"), "1 Mbit/s");
    assert!(
        run_ok("tune w0 --marker tcp-ds(high_rate=2mbit) --shape 3s")
            .contains("packets wait for tokens at most 3 s")
    );
    let device = read_status();
    assert_eq!(
        (&device["longest_wait_s"], parameter(&device, "high_rate")),
        (&3.0.into(), "2 Mbit/s".into())
    );
    assert!(device["tuned_s"].as_u64().is_some_and(|seconds| seconds < 60), "{device}");
    let text = run_ok("status");
    assert!(
        text.contains("--shape 1s (tuned ") && text.contains("  in force  policer: high_rate = 2 Mbit/s, "),
        "{text}"
    );
    assert!(run_refused("tune w0 --shadow off").contains("--shadow cannot change at w0"));
    let file = run_ok("persist w0 --print");
    for line in
        ["scheme = \"tcp-ds(high_rate=2mbit)\"", "initial-window = 10", "shape = \"3s\"", "shadow = true"]
    {
        assert!(file.lines().any(|one| one == line), "{line} is missing in {file}");
    }
    run_ok("down w0");

    run_ok("host w0");
    assert!(run_refused("tune w0 --shape 3s").contains("where packets are policed"));
    assert_eq!(read_status()["longest_wait_s"], Value::Null);
    run_ok("down w0");
    let text = run_ok("check w0");
    let would = match text.contains("no fq, which `host --shape` needs") {
        true => "would refuse, because the kernel has no fq",
        false => "would attach tcp-ds, and put an fq at the root",
    };
    assert!(text.contains(&format!("\nhost w0 --shape: {would}")), "{text}");
}

#[test]
fn jumbo_frames__are_marked_and_queued() {
    if !enter_namespaces() {
        return;
    }
    let mtu = |bytes: &str| succeed(Command::new("ip").args(["link", "set", "w0", "mtu", bytes]));
    mtu("9000");
    let report = run_json("check w0 --json");
    assert_eq!(report["up"]["possible"], true);
    run_ok("mark w0 --via dscp");
    run_ok("down w0");
    run_ok("mark lo --via dscp");
    run_ok("down lo");
    let fault = run_refused("up w0 --rate 2mbit --burst 8kB --scheme sfd");
    assert!(fault.contains("--burst is 8000 bytes; it must be from 9014"), "{fault}");
    run_ok("up w0 --rate 2mbit --scheme sfd");
    assert_eq!(read_status()["problems"], Value::Array(Vec::new()));
    run_ok("down w0");
    // A value that the device does not allow any more is reported, and not left out.
    mtu("1500");
    run_ok("up w0 --rate 2mbit --burst 8kB --scheme sfd");
    mtu("9000");
    let device = read_status();
    let problem = device["problems"][0].as_str().unwrap();
    assert!(
        problem.starts_with("the parameters in force cannot be determined")
            && problem.contains("--burst is 8000 bytes"),
        "{problem}"
    );
    assert_eq!(device["rules"], Value::Array(Vec::new()));
    run_ok("down w0");
}

#[test]
fn shares_of_a_rate__need_the_rate() {
    if !enter_namespaces() {
        return;
    }
    let marker = "--marker sfd|policer(high_rate=5%,med_rate=100%,burst=15kB)";
    let fault = run_refused(&format!("mark w0 {marker}"));
    assert!(
        fault.contains("policer.high_rate is \"5%\" of a rate that is not given; --rate must be"),
        "{fault}"
    );
    let fault = run_refused("host w0 --scheme tcp-ds(med_rate=50%)");
    assert!(fault.contains("tcp-ds.med_rate is \"50%\""), "{fault}");
    let fault = run_refused("mark w0 --marker lfp --no-agent");
    assert!(fault.contains("the marker lfp depends on the rate of the link"), "{fault}");
    run_ok("mark w0 --via dscp --marker lfp --rate 20mbit --no-agent");
    run_ok("down w0");

    run_ok(&format!("mark w0 {marker} --via dscp --rate 20mbit"));
    let text = run_ok("status w0");
    assert!(
        text.contains(" for a link of 20mbit: running") && text.contains("high_rate = 1 Mbit/s"),
        "{text}"
    );
    assert_eq!(read_status()["rate"], "20mbit");
    assert!(run_ok("tune w0 --rate 40mbit").contains("the rate of the link is 40mbit instead of 20mbit"));
    let text = run_ok("status w0");
    assert!(text.contains("high_rate = 2 Mbit/s"), "{text}");
    let file = run_ok("persist w0 --print");
    assert!(file.contains("burst=15kB)") && file.contains("rate = \"40mbit\""), "{file}");
    run_ok("down w0");
}
