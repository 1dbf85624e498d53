import CSQLite
import Glibc

/// An error of a store, with the file that it concerns and what to do about it.
package struct StoreError: Error, Hashable {
    /// The kind of failure.
    package enum Code: Sendable, Hashable {
        /// The folder or the file can't be opened.
        case cannotOpen
        /// The process may not read or write the file.
        case notPermitted
        /// The file system is mounted read-only.
        case readOnly
        /// The disk is full, or a quota is exhausted.
        case full
        /// Reading, writing or synchronizing failed: nothing of the group was stored.
        case ioFailed
        /// The file is damaged, or is no database.
        case damaged
        /// The file was written by a later version of this program.
        case newerSchema
        /// Another process holds the database for too long.
        case busy
        /// A statement was refused, for example by a constraint.
        case refused
        /// The store was closed.
        case closed
    }

    /// The kind of failure.
    package let code: Code
    /// The file or folder.
    package let path: String
    /// The failure and its cause, on one line.
    package let reason: String
    /// The extended result code of SQLite (sqlite.org/rescode.html), or 0.
    package let sqliteCode: Int32

    package init(_ code: Code, _ path: String, _ reason: String, sqliteCode: Int32 = 0) {
        self.code = code
        self.path = path
        self.reason = reason
        self.sqliteCode = sqliteCode
    }

    /// Creates an error from the errno of a call on a file.
    package init(_ action: String, _ path: String, errno: Int32) {
        let code: Code =
            switch errno {
            case ENOSPC, EDQUOT: .full
            case EROFS: .readOnly
            case EACCES, EPERM: .notPermitted
            case EIO: .ioFailed
            default: .cannotOpen
            }
        self.init(code, path, "cannot \(action): \(String(cString: strerror(errno)))")
    }

    /// Creates an error from a result code of SQLite and its message.
    init(sqlite code: Int32, _ message: String, _ path: String) {
        let kind: Code =
            switch code & 0xff {
            case SQLITE_FULL: .full
            case SQLITE_READONLY: .readOnly
            case SQLITE_PERM, SQLITE_AUTH: .notPermitted
            case SQLITE_IOERR: .ioFailed
            case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
            case SQLITE_CANTOPEN: .cannotOpen
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
            default: .refused
            }
        self.init(kind, path, message, sqliteCode: code)
    }

    /// Whether the error ends the whole group of writes, rather than only the one that met it.
    var endsGroup: Bool {
        switch code {
        case .refused, .newerSchema: false
        default: true
        }
    }

    /// Whether what was read is damaged, or can't be read from the disk: an error that stays, unlike those of locks and
    /// memory.
    package var isOfContents: Bool {
        switch sqliteCode & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_TOOBIG, SQLITE_FORMAT: true
        case SQLITE_IOERR: [1, 2, 32, 33].contains(sqliteCode >> 8)
        default: false
        }
    }

    /// Whether a row has values that its table does not allow.
    package var isOfRow: Bool { [SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG].contains(sqliteCode & 0xff) }

    /// The advice for the user.
    package var advice: String {
        switch code {
        case .cannotOpen: "check that the folder exists on a local disk"
        case .notPermitted: "run as the owner of the folder"
        case .readOnly: "remount the file system for writing"
        case .full: "free space on the file system"
        case .ioFailed: "look for errors of the disk in the kernel's log, or raise the limit on file sizes (ulimit -f)"
        case .damaged: "open it for sending: what can be read is kept, and the damaged file is set aside"
        case .newerSchema: "use the later version of the program"
        case .busy: "find the process that holds it, for example with fuser(1)"
        case .refused: "report this as a bug"
        case .closed: "open it again"
        }
    }
}

extension StoreError: CustomStringConvertible {
    /// The file, the reason and the advice, on one line.
    package var description: String { "\(path): \(reason); \(advice)" }
}
