package import CLinux
import Glibc
import NetworkLab

/// The files of a new process (posix_spawn(3)).
package final class FileActions {
    private var actions = posix_spawn_file_actions_t()
    /// The highest number that a file of the process has.
    private var highest = STDERR_FILENO

    package init() throws {
        guard posix_spawn_file_actions_init(&actions) == 0 else { throw LabError("posix_spawn", errno: ENOMEM) }
    }

    deinit { posix_spawn_file_actions_destroy(&actions) }

    package func duplicate(_ descriptor: Int32, to number: Int32) throws {
        try check(posix_spawn_file_actions_adddup2(&actions, descriptor, number))
        highest = max(highest, number)
    }

    package func open(_ path: String, as number: Int32) throws {
        try check(posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT, 0o600))
        highest = max(highest, number)
    }

    /// Opens a terminal, which then controls a process that leads a session of its own (credentials(7)).
    package func open(terminal path: String, as number: Int32) throws {
        try check(posix_spawn_file_actions_addopen(&actions, number, path, O_RDWR, 0))
        highest = max(highest, number)
    }

    /// Starts a program, with no signal blocked and none ignored, and without files above the highest of these; once.
    ///
    /// - Parameters:
    ///   - file: The program.
    ///   - arguments: Its arguments, without its name.
    ///   - environment: Environment variables in addition to this process's, or in place of them.
    ///   - leadsSession: Whether it has a session of its own, and so no terminal unless it opens one.
    /// - Returns: Its process id.
    /// - Throws: The error of posix_spawn(3).
    package func spawn(
        _ file: String,
        _ arguments: [String],
        environment: [String: String] = [:],
        leadsSession: Bool = false
    ) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        try check(posix_spawnattr_init(&attributes))
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        try check(posix_spawnattr_setsigmask(&attributes, &none))
        try check(posix_spawnattr_setsigdefault(&attributes, &all))
        let flags = Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | (leadsSession ? Self.setSession : 0)
        try check(posix_spawnattr_setflags(&attributes, flags))
        var pointers = ([file] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var variables = Self.environment(environment).map { strdup($0) } + [nil]
        defer { for variable in variables { free(variable) } }
        // NIO opens its sockets without O_CLOEXEC: a client of this process would not notice that its connection was closed.
        try check(posix_spawn_file_actions_addclosefrom_np(&actions, highest + 1))
        var id = pid_t()
        try check(posix_spawn(&id, file, &actions, &attributes, &pointers, &variables))
        return id
    }

    /// POSIX_SPAWN_SETSID, which glibc declares only with _GNU_SOURCE.
    private static let setSession: Int16 = 0x80

    private static func environment(_ changes: [String: String]) -> [String] {
        var own: [String] = []
        var next = environ
        while let variable = next.pointee {
            own.append(String(cString: variable))
            next += 1
        }
        let others = own.filter { variable in !changes.keys.contains { variable.hasPrefix("\($0)=") } }
        return others + changes.map { "\($0)=\($1)" }
    }

    private func check(_ result: Int32) throws {
        guard result == 0 else { throw LabError("posix_spawn", errno: result) }
    }
}
