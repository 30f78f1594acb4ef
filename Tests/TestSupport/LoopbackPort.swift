import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A port of 127.0.0.1 that belongs to a test until the value is released.
///
/// A socket is bound to the port, so the system gives it to no other program and no connection, also while the server of
/// the test is being started again. The socket does not listen: without a server, connections are refused. On Linux, a
/// server that sets `SO_REUSEADDR` can listen on the port nevertheless.
package final class LoopbackPort: Sendable {
    package let number: Int
    private let descriptor: Int32

    /// Reserves a free port.
    package init() throws {
        #if canImport(Darwin)
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var reuses: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuses, socklen_t(MemoryLayout<Int32>.size))
        guard let number = Self.bindToFreePort(descriptor) else {
            close(descriptor)
            throw POSIXError(.EADDRNOTAVAIL)
        }
        self.number = number
        #if !os(Linux)
            // Elsewhere no server could listen on the port.
            close(descriptor)
        #endif
    }

    deinit {
        #if os(Linux)
            close(descriptor)
        #endif
    }

    /// Binds the socket to a port that the system selects, and returns the port.
    private static func bindToFreePort(_ descriptor: Int32) -> Int? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        return isBound ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }
}
