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
        guard contentType.lowercased().hasPrefix("multipart/mixed") else {
            throw SandboxError(415, .invalidBatch, "A batch must be multipart/mixed, not \(contentType).")
        }
        let batch: BatchRequest
        do {
            batch = try MultipartBatchReader().readRequest(request.body, contentType: contentType)
        } catch {
            throw SandboxError(400, .invalidBatch, "The batch cannot be read: \(error)")
        }
        try requireContentIDs(batch, view)
        let heads = try partHeads(of: request)
        let stopsAtError = !view.isLegacy && !Preferences(request).continuesOnError
        var response = BatchResponse(parts: [])
        var etags = ETagReferences()
        for (index, part) in batch.parts.enumerated() {
            let part = view.capabilities.etagReferences ? part.resolved(etags) : part
            let (answer, isSuccess) = answer(to: part, head: heads.isEmpty ? .empty : heads[index], view)
            response.parts.append(answer)
            etags.add(answer)
            if activeFaults?.isCut == true || stopsAtError && !isSuccess { break }
        }
        return try write(response, view)
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
            case "GET", "HEAD": return try read(request, view)
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
        do throws(SandboxError) {
            return try zip(members, outcomes).map { member, outcome throws(SandboxError) in
                try response(to: member.request, outcome, view)
            }
        } catch {
            state = before
            throw ChangeSetFailure(error: error, contentID: nil)
        }
    }

    /// Returns the headers of the MIME parts, which may contain identifiers of repeatable requests.
    private func partHeads(of request: WireRequest) throws(SandboxError) -> [HTTPHeaders] {
        guard options.repeatability != nil else { return [] }
        do {
            let type = request.headers["Content-Type"] ?? ""
            return try MultipartBatchReader().document(request.body, contentType: type).parts.map(\.headers)
        } catch {
            throw SandboxError(400, .invalidBatch, "The batch cannot be read: \(error)")
        }
    }

    /// Checks that each member of a V4 change set has a Content-ID of its own (OData 4.01 Part 1, 11.7.2), and that the
    /// response can repeat it. After the requests were executed, an error would be too late.
    private func requireContentIDs(_ batch: BatchRequest, _ view: ServiceView) throws(SandboxError) {
        guard !view.isLegacy else { return }
        var seen: Set<String> = []
        for part in batch.parts {
            switch part {
            case .query(let request):
                if let id = request.headers["Content-ID"] { try requireEchoable(id) }
            case .changeSet(let members):
                for member in members {
                    guard let id = member.contentID else {
                        throw SandboxError(400, .invalidBatch, "A request within a change set has no Content-ID.")
                    }
                    try requireEchoable(id)
                    guard seen.insert(id).inserted else {
                        throw SandboxError(400, .invalidBatch, "The Content-ID \(id) occurs twice in the batch.")
                    }
                }
            }
        }
    }

    private func requireEchoable(_ contentID: String) throws(SandboxError) {
        guard HTTPHeaders.obstacle("Content-ID", contentID) == nil else {
            throw SandboxError(
                400, .invalidBatch, "A Content-ID contains characters that a header field must not contain.")
        }
    }

    private mutating func write(_ batch: BatchResponse, _ view: ServiceView) throws(SandboxError) -> WireResponse {
        let distortions = activeFaults?.distortions ?? []
        let batch = batch.distorted(distortions)
        // A body may contain any text, including the boundary. In that case the next boundary is tried.
        for _ in 0..<8 {
            batches += 1
            let boundary = "batchresponse_\(batches)"
            let bytes = try? MultipartBatchWriter().write(batch, boundary: boundary) {
                "\(boundary)_changeset_\($0 + 1)"
            }
            if let bytes {
                let type = MultipartBatchWriter.contentType(
                    boundary: distortions.contains(.wrongBoundary) ? "another" : boundary)
                return view.response(view.isLegacy ? 202 : 200, ["Content-Type": type], body: bytes)
            }
        }
        throw SandboxError(500, .invalidBatch, "The responses cannot be encoded as a batch.")
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

extension BatchResponse {
    fileprivate func distorted(_ distortions: Set<Fault.PayloadCorruption>) -> BatchResponse {
        var batch = self
        if distortions.contains(.unclosed) { batch.isClosed = false }
        if distortions.contains(.reversedParts) { batch.parts.reverse() }
        if distortions.contains(.reversed) {
            batch.parts = batch.parts.map { part in
                guard case .changeSet(let members) = part else { return part }
                return .changeSet(members.reversed())
            }
        }
        return batch
    }
}

extension ServiceView {
    /// Returns the Content-ID to repeat. V4 responses must identify their request; V2 clients rely on the order.
    fileprivate func echo(_ contentID: String?) -> String? { isLegacy ? nil : contentID }
}

/// The reason for the rollback of a change set, and the request that caused it, if it is known.
struct ChangeSetFailure: Error, Hashable {
    var error: SandboxError
    let contentID: String?
    /// The index of the request, counted from 0.
    var place: Int?
}

/// The modifications of one change set.
struct ChangeSet {
    private let members: [BatchPart.Member]
    private let view: ServiceView
    /// For each member, the Content-IDs of the change set that it refers to.
    private let references: [Set<String>]
    private let identifiers: Set<String>

    init(_ members: [BatchPart.Member], _ view: ServiceView) {
        self.members = members
        self.view = view
        let identifiers = Set(members.compactMap(\.contentID))
        self.identifiers = identifiers
        references = members.map { ContentIDReferences.all(in: $0.request).intersection(identifiers) }
    }

    /// Executes the members atomically. The returned transaction is finished and may be kept.
    ///
    /// - Parameter left: The changes that remain if the change set is rejected and the service does not roll back.
    func perform(
        on state: SandboxState, leaving left: inout Transaction?
    ) throws(ChangeSetFailure) -> ([ModificationOutcome], Transaction) {
        var modifications = Modifications(view: view, state: state)
        var outcomes: [ModificationOutcome] = Array(repeating: .done, count: members.count)
        var waiting = Array(members.indices)
        while !waiting.isEmpty {
            // V2 change sets are unordered: a request waits for those that it refers to. V4 permits backward references
            // only.
            let ready = waiting.firstIndex { references[$0].isSubset(of: modifications.contentIDs.keys) }
            let index = waiting.remove(at: view.isLegacy ? ready ?? 0 : 0)
            let member = members[index]
            do throws(SandboxError) {
                let request = try view.untunnelled(member.request)
                try view.requireReferences(of: member.request, among: identifiers)
                guard request.method != "GET", request.method != "HEAD" else {
                    throw SandboxError(400, .invalidBatch, "A change set must not contain \(request.method).")
                }
                outcomes[index] = try modifications.perform(request)
            } catch {
                throw ChangeSetFailure(error: error, contentID: member.contentID)
            }
            if let id = member.contentID, let row = outcomes[index].row { modifications.contentIDs[id] = row }
            if !view.capabilities.rollsBackChangeSets { keep(modifications.transaction, in: &left) }
        }
        do throws(SandboxError) {
            try modifications.transaction.finish()
        } catch {
            let culprit = members.indices.last { error.row != nil && outcomes[$0].row == error.row }
            throw ChangeSetFailure(error: error, contentID: culprit.flatMap { members[$0].contentID })
        }
        left = nil
        return (outcomes, modifications.transaction)
    }

    /// Keeps the changes so far if they satisfy all rules.
    private func keep(_ transaction: Transaction, in left: inout Transaction?) {
        var transaction = transaction
        do throws(SandboxError) {
            try transaction.finish()
            left = transaction
        } catch {}
    }
}
