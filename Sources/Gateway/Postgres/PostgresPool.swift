internal import GatewayCore
internal import NIOPosix
internal import Synchronization

/// The connections of a storage, and threads that wait for their responses.
///
/// Connections are opened when they are needed. After a failure new ones are tried at growing intervals, and meanwhile
/// requests fail at once.
final class PostgresPool: Sendable {
    private struct PoolState {
        /// The connections that no request uses.
        var idle: [PostgresConnection] = []
        /// The number of requests that use a connection or wait for one.
        var requests = 0
        var use = PoolUse()
        var failures = 0
        var failure: PostgresError?
        var retry = ContinuousClock.now
    }

    private static let maximumRequests = 1_000

    let settings: PostgresSettings
    private let threads: NIOThreadPool
    private let state = Mutex(PoolState())

    init(_ settings: PostgresSettings) {
        self.settings = settings
        threads = NIOThreadPool(numberOfThreads: settings.connections)
        threads.start()
    }

    deinit { threads.shutdownGracefully { _ in } }

    var use: PoolUse {
        state.withLock { state in
            var use = state.use
            use.waiting = state.requests - use.inUse
            return use
        }
    }

    // MARK: Requests

    /// Executes a statement, or several that need no common transaction, and again after a failure that may be over.
    ///
    /// - Parameter patience: The time for further attempts.
    func perform<T: Sendable>(
        patience: Duration, _ body: @escaping @Sendable (PostgresConnection) throws(PostgresError) -> T
    ) async throws(PostgresError) -> T {
        var retries = Retries(patience)
        while true {
            do throws(PostgresError) { return try await once(body) } catch { try await retries.next(after: error) }
        }
    }

    /// Executes a transaction, and again after a failure that may be over. When this returns, it is durable.
    ///
    /// - Parameters:
    ///   - patience: The time for further attempts.
    ///   - timeout: The time for each statement in milliseconds, if it differs from the setting.
    ///   - isRepeatable: Whether a transaction may be executed again although it may have taken effect.
    func transaction<T: Sendable>(
        patience: Duration, timeout: Int? = nil, isRepeatable: Bool = true,
        _ body: @escaping @Sendable (PostgresTransaction) throws(PostgresError) -> T
    ) async throws(PostgresError) -> T {
        var retries = Retries(patience)
        while true {
            do throws(PostgresError) {
                let attempt = try await once { (connection) throws(PostgresError) in
                    try PostgresTransaction.attempt(on: connection, timeout: timeout, body)
                }
                switch attempt {
                case .committed(let value): return value
                case .unknown(let error):
                    guard isRepeatable else { throw .unexpectedResult("\(error), while a transaction was committed") }
                    throw error
                }
            } catch {
                try await retries.next(after: error)
            }
        }
    }

    /// The pauses between the attempts of a request.
    private struct Retries {
        private let deadline: ContinuousClock.Instant
        private var pause = Duration.milliseconds(10)

        init(_ patience: Duration) { deadline = .now + patience }

        mutating func next(after error: PostgresError) async throws(PostgresError) {
            guard error.isTransient, .now < deadline, !Task.isCancelled else { throw error }
            let jitter = Duration.milliseconds(Int.random(in: 0...10))
            try? await Task.sleep(for: pause + jitter)
            pause = min(pause * 2, .milliseconds(300))
        }
    }

    private func once<T: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws(PostgresError) -> T
    ) async throws(PostgresError) -> T {
        let isAdmitted = state.withLock { state in
            guard state.requests < Self.maximumRequests else { return false }
            state.requests += 1
            return true
        }
        guard isAdmitted else { throw .busy }
        defer { state.withLock { $0.requests -= 1 } }
        let result: Result<T, PostgresError>
        do {
            result = try await threads.runIfActive { self.execute(body) }
        } catch {
            throw .unexpectedResult("the request was cancelled")
        }
        return try result.get()
    }

    private func execute<T>(
        _ body: (PostgresConnection) throws(PostgresError) -> T
    ) -> Result<T, PostgresError> {
        do throws(PostgresError) {
            let connection = try connection()
            state.withLock { state in
                state.use.inUse += 1
                state.use.acquisitions += 1
            }
            let result: Result<T, PostgresError>
            do throws(PostgresError) { result = .success(try body(connection)) } catch { result = .failure(error) }
            let isUsable = connection.isUsable
            state.withLock { state in
                state.use.inUse -= 1
                if isUsable {
                    state.idle.append(connection)
                } else {
                    state.use.failures += 1
                    // The reason, a restart of the server for instance, concerns all of them.
                    state.idle = []
                }
            }
            return result
        } catch {
            return .failure(error)
        }
    }

    // MARK: Connections

    private func connection() throws(PostgresError) -> PostgresConnection {
        let known = try state.withLock { (state) throws(PostgresError) -> PostgresConnection? in
            if let connection = state.idle.popLast() { return connection }
            if let failure = state.failure, .now < state.retry { throw failure }
            return nil
        }
        if let known { return known }
        do throws(PostgresError) {
            let made = try PostgresConnection(settings)
            state.withLock { state in
                state.failures = 0
                state.failure = nil
            }
            return made
        } catch {
            state.withLock { state in
                state.use.failures += 1
                state.failures = min(state.failures + 1, 6)
                state.failure = error
                state.retry = .now + .milliseconds(Int.random(in: 20...40) << state.failures)
            }
            throw error
        }
    }
}
