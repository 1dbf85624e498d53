import Testing

@testable import NetworkClientCore

@Suite("Records of a cache")
struct CacheRecordTests {
    private static let response = CacheRecord(
        url: "https://example.com/ä?b",
        .response(
            .init(
                status: 404,
                reason: "Not Found",
                fields: .init([.init("A", "1"), .init("a", ""), .init("Ü", "é")]),
                requestTime: 1,
                responseTime: 2
            )
        )
    )
    private static let variants = CacheRecord(url: "http://a/", .variants(["accept", "cookie"], generation: .max))

    @Test(arguments: [response, variants])
    func `a record is read as it was written`(record: CacheRecord) {
        var record = record
        (record.bodyLength, record.bodyChecksum, record.bodyFile) = (.max, .max, 7)
        #expect(CacheRecord(record.bytes) == record)
    }

    @Test(arguments: [response, variants])
    func `a record that is cut off or too long is none`(record: CacheRecord) {
        let bytes = record.bytes
        for count in 0..<bytes.count { #expect(CacheRecord(Array(bytes.prefix(count))) == nil) }
        #expect(CacheRecord(bytes + [0]) == nil)
    }

    @Test func `no time is read with which arithmetic overflows`() {
        var record = Self.response
        guard case .response(var response) = record.content else { return }
        response.responseTime = .max
        record.content = .response(response)
        #expect(CacheRecord(record.bytes) == nil)
    }
}
