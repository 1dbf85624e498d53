import CNetlink
import Glibc

/// A call to libnl or to the kernel's sockets that failed.
struct NetlinkError: Error, Equatable {
    /// The function or option.
    let call: StaticString
    /// errno(3), as the system call left it.
    let errno: Int32

    /// Notes a system call's failure.
    init(_ call: StaticString, errno: Int32) {
        self.call = call
        self.errno = errno
    }

    /// Notes a libnl function's failure, with the errno beneath it.
    ///
    /// libnl has codes of its own, which merge several errnos (`NLE_NOMEM` is ENOMEM and ENOBUFS).
    init(_ call: StaticString, libnl code: Int32) {
        let beneath = Glibc.errno
        self.init(call, errno: beneath == 0 ? -code : beneath)
    }

    static func == (left: Self, right: Self) -> Bool {
        left.errno == right.errno && "\(left.call)" == "\(right.call)"
    }
}
