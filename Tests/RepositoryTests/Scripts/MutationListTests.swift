import Testing

/// The faults that `scripts/mutate` plants: they follow the code that they change.
@Suite("scripts/mutations")
struct MutationListTests {
    /// A fault: the first occurrence of a text in a file of the evaluator is replaced.
    private struct Fault {
        var file: String
        var old: String
        var new: String
    }

    /// Reads the list as `scripts/mutate` does.
    private static func faults() throws -> [Fault] {
        var (file, old, faults) = ("", "", [Fault]())
        for line in try Repository.read("scripts/mutations").split(separator: "\n") {
            switch line.prefix(1) {
            case "#": continue
            case "-": old = String(line.dropFirst(2))
            case "+": faults.append(.init(file: file, old: old, new: String(line.dropFirst(2))))
            default: file = String(line)
            }
        }
        return faults
    }

    @Test func `each fault can be planted, and changes the code`() throws {
        let faults = try Self.faults()
        #expect(faults.count > 50)
        for fault in faults {
            let source = try Repository.read("Sources/ReachabilityCore/Evaluation/\(fault.file)")
            let canBePlanted = source.contains(fault.old)
            #expect(canBePlanted, "'\(fault.old)' is not in \(fault.file)")
            #expect(fault.old != fault.new, "'\(fault.old)' in \(fault.file) is replaced by itself")
        }
    }

    @Test func `the script's package has all modules that its sources import`() throws {
        let script = try Repository.read("scripts/mutate")
        let targets = script.matches(of: /name: "(\w+)"/).map { String($0.1) }
        let known = Set(targets + ["Glibc", "Synchronization", "Testing"])
        let folders = script.matches(of: /"\$root\/((?:Sources|Tests)\/[\w\/]+)"/).map { String($0.1) }
        #expect(folders.contains("Sources/ReachabilityCore") && folders.contains("Tests/NetworkLab"))
        for folder in folders {
            for file in try Repository.swiftFiles(under: folder) where !Self.isLeftOut(file) {
                let missing = try ImportTableTests.imports(in: Repository.read(file)).subtracting(known).sorted()
                #expect(missing.isEmpty, "\(file) imports \(missing), which scripts/mutate does not build")
            }
        }
    }

    /// Whether the script removes a file that it has copied.
    private static func isLeftOut(_ file: String) -> Bool { file.hasPrefix("Tests/ReachabilityTests/Oracle/Stack") }
}
