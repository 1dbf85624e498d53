import CLinux
import CommandLineSupport
import Glibc
import LinuxSystem
import NetwatchCore

/// The terminal that stdout is: what is typed comes from it, what is drawn goes to it, and its settings are kept.
///
/// Confined to the main thread.
final class TerminalDevice {
    /// The descriptor to read and write; non-blocking if the kernel allowed it to be opened again.
    let descriptor: Int32
    /// The settings as they were.
    let settings: termios
    /// The bytes that the terminal has not accepted yet.
    private var pending: ArraySlice<UInt8> = []

    /// Opens the terminal.
    ///
    /// Anew, so that what is set for this descriptor alone is not set for the shell's, too.
    ///
    /// - Throws: The errno; `ENOTTY` if stdout is no terminal, or one that cannot be read.
    init() throws(SystemError) {
        descriptor = try Self.open()
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else {
            let error = SystemError.last
            close(descriptor)
            throw error
        }
        self.settings = settings
    }

    deinit { close(descriptor) }

    private static func open() throws(SystemError) -> Int32 {
        guard isatty(STDOUT_FILENO) == 1 else { throw .init(code: ENOTTY) }
        let flags = O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK
        let descriptor = Glibc.open("/proc/self/fd/\(STDOUT_FILENO)", flags)
        guard descriptor < 0 else { return descriptor }
        // Another user's terminal, as after su(1), or no /proc: the shell's own descriptor must do.
        let access = fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE
        guard access == O_RDWR else { throw .init(code: ENOTTY) }
        return try retryingOnInterrupt { fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) }
    }

    /// How many characters fit (ioctl_tty(2)), of which no more than ``most`` are used each way; 80 by 24 where the
    /// terminal does not tell.
    var size: ScreenSize {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return .init(columns: 80, rows: 24)
        }
        return .init(columns: min(Int(size.ws_col), Self.most), rows: min(Int(size.ws_row), Self.most))
    }

    /// More than any screen has, and less than ncurses cannot count.
    private static let most = 1_000

    /// Whether this process may change the terminal: it is in the foreground, or nobody controls jobs there.
    var isOurs: Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }

    /// Whether something is not yet taken.
    var isBehind: Bool { !pending.isEmpty }

    /// Writes as much as the terminal takes now, and keeps the rest; false if the terminal has gone.
    func write(_ bytes: some Sequence<UInt8>) -> Bool {
        pending += bytes
        return write()
    }

    /// Goes on writing what was kept; false if the terminal has gone.
    func write() -> Bool {
        while !pending.isEmpty {
            guard isReady(toWriteWithin: 0) else { return true }
            let part = pending.prefix(Self.portion)
            let count = part.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                pending = pending.dropFirst(count)
            } else if errno == EAGAIN {
                return true
            } else if errno != EINTR {
                pending = []
                return false
            }
        }
        pending = []
        return true
    }

    /// Waits until everything is taken, but no longer than a time in milliseconds.
    func finish(within limit: Int32) {
        while write(), isBehind, isReady(toWriteWithin: limit) {}
        pending = []
    }

    private func isReady(toWriteWithin milliseconds: Int32) -> Bool {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&wait, 1, milliseconds) == 1
    }

    /// A descriptor that blocks takes this much at once if it takes anything, or nearly always.
    private static let portion = 2_048

    /// The settings as they are now.
    var currentSettings: termios {
        var current = settings
        tcgetattr(descriptor, &current)
        return current
    }

    /// Changes the settings; in the background, that stops the process until it is in the foreground.
    func set(_ settings: termios) {
        var settings = settings
        while tcsetattr(descriptor, TCSANOW, &settings) != 0, errno == EINTR {}
    }
}

/// Has the terminal put in order if the process crashes.
///
/// The one file that calls these functions of CLinux: each file that does has their variables for itself.
enum TerminalGuard {
    /// From now on a crash restores the terminal; once more replaces what is restored.
    ///
    /// - Parameters:
    ///   - device: The terminal.
    ///   - bytes: What leaves it as it was: shows the cursor, ends the other screen.
    static func arm(_ device: TerminalDevice, bytes: [UInt8]) {
        var settings = device.settings
        bytes.withUnsafeBytes { raw in
            netwatch_guard_arm(device.descriptor, &settings, raw.baseAddress, raw.count)
        }
    }

    /// From now on a crash is what it was before.
    static func disarm() {
        netwatch_guard_disarm()
    }
}
