#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What a name in a directory stands for. A store has regular files and directories only: anything else was put there by
/// somebody else, and following or writing it could harm what is not the store's.
public enum FileKind: Sendable, Hashable, CustomStringConvertible {
    case regular
    case directory
    case symbolicLink
    case fifo
    case socket
    case device
    case unknown

    init(mode: mode_t) {
        self =
            switch mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            case S_IFIFO: .fifo
            case S_IFSOCK: .socket
            case S_IFCHR, S_IFBLK: .device
            default: .unknown
            }
    }

    /// Returns the kind of what has the name, without following a link; nil when nothing has it.
    public static func of(_ path: String) -> FileKind? {
        var status = stat()
        return lstat(path, &status) == 0 ? FileKind(mode: status.st_mode) : nil
    }

    public var description: String {
        switch self {
        case .regular: "a regular file"
        case .directory: "a directory"
        case .symbolicLink: "a symbolic link"
        case .fifo: "a FIFO"
        case .socket: "a socket"
        case .device: "a device"
        case .unknown: "something else"
        }
    }
}
