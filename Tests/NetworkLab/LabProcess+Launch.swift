import CNetworkLab
import Glibc

/// How a program is started.
struct Launch {
    /// The program's file.
    let path: String
    /// Its arguments, without its name.
    let arguments: [String]
    /// The whole environment; nil for this process's own.
    let environment: [String: String]?
    /// Where it runs; nil for this process's own directory.
    let directory: String?

    /// Starts it in a process group of its own, with no other files than these, and returns its process id.
    func start(output: Int32, errors: Int32) throws(LabError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        if let directory { posix_spawn_file_actions_addchdir_np(&actions, directory) }
        // NIO opens its sockets without O_CLOEXEC: a client of this process would not notice that its connection was closed.
        posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals are as a shell would have them, whatever this process ignores or blocks.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        let inherited = environment == nil
        var variables = (environment ?? [:]).map { strdup("\($0)=\($1)") } + [nil]
        defer { for pointer in words + variables { free(pointer) } }
        var process = pid_t()
        let code = variables.withUnsafeMutableBufferPointer { own in
            posix_spawn(&process, path, &actions, &attributes, &words, inherited ? environ : own.baseAddress)
        }
        guard code == 0 else { throw LabError("start \(path)", errno: code) }
        return process
    }
}
