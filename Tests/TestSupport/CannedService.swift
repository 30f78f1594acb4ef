import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A socket on a free loopback port that sends the same response to every request, for services that are not OData
/// services.
package final class CannedService: Sendable {
    private let descriptor: Int32
    package let port: UInt16
    private let lines = RequestLines()

    /// The first line of each request so far.
    package var requests: [String] { lines.list.withLock { $0 } }

    package init(status: String, headers: [String] = [], body: String) throws {
        #if canImport(Darwin)
            let stream = SOCK_STREAM
        #else
            let stream = Int32(SOCK_STREAM.rawValue)
        #endif
        descriptor = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 16) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw CocoaError(.fileNoSuchFile) }
        port = UInt16(bigEndian: address.sin_port)
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)", "Connection: close"] + headers
        let answer = Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
        Thread.detachNewThread { [lines] in
            while true {
                let connection = accept(descriptor, nil, nil)
                guard connection >= 0 else { return }
                var request = [UInt8](repeating: 0, count: 1 << 16)
                let count = max(0, recv(connection, &request, request.count, 0))
                let line = String(decoding: request[..<count], as: UTF8.self).prefix { !$0.isNewline }
                lines.list.withLock { $0.append(String(line)) }
                _ = send(connection, answer, answer.count, Int32(MSG_NOSIGNAL))
                close(connection)
            }
        }
    }

    deinit {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
    }

    package var root: String { "http://127.0.0.1:\(port)/" }
}

private final class RequestLines: Sendable {
    let list = Mutex<[String]>([])
}
