//! A network device of this process's network namespace.

use crate::error::{Failure, Result};
use crate::namespace;
use std::ffi::{CStr, CString};
use std::{io, mem};

/// A device, as it was when it was looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its interface index within the namespace.
    pub index: u32,
    /// Cookie of its network namespace. With the index it identifies a device on this machine,
    /// unless the index was given to a new device (`ip link add index`).
    pub namespace: u64,
    /// Its hardware address; `None` if it has none, such as PPP.
    pub address: Option<[u8; 6]>,
    /// Bytes before the network header of its frames: 14 for Ethernet, 0 for PPP, TUN and the like.
    pub link_header_bytes: u32,
    /// Its MTU, bytes.
    pub mtu: u32,
}

/// Hardware types, from include/uapi/linux/if_arp.h.
const ETHERNET: u16 = 1;
const LOOPBACK: u16 = 772;
const PPP: u16 = 512;
const NONE: u16 = 0xfffe;
const RAW_IP: u16 = 519;
const TUNNELS: [u16; 4] = [768, 769, 776, 778];

impl Device {
    /// Looks up a device by its name.
    ///
    /// # Errors
    /// A sentence when there is none of this name here, or we cannot parse frames of its hardware
    /// type.
    pub fn find(name: &str) -> Result<Device> {
        let unknown = || {
            let names = list_names();
            let known = if names.is_empty() { "none".to_string() } else { names.join(", ") };
            Failure::new(format!(
                "there is no device \"{name}\" in this network namespace; devices are {known}"
            ))
        };
        if name.is_empty() || name.len() >= libc::IFNAMSIZ || name.contains('\0') {
            return Err(unknown());
        }
        let text = CString::new(name).map_err(|_| unknown())?;
        // SAFETY: the text ends in a zero byte.
        let index = unsafe { libc::if_nametoindex(text.as_ptr()) };
        if index == 0 {
            return Err(unknown());
        }
        let (hardware, address) = query(&text, libc::SIOCGIFHWADDR as libc::Ioctl, |r| {
            // SAFETY: SIOCGIFHWADDR fills this member.
            let given = unsafe { r.ifr_ifru.ifru_hwaddr };
            (given.sa_family, std::array::from_fn(|at| given.sa_data[at] as u8))
        })
        .map_err(|error| Failure::system(format!("{name}: its type of hardware cannot be asked"), &error))?;
        let mtu = query(&text, libc::SIOCGIFMTU as libc::Ioctl, |r| {
            // SAFETY: SIOCGIFMTU fills this member.
            unsafe { r.ifr_ifru.ifru_mtu }
        })
        .map_err(|error| Failure::system(format!("{name}: its MTU cannot be asked"), &error))?;
        let link_header_bytes = match hardware {
            ETHERNET | LOOPBACK => 14,
            PPP | NONE | RAW_IP => 0,
            other if TUNNELS.contains(&other) => 0,
            other => {
                return Err(Failure::new(format!(
                    "{name} is a device of hardware type {other}; Ethernet (1), PPP (512), TUN (65534) and IP tunnels can be read"
                )));
            }
        };
        let address = Some(address).filter(|_| hardware == ETHERNET);
        let (name, mtu) = (name.to_string(), mtu.max(0) as u32);
        Ok(Device { name, index, namespace: namespace::current_cookie()?, address, link_header_bytes, mtu })
    }

    /// Returns the name of the device with this index in this namespace; `None` if there is none.
    pub fn find_name(index: u32) -> Option<String> {
        let mut name = [0 as libc::c_char; libc::IFNAMSIZ];
        // SAFETY: the buffer has the length that the function asks for.
        let found = unsafe { libc::if_indextoname(index, name.as_mut_ptr()) };
        if found.is_null() {
            return None;
        }
        // SAFETY: the function wrote a text that ends in a zero byte.
        Some(unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned())
    }
}

/// Returns the names of all devices in this namespace. The list is empty if the kernel does not
/// give it.
pub fn list_names() -> Vec<String> {
    // SAFETY: the list is freed below, and read only before.
    unsafe {
        let list = libc::if_nameindex();
        if list.is_null() {
            return Vec::new();
        }
        let (mut names, mut at) = (Vec::new(), list);
        while (*at).if_index != 0 {
            names.push(CStr::from_ptr((*at).if_name).to_string_lossy().into_owned());
            at = at.add(1);
        }
        libc::if_freenameindex(list);
        names
    }
}

/// Asks the kernel for a property of a device by ioctl(2); `read` takes it from the answer
/// (netdevice(7)). `name` is shorter than IFNAMSIZ. Returns the kernel's error.
fn query<T>(name: &CStr, what: libc::Ioctl, read: impl Fn(&libc::ifreq) -> T) -> io::Result<T> {
    // SAFETY: an all-zero request is valid; the name fits, as its length was checked.
    unsafe {
        let mut request: libc::ifreq = mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(name.to_bytes()) {
            *to = *from as libc::c_char;
        }
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        let done = libc::ioctl(socket, what, &mut request);
        let error = io::Error::last_os_error();
        libc::close(socket);
        if done < 0 { Err(error) } else { Ok(read(&request)) }
    }
}
