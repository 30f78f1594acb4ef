import ODataWire
import OfflineStore
import Operations
import SyncCore

/// One upload: it performs the commands of an ``UploadSession`` until the session ends.
struct UploadRound {
    let store: LocalStore
    let session: ServiceSession
    var upload = UploadOptions()

    /// Runs the upload.
    ///
    /// - Parameter refused: Operations that this upload has already seen rejected and does not send again.
    func run(refused: Set<SequenceNumber> = []) async throws(TidelogError) -> UploadReport {
        let driver = UploadDriver(store: store, session: session, upload: upload)
        await store.uploads.beginUpload()
        do throws(TidelogError) {
            try await run(driver, excluding: refused)
            await store.uploads.endUpload()
        } catch {
            await store.uploads.endUpload()
            try? await reportRemaining(driver)
            throw error.after(driver.report)
        }
        return driver.report
    }

    private func run(_ driver: UploadDriver, excluding refused: Set<SequenceNumber>) async throws(TidelogError) {
        var upload = UploadSession<TidelogError>(excluding: refused, patience: self.upload.monitorPatience)
        while true {
            switch upload.next {
            case .finish(let obstacle):
                try await finish(driver, upload)
                if let obstacle { throw error(of: obstacle) }
                return
            case .fail(let obstacle): throw error(of: obstacle)
            case let command: upload.handle(try await driver.perform(command))
            }
        }
    }

    /// Completes the report.
    private func finish(
        _ driver: UploadDriver, _ upload: UploadSession<TidelogError>
    ) async throws(TidelogError) {
        let awaited = try await store.doubts.awaitedOperations().sorted { $0.key < $1.key }
        driver.report.awaited = awaited.map { batch, operations in
            AwaitedBatch(operations: operations, reason: upload.unanswered[batch] ?? "The service is processing it")
        }
        driver.report.setUndecided(conflicts: try await store.conflicts.all())
        try await reportRemaining(driver)
    }

    /// Sets the remaining operations of the report. Also called after an error, because operations that have just
    /// become in doubt are not among the outcomes.
    private func reportRemaining(_ driver: UploadDriver) async throws(TidelogError) {
        let awaited = Set(try await store.doubts.awaitedOperations().values.joined())
        let inDoubt = try await store.queue.pendingOperations(.inDoubt).map(\.sequence)
        driver.report.inDoubt = inDoubt.filter { !awaited.contains($0) }
        let counts = try await store.queue.queueCounts()
        (driver.report.remaining, driver.report.heldBack) = counts
    }

    private func error(of obstacle: UploadObstacle<TidelogError>) -> TidelogError {
        switch obstacle {
        case .failure(let error): return error
        case .doubt(let reason, let target):
            return TidelogError(
                .inDoubt, reason, place: place(of: target).url,
                recovery: "The operations are in doubt; the next upload determines which of them took effect.")
        case .response(let response, let target):
            let place = place(of: target)
            do throws(TidelogError) {
                try response.requireSuccess(place.method, place.url)
            } catch {
                return error
            }
            return TidelogError(
                .notOData, "The service responded with the unexpected status \(response.status).",
                place: place.url)
        }
    }

    private func place(of target: UploadTarget) -> (method: String, url: String) {
        switch target {
        case .batch: ("POST", session.root + "$batch")
        case .request(let method, let url): (method, session.absolute(url))
        case .monitor(let url): ("GET", url)
        }
    }
}

extension TidelogError: DeliveryFailure {
    package var mayHaveReachedService: Bool { (cause as? any UncertainDelivery)?.mayHaveBeenSent ?? false }
    package var isCancellation: Bool { code == .cancelled }
    package var isOfLostContent: Bool { code == .damaged }
}
