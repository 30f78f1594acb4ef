#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The number of repetitions of a random test: the default, or the value of an environment variable for longer runs.
enum Effort {
    static func runs(_ variable: String, usually usual: Int) -> Int {
        guard let value = getenv(variable), let number = Int(String(cString: value)) else { return usual }
        return number
    }
}
