import HTTPTypes
import NetworkLab
import Testing

@testable import NetworkClient

/// Requests as commands for curl.
struct CurlTextTests {
    private static func head(_ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields = [:]) -> HTTPRequest {
        .init(method: method, scheme: "https", authority: "example.com", path: path, headerFields: fields)
    }

    private static func text(_ head: HTTPRequest, hasBody: Bool = false, socket: String? = nil) -> String {
        CurlText(head: head, hasBody: hasBody, socketPath: socket).command
    }

    @Test func `what curl does by itself is not said`() {
        let head = Self.head(.get, "/a?b=c", [.accept: "*/*", .contentLength: "0"])
        #expect(Self.text(head) == "curl --header 'Accept: */*' 'https://example.com/a?b=c'")
        #expect(Self.text(Self.head(.head, "/")) == "curl --head 'https://example.com/'")
        #expect(
            Self.text(Self.head(.put, "/"), hasBody: true, socket: "/run/x")
                == "curl --request 'PUT' --unix-socket '/run/x' --data-binary @- 'https://example.com/'"
        )
    }

    @Test func `secrets are not in it`() {
        let fields: HTTPFields = [
            .authorization: "Bearer hidden1", .cookie: "id=hidden2", .proxyAuthorization: "Basic hidden3", .accept: "a",
        ]
        let text = Self.text(Self.head(.get, "/?access_token=hidden4&Api-Key=hidden5&page=2&password", fields))
        #expect(!text.contains("hidden"))
        #expect(text.contains("'https://example.com/?access_token=SECRET&Api-Key=SECRET&page=2&password'"))
        #expect(text.contains("'Authorization: SECRET'"))
    }

    @Test func `a shell reads what was meant`() throws {
        let value = #"it's "q" $HOME `id` \ ; & *"#
        let text = Self.text(Self.head(.post, "/'%20'?a='b'", [.accept: value]), hasBody: true)
        let script = "curl() { for word; do printf '%s\\n' \"$word\"; done; }; \(text)"
        let output = try LabProcess("/bin/sh", ["-c", script]).finish(within: .seconds(60)).output
        #expect(
            output.split(separator: "\n").map(String.init) == [
                "--request", "POST", "--header", "Accept: \(value)", "--data-binary", "@-",
                "https://example.com/'%20'?a='b'",
            ]
        )
    }

    @Test func `a description has neither query nor user`() throws {
        let session = try HTTPSession()
        let request = session.get(
            "http://me:hidden@example.invalid/a?token=hidden",
            options: .init(startsAtOnce: false)
        )
        #expect("\(request)" == "request 1: GET http://example.invalid/a (ready)")
        #expect(!request.curlCommand.contains("hidden"))
        request.cancel()
    }
}
