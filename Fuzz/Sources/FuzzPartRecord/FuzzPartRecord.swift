import FuzzSupport
import NetworkClientCore

/// Any bytes as the record of a part: what is believed is written back as it was read, and can go into a request.
@main
enum FuzzPartRecord {
    static func main() {
        Fuzzer.run { start, count in
            FuzzPartRecord.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    private static func run(_ bytes: [UInt8]) {
        guard let record = PartRecord(bytes) else { return }
        Fuzzer.expect(bytes.count <= PartRecord.limit, "a record of \(bytes.count) bytes was believed")
        guard let written = record.bytes else { return Fuzzer.expect(false, "it can't be written: \(record)") }
        Fuzzer.expect(PartRecord(written) == record, "it is another one once written: \(record)")
        for count in 0..<written.count {
            Fuzzer.expect(PartRecord(Array(written.prefix(count))) == nil, "the first \(count) bytes were believed")
        }
        let condition = record.part.validator?.condition ?? "\r"
        let isField = condition.utf8.allSatisfy { $0 == 0x20 || 0x21...0x7E ~= $0 || $0 >= 0x80 }
        Fuzzer.expect(isField, "'\(condition)' can't go into a field")
        var life = DownloadState(.init(length: 1, validator: record.part.validator, total: record.part.total))
        guard case .rest(let start, let validator) = life.ask() else { return }
        Fuzzer.expect(start == 1 && validator == record.part.validator, "the rest of another version is asked for")
    }
}
