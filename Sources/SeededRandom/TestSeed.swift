#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

extension UInt64 {
    /// Returns and prints the seed of a random test: `TIDELOG_SEED` if that is set, otherwise a new one.
    package static func testSeed(_ test: String = #function) -> UInt64 {
        let chosen = getenv("TIDELOG_SEED").flatMap { UInt64(String(cString: $0)) }
        let seed = chosen ?? .random(in: 0...UInt64(UInt32.max))
        print("seed \(seed): \(test)")
        return seed
    }
}
