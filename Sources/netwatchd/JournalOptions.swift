import CommandLineSupport
import EventCore
import EventJournal
import Glibc
import LinuxSystem
import NetwatchCore

/// The journal that `--journal` and `--keep` ask for.
struct JournalOptions {
    /// The directory.
    let folder: String
    private let limits: JournalLimits

    /// Takes the values of the options.
    init(folder: String, limits: [KeepArgument]) {
        self.folder = folder
        var all = JournalLimits()
        for limit in limits {
            switch limit {
            case .age(let age): all.age = age
            case .size(let size): all.size = size
            }
        }
        self.limits = all
    }

    /// Takes the lock of the directory, which is released with the result.
    ///
    /// - Throws: An error for the user if another service uses the directory.
    func lock() throws(ToolError) -> JournalLock {
        do throws(JournalInUse) {
            let lock = try JournalLock(of: folder)
            if let warning = lock.warning { StandardError.note(warning) }
            return lock
        } catch {
            throw .init(
                "another netwatchd keeps its journal in '\(folder.escapedForTerminal)'; end it, or choose another --journal",
                exit: .systemFailure
            )
        }
    }

    /// Returns the properties of the journal for a run that begins now.
    func configuration(_ run: UInt64) -> EventJournal.Configuration {
        let place = EventJournal.Place(
            days: LocalDays { SystemClock.utcOffset(at: $0) },
            clock: { time in
                var clock = TimestampText.utc
                return clock.text(time)
            }
        )
        var configuration = EventJournal.Configuration(
            folder: folder,
            run: run,
            bootIdentifier: Self.bootIdentifier,
            beginning: .now,
            place: place
        ) { StandardError.note($0) }
        configuration.limits = limits
        return configuration
    }

    /// The identifier of the running system; empty where procfs is missing.
    private static var bootIdentifier: String {
        let bytes = try? FileContents.read("/proc/sys/kernel/random/boot_id", atMost: 64)
        return String(decoding: (bytes ?? []).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}

extension EventMetrics.Moment {
    /// The current time.
    static var now: Self {
        .init(sinceBoot: SystemClock.nanosecondsSinceBoot, since1970: SystemClock.nanosecondsSince1970)
    }
}

/// A limit of the journal, as `--keep` takes it.
enum KeepArgument: Hashable {
    /// From this age on, events are removed.
    case age(Duration)
    /// From this size in bytes on, events are removed.
    case size(Int64)

    /// Reads an age, `12h` or `30d`, or a size, `64MiB` or `1GiB`.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        let digits = text.prefix { ("0"..."9").contains($0) }
        guard let number = Int64(digits), digits.count <= 9 else {
            throw .init("it does not begin with a number; \(howTo)")
        }
        switch text[digits.endIndex...] {
        case "h": return .age(try age(number, hours: 1))
        case "d": return .age(try age(number, hours: 24))
        case "MiB": return .size(try size(number, 1 << 20))
        case "GiB": return .size(try size(number, 1 << 30))
        default: throw .init("the unit is not one of h, d, MiB and GiB; \(howTo)")
        }
    }

    private static let howTo = "write an age such as 12h or 30d, or a size such as 64MiB"

    private static func age(_ number: Int64, hours: Int64) throws(ArgumentError) -> Duration {
        guard (1...87_600).contains(number * hours) else { throw .init("it is not between 1h and 3650d; \(howTo)") }
        return .seconds(number * hours * 3600)
    }

    private static func size(_ number: Int64, _ unit: Int64) throws(ArgumentError) -> Int64 {
        guard (1...(1 << 20)).contains(number * (unit >> 20)) else {
            throw .init("it is not between 1MiB and 1024GiB; \(howTo)")
        }
        return number * unit
    }
}
