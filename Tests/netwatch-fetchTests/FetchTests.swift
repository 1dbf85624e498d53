import CommandLineLab
import Glibc
import HTTPLab
import NetworkLab
import Testing

@Suite struct FetchTests {
    private let lab: FetchLab

    init() throws { lab = try FetchLab() }

    @Test func `the body is written to stdout unchanged`() throws {
        let bytes = (0...255).map { UInt8($0) }
        let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 256\r\n\r\n".utf8)
        let run = try lab.fetch(lab.server(.readRequest, .sendBytes(head + bytes)).url())
        #expect(run.code == 0)
        #expect(run.bytes == bytes)
        #expect(run.errors == "")
    }

    @Test func `a plain request`() throws {
        let server = try lab.server(answering: "x")
        _ = try lab.fetch(server.url("/a%20b?c"))
        let head = try #require(server.request?.head)
        #expect(head.hasPrefix("GET /a%20b?c HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"))
        #expect(head.contains("\r\nUser-Agent: netwatch/") && head.contains("\r\nAccept-Encoding: gzip, deflate\r\n"))
    }

    @Test func `method, fields and parameters`() throws {
        let server = try lab.server(answering: "")
        let fields = ["-HUser-Agent: me", "-H", "X-A: 1", "--header", "X-A: 2"]
        let run = try lab.start(["-XPROPFIND", server.url(), "--no-compressed", "--param", "a[b]=c d"] + fields)
        #expect(try run.exitCode() == 0)
        let request = try #require(server.request)
        #expect(request.head.hasPrefix("PROPFIND / "))
        for line in ["User-Agent: me", "X-A: 1", "X-A: 2", "Content-Type: application/x-www-form-urlencoded"] {
            #expect(request.head.contains("\r\n\(line)\r\n"))
        }
        #expect(!request.head.contains("netwatch/") && !request.head.contains("Accept-Encoding"))
        #expect(request.body == Array("a%5Bb%5D=c%20d".utf8))
        _ = try lab.fetch("--param", "e", "--param", "d[]=1", server.url("/x?y=z"))
        #expect(server.connections.last?.requests.first?.head.hasPrefix("GET /x?y=z&d%5B%5D=1&e ") == true)
    }

    @Test func `JSON, from the argument, a file and stdin`() throws {
        let server = try lab.server(answering: "")
        let file = try lab.folder.write("body.json", #"{"a": 1}"#)
        for (argument, input) in [(#"{"a": 1}"#, ""), ("@\(file)", ""), ("-", #"{"a": 1}"#)] {
            #expect(try lab.fetch("--json", argument, server.url(), input: input).code == 0)
            let request = try #require(server.connections.last?.requests.first)
            #expect(
                request.head.hasPrefix("POST / ") && request.head.contains("\r\nContent-Type: application/json\r\n")
            )
            #expect(request.head.contains("\r\nAccept: application/json\r\n"))
            #expect(request.body == Array(#"{"a": 1}"#.utf8))
        }
        let wrong = try lab.fetch("--json", #"{"a": }"#, server.url())
        #expect(wrong.code == 64)
        #expect(wrong.error == "the text of --json is no JSON: line 1, column 7: a value is missing")
        #expect(server.connections.count == 3)
    }

    @Test func `data, joined, and a type of its own`() throws {
        let server = try lab.server(answering: "")
        let file = try lab.folder.write("data", [0, 10, 255])
        #expect(try lab.fetch("-d", "a=1", "-d@\(file)", "-XPUT", "-H", "Content-Type: x/y", server.url()).code == 0)
        let request = try #require(server.request)
        #expect(request.head.hasPrefix("PUT / ") && request.head.contains("\r\nContent-Type: x/y\r\n"))
        #expect(request.body == Array("a=1&".utf8) + [0, 10, 255])
        let missing = try lab.fetch("-d", "@/no/such/file", server.url())
        #expect(missing.code == 26)
        #expect(missing.error?.hasPrefix("can't read '/no/such/file': No such file or directory") == true)
    }

    @Test func `heads`() throws {
        let server = try lab.server(answering: "body", "X-B: c")
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-B: c\r\n\r\n"
        #expect(try lab.fetch("-i", server.url()).output == head + "body")
        let only = try lab.server(.readRequest, .send(head))
        let run = try lab.fetch("-I", only.url())
        #expect(run.output == head)
        #expect(only.request?.head.hasPrefix("HEAD / ") == true)
    }

    @Test func `an error status is a response, unless --fail is given`() throws {
        let server = try lab.server(answering: "why", status: "404 Not Found")
        let plain = try lab.fetch(server.url("/x?secret"))
        #expect(plain.code == 0 && plain.output == "why" && plain.errors == "")
        let failing = try lab.fetch("-f", server.url("/x?secret"))
        #expect(failing.code == 22 && failing.output == "")
        #expect(failing.error == "GET \(server.url("/x")): the server responded with 404 Not Found")
        let telling = try lab.fetch("--fail-with-body", server.url())
        #expect(telling.code == 22 && telling.output == "why")
        #expect(try lab.fetch("--fail", lab.server(answering: "ok").url()).code == 0)
    }

    @Test func `verbose output contains no secrets`() throws {
        let server = try lab.server(answering: "body", "Set-Cookie: hidden=1", "X-B: c")
        let run = try lab.fetch("-v", "-H", "Authorization: Basic hidden", "-H", "Cookie: hidden", server.url("/p"))
        #expect(run.output == "body")
        let lines = run.errors.split(separator: "\n").map(String.init)
        #expect(lines.first == "* looks for 127.0.0.1:\(server.port)")
        #expect(lines.contains { $0.hasPrefix("* connected to 127.0.0.1:\(server.port) from 127.0.0.1:") })
        for line in [
            "> GET /p HTTP/1.1", "> Authorization: (not shown)", "> Cookie: (not shown)", ">", "< 200 OK", "< X-B: c",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        #expect(lines.last?.hasPrefix("* done in ") == true)
        #expect(!run.errors.contains("hidden"))
    }

    @Test func `figures`() throws {
        let server = try lab.server(answering: "body")
        let run = try lab.fetch("--metrics", server.url())
        #expect(run.output == "body")
        let names = run.errors.split(separator: "\n").map { $0.prefix(12).trimmingSuffix { $0 == " " } }
        #expect(
            names == ["resolve", "connect", "tls", "first byte", "total", "sent", "received", "address", "reused"]
        )
        #expect(run.errors.contains("received    4 bytes\naddress     127.0.0.1:\(server.port)\nreused      no\n"))
        let json = try JSONParser.parse(lab.fetch("--metrics-json", "-dabc", server.url()).errors)
        #expect(json["sent"] == .number(3) && json["status"] == .number(200) && json["tls"] == .null)
        #expect(try #require(json["total"]?.number) >= #require(json["firstByte"]?.number))
    }

    @Test func `a Unix socket, whatever the host`() throws {
        let path = lab.folder.path + "/socket"
        let server = try ScriptedServer(on: .unix(path), always: [.readRequest, .response("here")])
        let run = try lab.fetch("--unix-socket", path, "http://no.such.host.example/")
        #expect(run.output == "here" && run.code == 0)
        #expect(server.request?.head.contains("\r\nHost: no.such.host.example\r\n") == true)
    }

    @Test func `from an interface or an address`() throws {
        let server = try lab.server(answering: "ok")
        for binding in ["lo", "127.0.0.9"] {
            #expect(try lab.fetch("--interface", binding, server.url()).output == "ok")
        }
        #expect(try lab.fetch("--interface", "nope0", server.url()).error?.contains("no interface 'nope0'") == true)
    }

    @Test func `a streamed body is printed as it arrives, and kept if it is truncated`() throws {
        let latch = try ServerLatch()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"
        let server = try lab.server(.readRequest, .send(head + "first\n"), .await(latch), .close)
        let tool = try lab.start([server.url()])
        #expect(try tool.output.line() == "first")
        latch.open()
        #expect(try tool.exitCode() == 18)
        #expect(try tool.errors.rest().contains("within the response"))
    }

    @Test func `a closed stdout`() throws {
        let latch = try ServerLatch()
        let server = try lab.server(.readRequest, .await(latch), .response(String(repeating: "x", count: 1 << 20)))
        let tool = try lab.start([server.url()])
        tool.output.end()
        latch.open()
        #expect(try tool.exitCode() == 0)
        #expect(try tool.errors.rest() == "")
    }

    @Test func `stdout that can't be written`() throws {
        let tool = try lab.start([lab.server(answering: "x").url()], stdout: .file("/dev/full"))
        #expect(try tool.exitCode() == 23)
        #expect(
            try tool.errors.rest()
                == "netwatch: can't write stdout: No space left on device; make room or name another output\n"
        )
    }
}

extension Substring {
    /// The text without trailing characters that satisfy the condition.
    fileprivate func trimmingSuffix(while isSuch: (Character) -> Bool) -> String {
        var text = self
        while let last = text.last, isSuch(last) { text.removeLast() }
        return String(text)
    }
}
