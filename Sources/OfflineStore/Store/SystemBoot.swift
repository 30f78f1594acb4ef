#if canImport(Darwin)
    import Darwin
#endif

/// Identifies the current boot of the operating system.
enum SystemBoot {
    /// The boot identifier, or nil if the system provides none.
    static let identifier: String? = {
        #if canImport(Darwin)
            var size = 64
            var text = [CChar](repeating: 0, count: size)
            guard sysctlbyname("kern.bootsessionuuid", &text, &size, nil, 0) == 0 else { return nil }
            return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
            let file = "/proc/sys/kernel/random/boot_id"
            guard let bytes = (try? StoreDirectory.read(file, limit: 64)) ?? nil else { return nil }
            return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
        #endif
    }()
}
