internal import EDM
internal import ODataWire

extension Sandbox {
    /// Handles `$batch` as multipart, or in V4 as JSON: the parts in order, and each change set atomically.
    mutating func batch(_ request: WireRequest, _ view: ServiceView) throws(SandboxError) -> WireResponse {
        guard view.capabilities.batch else { throw SandboxError(501, .notImplemented, "The service has no $batch.") }
        let contentType = request.headers["Content-Type"] ?? ""
        if !view.isLegacy, contentType.lowercased().hasPrefix("application/json") {
            return try jsonBatch(request, view)
        }
        let batch = try MultipartBatch(request, view, hasHeads: options.repeatability != nil)
        let stopsAtError = !view.isLegacy && !Preferences(request).continuesOnError
        var response = BatchResponse(parts: [])
        var etags = ETagReferences()
        for (index, part) in batch.parts.enumerated() {
            let part = view.capabilities.etagReferences ? part.resolved(etags) : part
            let (answer, isSuccess) = answer(to: part, head: batch.head(of: index), view)
            response.parts.append(answer)
            etags.add(answer)
            if activeFaults?.isCut == true || stopsAtError && !isSuccess { break }
        }
        return try batchWriter.write(response, activeFaults?.distortions ?? [], view)
    }

    private mutating func answer(
        to part: BatchPart, head: HTTPHeaders, _ view: ServiceView
    ) -> (BatchResponsePart, isSuccess: Bool) {
        switch part {
        case .query(let request):
            let response = single(request, view)
            return (.single(contentID: view.echo(request.headers["Content-ID"]), response), response.isSuccess)
        case .changeSet(let members):
            do throws(ChangeSetFailure) {
                return (.changeSet(try changeSet(members, head: head, view)), true)
            } catch {
                let response = view.response(to: error.error)
                let contentID = view.echo(error.contentID)
                if options.wrapsFailedChangeSets {
                    return (.changeSet([.init(contentID: contentID, response: response)]), false)
                }
                return (.single(contentID: contentID, response), false)
            }
        }
    }

    /// Executes a request outside of change sets: a query; in V4 also a modification.
    mutating func single(_ request: WireRequest, _ view: ServiceView) -> WireResponse {
        do throws(ChangeSetFailure) {
            return try underFaults([request]) { sandbox in [sandbox.unharmed(request, view)] }[0]
        } catch {
            return view.response(to: error.error)
        }
    }

    private mutating func unharmed(_ request: WireRequest, _ view: ServiceView) -> WireResponse {
        do throws(SandboxError) {
            let request = try view.untunnelled(request)
            switch request.method {
            case "GET", "HEAD": return try responder(view).read(request, &baselines)
            case _ where view.isLegacy:
                throw SandboxError(400, .invalidBatch, "\(request.method) must be inside a change set.")
            default:
                return try once(request) { sandbox throws(SandboxError) in try sandbox.modify(request, view) }
            }
        } catch {
            return view.response(to: error)
        }
    }

    /// Executes a change set.
    ///
    /// - Parameter head: The headers of the MIME part that contains the change set.
    mutating func changeSet(
        _ members: [BatchPart.Member], head: HTTPHeaders = .empty, _ view: ServiceView
    ) throws(ChangeSetFailure) -> [BatchResponsePart.MemberResponse] {
        let requests = members.map(\.request)
        let responses: [WireResponse]
        let before = state
        do throws(ChangeSetFailure) {
            responses = try underFaults(requests) { sandbox throws(ChangeSetFailure) in
                try sandbox.once(requests, head: head) { sandbox throws(ChangeSetFailure) in
                    try sandbox.perform(members, view)
                }
            }
        } catch {
            // A fault rejects a request before it has any effect.
            if let place = error.place, !view.capabilities.rollsBackChangeSets, state == before {
                _ = try? perform(Array(members[..<place]), view)
            }
            throw ChangeSetFailure(
                error: error.error, contentID: error.contentID ?? error.place.flatMap { members[$0].contentID })
        }
        return zip(members, responses).map { .init(contentID: view.echo($0.contentID), response: $1) }
    }

    private mutating func perform(
        _ members: [BatchPart.Member], _ view: ServiceView
    ) throws(ChangeSetFailure) -> [WireResponse] {
        let changeSet = ChangeSet(members, view)
        var left: Transaction?
        defer { if let left { keep(left) } }
        let (outcomes, transaction) = try changeSet.perform(on: state, leaving: &left)
        let before = state
        keep(transaction)
        let responder = responder(view)
        do throws(SandboxError) {
            return try zip(members, outcomes).map { member, outcome throws(SandboxError) in
                try responder.response(to: member.request, outcome)
            }
        } catch {
            state = before
            throw ChangeSetFailure(error: error, contentID: nil)
        }
    }
}

extension BatchPart {
    fileprivate func resolved(_ etags: ETagReferences) -> BatchPart {
        switch self {
        case .query(let request): .query(etags.resolved(request))
        case .changeSet(let members):
            .changeSet(members.map { Member(contentID: $0.contentID, request: etags.resolved($0.request)) })
        }
    }
}

extension ETagReferences {
    fileprivate mutating func add(_ part: BatchResponsePart) {
        switch part {
        case .single(let contentID, let response): add(response, to: contentID)
        case .changeSet(let members): for member in members { add(member.response, to: member.contentID) }
        }
    }
}

extension ServiceView {
    /// Returns the Content-ID to repeat. V4 responses must identify their request; V2 clients rely on the order.
    fileprivate func echo(_ contentID: String?) -> String? { isLegacy ? nil : contentID }
}
