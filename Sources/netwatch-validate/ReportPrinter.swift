import CommandLineSupport
import LinuxSystem
import Locking
import NetwatchCore
import Validation

/// Prints the reports of a validator on stdout, each as a JSON line.
final class ReportPrinter: Sendable {
    private let mode: Mode
    private let wakeup: Wakeup
    private let state = Lock<(hasEnded: Bool, failure: OutputFailure?)>((false, nil))

    /// The reports to print.
    enum Mode: Sendable {
        /// The current report, then each change.
        case changes
        /// The report after a round of probes.
        case once
    }

    /// Creates a printer.
    ///
    /// - Parameters:
    ///   - mode: What is printed.
    ///   - wakeup: Signalled when the printing has ended.
    init(_ mode: Mode, wakeup: Wakeup) {
        self.mode = mode
        self.wakeup = wakeup
    }

    /// Whether nothing more is printed.
    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Why nothing more can be printed, if that is why.
    var failure: OutputFailure? { state.withLock { $0.failure } }

    /// Prints reports until all are printed or one can't be.
    func run(_ validator: PathValidator) async {
        switch mode {
        case .once: print(await validator.check())
        case .changes: for await report in validator.verdicts where !print(report) { break }
        }
        state.withLock { $0.hasEnded = true }
        wakeup.signal()
    }

    /// Prints a report; false if that failed.
    @discardableResult
    private func print(_ report: ValidationReport) -> Bool {
        let summary = ValidationSummary(report, at: PathValidator.now, is: SystemClock.wall)
        do throws(OutputFailure) {
            try LineOutput.standard.write(summary.json + "\n")
            return true
        } catch {
            state.withLock { $0.failure = error }
            return false
        }
    }
}
