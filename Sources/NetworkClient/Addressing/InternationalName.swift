import Glibc

/// Host names of all scripts, by IDNA 2008 with the mapping of UTS #46 (non-transitional), as browsers do.
///
/// libidn2 does it, and is loaded when the first such name comes: few programs ask for one, and those need not be linked
/// to it. The GNU C Library does the same for getaddrinfo's `AI_IDN`.
enum InternationalName {
    /// The name's ASCII form, as in `xn--mnchen-3ya.de`.
    ///
    /// - Throws: `invalidURL` if the name is none by IDNA's rules, or where the library is not installed.
    static func ascii(_ name: String) throws(HTTPError) -> String {
        guard let library else {
            throw .invalidURL(
                """
                the URL's host '\(name)' is not ASCII, and libidn2, which translates such names, is not installed: \
                install libidn2-0, or write the name's xn-- form
                """
            )
        }
        return try library.ascii(name)
    }

    /// libidn2 stays loaded once it is; nil where it is missing.
    private static let library = Library(name: "libidn2.so.0")

    /// The functions of libidn2 that are used, as idn2.h declares them.
    struct Library: Sendable {
        private typealias LookUp =
            @convention(c) (
                UnsafePointer<UInt8>, UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, Int32
            ) -> Int32
        private typealias Free = @convention(c) (UnsafeMutableRawPointer?) -> Void
        private typealias ErrorText = @convention(c) (Int32) -> UnsafePointer<CChar>?

        /// `IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL`.
        private static let flags: Int32 = 1 | 8

        private let lookUp: LookUp
        private let free: Free
        private let errorText: ErrorText

        /// Loads the library; dlopen(3), dlsym(3).
        init?(name: String) {
            guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL), let lookUp = dlsym(handle, "idn2_lookup_u8"),
                let free = dlsym(handle, "idn2_free"), let errorText = dlsym(handle, "idn2_strerror")
            else { return nil }
            self.lookUp = unsafeBitCast(lookUp, to: LookUp.self)
            self.free = unsafeBitCast(free, to: Free.self)
            self.errorText = unsafeBitCast(errorText, to: ErrorText.self)
        }

        func ascii(_ name: String) throws(HTTPError) -> String {
            var result: UnsafeMutablePointer<UInt8>?
            let code = Array(name.utf8 + [0]).withUnsafeBufferPointer { bytes in
                bytes.baseAddress.map { lookUp($0, &result, Self.flags) } ?? -1
            }
            defer { free(result) }
            guard code == 0, let result else {
                let why = errorText(code).map { String(cString: $0) } ?? "error \(code)"
                throw .invalidURL("the URL's host '\(name)' is no international name (\(why)): check its spelling")
            }
            return String(cString: result)
        }
    }
}
