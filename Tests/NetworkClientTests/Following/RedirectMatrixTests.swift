import HTTPLab
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Five codes, six methods, two origins, four kinds of bodies: nginx redirects, and another server records the
/// requests.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Nginx.isInstalled, Comment(rawValue: Nginx.advice)))
struct RedirectMatrixTests {
    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete]

    private struct Row: CustomStringConvertible {
        let status: Int
        let method: HTTPRequest.Method
        let isSameOrigin: Bool
        let body: CarriedBody

        var description: String { "\(status) \(method) \(isSameOrigin ? "same" : "other") origin, body \(body)" }

        /// The method after the redirect, according to RFC 9110, 15.4.
        var next: String {
            switch (status, method) {
            case (301, .post), (302, .post): "GET"
            case (303, .head): "HEAD"
            case (303, _): "GET"
            default: method.rawValue
            }
        }

        var keepsBody: Bool { body != .none && status != 303 && next == method.rawValue }
    }

    private static func rows(_ status: Int) -> [Row] {
        methods.flatMap { method in
            [true, false].flatMap { isSameOrigin in
                CarriedBody.allCases.map { Row(status: status, method: method, isSameOrigin: isSameOrigin, body: $0) }
            }
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `each code, as RFC 9110 has it`(status: Int) async throws {
        let target = try AnsweringServer { _ in [.response()] }
        var options = Nginx.Options()
        options.directives = [
            "location = /same { return \(status) /land$is_args$args; }",
            "location = /other { return \(status) \(target.url)/land$is_args$args; }",
            "location = /land { proxy_pass \(target.url); proxy_http_version 1.1; proxy_request_buffering off; }",
        ]
        let nginx = try Nginx(options)
        let configuration = HTTPConfiguration(
            timeouts: .lasting,
            redirects: .follow(secretFields: ["X-Api-Key"])
        )
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(nginx.port)/", configuration: configuration)
        for (number, row) in Self.rows(status).enumerated() {
            try await check(row, number, session, target)
        }
    }

    private func check(_ row: Row, _ number: Int, _ session: HTTPSession, _ target: AnsweringServer) async throws {
        let headers: HTTPFields = [
            .authorization: "mine", .cookie: "a=b", .init("X-Api-Key") ?? .cookie: "secret",
            .init("X-Other") ?? .cookie: "kept",
        ]
        let path = "\(row.isSameOrigin ? "same" : "other")?\(number)"
        let request = session.request(row.method, path, headers: headers, body: row.body.body)
        let mustFail = row.keepsBody && row.body == .once
        do {
            let response = try await request.response()
            #expect(!mustFail && response.status == 200, "\(row)")
            #expect(response.redirects.map(\.status) == [row.status], "\(row)")
        } catch {
            #expect(mustFail && error.code == .bodyNotReplayable, "\(row): \(error)")
        }
        let landed = target.requests.value.filter { $0.target == "/land?\(number)" }
        #expect(landed.count == (mustFail ? 0 : 1), "\(row)")
        guard let landed = landed.first else { return }
        #expect(landed.method == row.next, "\(row)")
        #expect(landed.body == (row.keepsBody ? CarriedBody.text : []), "\(row)")
        // A POST without parameters says that it is an empty form.
        let type = row.body == .none && row.next == row.method.rawValue ? landed["Content-Type"] : nil
        #expect(landed["Content-Type"] == (row.keepsBody ? "text/plain" : type), "\(row)")
        if !row.keepsBody { #expect(landed["Content-Length"] ?? "0" == "0", "\(row)") }
        for name in ["Authorization", "Cookie", "X-Api-Key"] {
            #expect((landed[name] != nil) == row.isSameOrigin, "\(row): \(name)")
        }
        #expect(landed["X-Other"] == "kept", "\(row)")
        if !row.isSameOrigin { #expect(landed["Host"] == "127.0.0.1:\(target.port)", "\(row)") }
    }
}
