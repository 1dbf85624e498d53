import CLinux
import CommandLineSupport
import Glibc
package import LinuxSystem
package import NetwatchCore

/// The terminal of stdout: the source of keys, the destination of drawing, and the owner of the saved settings.
///
/// Confined to the main thread.
package final class TerminalDevice {
    /// The descriptor to read and write; non-blocking if the kernel allowed it to be opened again.
    package let descriptor: Int32
    /// The settings as they were.
    let settings: termios
    /// The bytes that the terminal has not accepted yet.
    private var pending: ArraySlice<UInt8> = []

    /// Opens the terminal.
    ///
    /// Opened again, so that flags of this descriptor do not affect the shell's.
    ///
    /// - Throws: The errno; `ENOTTY` if stdout is no terminal, or one that cannot be read.
    package init() throws(SystemError) {
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

    /// The size in characters (ioctl_tty(2)), at most ``maximumLength`` in each direction; 80 by 24 if the terminal does
    /// not report one.
    package var size: ScreenSize {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return .init(columns: 80, rows: 24)
        }
        return .init(
            columns: min(Int(size.ws_col), Self.maximumLength),
            rows: min(Int(size.ws_row), Self.maximumLength)
        )
    }

    /// More than any screen has, and less than ncurses cannot count.
    private static let maximumLength = 1_000

    /// Whether this process may change the terminal: it is in the foreground, or there is no job control.
    var isOurs: Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }

    /// Whether some output is not yet written.
    package var isBehind: Bool { !pending.isEmpty }

    /// Writes as much as the terminal accepts now, and keeps the rest; false if the terminal is closed.
    package func write(_ bytes: some Sequence<UInt8>) -> Bool {
        pending += bytes
        return write()
    }

    /// Continues to write the kept output; false if the terminal is closed.
    package func write() -> Bool {
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

    /// Waits until everything is written, up to a timeout in milliseconds.
    func finish(within limit: Int32) {
        while write(), isBehind, isReady(toWriteWithin: limit) {}
        pending = []
    }

    private func isReady(toWriteWithin milliseconds: Int32) -> Bool {
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&wait, 1, milliseconds) == 1
    }

    /// A writable blocking descriptor nearly always accepts this much without blocking.
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
/// The only file that calls these functions of CLinux: every file that does has a copy of their variables.
enum TerminalGuard {
    /// Makes a crash restore the terminal; a further call replaces the bytes.
    ///
    /// - Parameters:
    ///   - device: The terminal.
    ///   - bytes: The bytes that restore it: they show the cursor and end the alternate screen.
    static func arm(_ device: TerminalDevice, bytes: [UInt8]) {
        var settings = device.settings
        bytes.withUnsafeBytes { raw in
            netwatch_guard_arm(device.descriptor, &settings, raw.baseAddress, raw.count)
        }
    }

    /// Restores the previous handling of crashes.
    static func disarm() {
        netwatch_guard_disarm()
    }
}
