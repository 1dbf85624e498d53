public import ReachabilityCore

/// What the live view is given once, at its start.
public struct LiveViewOptions: Sendable, Hashable {
    /// The hosts of `--to`, as they were written.
    public var hosts: [String]
    /// The network namespace that is watched, as it was written; nil for one's own.
    public var namespace: String?
    /// The machine's name.
    public var machine: String?
    /// The tool's version.
    public var version: String
    /// Whether the terminal shows ASCII alone, so that pictures are made of that.
    public var isASCII: Bool
    /// What the monitor's evaluation was given, by which interfaces' kinds are told.
    public var context: EvaluationContext

    /// Makes options.
    public init(
        hosts: [String] = [],
        namespace: String? = nil,
        machine: String? = nil,
        version: String = "",
        isASCII: Bool = false,
        context: EvaluationContext = .init(user: 0)
    ) {
        self.hosts = hosts
        self.namespace = namespace
        self.machine = machine
        self.version = version
        self.isASCII = isASCII
        self.context = context
    }
}
