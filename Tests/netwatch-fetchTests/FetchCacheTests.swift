import CommandLineLab
import HTTPLab
import NetworkLab
import Testing

@testable import netwatch_fetch

@Suite struct FetchCacheTests {
    private let lab: FetchLab
    private var folder: String { lab.folder.path }

    init() throws { lab = try FetchLab() }

    private func server(_ control: String) throws -> ScriptedServer {
        try lab.server(answering: "stored", "Cache-Control: \(control)")
    }

    @Test func `a response is stored in the folder, and used by the next process`() throws {
        let server = try server("max-age=1000")
        for _ in 1...2 {
            let run = try lab.fetch("--cache", "\(folder)/cache", server.url())
            #expect(run.output == "stored" && run.code == 0 && run.errors.isEmpty, "\(run)")
        }
        #expect(server.connections.flatMap(\.requests).count == 1)
        #expect(try LabProcess.run("/usr/bin/stat", ["-c", "%a", "\(folder)/cache"]).output == "700\n")
    }

    @Test func `offline, a stale response is used and said to be stale, and none is an error`() throws {
        let server = try server("max-age=0")
        #expect(try lab.fetch("--cache", "\(folder)/cache", "-o", "\(folder)/a", server.url()).code == 0)
        let stale = try lab.fetch("--cache", "\(folder)/cache", "--offline", server.url())
        #expect(stale.output == "stored" && stale.code == 0, "\(stale)")
        #expect(stale.errors.hasPrefix("netwatch: the response is stale (as requested); its age is "), "\(stale)")
        let none = try lab.fetch("--cache", "\(folder)/cache", "--offline", server.url() + "other")
        #expect(none.code == 7 && none.error?.contains("forbids to load it") == true, "\(none)")
        #expect(server.connections.flatMap(\.requests).count == 1)
    }

    @Test func `an option without a folder, or with one that can't be used, is a usage error`() throws {
        #expect(try lab.fetch("--offline", "http://127.0.0.1/").code == 64)
        #expect(try lab.fetch("--cache", "", "http://127.0.0.1/").code == 64)
        let run = try lab.fetch("--cache", "/etc/passwd", "http://127.0.0.1/")
        #expect(run.code == 64 && run.error?.hasPrefix("--cache: can't use the cache /etc/passwd") == true, "\(run)")
    }

    @Test func `several processes use a folder at the same time`() throws {
        let server = try server("max-age=1000")
        let tools = try (0..<8).map { number in
            try lab.start(["--cache", "\(folder)/cache", "\(server.url())\(number % 2)"])
        }
        for tool in tools {
            tool.closeInput()
            #expect(try tool.output.rest() == "stored")
            #expect(try tool.exitCode() == 0)
        }
        let requests = server.connections.flatMap(\.requests).count
        for number in 0..<2 {
            #expect(try lab.fetch("--cache", "\(folder)/cache", "\(server.url())\(number)").output == "stored")
        }
        #expect(server.connections.flatMap(\.requests).count == requests)
    }

    @Test func `a full disk and a folder that can't be written cost no response`() throws {
        let server = try server("max-age=1000")
        let script = """
            set -e
            mkdir -p "$1/disk"; mount -t tmpfs -o size=64k tmpfs "$1/disk"
            head -c 100000 /dev/zero > "$1/disk/filler" || true
            "$0" fetch --cache "$1/disk/cache" "$2"; "$0" fetch --cache "$1/disk/cache" "$2"
            rm "$1/disk/filler"
            "$0" fetch --cache "$1/disk/cache" "$2"
            mount -o remount,ro "$1/disk"
            "$0" fetch --cache "$1/disk/cache" "$2"; "$0" fetch --cache "$1/disk/cache" "${2}other"
            """
        let run = try lab.namespace.run {
            try LabProcess.run("/usr/bin/unshare", ["-m", "sh", "-c", script, ToolBinary.path, folder, server.url()])
        }
        #expect(run.output == String(repeating: "stored", count: 5), "\(run)")
        // Twice on the full disk, once when there is room, and the one that is not stored.
        #expect(server.connections.flatMap(\.requests).count >= 3)
    }
}
