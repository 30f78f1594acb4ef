import ODataWire
import Operations
import SyncCore
import Transport

/// Requests that write streams. Each is sent on its own, with the body read directly from the file.
extension UploadRound {
    /// Sends the request of a plan, with the content of its stream if it has one.
    @_optimize(none)
    func modify(_ request: WireRequest, of plan: UploadPlan) async throws(TidelogError) -> WireResponse {
        guard let content = plan.changeSets.first?.requests.first?.content else {
            return try await session.modify(request)
        }
        let stream = try await store.requestStream(content)
        return try await session.modify(request, content: stream.requestContent)
    }
}

extension UploadPlan {
    /// The size of the content that is sent with the plan's request.
    var streamBytes: Int {
        changeSets.first?.requests.first?.content.map { Int(clamping: $0.byteCount) } ?? 0
    }

    /// Returns the stream with the new ETag from the response, which the next change has to send. Nil if the plan
    /// writes no stream or the response has no ETag.
    func streamImage(after outcomes: [ChangeSetOutcome]) -> StreamImage? {
        guard writesStream, let request = changeSets.first?.requests.first, let content = request.content,
            case .update = request.modification.action, case .members(let responses)? = outcomes.first,
            let etag = responses.first?.headers["ETag"], let entity = request.entity
        else { return nil }
        return StreamImage(
            entity: entity, property: request.modification.stream?.property, content: content, etag: etag)
    }

    /// The media entities whose content is sent with their creation.
    var createdMediaEntities: Set<EntityID> {
        Set(changeSets.flatMap(\.requests).filter { $0.content != nil }.compactMap(\.creates))
    }

    /// Returns a refusal for a stream whose file is lost. Such a stream can never be sent and must not block other
    /// operations.
    func refusal(_ error: TidelogError, _ contentID: String) -> ChangeSetOutcome? {
        guard writesStream, error.code == .damaged else { return nil }
        return .failed(WireResponse(status: 0, body: Array(error.message.utf8)), culprit: contentID)
    }

    /// The plan split into parts, in order, so that each stream write is alone.
    var partsByStream: [UploadPlan] {
        guard writesStream else { return [self] }
        var parts: [UploadPlan] = []
        for changeSet in changeSets {
            let single = UploadPlan(changeSets: [changeSet])
            if let last = parts.last, !last.writesStream, !single.writesStream {
                parts[parts.count - 1].changeSets.append(changeSet)
            } else {
                parts.append(single)
            }
        }
        return parts
    }
}

extension UploadRound.ServiceProfile {
    /// Returns the terms for sending the plan. A stream write is sent as if the service had no `$batch`.
    func serviceProfile(for plan: UploadPlan) -> Self {
        guard plan.writesStream else { return self }
        var serviceProfile = self
        serviceProfile.options.supportsBatch = false
        return serviceProfile
    }
}
