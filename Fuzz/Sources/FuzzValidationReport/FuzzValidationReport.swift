import FuzzSupport
import NetwatchCore

/// Any bytes as a report of `netwatch-validate`: what is read can be written and read again, and what a terminal is shown
/// of it has no control characters.
@main
enum FuzzValidationReport {
    static func main() {
        Fuzzer.run { start, count in
            FuzzValidationReport.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    private static func run(_ bytes: [UInt8]) {
        guard let summary = try? ValidationSummary(decoding: bytes[...]) else { return }
        checkNormalForm(of: summary)
        checkWords(about: summary)
    }

    /// What was read can be written and read again; the first writing cuts times to microseconds.
    private static func checkNormalForm(of summary: ValidationSummary) {
        let json = summary.json
        Fuzzer.expect(json.utf8.allSatisfy { $0 >= 0x20 }, "not a line: \(json)")
        do throws(ValidationSummaryError) {
            let again = try ValidationSummary(decoding: ArraySlice(json.utf8))
            Fuzzer.expect(again.verdict == summary.verdict, "\(summary) was written and read as \(again)")
            Fuzzer.expect(again.json == json, "\(json) is written differently the second time")
        } catch {
            Fuzzer.expect(false, "\(json) was written and can't be read: \(error)")
        }
    }

    private static func checkWords(about summary: ValidationSummary) {
        for line in [ValidationWords.line(summary, .wifi)] + ValidationWords.trouble(summary) {
            Fuzzer.expect(line.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "a control: \(line)")
        }
    }
}
