import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import Transport

/// Cancelled, concurrent and streamed requests.
struct CurlConcurrencyTests: CurlRequests {
    let transport = CurlTransport()

    @Test func `a cancelled task ends at once, and its error states that the request may have been sent`() async throws
    {
        let arrived = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        try await withServer { _, _ in
            arrived.continuation.yield()
            release.wait()
            return false
        } _: { server in
            let request = try request("POST", server.base)
            let task = Task { await failure(of: request, body: [1]) }
            for await _ in arrived.stream { break }
            task.cancel()
            let error = await task.value
            release.signal()
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveBeenSent == true)
        }
    }

    @Test func `a task that is cancelled before it begins sends no request`() async throws {
        try await withServer {
            $1.respond("200 OK", "", $0.body)
        } _: { server in
            let request = try request("POST", server.base)
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return await failure(of: request, body: [1])
            }
            let error = await task.value
            #expect(error?.code == .cancelled)
            #expect(error?.mayHaveBeenSent == false)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `each of many concurrent requests receives its own response`() async throws {
        try await withServer {
            $1.respond("200 OK", "", Array($0.target.utf8) + $0.body)
        } _: { server in
            let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for number in 0..<200 {
                    let request = try request(number % 3 == 0 ? "POST" : "GET", server.base + "/\(number)")
                    let body = number % 3 == 0 ? Array("-\(number)".utf8) : []
                    group.addTask {
                        (number, String(decoding: try await transport.send(request, body: body).body, as: UTF8.self))
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            #expect(answers.count == 200)
            for (number, answer) in answers {
                #expect(answer == (number % 3 == 0 ? "/\(number)-\(number)" : "/\(number)"))
            }
        }
    }

    @Test func `queries share a connection`() async throws {
        try await withServer {
            $1.respond("200 OK", "", $0.body)
        } _: { server in
            for _ in 0..<5 { _ = try await transport.send(request("GET", server.base), body: []) }
            // On a busy machine, a connection may be closed in between and a new one opened.
            #expect(Set(server.requests.map(\.connection)).count < 5)
        }
    }

    @Test(arguments: ["POST", "PATCH", "PUT", "DELETE"])
    func `an unsafe request uses a new connection`(_ method: String) async throws {
        try await withServer {
            $1.respond("200 OK", "", $0.body)
        } _: { server in
            for _ in 0..<3 { _ = try await transport.send(request("GET", server.base), body: []) }
            _ = try await transport.send(request(method, server.base), body: [])
            let connections = server.requests.map(\.connection)
            #expect(connections.count == 4)
            #expect(!connections.dropLast().contains(try #require(connections.last)), "\(connections)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func `stopping a loop ends its thread`() async throws {
        weak var released: CurlLoop?
        do {
            let loop = try CurlLoop(connectionsPerHost: 1)
            released = loop
            loop.stop()
        }
        // The thread retains the loop while it runs. If the thread does not end, the time limit fails the test.
        while released != nil { try await Task.sleep(for: .milliseconds(5)) }
    }

    @Test func `stopping a loop cancels the active request and all later ones`()
        async throws
    {
        let arrived = AsyncStream.makeStream(of: Void.self)
        let release = DispatchSemaphore(value: 0)
        try await withServer { _, _ in
            arrived.continuation.yield()
            release.wait()
            return false
        } _: { server in
            let loop = try CurlLoop(connectionsPerHost: 1)
            let outgoing = try OutgoingRequest(request("POST", server.base), body: [1])
            let transfers = (0..<2).map { _ in
                CurlTransfer(outgoing, TransportOptions(), buffer: ResponseBuffer(capacity: nil))
            }
            loop.start(transfers[0])
            for await _ in arrived.stream { break }
            loop.stop()
            let first = await transfers[0].buffer.whole()
            loop.start(transfers[1])
            let second = await transfers[1].buffer.whole()
            release.signal()
            #expect(throws: TransportError.self) { try first.get() }
            #expect(throws: TransportError.self) { try second.get() }
            #expect(server.requests.count == 1)
        }
    }

    // MARK: Streaming

    @Test func `a streamed body is received completely and in order`() async throws {
        let sent = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 >> 4) }
        try await withServer {
            $1.respond("200 OK", "", sent + $0.body)
        } _: { server in
            let (response, body) = try await transport.stream(request("GET", server.base), body: [])
            #expect(response.status == .ok)
            var received: [UInt8] = []
            for try await chunk in body { received += chunk }
            #expect(received == sent)
        }
    }

    @Test func `a sender waits while the reader does not read`() async throws {
        let written = Mutex(0)
        let size = 64 << 20
        try await withServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            let chunk = [UInt8](repeating: 7, count: 1 << 20)
            while written.withLock({ $0 }) < size, connection.write(chunk) { written.withLock { $0 += chunk.count } }
            return false
        } _: { server in
            let (_, body) = try await transport.stream(request("GET", server.base), body: [])
            var iterator = body.makeAsyncIterator()
            var received = try await iterator.next()?.count ?? 0
            // The sender blocks when the buffers of the sockets are full. Then the number of written bytes no longer
            // changes.
            var before = -1
            while before != written.withLock({ $0 }) {
                before = written.withLock { $0 }
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(before < size)
            while let chunk = try await iterator.next() { received += chunk.count }
            #expect(received == size)
        }
    }

    @Test func `a truncated streamed body returns the received bytes and then throws an error`() async throws {
        try await withServer {
            $1.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            return false
        } _: { server in
            let (_, body) = try await transport.stream(request("GET", server.base), body: [])
            var received: [UInt8] = []
            let error = await #expect(throws: TransportError.self) {
                for try await chunk in body { received += chunk }
            }
            #expect(error?.code == .truncated)
            #expect(received == Array("half".utf8))
        }
    }

    @Test func `a streamed body that the caller drops is not received further`() async throws {
        let ended = AsyncStream.makeStream(of: Void.self)
        try await withServer { _, connection in
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 40)\r\n\r\n")
            while connection.write([UInt8](repeating: 7, count: 1 << 16)) {}
            ended.continuation.yield()
            return false
        } _: { server in
            _ = try await transport.stream(request("GET", server.base), body: []).response
            for await _ in ended.stream { break }
        }
    }
}
