import Glibc
import NetworkLab

/// Which files a new process has (posix_spawn(3)).
final class FileActions {
    private var actions = posix_spawn_file_actions_t()

    init() throws {
        guard posix_spawn_file_actions_init(&actions) == 0 else { throw LabError("posix_spawn", errno: ENOMEM) }
    }

    deinit { posix_spawn_file_actions_destroy(&actions) }

    func duplicate(_ descriptor: Int32, to number: Int32) throws {
        try check(posix_spawn_file_actions_adddup2(&actions, descriptor, number))
    }

    func open(_ path: String, as number: Int32) throws {
        try check(posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT, 0o600))
    }

    /// Starts a program, with no signal blocked and none ignored.
    func spawn(_ file: String, _ arguments: [String]) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        try check(posix_spawnattr_init(&attributes))
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        try check(posix_spawnattr_setsigmask(&attributes, &none))
        try check(posix_spawnattr_setsigdefault(&attributes, &all))
        try check(posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)))
        var pointers = ([file] + arguments).map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var id = pid_t()
        try check(posix_spawn(&id, file, &actions, &attributes, &pointers, environ))
        return id
    }

    private func check(_ result: Int32) throws {
        guard result == 0 else { throw LabError("posix_spawn", errno: result) }
    }
}
