import FuzzSupport
import NetworkClientCore

/// Any text as the fields of a request and a response, a line each, and any bytes as a record of a cache.
///
/// No arithmetic overflows, no response that must not be stored is, none is used against its directives, a part is within its
/// body, and a record is read as it was written.
@main
enum FuzzCache {
    static func main() {
        Fuzzer.run { start, count in
            FuzzCache.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    private static let now: Int64 = 1_767_225_600

    private static func run(_ input: [UInt8]) {
        checkRecord(input)
        let lines = InputText.lines(input)
        let middle = lines.firstIndex(of: "") ?? lines.endIndex
        let request = CacheRequest(method: "GET", fields: fields(lines[..<middle]))
        let stored = CachedResponse(
            status: 200,
            reason: "",
            fields: fields(lines[middle...]),
            requestTime: now - 1,
            responseTime: now
        )
        checkStoring(stored, request)
        for delay in [0, 1, 60, 1 << 33] as [Int64] { checkUse(stored, request, at: now + delay) }
        checkRange(stored, request)
        checkUpdate(stored)
        var record = CacheRecord(url: lines.first ?? "", .response(stored))
        record.bodyLength = Int64(input.count)
        Fuzzer.expect(CacheRecord(record.bytes) == record, "a record is another one once written")
    }

    private static func fields(_ lines: ArraySlice<String>) -> CachedFields {
        .init(
            lines.compactMap { line in
                guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else {
                    return nil
                }
                return .init(String(line[..<colon]), String(line[colon...].dropFirst()))
            }
        )
    }

    private static func checkRecord(_ bytes: [UInt8]) {
        guard let record = CacheRecord(bytes) else { return }
        Fuzzer.expect(CacheRecord(record.bytes) == record, "a record that was read is another one once written")
        guard let response = record.response else { return }
        for time in [0, now, 1 << 40] as [Int64] { checkUse(response, .init(method: "GET", fields: .init()), at: time) }
    }

    private static func checkStoring(_ stored: CachedResponse, _ request: CacheRequest) {
        let refusal = StoringRules.refusal(of: stored, to: request)
        let directives = stored.directives
        if directives.noStore, !directives.mustUnderstand { Fuzzer.expect(refusal != nil, "no-store is stored") }
        if request.directives.noStore { Fuzzer.expect(refusal != nil, "no-store of the request is stored") }
        let storable = stored.fields.storable
        Fuzzer.expect(!storable.contains("Connection"), "Connection is stored")
        Fuzzer.expect(storable.storable == storable, "what is storable is not")
    }

    private static func checkUse(_ stored: CachedResponse, _ request: CacheRequest, at time: Int64) {
        let age = stored.age(at: time)
        Fuzzer.expect(age >= 0 && age <= CacheDirectives.longest, "the age is \(age)")
        let lifetime = stored.lifetime.seconds
        Fuzzer.expect(lifetime >= 0 && lifetime <= CacheDirectives.longest, "the lifetime is \(lifetime)")
        let decision = ReuseRules.decision(for: request, stored, .standard, now: time)
        if stored.directives.noCache || request.directives.noCache {
            Fuzzer.expect(decision == .forward || decision == .unavailable, "no-cache: \(decision)")
        }
        if decision == .fresh { Fuzzer.expect(age < lifetime, "\(age) of \(lifetime) is fresh") }
        if case .stale = decision {
            Fuzzer.expect(!stored.directives.mustRevalidate, "must-revalidate is used stale")
        }
        if ReuseRules.mayReplaceFailure(stored, of: request, .staleIfUnreachable, now: time) {
            let directives = stored.directives
            Fuzzer.expect(!directives.noCache && !directives.mustRevalidate, "an error is replaced")
        }
    }

    private static func checkRange(_ stored: CachedResponse, _ request: CacheRequest) {
        for length in [0, 1, 100, .max] as [Int64] {
            guard case .part(let range) = CachedRange(of: request, stored, length: length) else { continue }
            Fuzzer.expect(!range.isEmpty && range.upperBound <= length, "\(range) of \(length) bytes")
        }
    }

    private static func checkUpdate(_ stored: CachedResponse) {
        for condition in ValidationRules.conditions(for: stored) {
            Fuzzer.expect(!condition.value.utf8.contains(UInt8(ascii: "\n")), "a condition has a line's end")
        }
        Fuzzer.expect(ValidationRules.confirms(stored, stored) || stored.entityTag == nil, "a response is another one")
    }
}
