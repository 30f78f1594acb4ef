import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// A server on 127.0.0.1 for one test, which sends the bytes that the test determines. It ends with the test.
package final class LoopbackServer: Sendable {
    package struct Request: Sendable {
        package var method: String
        package var target: String
        /// Header fields with names in lower case.
        package var headers: [(name: String, value: String)]
        package var body: [UInt8]
        /// Number of the connection, counted from 0.
        package var connection: Int

        package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    /// Responds to a request. Returns false to close the connection.
    package typealias Answer = @Sendable (Request, Connection) -> Bool

    private struct State {
        var requests: [Request] = []
        var connections: [Int32] = []
        /// Number of connections, including those without a request.
        var connectionCount = 0
        var isStopped = false
    }

    package let port: Int
    private let listener: Int32
    private let state = Mutex(State())
    private let answer: Answer

    package init(_ answer: @escaping Answer) throws {
        self.answer = answer
        #if canImport(Darwin)
            listener = socket(AF_INET, SOCK_STREAM, 0)
        #else
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, size) == 0 && listen(listener, 128) == 0 && getsockname(listener, $0, &size) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in acceptConnections() }
    }

    package var base: String { "http://127.0.0.1:\(port)" }
    package var connectionCount: Int { state.withLock(\.connectionCount) }
    package var requests: [Request] { state.withLock(\.requests) }

    package func stop() {
        // Within the lock, because the numbers of closed descriptors are reused at once, for sockets of other tests.
        state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            shutdown(listener, Int32(SHUT_RDWR))
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
        }
    }

    private func acceptConnections() {
        var count = 0
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { break }
            state.withLock { state in
                state.connections.append(descriptor)
                state.connectionCount += 1
                if state.isStopped { shutdown(descriptor, Int32(SHUT_RDWR)) }
            }
            let number = count
            count += 1
            Thread.detachNewThread { [self] in serve(Connection(descriptor: descriptor), number) }
        }
        state.withLock { state in
            state.isStopped = true
            _ = close(listener)
        }
    }

    private func serve(_ connection: Connection, _ number: Int) {
        while let request = connection.readRequest(number) {
            state.withLock { $0.requests.append(request) }
            if !answer(request, connection) { break }
        }
        state.withLock { state in
            state.connections.removeAll { $0 == connection.descriptor }
            _ = close(connection.descriptor)
        }
    }

    package struct Connection: Sendable {
        let descriptor: Int32

        /// Writes a response with its length.
        @discardableResult
        package func respond(_ status: String, _ headers: String = "", _ body: [UInt8] = []) -> Bool {
            write("HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.count)\r\n\r\n") && write(body)
        }

        @discardableResult
        package func write(_ text: String) -> Bool { write(Array(text.utf8)) }

        @discardableResult
        package func write(_ bytes: [UInt8]) -> Bool {
            var sent = 0
            while sent < bytes.count {
                #if canImport(Darwin)
                    let flags: Int32 = 0
                #else
                    let flags = Int32(MSG_NOSIGNAL)
                #endif
                let count = bytes.withUnsafeBytes {
                    send(descriptor, $0.baseAddress! + sent, bytes.count - sent, flags)
                }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }

        /// Reads a request. Returns nil if the client has closed the connection.
        fileprivate func readRequest(_ number: Int) -> Request? {
            var bytes: [UInt8] = []
            var headEnd: Int?
            while headEnd == nil {
                guard readMore(into: &bytes) else { return nil }
                headEnd = Self.endOfHead(bytes)
            }
            guard let headEnd else { return nil }
            let lines = String(decoding: bytes[..<headEnd], as: UTF8.self).split(separator: "\r\n")
            let words = lines[0].split(separator: " ")
            let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
                guard let colon = line.firstIndex(of: ":") else { return nil }
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                return (line[..<colon].lowercased(), value)
            }
            let length = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
            while bytes.count < headEnd + length { guard readMore(into: &bytes) else { return nil } }
            return Request(
                method: String(words[0]), target: String(words[1]), headers: headers,
                body: Array(bytes[headEnd..<headEnd + length]), connection: number)
        }

        private func readMore(into bytes: inout [UInt8]) -> Bool {
            var chunk = [UInt8](repeating: 0, count: 65536)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { return false }
            bytes += chunk[..<count]
            return true
        }

        private static func endOfHead(_ bytes: [UInt8]) -> Int? {
            guard bytes.count >= 4 else { return nil }
            return (4...bytes.count).first { bytes[$0 - 4..<$0].elementsEqual([13, 10, 13, 10]) }
        }
    }
}

/// Runs `body` with a server that is stopped afterwards.
package func withServer<T>(
    _ answer: @escaping LoopbackServer.Answer, _ body: (LoopbackServer) async throws -> T
) async throws -> T {
    let server = try LoopbackServer(answer)
    defer { server.stop() }
    return try await body(server)
}
