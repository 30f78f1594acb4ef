package import ODataWire

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#endif

/// A blocking HTTP/1.1 connection to 127.0.0.1 that writes requests unchanged, with any method.
package struct HTTPConnection: ~Copyable {
    private let socket: Int32
    private var buffer: [UInt8] = []

    struct Broken: Error {}

    /// - Parameter timeout: The seconds after which waiting for bytes fails.
    package init(port: Int, timeout: Int? = nil) throws {
        #if canImport(Darwin)
            socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #else
            socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Broken() }
        if let timeout {
            var limit = timeval(tv_sec: timeout, tv_usec: 0)
            setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    deinit { _ = close(socket) }

    /// Sends bytes. A connection that the peer has closed results in an error, not in a signal.
    private static func send(_ socket: Int32, _ bytes: [UInt8]) -> Int {
        #if canImport(Darwin)
            Darwin.send(socket, bytes, bytes.count, 0)
        #else
            Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        #endif
    }

    /// Returns all bytes up to the end of the connection.
    package mutating func rest() -> [UInt8] {
        while (try? fill()) != nil {}
        defer { buffer = [] }
        return buffer
    }

    package mutating func send(_ request: WireRequest) throws -> WireResponse {
        try write(request)
        return try response()
    }

    package mutating func write(_ request: WireRequest) throws {
        var head =
            "\(request.method) \(request.url) HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: \(request.body.count)\r\n"
        for field in request.headers.fields { head += "\(field.name): \(field.value)\r\n" }
        var bytes = Array((head + "\r\n").utf8) + request.body
        while !bytes.isEmpty {
            let count = Self.send(socket, bytes)
            guard count > 0 else { throw Broken() }
            bytes.removeFirst(count)
        }
    }

    package mutating func response() throws -> WireResponse {
        let lines = try readHead()
        guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw Broken()
        }
        var headers = HTTPHeaders.empty
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { throw Broken() }
            headers.add(
                name: String(line[..<colon]), value: String(line[line.index(after: colon)...].drop { $0 == " " }))
        }
        let length = headers["Content-Length"].flatMap { Int($0) } ?? 0
        while buffer.count < length { try fill() }
        let body = Array(buffer.prefix(length))
        buffer.removeFirst(length)
        return WireResponse(status: status, headers: headers, body: body)
    }

    private mutating func readHead() throws -> [String] {
        var lines: [String] = []
        while true {
            while !buffer.contains(0x0A) { try fill() }
            let end = buffer.firstIndex(of: 0x0A) ?? 0
            let line = String(decoding: buffer[..<end].filter { $0 != 0x0D }, as: UTF8.self)
            buffer.removeFirst(end + 1)
            if line.isEmpty { return lines }
            lines.append(line)
        }
    }

    private mutating func fill() throws {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = read(socket, &chunk, chunk.count)
        guard count > 0 else { throw Broken() }
        buffer += chunk.prefix(count)
    }
}
