import EDM
import ODataWire
import OfflineStore
import Operations
import SyncCore

/// Sends repeatable requests again whose response was lost.
struct ResendRound {
    let driver: UploadDriver
    private(set) var knowledge: UploadKnowledge
    /// Operations in doubt that this upload cannot resolve, because the service is still processing the repetition or
    /// did not answer it.
    private(set) var unsettled: Set<SequenceNumber> = []
    /// The first failure that did not block other operations.
    private(set) var obstacle: TidelogError?

    private var store: LocalStore { driver.store }
    private var session: ServiceSession { driver.session }

    init(driver: UploadDriver, knowledge: UploadKnowledge) {
        self.driver = driver
        self.knowledge = knowledge
    }

    /// Sends the change sets of a batch again that are in doubt, without logging it. They remain in doubt unless the
    /// response determines their outcome.
    mutating func sendAgain(_ open: OpenBatch) async throws(TidelogError) {
        let profile = try await driver.profile(knowledge)
        guard profile.options.repeatability != .none, await !store.lacksRepeatability else { return }
        // Requests that must not be repeated are not stored any more.
        let sent = open.prepared.sent
        let places = try await store.doubts.inDoubtPlaces(of: open).filter { $0 < sent.count && !sent[$0].isEmpty }
        // Without $batch each request has its own response.
        var groups = profile.options.supportsBatch ? [places] : places.map { [$0] }
        while !groups.isEmpty {
            let group = try await independent(groups.removeFirst(), of: open, before: groups.joined())
            guard !group.isEmpty else { continue }
            let batch = try await store.doubts.uploaded(open.prepared, group)
            switch try await sendAgain(batch, group, of: open, profile) {
            case .later: return
            // A read would be inconclusive while the service is processing the batch.
            case .busy: unsettled.formUnion(batch.operations)
            case .answered(let repetition):
                try await logOutcomes(of: repetition.answered, profile)
                // The service stops at the first error. The remaining change sets are sent again without the failed
                // one.
                let rest = repetition.skipped.map { group[$0] }
                if rest.count < group.count { groups.insert(rest, at: 0) }
            case .failed(let error):
                // The cause is the connection or one change set. If the service answers other requests, halving the
                // group finds the change set.
                knowledge.hasAnsweredParts = await driver.answersParts(profile)
                guard knowledge.hasAnsweredParts else { throw error }
                if group.count > 1 {
                    groups.insert(
                        contentsOf: [Array(group[..<(group.count / 2)]), Array(group[(group.count / 2)...])], at: 0)
                } else if !error.isLastingAnswer {
                    // Otherwise the repetition did not reach the service, nor would another. Reading determines the
                    // outcome of the first transmission.
                    obstacle = obstacle ?? error
                    unsettled.formUnion(batch.operations)
                }
            }
        }
    }

    /// Returns the change sets that may be executed now.
    ///
    /// An earlier operation without an outcome may be executed later: it is repeated by another upload, or sent again.
    /// Those that must not be executed before it are repeated with it, or resolved by reading.
    ///
    /// - Parameter next: The change sets that are repeated after these.
    private mutating func independent(
        _ group: [Int], of open: OpenBatch, before next: some Sequence<Int>
    ) async throws(TidelogError) -> [Int] {
        let waiting = try await store.doubts.places(group, of: open.prepared, behind: unsettled)
        let repeated = Set(group).union(next)
        let left = try await store.doubts.inDoubtPlaces(of: open).filter { !repeated.contains($0) }
        let behind = try await store.doubts.places(group, of: open.prepared, behind: unsettled, left)
        for place in waiting { unsettled.formUnion(open.prepared.changeSets[place].map(\.operation)) }
        return group.filter { !behind.contains($0) }
    }

    /// Logs the outcomes that a repetition determined.
    private mutating func logOutcomes(
        of batch: UploadedBatch, _ profile: ServiceProfile
    ) async throws(TidelogError) {
        guard !batch.changeSets.isEmpty else { return }
        let amended = knowledge.forms.withdrawn(batch, profile.options)
        let results = try await driver.log(UploadAnswer(batch: batch, profile: profile, amended: amended))
        guard let limit = knowledge.forms.proven(by: results) else { return }
        await store.recordDetected { $0.contentIDReferences = limit }
    }

    private enum ResendResult {
        case answered(ResendOutcomes)
        /// The service processes the repetition asynchronously.
        case later
        /// The same, for a part of the outstanding change sets. A later repetition has to ask again.
        case busy
        /// There was no response, or not one of the service.
        case failed(TidelogError)
    }

    private func sendAgain(
        _ batch: UploadedBatch, _ places: [Int], of open: OpenBatch, _ profile: ServiceProfile
    ) async throws(TidelogError) -> ResendResult {
        driver.report.batches += 1
        let request: WireRequest
        if profile.options.supportsBatch {
            var atOnce = profile
            atOnce.options.respondsAsync = false
            request = try driver.encoder(atOnce).encode(batch).request
        } else {
            guard let changeSet = batch.changeSets.first, changeSet.requests.count == 1,
                let single = changeSet.requests[0].wire
            else { return .answered(ResendOutcomes(batch)) }
            request = single
        }
        driver.report.bytesSent += request.body.count
        let response: WireResponse
        do throws(TidelogError) {
            response = try await session.modify(request)
        } catch {
            guard error.mayHaveReachedService, error.code != .cancelled else { throw error }
            return .failed(error)
        }
        if let repetition = outcomes(response, of: batch, profile) { return .answered(repetition) }
        if profile.options.supportsBatch,
            case .accepted(let monitor) = BatchResponseKind(
                response, mayBeLater: !profile.model.version.isLegacy)
        {
            // The later response is matched with all change sets outstanding at that time, which therefore have to
            // be the ones sent here.
            guard try await store.doubts.inDoubtPlaces(of: open) == places else { return .busy }
            try await store.record([.batchAccepted(BatchAccepted(batch: open.batch, monitor: monitor))])
            return .later
        }
        do throws(TidelogError) {
            try response.requireSuccess(request.method, session.absolute(request.url))
        } catch {
            let isUncertain = FailureClass(status: response.status) == .uncertain || response.isFromGateway
            guard isUncertain || response.isForeignRefusal else { throw error }
            return .failed(error)
        }
        return .answered(ResendOutcomes(batch))
    }

    /// Interprets the response to a repetition, or returns nil if it is no response to the requests.
    private func outcomes(
        _ response: WireResponse, of batch: UploadedBatch, _ profile: ServiceProfile
    ) -> ResendOutcomes? {
        let isLasting = response.isLasting
        let isOASIS = profile.options.repeatability == .oasis
        guard profile.options.supportsBatch else {
            switch SingleResponseKind(response) {
            case .done: return ResendOutcomes(batch.answered([.members([response])]), requiresResult: isOASIS)
            case .refused where FailureClass(status: response.status) == .permanent:
                return ResendOutcomes(batch.answered([.failed(response, culprit: nil)]))
            case .unknown where isLasting, .foreign: return ResendOutcomes(batch)
            case .refused, .untouched, .unknown: return nil
            }
        }
        switch BatchResponseKind(response, mayBeLater: !profile.model.version.isLegacy) {
        case .parts:
            let outcomes = (try? BatchExchange.outcomes(response, to: batch.request).changeSets) ?? []
            return ResendOutcomes(batch.answered(outcomes), requiresResult: isOASIS)
        // This does not reveal the outcome of the operations, so they are resolved by reading.
        case .refused: return ResendOutcomes(batch)
        // Something in the batch may make the service fail each time.
        case .unknown where isLasting: return ResendOutcomes(batch)
        case .accepted, .untouched, .unknown: return nil
        }
    }
}
