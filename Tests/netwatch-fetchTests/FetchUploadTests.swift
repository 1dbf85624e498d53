import CommandLineLab
import CommandLineSupport
import Glibc
import HTTPLab
import NetworkLab
import Testing

@testable import netwatch_fetch

@Suite struct FetchUploadTests {
    private let lab: FetchLab

    init() throws { lab = try FetchLab() }

    @Test(arguments: [
        ("http://x/a/", "http://x/a/b%20c"), ("http://x", "http://x/b%20c"), ("http://x/", "http://x/b%20c"),
        ("http://x/a", "http://x/a"), ("http://x/a/?q", "http://x/a/?q"), ("http://x/#/", "http://x/#/"),
        ("no URL/", "no URL/"),
    ])
    func `a folder's URL gets the file's name`(url: String, target: String) {
        #expect(UploadTarget.url(url, uploading: "/home/me/b c") == target)
        #expect(UploadTarget.url(url, uploading: "b c") == target)
    }

    @Test func `a name is escaped byte by byte`() {
        #expect(UploadTarget.url("http://x/", uploading: "ü?#%/é.txt") == "http://x/%C3%A9.txt")
        #expect(UploadTarget.url("http://x/", uploading: "a-._~%\u{1}") == "http://x/a-._~%25%01")
    }

    @Test func `a field of a form`() throws {
        #expect(try FormArgument.parse("a=b=c") == .init(name: "a", content: .text("b=c")))
        #expect(try FormArgument.parse("a=") == .init(name: "a", content: .text("")))
        #expect(try FormArgument.parse("a=@x/y") == .init(name: "a", content: .file("x/y")))
        for (text, words) in [("a", "'=' is missing"), ("=b", "name is missing"), ("a=@", "file's name after '@'")] {
            let error = try #require(throws: ArgumentError.self) { try FormArgument.parse(text) }
            #expect(error.description.contains(words))
        }
    }

    @Test func `a file is sent as it is`() throws {
        let server = try lab.server(answering: "thanks", status: "201 Created")
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let file = try lab.folder.write("report.txt", bytes)
        let run = try lab.fetch("--upload", file, server.url("/in/"))
        #expect(run.code == 0 && run.output == "thanks" && run.errors == "")
        let request = try #require(server.request)
        #expect(request.head.hasPrefix("PUT /in/report.txt HTTP/1.1\r\n"))
        #expect(request.head.contains("\r\nContent-Length: 300000\r\n"))
        #expect(request.head.contains("\r\nContent-Type: text/plain"))
        #expect(request.body == bytes)
        #expect(try lab.fetch("-T", file, "-XPOST", server.url("/other")).code == 0)
        #expect(server.connections.last?.requests.first?.head.hasPrefix("POST /other HTTP/1.1\r\n") == true)
    }

    @Test func `a form has fields and files, in their order`() throws {
        let server = try lab.server(answering: "")
        let file = try lab.folder.write("photo.png", [0, 13, 10, 255])
        let run = try lab.fetch("-F", "user=Ann \"A\" \u{1F600}", "--form", "picture=@\(file)", server.url())
        #expect(run.code == 0)
        let request = try #require(server.request)
        #expect(request.head.hasPrefix("POST / HTTP/1.1\r\n"))
        let type = "\r\nContent-Type: multipart/form-data; boundary="
        let start = try #require(request.head.firstRange(of: type)).upperBound
        let boundary = request.head[start...].prefix { $0 != "\r\n" }
        let form =
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"user\"\r\n\r\nAnn \"A\" \u{1F600}\r\n"
            + "--\(boundary)\r\nContent-Disposition: form-data; name=\"picture\"; filename=\"photo.png\"\r\n"
            + "Content-Type: image/png\r\n\r\n"
        #expect(request.body == Array(form.utf8) + [0, 13, 10, 255] + Array("\r\n--\(boundary)--\r\n".utf8))
    }

    @Test(arguments: [("--upload", ""), ("--form", "a=@")])
    func `an unreadable file is reported before anything is sent`(option: String, prefix: String) throws {
        let server = try lab.server(answering: "")
        let run = try lab.fetch(option, "\(prefix)\(lab.folder.path)/none", server.url())
        #expect(run.code == 26)
        #expect(run.error?.contains("No such file or directory") == true, "\(run.errors)")
        #expect(server.connections.isEmpty)
    }

    @Test(arguments: [
        (["--upload", "a", "-d", "b"], "--data and --upload are both bodies; give one"),
        (["-F", "a=b", "--json", "1"], "--json and --form are both bodies; give one"),
        (["-I", "-F", "a=b"], "--head sends no body; leave out --form"),
        (["-T", ""], "The name of the file to upload is empty; name one"),
        (["-T", "-"], "--data - for what comes from stdin"),
        (["-F", "ab"], "the '=' is missing; write name=value, or name=@FILE for a file"),
    ])
    func `contradictory options are usage errors`(arguments: [String], words: String) throws {
        let tool = try lab.start(arguments + ["http://127.0.0.1:9/"])
        let errors = try tool.errors.rest()
        #expect(try tool.exitCode() == 64)
        #expect(errors.contains(words) && errors.split(separator: "\n").count == 1, "\(errors)")
    }

    @Test func `a terminal shows how much was sent, then how much came`() throws {
        let latch = try ServerLatch()
        let bytes = [UInt8](repeating: 7, count: 3_000_000)
        let file = try lab.folder.write("big", bytes)
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + String(repeating: "x", count: 2000)
        let server = try lab.server(.readHead, .await(latch), .readBody, .send(response))
        let terminal = try PseudoTerminal()
        let output = lab.folder.path + "/response"
        let tool = try lab.start(["-T", file, "-o", output, server.url()], stderr: terminal.program)
        terminal.handOver()
        let begun = try terminal.read(until: " of 3.0 MB sent")
        #expect(begun.hasPrefix("\r"))
        latch.open()
        let rest = try terminal.screen.rest()
        let lines = (begun + rest).split(separator: "\r\n")
        try #require(lines.count == 2, "\(begun + rest)")
        #expect(lines[0].contains("\r100 % [####") && lines[0].contains(" 3.0 MB of 3.0 MB sent"))
        #expect(lines[1].hasPrefix("\r100 % [####") && lines[1].contains(" 2.0 kB of 2.0 kB"))
        #expect(rest.hasSuffix("\u{1B}[K\r\n"))
        #expect(try tool.exitCode() == 0)
    }
}
