import CFuzzer
import Glibc

/// libFuzzer, which hands one input after the other to a target (https://llvm.org/docs/LibFuzzer.html).
public enum Fuzzer {
    /// What a target does with an input: its start, which is nil if it is empty, and how many bytes it has.
    public typealias Target = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

    /// Runs a target with the process's own arguments and exits.
    public static func run(_ target: Target) -> Never {
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        exit(LLVMFuzzerRunDriver(&count, &arguments, target))
    }

    /// Reports a finding unless a condition holds: the process ends, and libFuzzer keeps the input.
    public static func expect(_ condition: Bool, _ what: @autoclosure () -> String) {
        if !condition { fatalError(what()) }
    }
}
