import ODataWire
import OfflineStore
import Operations
import SyncCore
import Transport

/// Status monitors of batches that the service processes asynchronously.
extension UploadDriver {
    /// Requests the response to an accepted batch. Returns nil if no operation waits for it.
    func poll(_ batch: BatchID) async throws(TidelogError) -> MonitorReport<TidelogError>? {
        guard let open = try await store.doubts.openBatch(batch), let monitor = open.monitor,
            let outstanding = try await store.doubts.outstanding(of: open)
        else { return nil }
        let answer = session.isOfService(monitor) ? await ask(monitor) : .foreign
        let now = store.environment.now()
        return MonitorReport(
            batch: try await store.doubts.uploaded(open.prepared, outstanding.places), monitor: place(of: monitor),
            isRepeated: outstanding.isRepeated,
            age: now.subtractingReportingOverflow(outstanding.since).partialValue, answer: answer,
            profile: try await profile(), now: now)
    }

    private func ask(_ monitor: String) async -> MonitorReport<TidelogError>.Answer {
        do throws(TidelogError) {
            return .response(try await session.get(monitor, headers: ["Accept": "application/http"]))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the monitor's URL in the form that error messages may contain.
    private func place(of monitor: String) -> String { URLText.withoutSecrets(session.absolute(monitor)) }

    /// Waits before the next poll. If the upload is cancelled meanwhile, the batch is cancelled on the service too, if
    /// possible.
    func wait(_ pause: Duration, for batch: BatchID) async throws(TidelogError) {
        guard let monitor = try await store.doubts.openBatch(batch)?.monitor else { return }
        session.activity.notify(
            .waiting(
                until: store.environment.now() + pause.milliseconds, attempt: 0,
                reason: "The service is processing batch \(batch)."))
        do throws(CancellationError) {
            try await store.environment.sleep(pause)
        } catch {
            // A new task, because the cancelled one no longer sends requests.
            let session = session
            let answer = await Task { try? await session.modify(WireRequest(method: "DELETE", url: monitor)) }.value
            // If the service refuses to cancel, or has only begun to (202), the monitor continues to report the
            // outcome.
            if let answer, answer.isSuccess, answer.status != 202 {
                // A batch is no transaction: completed change sets may not be rolled back.
                let reason = "The batch was cancelled while the service processed it."
                try await store.record([.batchInterrupted(BatchInterrupted(batch: batch, reason: reason))])
            }
            throw TidelogError(
                .cancelled, "The upload was cancelled while the service processed a batch.", place: place(of: monitor),
                recovery: "Start the upload again; no data is lost.")
        }
    }
}

extension TidelogError {
    package var isLastingOfMonitor: Bool {
        if let answer = cause as? UnsuccessfulResponse { return answer.isLasting && answer.status != 407 }
        if let failure = cause as? TransportError {
            return [.redirectRefused, .protocolViolation].contains(failure.code)
        }
        // The monitor's address is not a URL.
        return code == .invalidRequest
    }

    package var isSilence: Bool {
        if let answer = cause as? UnsuccessfulResponse { return [401, 407].contains(answer.status) }
        // In these cases a part of a response arrived.
        return code == .unreachable && ![.truncated, .tooLarge].contains((cause as? TransportError)?.code)
    }
}
