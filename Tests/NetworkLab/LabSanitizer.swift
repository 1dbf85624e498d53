import Glibc

/// What watches the tests, and the tool, which is built with them.
package enum LabSanitizer {
    /// Whether it is the thread sanitizer, which takes signals first and hands them on as it sees fit.
    package static let isThread = dlsym(nil, "__tsan_init") != nil
}
