import NetworkLab

/// The size of a simulation.
struct ModelSizes {
    let hosts: Int
    let acts: Int
    /// The percentage of acts that submit a request.
    let submissions: Int
    let pace: Int64
    /// Whether all gates open and close together, as with a machine's only link.
    ///
    /// They are closed at the start.
    let hasOneLink: Bool
    /// The number of acts at the start that submit a request.
    let burst: Int
    /// The behaviours of the servers.
    let servers: [ModelServer]

    init(using random: inout SeededGenerator) {
        switch Int.random(in: 0..<20, using: &random) {
        case 0: (hosts, acts, submissions, pace) = (50, 300, 80, 20)
        case 1: (hosts, acts, submissions, pace) = (1, 600, 60, 20)
        case 2...4: (hosts, acts, submissions, pace) = (2, 80, 15, 1500)
        default: (hosts, acts, submissions, pace) = (Int.random(in: 1...3, using: &random), 150, 30, 300)
        }
        hasOneLink = hosts > 3 || Int.random(in: 0..<4, using: &random) == 0
        burst = hosts > 3 ? 120 : hasOneLink ? 20 : 0
        servers =
            if acts > 500 {
                [.refusing, .silent, .resetting, .truncating, .failing]
            } else if hosts == 1, hasOneLink {
                [.healthy, .healthy, .moody, .throttling, .slow]
            } else {
                ModelServer.allCases
            }
    }
}

/// The number of each event in a simulation, which shows that a run covered it.
struct ModelTally {
    var starts = 0
    var retries = 0
    var waits = 0
    var finished = 0
    var gaveUp = 0
    var cancelled = 0
    var noPath = 0
    var deadlines = 0
    var breaks = 0
    var stale = 0
    var adopted = 0
    var silences = 0
    var outages = 0

    static func += (left: inout Self, right: Self) {
        for path in all { left[keyPath: path] = left[keyPath: path] + right[keyPath: path] }
    }

    static var all: [WritableKeyPath<Self, Int>] {
        [
            \.starts, \.retries, \.waits, \.finished, \.gaveUp, \.cancelled, \.noPath, \.deadlines, \.breaks, \.stale,
            \.adopted, \.silences, \.outages,
        ]
    }
}
