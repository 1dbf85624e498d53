import Glibc

/// The sanitizer of the tests, and of the tool, which is built with them.
package enum LabSanitizer {
    /// Whether it is the thread sanitizer, which intercepts signals and may deliver them late.
    package static let isThread = dlsym(nil, "__tsan_init") != nil
}
