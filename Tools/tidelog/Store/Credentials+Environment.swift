#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif
internal import Tidelog

extension Credentials {
    /// `TIDELOG_TOKEN`, or `TIDELOG_USER` with `TIDELOG_PASSWORD`. The environment, because a command line is seen by every
    /// process of the machine and kept in the shell's history.
    static func fromEnvironment() -> Credentials {
        func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
        if let token = variable("TIDELOG_TOKEN") { return .bearer(token) }
        if let user = variable("TIDELOG_USER") {
            return .basic(user: user, password: variable("TIDELOG_PASSWORD") ?? "")
        }
        return .none
    }
}
