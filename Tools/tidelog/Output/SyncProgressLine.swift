internal import SyncEngine
internal import Tidelog

/// A progress line on the terminal for an upload or download. SIGINT and SIGTERM cancel it and close the store. Shows
/// nothing if standard error is no terminal.
enum SyncProgressLine {
    static func showing<Report: Sendable>(
        _ provider: OfflineODataProvider, _ body: () async throws -> Report
    ) async throws -> Report {
        let progress = try provider.progress()
        let isWatched = Console.isWatched
        let line = Task {
            guard isWatched else { return }
            for await step in progress { Console.writeError("\r\u{1B}[K\(text(step))") }
        }
        Interruption.prepare()
        let interruption = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: .milliseconds(100))
                guard Interruption.hasCome else { continue }
                try? await provider.cancelUpload()
                try? await provider.cancelDownload()
                return
            }
        }
        defer {
            line.cancel()
            interruption.cancel()
            // Carriage return and "erase to the end of the line".
            if isWatched { Console.writeError("\r\u{1B}[K") }
        }
        return try await body()
    }

    static func text(_ progress: SyncProgress) -> String {
        switch progress.step {
        case .idle: ""
        case .preparing: "Planning: \(progress.done) of \(progress.total) done …"
        case .sending: "Sending: \(progress.done) of \(progress.total) done …"
        case .waiting: "The service is busy; waiting …"
        case .downloading:
            "Reading \(progress.query ?? "…"): \(progress.done) of \(progress.total) queries, "
                + "\(counted(progress.entities, "entity", "entities")) …"
        }
    }
}
