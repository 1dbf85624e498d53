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

    private static func checkNormalForm(of summary: ValidationSummary) {
        let json = summary.json
        Fuzzer.expect(json.utf8.allSatisfy { $0 >= 0x20 }, "not a line: \(json)")
        do throws(ValidationSummaryError) {
            let again = try ValidationSummary(decoding: ArraySlice(json.utf8))
            Fuzzer.expect(again == summary, "\(summary) was written and read as \(again)")
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
