import Logging
import Operations
import SyncEngine

/// Logs the steps of uploads and downloads with the sequence numbers of operations, without values, keys or messages
/// of the service.
///
/// Each step is logged at `debug`, postponements at `notice`, and rejections, doubts and failures at `warning`.
struct SyncLog: Sendable {
    let logger: Logger

    func write(_ event: SyncEvent) {
        switch event {
        case .uploadBegan(let pending): logger.debug("upload began", metadata: ["pending": "\(pending)"])
        case .downloadBegan: logger.debug("download began")
        case .waiting(let time, let attempt, _):
            logger.notice("waits for the service", metadata: ["until": "\(time)", "attempt": "\(attempt)"])
        case .ended(nil): logger.debug("upload or download ended")
        case .ended(let error?): logger.warning("upload or download failed", metadata: ["code": "\(error.code)"])
        case .received, .exchanged: break
        case .recorded(let sequence, let record): write(record.body, sequence)
        }
    }

    private func write(_ body: Record.Body, _ sequence: SequenceNumber) {
        switch body {
        case .operation: logger.debug("operation logged", metadata: ["operation": "\(sequence)"])
        case .batchPrepared(let prepared):
            logger.debug("batch prepared", metadata: Self.metadata(prepared.batch, prepared.operations))
        case .batchAnswered(let answered): write(answered)
        case .batchInterrupted(let interrupted):
            logger.warning("batch interrupted", metadata: ["batch": "\(interrupted.batch)"])
        case .uploadPostponed(let postponed):
            logger.notice(
                "upload postponed",
                metadata: ["until": "\(postponed.notBefore)", "attempt": "\(postponed.attempt)"])
        case .downloadPage(let page):
            let count = page.entities.count + page.unchanged.count
            logger.debug("page read", metadata: ["query": "\(page.query)", "entities": "\(count)"])
        default: break
        }
    }

    private func write(_ answered: BatchAnswered) {
        var confirmed: [SequenceNumber] = []
        for outcome in answered.outcomes {
            switch outcome.result {
            case .confirmed: confirmed.append(outcome.operation)
            case .rejected(let refusal): refused(outcome.operation, answered.batch, refusal, "operation rejected")
            case .deferred(let refusal, _): refused(outcome.operation, answered.batch, refusal, "operation postponed")
            case .inDoubt:
                logger.warning("operation in doubt", metadata: Self.metadata(answered.batch, [outcome.operation]))
            case .notProcessed: break
            }
        }
        if !confirmed.isEmpty { logger.debug("confirmed", metadata: Self.metadata(answered.batch, confirmed)) }
    }

    private func refused(_ operation: SequenceNumber, _ batch: BatchID, _ refusal: Refusal, _ text: String) {
        var metadata = Self.metadata(batch, [operation])
        metadata["status"] = "\(refusal.status)"
        metadata["code"] = "\(refusal.code)"
        logger.warning("\(text)", metadata: metadata)
    }

    private static func metadata(_ batch: BatchID, _ operations: [SequenceNumber]) -> Logger.Metadata {
        ["batch": "\(batch)", "operations": .array(operations.map { "\($0)" })]
    }
}
