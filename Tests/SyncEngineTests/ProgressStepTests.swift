import EDM
import Operations
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

/// UQ-24, DQ-38: the steps of the progress have stable names, and each has a message that can be localised.
@Suite struct ProgressStepTests {
    @Test func `the names of the steps are stable, because tables of localised messages contain them`() {
        #expect(
            SyncStep.allCases.map(\.rawValue) == [
                "idle", "preparingUpload", "sendingBatch", "receivingResponse", "storingOutcomes", "preparingDownload",
                "requestingQuery", "receivingPage", "storingPage", "finishingQuery", "waitingForService",
            ])
        #expect(SyncStep.allCases.map(\.number) == Array(0...10))
    }

    @Test func `an upload and a download pass through their steps in order`() async throws {
        let shop = try await Shop(.v4)
        let seen = Seen()
        _ = shop.engine.observe { seen.apply($0) }
        try await shop.create("Customers", ["Name": .string("New")])
        _ = try await shop.push()
        #expect(
            seen.take() == [
                .idle, .preparingUpload, .sendingBatch, .receivingResponse, .storingOutcomes, .idle,
            ])
        try await shop.pull()
        let steps = seen.take()
        #expect(Array(steps.prefix(3)) == [.preparingDownload, .requestingQuery, .receivingPage])
        #expect(steps.contains(.storingPage) && steps.contains(.finishingQuery) && steps.last == .idle)
    }

    @Test func `a message has a key, arguments, and an English text`() {
        var progress = SyncProgress()
        progress.apply(.uploadBegan(pending: 3))
        #expect(progress.message.key == "SyncStep.preparingUpload")
        #expect(progress.message.arguments == ["0", "3", ""])
        #expect(progress.message.text == "Preparing the upload of 3 changes")
    }
}

/// The steps of a progress, each once in a row.
private final class Seen: Sendable {
    private let content = Mutex((progress: SyncProgress(), steps: [SyncStep]()))

    func apply(_ event: SyncEvent) {
        content.withLock {
            $0.progress.apply(event)
            if $0.steps.last != $0.progress.detail { $0.steps.append($0.progress.detail) }
        }
    }

    func take() -> [SyncStep] {
        content.withLock { content in
            defer { content.steps = [] }
            return content.steps
        }
    }
}
