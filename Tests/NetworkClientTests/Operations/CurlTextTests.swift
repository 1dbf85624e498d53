import HTTPTypes
import NetworkLab
import Testing

@testable import NetworkClient

/// Requests as commands for curl.
struct CurlTextTests {
    private static func head(_ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields = [:]) -> HTTPRequest {
        .init(method: method, scheme: "https", authority: "example.com", path: path, headerFields: fields)
    }

    private static func text(
        _ head: HTTPRequest,
        hasBody: Bool = false,
        socket: String? = nil,
        secrets: [String] = []
    ) -> String {
        CurlText(head: head, hasBody: hasBody, socketPath: socket, secretFields: secrets).command
    }

    @Test func `curl's defaults are left out`() {
        let head = Self.head(.get, "/a?b=c", [.accept: "*/*", .contentLength: "0"])
        #expect(Self.text(head) == "curl --header 'Accept: */*' 'https://example.com/a?b=c'")
        #expect(Self.text(Self.head(.head, "/")) == "curl --head 'https://example.com/'")
        #expect(
            Self.text(Self.head(.put, "/"), hasBody: true, socket: "/run/x")
                == "curl --request 'PUT' --unix-socket '/run/x' --data-binary @- 'https://example.com/'"
        )
    }

    @Test func `the command contains no secrets`() {
        let fields: HTTPFields = [
            .authorization: "Bearer hidden1", .cookie: "id=hidden2", .proxyAuthorization: "Basic hidden3", .accept: "a",
        ]
        let text = Self.text(Self.head(.get, "/?access_token=hidden4&Api-Key=hidden5&page=2&password", fields))
        #expect(!text.contains("hidden"))
        #expect(text.contains("'https://example.com/?access_token=SECRET&Api-Key=SECRET&page=2&password'"))
        #expect(text.contains("'Authorization: SECRET'"))
    }

    @Test func `values of secret names are hidden`() throws {
        let names = [
            "X-Vault-Token", "Private-Token", "X-Auth-Key", "X-Amz-Security-Token", "Cookie2", "X-Functions-Key",
            "Ocp-Apim-Subscription-Key", "X-Session-Id",
        ]
        var fields = HTTPFields()
        for name in names { fields.append(.init(name: try #require(.init(name)), value: "hidden")) }
        fields.append(.init(name: try #require(.init("X-Of-Mine")), value: "hidden"))
        fields[.referer] = "https://example.com/?code=hidden"
        let head = Self.head(.get, "/;jsessionid=hidden?code=hidden&jwt=hidden&pwd=hidden&%6Bey=hidden&page=2", fields)
        let text = Self.text(head, secrets: ["x-of-mine"])
        #expect(!text.contains("hidden"), "\(text)")
        #expect(text.contains("&page=2'"))
    }

    @Test func `the fields that a session calls secret are`() throws {
        let session = try HTTPSession(configuration: .init(redirects: .follow(secretFields: ["X-Of-Mine"])))
        let name = try #require(HTTPField.Name("x-of-mine"))
        let options = RequestOptions(startsAtOnce: false)
        let request = session.get("http://example.invalid/", headers: [name: "hidden"], options: options)
        #expect(!request.curlCommand.contains("hidden"))
        request.cancel()
    }

    @Test(arguments: ["'\u{301}", "a'\u{301}; echo x; '\u{301}", "'\u{200D}'"])
    func `a quote with a combining character is quoted`(value: String) throws {
        #expect(!CurlText.quoted(value).unicodeScalars.contains("\u{0}"))
        let output = try LabProcess("/bin/sh", ["-c", "printf %s \(CurlText.quoted(value))"]).finish(
            within: .seconds(60)
        )
        #expect(Array(output.output.utf8) == Array(value.utf8))
    }

    @Test func `a shell parses the command as intended`() throws {
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
