import CNetworkLab
import Glibc

/// Files that one thread, and those which it starts, see in place of the system's (mount_namespaces(7)).
package enum LabMount {
    /// Lays a file over another one, for the calling thread alone; it can't be brought back, so let it end.
    ///
    /// The corresponding C functions are `unshare` and `mount`.
    ///
    /// - Throws: `EPERM` where this process may not.
    package static func cover(_ target: String, with source: String) throws(LabError) {
        try systemCall("unshare(CLONE_NEWNS)") { unshare(labNewMounts) }
        let keepToOneself = UInt(MS_REC | MS_PRIVATE)
        try systemCall("mount / as private") { mount("none", "/", nil, keepToOneself, nil) }
        try systemCall("mount \(source) over \(target)") { mount(source, target, nil, UInt(MS_BIND), nil) }
    }
}
