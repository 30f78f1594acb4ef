#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Blocks a thread that belongs to the caller alone.
enum Sleep {
    static func milliseconds(_ count: UInt32) { usleep(count * 1_000) }
}
