import NetworkLab

@testable import NetworkClientCore

/// A simulated download from a server that closes connections, changes its file and lies, into a real file.
struct DownloadStory {
    private var random: SeededGenerator
    private var versions: [[UInt8]] = []
    private var current = 0
    private var state: DownloadState
    private var file: [UInt8] = []
    /// The record next to the file, as a restarted program would find it.
    private var noted = DownloadPart()
    /// The number of each event, which shows that a test covered it.
    private(set) var counts: [String: Int] = [:]

    init(seed: UInt64) {
        random = .init(seed: seed)
        state = .init()
        for number in 0..<4 {
            let length = Int.random(in: 0...60, using: &random)
            versions.append((0..<length).map { _ in UInt8(number) })
        }
    }

    /// Runs the download until it ends.
    ///
    /// - Returns: Whether the file is exactly one of the versions; nil if the download has failed.
    mutating func run() -> Bool? {
        for _ in 0..<400 {
            if chance(8) { current = (current + 1) % versions.count }
            if chance(10) { restart() }
            if let isOver = attempt() { return isOver }
        }
        return nil
    }

    /// Simulates a restart of the program.
    private mutating func restart() {
        count("restart")
        state = .init(.init(length: Int64(file.count), validator: noted.validator, total: noted.total))
    }

    private mutating func attempt() -> Bool? {
        let (response, body) = serve(state.ask())
        switch state.begin(response) {
        case .append: count("append")
        case .restart(let part):
            count("restarted")
            file = []
            noted = part
        case .complete:
            count("complete")
            return versions.contains(file)
        case .noFile: return nil
        case .again:
            count("again")
            return nil
        case .fail:
            count("fail")
            return nil
        }
        return receive(body, isWhole: !chance(2))
    }

    private mutating func receive(_ body: [UInt8], isWhole: Bool) -> Bool? {
        let count = isWhole ? body.count : Int.random(in: 0...body.count, using: &random)
        var rest = body.prefix(count)
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...20, using: &random))
            rest = rest.dropFirst(piece.count)
            if state.receive(piece.count) != nil {
                forget()
                return nil
            }
            file += piece
        }
        guard isWhole else { return nil }
        if state.finish() == nil { return versions.contains(file) }
        if state.part.length == 0 { forget() }
        return nil
    }

    private mutating func forget() {
        count("forgotten")
        file = []
        noted = .init()
    }

    // MARK: The server

    private mutating func serve(_ ask: DownloadState.Ask) -> (DownloadResponseHead, [UInt8]) {
        let whole = versions[current]
        if chance(12) { return (.init(status: 503), [1, 2, 3]) }
        if case .rest(let position, let validator) = ask, !chance(6) {
            let isSame = validator == .tag(tag)
            // A server that ignores If-Range identifies the version by the tag in its response.
            if isSame || chance(2) { return part(of: whole, from: Int(position), says: !isSame || !chance(3)) }
        }
        let tags = chance(6) ? ["W/" + tag] : chance(6) ? [] : [tag]
        let length = chance(4) ? nil : Int64(whole.count)
        return (.init(status: 200, tags: tags, length: length), whole)
    }

    private mutating func part(of whole: [UInt8], from position: Int, says: Bool) -> (DownloadResponseHead, [UInt8]) {
        let tags = says ? [tag] : []
        guard position < whole.count else {
            return (.init(status: 416, tags: tags, ranges: ["bytes */\(whole.count)"]), [])
        }
        if chance(5) { return lie(of: whole, from: position, tags) }
        let last = chance(4) ? Int.random(in: position..<whole.count, using: &random) : whole.count - 1
        let total = chance(6) ? "*" : "\(whole.count)"
        let response = DownloadResponseHead(status: 206, tags: tags, ranges: ["bytes \(position)-\(last)/\(total)"])
        return (response, Array(whole[position...last]))
    }

    /// Returns a dishonest response that can be detected.
    private mutating func lie(
        of whole: [UInt8],
        from position: Int,
        _ tags: [String]
    ) -> (DownloadResponseHead, [UInt8]) {
        count("lie")
        let nonsense = [UInt8](repeating: 99, count: whole.count - position)
        let ranges = [
            "bytes 0-\(whole.count - 1)/\(whole.count)", "bytes \(position + 1)-\(whole.count)/\(whole.count + 1)",
            "bytes \(position)-\(whole.count - 1)/\(whole.count + 5)", "bytes", "",
        ]
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return (.init(status: 206, tags: tags, type: "multipart/byteranges; boundary=x"), nonsense)
        case 1: return (.init(status: 206, tags: tags), nonsense)
        case 2:
            let range = "bytes \(position)-\(whole.count - 1)/\(whole.count)"
            return (.init(status: 206, tags: [#""other""#], ranges: [range]), nonsense)
        case let number: return (.init(status: 206, tags: tags, ranges: [ranges[number - 3]]), nonsense)
        }
    }

    private var tag: String { "\"v\(current)\"" }

    private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    private mutating func count(_ name: String) { counts[name, default: 0] += 1 }
}
