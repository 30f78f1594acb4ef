import ODataWire
import Operations
import SyncCore
import Transport

/// Requests that write streams: each by itself, its body straight from the file.
extension UploadRound {
    /// Sends the request of a plan, with the bytes of its stream where it has some.
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
    /// How long the content is that goes with its request.
    var streamBytes: Int {
        changeSets.first?.requests.first?.content.map { Int(clamping: $0.byteCount) } ?? 0
    }

    /// The stream with its new ETag, where the service tells it with its answer: the next change has to carry it. Nil where
    /// the plan writes none.
    func streamImage(after outcomes: [ChangeSetOutcome]) -> StreamImage? {
        guard writesStream, let request = changeSets.first?.requests.first, let content = request.content,
            case .update = request.modification.action, case .members(let responses)? = outcomes.first,
            let etag = responses.first?.headers["ETag"], let entity = request.entity
        else { return nil }
        return StreamImage(
            entity: entity, property: request.modification.stream?.property, content: content, etag: etag)
    }

    /// The media entities whose content the plan sends with their creation.
    var createdMediaEntities: Set<EntityID> {
        Set(changeSets.flatMap(\.requests).filter { $0.content != nil }.compactMap(\.creates))
    }

    /// As if the service had refused it: a stream whose file is lost can never be sent, and must keep nothing else from going.
    func refusal(_ error: TidelogError, _ contentID: String) -> ChangeSetOutcome? {
        guard writesStream, error.code == .damaged else { return nil }
        return .failed(WireResponse(status: 0, body: Array(error.message.utf8)), culprit: contentID)
    }

    /// The plan in order, in pieces, so that what writes a stream is alone.
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

extension UploadRound.Terms {
    /// Those by which the plan is sent: what writes a stream goes as if there were no `$batch`.
    func terms(for plan: UploadPlan) -> Self {
        guard plan.writesStream else { return self }
        var terms = self
        terms.options.supportsBatch = false
        return terms
    }
}
