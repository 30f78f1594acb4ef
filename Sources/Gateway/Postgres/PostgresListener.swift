internal import GatewayCore
internal import NIOPosix
internal import Synchronization

/// Listens for notifications of other nodes on a connection of its own, on a thread of its own.
///
/// A notification can be lost with the connection. Therefore `changed` is also called after each connection, and at
/// regular intervals.
final class PostgresListener: Sendable {
    private static let interval: Duration = .seconds(2)

    private let settings: PostgresSettings
    private let channel: String
    private let changed: @Sendable () -> Void
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let isStopped = Atomic(false)

    /// - Parameter channel: The name of the channel: lowercase letters, digits and `_`.
    init(_ settings: PostgresSettings, channel: String, changed: @escaping @Sendable () -> Void) {
        self.settings = settings
        self.channel = channel
        self.changed = changed
        thread.start()
        thread.submit { [self] state in
            if state == .active { run() }
        }
    }

    func stop() {
        isStopped.store(true, ordering: .relaxed)
        thread.shutdownGracefully { _ in }
    }

    private func run() {
        while !isStopped.load(ordering: .relaxed) {
            do throws(PostgresError) {
                let connection = try PostgresConnection(settings)
                try connection.run("LISTEN \"\(channel)\"")
                changed()
                var last = ContinuousClock.now
                while !isStopped.load(ordering: .relaxed) {
                    let isNotified = try connection.wait(milliseconds: 250)
                    guard isNotified || last.duration(to: .now) > Self.interval else { continue }
                    last = .now
                    changed()
                }
            } catch {
                changed()
                pause()
            }
        }
    }

    /// Waits before a new connection.
    private func pause() {
        let milliseconds = Int.random(in: 200...600)
        for _ in 0..<milliseconds / 50 where !isStopped.load(ordering: .relaxed) { Sleep.milliseconds(50) }
    }
}
