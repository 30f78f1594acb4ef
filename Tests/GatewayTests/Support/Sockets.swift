import Foundation
import SeededRandom
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// Blocking TCP sockets on 127.0.0.1.
enum Sockets {
    static func make() -> Int32 {
        #if canImport(Darwin)
            socket(AF_INET, SOCK_STREAM, 0)
        #else
            socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
    }

    private static func withAddress<T>(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> T) -> T {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = UInt16(port).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    static func connect(_ port: Int) -> Int32? {
        let descriptor = make()
        let isConnected = withAddress(port) { Glibc.connect(descriptor, $0, $1) == 0 }
        if isConnected { return descriptor }
        close(descriptor)
        return nil
    }

    /// Returns a listening socket and its port.
    static func listen() throws -> (descriptor: Int32, port: Int) {
        let descriptor = make()
        guard withAddress(0, { bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 64) == 0 else {
            throw POSIXError(.EADDRNOTAVAIL)
        }
        return (descriptor, port(of: descriptor))
    }

    private static func port(of descriptor: Int32) -> Int {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { _ = getsockname(descriptor, $0, &size) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    @discardableResult
    static func write(_ bytes: some Collection<UInt8>, to descriptor: Int32) -> Bool {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Returns the next bytes, or `nil` at the end.
    static func read(_ descriptor: Int32) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        return count > 0 ? Array(chunk[..<count]) : nil
    }

    /// Sends bytes on a new connection and returns everything that is received until the connection is closed, or nothing
    /// has been received for some time.
    ///
    /// It blocks a thread of its own: those of the shared pool are the gateway's, which is in the same process.
    static func exchange(_ port: Int, _ text: String, seconds: Int = 5) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: blockingExchange(port, text, seconds)) }
        }
    }

    private static func blockingExchange(_ port: Int, _ text: String, _ seconds: Int) -> String {
        guard let descriptor = connect(port) else { return "" }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        write(text.utf8, to: descriptor)
        var received: [UInt8] = []
        while let chunk = read(descriptor) { received += chunk }
        return String(decoding: received, as: UTF8.self)
    }
}

/// A TCP proxy that cuts or holds a connection if a test requests it.
final class CutProxy: Sendable {
    /// The fault of the next connection that begins with a POST.
    enum Plan: Sendable, Equatable {
        /// The connection breaks after so many bytes from the client.
        case cutRequest(Int)
        /// The connection breaks after so many bytes from the server.
        case cutAnswer(Int)
        /// The request is not passed on. The connection stays open.
        case holdRequest
        /// Only so many bytes of the response are passed on. The connection stays open.
        case holdAnswer(Int)
    }

    let port: Int
    private let targets: [Int]
    private let listener: Int32
    private let state = Mutex<(plan: Plan?, held: Int, connections: [Int32])>((nil, 0, []))
    private let random = Mutex(SeededRandom(seed: 1))

    convenience init(to target: Int) throws { try self.init(balancing: [target]) }

    /// Passes each connection on to one of these ports, and to a different one if it is closed.
    init(balancing targets: [Int]) throws {
        self.targets = targets
        (listener, port) = try Sockets.listen()
        Thread.detachNewThread { [self] in accept() }
    }

    func plan(_ plan: Plan?) { state.withLock { $0.plan = plan } }

    /// Whether the plan has not been used yet.
    var isPending: Bool { state.withLock { $0.plan != nil } }

    /// How many connections have reached the point at which they are held.
    var held: Int { state.withLock { $0.held } }

    /// Breaks all connections.
    func breakAll() {
        // Within the lock, because the numbers of closed descriptors are reused at once, for sockets of other tests.
        state.withLock { state in
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
            state.connections = []
        }
    }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        breakAll()
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { break }
            Thread.detachNewThread { [self] in serve(client) }
        }
        close(listener)
    }

    private func connect() -> Int32? {
        for target in random.withLock({ targets.shuffled(using: &$0) }) {
            if let server = Sockets.connect(target) { return server }
        }
        return nil
    }

    private func serve(_ client: Int32) {
        guard let first = Sockets.read(client), let server = connect() else {
            close(client)
            return
        }
        let plan = state.withLock { state -> Plan? in
            state.connections += [client, server]
            guard first.starts(with: "POST".utf8) else { return nil }
            defer { state.plan = nil }
            return state.plan
        }
        let answersEnded = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            let cut: Int? = if case .cutAnswer(let count) = plan { count } else { nil }
            let hold: Int? = if case .holdAnswer(let count) = plan { count } else { nil }
            relay(server, client, [], cut, hold: hold)
            answersEnded.signal()
        }
        let cut: Int? = if case .cutRequest(let count) = plan { count } else { nil }
        relay(client, server, first, cut, hold: plan == .holdRequest ? 0 : nil)
        answersEnded.wait()
        state.withLock { state in
            state.connections.removeAll { $0 == client || $0 == server }
            close(client)
            _ = close(server)
        }
    }

    /// Passes bytes on in one direction.
    private func relay(_ from: Int32, _ to: Int32, _ first: [UInt8], _ cut: Int?, hold: Int?) {
        var passed = 0
        var next: [UInt8]? = first.isEmpty ? Sockets.read(from) : first
        while let bytes = next {
            let limit = (cut ?? hold).map { max(0, $0 - passed) } ?? bytes.count
            let part = bytes.prefix(limit)
            if !part.isEmpty, !Sockets.write(part, to: to) { break }
            passed += part.count
            if let cut, passed >= cut {
                shutdown(from, Int32(SHUT_RDWR))
                shutdown(to, Int32(SHUT_RDWR))
                return
            }
            if let hold, passed >= hold {
                state.withLock { $0.held += 1 }
                // Until the connection is broken.
                while Sockets.read(from) != nil {}
                shutdown(to, Int32(SHUT_RDWR))
                return
            }
            next = Sockets.read(from)
        }
        shutdown(to, Int32(SHUT_WR))
    }
}
