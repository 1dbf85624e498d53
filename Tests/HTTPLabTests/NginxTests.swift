import HTTPLab
import NetworkLab
import Testing

@Suite(.enabled(if: Nginx.isInstalled, Comment(rawValue: Nginx.advice)))
struct NginxTests {
    @Test func `it serves its files, compressed where asked, and tells of its connections`() throws {
        let nginx = try Nginx()
        try nginx.files.write("a.txt", String(repeating: "plain text ", count: 100))
        let client = try RawClient(port: nginx.port)
        try client.send("GET /a.txt HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
        #expect(try client.read().contains("Content-Encoding: gzip\r\n"))
        let other = try RawClient(port: nginx.port)
        try other.send("GET /status HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(try other.readToEnd().contains("Active connections: 2"))
        let third = try RawClient(port: nginx.port)
        try third.send("POST /accept HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc")
        #expect(try third.readToEnd().hasSuffix("\r\n\r\nok"))
    }

    @Test func `it runs in a network namespace, and ends when it is told`() throws {
        let lab = try LabNamespace()
        let nginx = try Nginx(in: lab)
        try lab.run {
            let client = try RawClient(port: nginx.port)
            try client.send("GET /missing HTTP/1.0\r\n\r\n")
            #expect(try client.readToEnd().hasPrefix("HTTP/1.1 404"))
        }
        try nginx.stop()
        #expect(throws: LabError.self) { try lab.run { try RawClient(port: nginx.port) } }
    }
}
