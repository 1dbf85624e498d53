import CommandLineLab
import FoundationEssentials
import Glibc
import HTTPLab
import NetworkLab
import ReachabilityCore
import Synchronization

/// A machine with a Wi-Fi and a cellular uplink, and a server behind each that answers as itself, or as a portal.
final class ValidateLab: Sendable {
    let uplinks: LabUplinks
    /// What the server answers now.
    let answer: Observed<Answer>
    private let servers: [ScriptedServer]

    /// An answer of the server, or of a portal in its place.
    enum Answer: Sendable {
        case noContent
        /// After seven seconds.
        case lateNoContent
        case redirect(String)
        case page
    }

    /// The options that set the kinds of the uplinks.
    static let kinds = ["--kind", "wlan*=wifi", "--kind", "wwan*=cellular"]

    /// The page of the portal, with characters that a terminal would obey.
    static let login = "https://hotel.example/login?\u{9B}31m"

    init(_ first: Answer = .noContent) throws {
        let answer = Observed(first)
        self.answer = answer
        uplinks = try LabUplinks()
        let script: ScriptedServer.Script = { _ in [.respond { _ in answer.value.steps }] }
        let wifi = try ScriptedServer(on: .ipv4(203, 0, 113, 7), in: uplinks.wifi, script: script)
        let cellular = try ScriptedServer(
            on: .ipv4(203, 0, 113, 7),
            in: uplinks.cellular,
            port: wifi.port,
            script: script
        )
        servers = [wifi, cellular]
    }

    /// The URL of the server.
    var url: String { "http://\(LabUplinks.server):\(servers[0].port)/204" }

    /// The number of requests that arrived over Wi-Fi and over the modem.
    var requests: [Int] { servers.map { $0.connections.reduce(0) { $0 + $1.requests.count } } }

    /// Runs the tool with this server to its end, and returns the lines of its output.
    func lines(_ arguments: String...) throws -> [String] {
        let tool = try tool(arguments)
        let text = try tool.output.rest()
        _ = try tool.exitCode()
        return text.split(separator: "\n").map(String.init)
    }

    /// Starts the tool with this server.
    func tool(_ arguments: String...) throws -> ToolProcess { try tool(arguments) }

    private func tool(_ arguments: [String]) throws -> ToolProcess {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        let options = ["--validate", url] + Self.kinds
        return try ToolProcess(arguments[..<end] + options + arguments[end...], in: uplinks.home)
    }
}

extension ValidateLab.Answer {
    fileprivate var steps: [ServerStep] {
        switch self {
        case .noContent: [.send("HTTP/1.1 204 No Content\r\n\r\n"), .close]
        case .lateNoContent: [.drip(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8), every: .milliseconds(260)), .close]
        case .redirect(let url): [.response("", status: "302 Found", headers: ["Location: \(url)"]), .close]
        case .page: [.response("<html>Log in</html>"), .close]
        }
    }
}

extension ToolProcess {
    /// Returns whether a process runs: it is there, and has not ended without being reaped (proc_pid_stat(5)).
    static func isRunning(_ id: Int32) -> Bool {
        guard let bytes = try? Repository.bytes(of: "/proc/\(id)/stat"), !bytes.isEmpty else { return false }
        return !String(decoding: bytes, as: UTF8.self).contains(") Z ")
    }

    /// The lines of stdout until one satisfies a condition, which is the last; fewer if stdout ends.
    func lines(until condition: (String) -> Bool) throws -> [String] {
        var lines: [String] = []
        while let line = try output.line() {
            lines.append(line)
            if condition(line) { return lines }
        }
        return lines
    }

    /// The process ids of the children of all its threads (proc_pid_task_children(5)).
    var children: [Int32] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
        return threads.flatMap { thread in
            let text = try? Repository.bytes(of: "/proc/\(id)/task/\(thread)/children")
            return String(decoding: text ?? [], as: UTF8.self).split(separator: " ").compactMap { Int32($0) }
        }
    }
}
