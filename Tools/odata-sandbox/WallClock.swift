internal import EDM

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The current time, which the sandbox itself does not read.
enum WallClock {
    static var now: GlobalDateTime? {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return GlobalDateTime(millisecondsSince1970: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
