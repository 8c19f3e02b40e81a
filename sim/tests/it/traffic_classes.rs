//! The class of application that a connection of a trace is given.
use crate::traffic_common::{one, read};
use mousehole_sim::flow::Class;

/// Returns the classes of the connections of a text.
fn read_classes(text: &str) -> Vec<Class> {
    one(text).connections.iter().map(|connection| connection.class).collect()
}

#[test]
fn table__by_port_and_by_service() {
    let ports = "start,bytes,server_port\n0,1,22\n1,1,443\n2,1,873\n3,1,\n";
    assert_eq!(read_classes(ports), [Class::Interactive, Class::Web, Class::Bulk, Class::Web]);
    let services = "start,bytes,service,dport\n0,1,http,22\n1,1,bittorrent,443\n2,1,,3389\n";
    assert_eq!(read_classes(services), [Class::Web, Class::Bulk, Class::Interactive]);
    assert_eq!(read_classes("start,bytes\n0,1\n"), [Class::Web]);
}

const CONN: &str = "#separator \\x09\n#path\tconn\n\
    #fields\tts\tuid\tid.orig_h\tid.resp_h\tid.resp_p\tproto\tservice\torig_bytes\tresp_bytes\n\
    1700000000.5\tC1\t10.0.0.1\t10.0.0.2\t2222\ttcp\tssh\t10\t1000\n\
    1700000001.5\tC2\t10.0.0.1\t10.0.0.2\t25\ttcp\t-\t10\t1000\n\
    1700000002.5\tC3\t10.0.0.1\t10.0.0.2\t22\ttcp\thttp\t10\t1000\n";

#[test]
fn zeek__service_goes_before_port() {
    let expected = [Class::Interactive, Class::Bulk, Class::Web];
    assert_eq!(read_classes(CONN), expected);
    let json = "{\"ts\":1700000000.5,\"uid\":\"C1\",\"id.orig_h\":\"a\",\"id.resp_h\":\"b\",\"id.resp_p\":2222,\
                \"proto\":\"tcp\",\"service\":\"ssh\",\"resp_bytes\":1000}\n\
                {\"ts\":1700000001.5,\"uid\":\"C2\",\"id.orig_h\":\"a\",\"id.resp_h\":\"b\",\"id.resp_p\":25,\
                \"proto\":\"tcp\",\"resp_bytes\":1000}\n";
    assert_eq!(read_classes(json), expected[..2]);
}

/// What http.log names is the web, whatever conn.log's port says.
#[test]
fn zeek__requests_are_web() {
    let http = "#separator \\x09\n#path\thttp\n\
        #fields\tts\tuid\tid.orig_h\tid.resp_h\ttrans_depth\trequest_body_len\tresponse_body_len\n\
        1700000001.6\tC2\t10.0.0.1\t10.0.0.2\t1\t0\t900\n";
    let traffic = read(&[("conn.log", CONN), ("http.log", http)]).unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<Class> = traffic.connections.iter().map(|connection| connection.class).collect();
    assert_eq!(found, [Class::Interactive, Class::Web, Class::Web]);
    let counts = traffic.summary(None, 1460).classes;
    assert_eq!((counts.interactive_connections, counts.web_connections, counts.bulk_connections), (1, 2, 0));
    // Those of conn.log, with the headers of the response.
    assert_eq!(counts.web_bytes, 2000);
}

#[test]
fn capture__by_server_port() {
    let capture = crate::traffic_common::pcap_of_ports(&[22, 80, 6881]);
    let found: Vec<Class> = crate::traffic_common::read_bytes(&capture)
        .connections
        .iter()
        .map(|connection| connection.class)
        .collect();
    assert_eq!(found, [Class::Interactive, Class::Web, Class::Bulk]);
}
