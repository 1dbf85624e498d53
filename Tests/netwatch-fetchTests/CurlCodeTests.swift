import CommandLineLab
import CommandLineSupport
import Glibc
import NetworkClient
import Testing

@testable import netwatch_fetch

@Suite struct CurlCodeTests {
    /// The rows of the document's table: the exit code, and the library's errors.
    private func rows() throws -> [Int32: [String]] {
        var rows: [Int32: [String]] = [:]
        for line in try Repository.read("docs/fetch.md").split(separator: "\n") {
            let cells = line.split(separator: "|").map { $0.drop { $0 == " " } }
            guard cells.count >= 3, let code = cells.first.flatMap({ Int32($0.prefix { $0 != " " }) }) else { continue }
            rows[code] = cells[2].split(separator: "`").map(String.init).filter { !$0.allSatisfy { ", ".contains($0) } }
        }
        return rows
    }

    @Test(arguments: HTTPError.Code.allCases)
    func `each error of the library has the documented exit code`(code: HTTPError.Code) throws {
        let exit = CurlCode(HTTPError(code, processing: .maybeProcessed, reason: ""))
        #expect(try rows()[exit.rawValue]?.contains(code.rawValue) == true, "\(exit)")
    }

    @Test func `the document has each code and no other, and each error once`() throws {
        let rows = try rows()
        #expect(Set(rows.keys) == Set(CurlCode.allCases.map(\.rawValue) + [0, 64, 71, 126, 127, 130, 143]))
        #expect(rows.values.flatMap(\.self).sorted() == HTTPError.Code.allCases.map(\.rawValue).sorted())
    }

    @Test(arguments: [
        (Processing.neverSent, nil, CurlCode.handshakeFailed), (.neverSent, ECONNRESET, .handshakeFailed),
        (.maybeProcessed, nil, .gotNothing), (.maybeProcessed, ECONNRESET, .receiveError),
        (.maybeProcessed, EPIPE, .sendError),
    ])
    func `a lost connection`(processing: Processing, errno: Int32?, exit: CurlCode) {
        #expect(CurlCode(HTTPError(.connectionLost, processing: processing, reason: "", errno: errno)) == exit)
    }

    @Test func `an error is one line, with a suggestion`() {
        var error = HTTPError(.bodyTooLarge, processing: .answered, reason: "raise maximumBodySize")
        error.request = "GET http://x/\u{1B}[2J"
        let told = error.fetchError
        #expect(
            told.message.hasPrefix("GET http://x/\\u{1b}[2J: the response's body is larger than allowed; give a larger")
        )
        #expect(told.status.rawValue == 63)
        let tls = HTTPError(.tlsFailed, processing: .neverSent, reason: "no version: see TLSOptions.minimumVersion")
            .fetchError
        #expect(tls == ToolError("no version", curl: .handshakeFailed))
    }
}
