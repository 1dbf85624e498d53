import CNetworkLab
import Glibc

/// A network namespace of a test's own (network_namespaces(7)), with its loopback interface up.
///
/// ```swift
/// let lab = try LabNamespace()
/// try lab.rtnl.createVeth("wan0", index: 10, peer: "far0", peerIndex: 20)
/// try lab.rtnl.setUp("wan0", "far0")
/// try lab.rtnl.addAddress("192.0.2.2/24", on: "wan0")
/// try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
/// ```
/// The namespace lives as long as the object, or as long as a process or socket is in it. A socket stays in the
/// namespace in which it was made, so ``rtnl`` may be used from any thread and any task; what has to be done inside
/// (opening sockets, starting threads and processes, sysctl) is done by ``run(_:)``.
package final class LabNamespace: Sendable {
    /// An rtnetlink socket in this namespace.
    package let rtnl: Rtnl
    private let descriptor: OwnedDescriptor

    /// Makes a namespace, without entering it.
    ///
    /// - Throws: `EPERM` where this process may not, with a remedy.
    package init() throws(LabError) {
        let home = try Self.openCurrent()
        do throws(LabError) {
            try systemCall("unshare(CLONE_NEWNET)") { unshare(labNewNetwork) }
        } catch {
            throw LabError(error.operation, errno: error.errno, detail: Self.advice)
        }
        defer { Self.enter(home) }
        descriptor = try Self.openCurrent()
        rtnl = try Rtnl()
        try rtnl.setUp("lo")
    }

    private static let advice =
        "run the tests by ./scripts/test, which enters a user namespace of its own (unshare -rn)"

    /// A path by which this process and its children can open the namespace.
    package var path: String { "/proc/\(getpid())/fd/\(descriptor.number)" }

    /// The namespace's descriptor, for setns(2) and `IFLA_NET_NS_FD`; valid as long as this object.
    package var descriptorNumber: Int32 { descriptor.number }

    /// Runs a closure on the calling thread while that is in the namespace, and brings the thread back.
    ///
    /// Sockets that are opened, and threads and processes that are started meanwhile belong to the namespace and stay in
    /// it. Calls may be nested.
    @discardableResult
    package func run<Value>(_ body: () throws -> Value) throws -> Value {
        let home = try Self.openCurrent()
        try systemCall("setns") { setns(descriptor.number, labNewNetwork) }
        defer { Self.enter(home) }
        return try body()
    }

    /// Brings the calling thread into the namespace of the process's first thread, which no test leads to another.
    ///
    /// A thread begins in the namespace of the one that started it.
    static func enterFirst() throws(LabError) {
        let first = try opened("/proc/self/ns/net")
        try systemCall("setns") { setns(first.number, labNewNetwork) }
    }

    private static func openCurrent() throws(LabError) -> OwnedDescriptor { try opened("/proc/thread-self/ns/net") }

    private static func opened(_ path: String) throws(LabError) -> OwnedDescriptor {
        try OwnedDescriptor(systemCall("open \(path)") { open(path, O_RDONLY | O_CLOEXEC) })
    }

    /// Brings the thread back where it came from; a thread that stayed would spoil whatever runs on it next.
    private static func enter(_ home: OwnedDescriptor) {
        precondition(setns(home.number, labNewNetwork) == 0, "the thread can't leave the test's network namespace")
    }
}

/// Makes a network namespace and runs a closure inside it.
///
/// ``LabNamespace/run(_:)`` says what 'inside' means. For tests that suspend, keep a ``LabNamespace`` instead.
package func withNetworkNamespace<Value>(_ body: (LabNamespace) throws -> Value) throws -> Value {
    let lab = try LabNamespace()
    return try lab.run { try body(lab) }
}
