import NIOCore
import NIOPosix
import NetworkLab

/// Event loops whose sockets belong to a test's own network namespace.
///
/// A thread is born into the namespace of the one that starts it, so the group is made inside and stays there. NIO
/// opens a socket on the thread that calls the bootstrap, not on the loop's: what is opened on the loop (as the
/// connector does) is inside, and a server is not unless it is told (`ScriptedServer(in: loops.lab, …)`). Loopback is
/// up in there, as it may not be around it.
final class LabLoops: Sendable {
    let lab: LabNamespace
    let group: MultiThreadedEventLoopGroup
    /// The first loop.
    var loop: any EventLoop { group.any() }

    private init(_ lab: LabNamespace) throws {
        self.lab = lab
        group = try lab.run { MultiThreadedEventLoopGroup(numberOfThreads: 1) }
    }

    /// Runs a test with loops in a namespace, a new one by default; ends their threads afterwards.
    static func run<Value>(in lab: LabNamespace? = nil, _ body: (LabLoops) async throws -> Value) async throws -> Value
    {
        let loops = try LabLoops(lab ?? LabNamespace())
        do {
            let value = try await body(loops)
            try await loops.group.shutdownGracefully()
            return value
        } catch {
            try await loops.group.shutdownGracefully()
            throw error
        }
    }
}
