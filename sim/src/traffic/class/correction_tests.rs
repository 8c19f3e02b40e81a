#![allow(non_snake_case)]

use super::*;

/// Returns a flow's ends with these hosts.
fn ends<'a>(protocol: Protocol, hosts: [&'a str; 2], ports: [u16; 2]) -> Ends<'a> {
    Ends { protocol, hosts: hosts.map(str::as_bytes), ports }
}

/// Returns the class that these corrections give a flow.
fn classify(texts: &[&str], ends: &Ends) -> Option<FlowClass> {
    Corrections::parse("class", texts.iter().copied()).expect("corrections").find_class(ends)
}

/// Returns the error for a malformed correction.
fn parse_error(text: &str) -> String {
    Corrections::parse("class", [text]).expect_err("a malformed correction").to_string()
}

#[test]
fn find_class__of_the_first_correction_that_matches() {
    let flow = ends(Protocol::Udp, ["10.1.2.3", "2001:db8::7"], [40_000, 5060]);
    assert_eq!(classify(&["port 5060=call"], &flow), Some(FlowClass::Call));
    assert_eq!(classify(&["port 40000 = game", "port 5060=call"], &flow), Some(FlowClass::Game));
    assert_eq!(classify(&["port 5061=call"], &flow), None);
    assert_eq!(classify(&["net 10.0.0.0/8 and proto udp=vpn"], &flow), Some(FlowClass::Vpn));
    assert_eq!(classify(&["net 10.0.0.0/8 and proto tcp=vpn"], &flow), None);
    assert_eq!(classify(&["net 11.0.0.0/8=vpn"], &flow), None);
    assert_eq!(classify(&["net 10.1.2.2/31=vpn"], &flow), Some(FlowClass::Vpn));
    assert_eq!(classify(&["net 10.1.2.4/31=vpn"], &flow), None);
    assert_eq!(classify(&["net 0.0.0.0/0=vpn"], &ends(Protocol::Tcp, ["::1", "::2"], [1, 2])), None);
    assert_eq!(classify(&["net 2001:db8::/32=video-call"], &flow), Some(FlowClass::VideoCall));
    assert_eq!(classify(&["host 2001:DB8:0::7=stream"], &flow), Some(FlowClass::Stream));
    assert_eq!(classify(&["host 10.1.2.30=stream"], &flow), None);
    assert_eq!(
        classify(&["host nas.example=transfer"], &ends(Protocol::Tcp, ["NAS.example", "-"], [0, 0])),
        Some(FlowClass::Transfer)
    );
    assert_eq!(
        classify(&["proto esp=vpn"], &ends(Protocol::Ip(50), ["a", "b"], [0, 0])),
        Some(FlowClass::Vpn)
    );
    assert_eq!(classify(&["proto 17=dns"], &ends(Protocol::Quic, ["a", "b"], [0, 0])), Some(FlowClass::Dns));
}

#[test]
fn parse__refuses_in_one_sentence() {
    assert!(
        parse_error("port 5060=cal").contains("call")
            && parse_error("port 5060=cal").contains("did you mean")
    );
    for text in
        ["port 5060", "=call", "port=call", "port 5060 and=call", "port 5060 port 1=call", "5060=call", ""]
    {
        assert!(parse_error(text).contains("is no correction"), "{text}: {}", parse_error(text));
    }
    for text in [
        "port 0=call",
        "port 70000=call",
        "port 80-90=call",
        "proto tpc=call",
        "net 10.0.0.0/33=call",
        "net 10.0.0.0=call",
    ] {
        assert!(parse_error(text).contains(" has "), "{text}: {}", parse_error(text));
    }
    assert!(parse_error("prot udp=call").contains("proto"));
}

#[test]
fn check__names_what_matched_nothing() {
    let corrections = Corrections::parse("class", ["port 1=call", "port 2=game"]).expect("corrections");
    assert_eq!(corrections.find_class(&ends(Protocol::Tcp, ["a", "b"], [1, 9])), Some(FlowClass::Call));
    let error = corrections.check("class").expect_err("port 2 matches nothing").to_string();
    assert!(error.contains("port 2=game") && error.contains("matches no flow"), "{error}");
    corrections.find_class(&ends(Protocol::Tcp, ["a", "b"], [9, 2]));
    assert_eq!(corrections.check("class"), Ok(()));
}

#[test]
fn check__names_the_correction_that_took_the_flows() {
    let texts = ["proto udp=vpn", "port 1=call", "port 2=game"];
    let corrections = Corrections::parse("class", texts).expect("corrections");
    corrections.find_class(&ends(Protocol::Udp, ["a", "b"], [1, 9]));
    let error = corrections.check("class").expect_err("port 1 classifies nothing").to_string();
    assert!(error.contains("port 1=call") && error.contains("\"proto udp=vpn\" comes first"), "{error}");
    corrections.find_class(&ends(Protocol::Tcp, ["a", "b"], [1, 9]));
    let error = corrections.check("class").expect_err("port 2 matches nothing").to_string();
    assert!(error.contains("port 2=game") && error.contains("matches no flow"), "{error}");
}
