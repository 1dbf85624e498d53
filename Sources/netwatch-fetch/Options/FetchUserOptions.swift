import ArgumentParser
import CommandLineSupport
import Glibc
import NetwatchCore
import NetworkClient

/// As whom `netwatch fetch` asks.
struct FetchUserOptions: ParsableArguments {
    // Read when all is: an argument that can't be taken is shown with its error, and this one may hold a password.
    @Option(
        name: [.customShort("u", allowingJoined: true), .long],
        parsing: .unconditional,
        help: .init(
            "Ask as this user, where the server wants to know (Basic, Digest); the password is asked for if it is not here.",
            valueName: "user[:password]"
        )
    )
    var user: String?

    @Option(
        parsing: .unconditional,
        help: .init(
            "Read the password from this file's first line; /dev/fd/3 is a descriptor. Whoever lists processes sees none then.",
            valueName: "file"
        ),
        completion: .file()
    )
    var passwordFile: String?

    func validate() throws {
        guard let user else {
            guard passwordFile == nil else {
                throw ValidationError("--password-file is of no use without --user; give both")
            }
            return
        }
        do throws(ArgumentError) {
            let argument = try UserArgument.parse(user)
            guard argument.password == nil || passwordFile == nil else {
                throw .init("there are two passwords; leave out the one in --user")
            }
        } catch {
            throw ValidationError("The value of --user can't be taken: \(error)")
        }
    }
}

extension FetchUserOptions {
    /// Who asks, complete.
    enum Answer {
        /// Nobody, or somebody.
        case credential(Credential?)
        /// A signal ended the question for the password.
        case signal(Int32)
    }

    /// Reads or asks for what is missing.
    ///
    /// - Throws: What to tell the user.
    func credential(_ signals: FetchSignals) throws(ToolError) -> Answer {
        guard let user, let argument = try? UserArgument.parse(user) else { return .credential(nil) }
        let password: String
        if let given = argument.password {
            password = given
        } else if let passwordFile {
            password = try Self.firstLine(of: passwordFile)
        } else {
            switch try Self.ask(argument.name, signals) {
            case .typed(let typed?): password = typed
            case .typed(nil): throw .init("no password was typed; type one, or give --password-file", exit: .usage)
            case .signal(let number): return .signal(number)
            }
        }
        guard UserArgument.isWritable(password) else {
            throw .init("the password has a control character, which can't be sent; take another one", exit: .usage)
        }
        return .credential(.init(user: argument.name, password: password))
    }

    private static func ask(_ name: String, _ signals: FetchSignals) throws(ToolError) -> PasswordPrompt.Answer {
        let question = "Password for \(name.escapedForTerminal): "
        do throws(SystemError) {
            return try PasswordPrompt(question: question, signals: signals.descriptor).ask()
        } catch {
            let what = "the password is missing, and there is no terminal to ask for it (\(error))"
            throw .init("\(what); give --password-file FILE", exit: .usage)
        }
    }

    private static func firstLine(of path: String) throws(ToolError) -> String {
        let name = path.escapedForTerminal
        let bytes: [UInt8]
        do throws(SystemError) { bytes = try FileContents.read(path, atMost: 65_536) } catch {
            throw .init("can't read '\(name)': \(error); give a file with the password in it", curl: .readError)
        }
        var line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard !line.isEmpty, let text = String(validating: line, as: UTF8.self) else {
            let what = line.isEmpty ? "is empty" : "is no UTF-8"
            throw .init("the first line of '\(name)' \(what); write the password there", curl: .readError)
        }
        return text
    }
}
