import Glibc

/// The three descriptors that every program is given, unless its parent closed one.
package enum StandardDescriptors {
    /// Fills gaps with /dev/null, so that no socket gets the number of a missing stdout, and a write to it fails.
    package static func fillGaps() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
            // It gets the lowest free number, which is this one.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
