import CLinux
import Glibc

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
