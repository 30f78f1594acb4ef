#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// How much of what can be repeated at will is done: a usual number, or one from the environment for longer runs.
enum Effort {
    static func runs(_ variable: String, usually usual: Int) -> Int {
        guard let value = getenv(variable), let number = Int(String(cString: value)) else { return usual }
        return number
    }
}
