import FoundationEssentials
import Glibc
import NetworkLab

/// A Kerberos realm of the test's own: a KDC on a free port of 127.0.0.1, the user
/// `alice`, and the services `HTTP/localhost` and `HTTP/web.lab.test`.
///
/// Names below `other.test` belong to a realm without a KDC. The process uses its `krb5.conf` from then on, which is
/// why a process may have only one lab: libkrb5 reads the file again at most once a second, and would look for the KDC of
/// another lab at the port of an earlier one.
package final class KerberosLab: Sendable {
    /// The realm.
    package static let realm = "LAB.TEST"
    /// The keys of the services.
    package var keytab: String { "\(folder.path)/services.keytab" }
    /// What the KDC has logged.
    package var log: String { (try? String(contentsOfFile: "\(folder.path)/log", encoding: .utf8)) ?? "" }
    private let folder: LabFolder
    private let reserved: ReservedPort
    private let process: LabProcess

    /// Starts a lab.
    ///
    /// - Throws: The output of the program that failed.
    package init() throws {
        folder = try LabFolder()
        reserved = try ReservedPort(sharedBy: SO_REUSEADDR)
        try folder.write("kdc.conf", Self.settings(of: folder.path, reserved.number))
        try Self.settings(for: reserved.number).write(
            toFile: Self.configuration,
            atomically: true,
            encoding: .utf8
        )
        let script = """
            set -e
            exec 2>&1
            kdb5_util -r \(Self.realm) create -s -P master
            kadmin.local -r \(Self.realm) <<'END'
            addprinc -randkey alice
            addprinc -randkey HTTP/localhost
            addprinc -randkey HTTP/web.lab.test
            ktadd -k \(folder.path)/alice.keytab alice
            ktadd -k \(folder.path)/services.keytab HTTP/localhost HTTP/web.lab.test
            END
            exec krb5kdc -n -r \(Self.realm)
            """
        var environment = Self.environment
        environment["KRB5_KDC_PROFILE"] = "\(folder.path)/kdc.conf"
        process = try LabProcess("/bin/sh", ["-c", script], environment: environment)
        try process.waitForOutput { $0.contains("starting...") }
    }

    deinit { unlink(Self.configuration) }

    /// Obtains a ticket for `alice`, and returns the name of its credential cache.
    ///
    /// - Parameter options: The options for kinit(1).
    /// - Returns: The name, with its type.
    /// - Throws: The output of kinit, if it fails.
    package func ticket(_ options: String...) throws -> String {
        let cache = "FILE:\(folder.path)/cache-\(UUID().uuidString)"
        let arguments = ["-c", cache, "-k", "-t", "\(folder.path)/alice.keytab"] + options + ["alice"]
        let outcome = try LabProcess.run("/usr/bin/kinit", arguments, environment: Self.environment)
        guard outcome.code == 0 else { throw LabError("kinit", errno: EPERM, detail: outcome.errors) }
        return cache
    }

    /// Obtains a ticket that has expired.
    package func expiredTicket() throws -> String {
        let cache = try ticket("-l", "1s")
        // It is valid for as long as klist says so.
        while try LabProcess.run("/usr/bin/klist", ["-s", "-c", cache], environment: Self.environment).code == 0 {
            usleep(50_000)
        }
        return cache
    }

    /// The environment of programs that use the lab.
    static var environment: [String: String] {
        ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "KRB5_CONFIG": configuration]
    }

    /// The path of krb5.conf, which this process uses from the first access on.
    ///
    /// The environment is changed only once: other threads may read it.
    private static let configuration: String = {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let path = "\(parent)/netwatch-krb5-\(getpid()).conf"
        setenv("KRB5_CONFIG", path, 1)
        return path
    }()

    /// Whether the programs are installed; tests use `.enabled(if: KerberosLab.isInstalled, …)` with ``advice``.
    package static let isInstalled =
        ServerDaemon.find("krb5kdc") != nil && ServerDaemon.find("kadmin.local") != nil
        && ServerDaemon.find("kinit") != nil && KerberosServer.isInstalled

    /// The advice for machines where they are not installed.
    package static let advice = "Kerberos is not installed: run scripts/setup --for-tests"

    private static func settings(for port: UInt16) -> String {
        """
        [libdefaults]
            default_realm = \(realm)
            dns_lookup_kdc = false
            dns_lookup_realm = false
            forwardable = true
            udp_preference_limit = 1
        [realms]
            \(realm) = {
                kdc = 127.0.0.1:\(port)
            }
        [domain_realm]
            localhost = \(realm)
            .lab.test = \(realm)
            .other.test = OTHER.TEST

        """
    }

    private static func settings(of folder: String, _ port: UInt16) -> String {
        """
        [kdcdefaults]
            kdc_listen = 127.0.0.1:\(port)
            kdc_tcp_listen = 127.0.0.1:\(port)
        [realms]
            \(realm) = {
                database_name = \(folder)/principal
                key_stash_file = \(folder)/stash
                acl_file = \(folder)/acl
                max_life = 10h
            }
        [logging]
            kdc = FILE:\(folder)/log
            default = FILE:\(folder)/log

        """
    }
}
