import EDM
import ODataSandbox
import ODataQuery
import Operations
import SyncCore

extension Sequence {
    /// The execution of a sequence with one version of OData, and the results of its checks.
    struct Run {
        private let sequence: Sequence
        private let start: PureSession
        private(set) var session: PureSession
        private(set) var trace = Trace()
        /// The readLinks that were returned, with their entities.
        private var links: [String: EntityID] = [:]

        init(_ sequence: Sequence, _ start: PureSession) {
            self.sequence = sequence
            self.start = start
            session = start.copy()
            session.coalesces = sequence.seed % 3 == 0
        }

        mutating func take(_ step: Step) throws {
            switch step {
            case .synchronize: try synchronize()
            case .other(let request): _ = session.sandbox.handle(request)
            case .perform(let actions):
                do {
                    try session.perform(actions, asChangeSet: actions.count > 1)
                } catch ValidationError.refused(let refusal) {
                    trace.refused += 1
                    trace.lines.append("refused: \(refusal.code)")
                    return
                }
                trace.accepted += 1
                trace.lines.append("accepted")
                // A rejection by the service may have left a state that violates the invariants.
                guard !sequence.isShared else { return }
                trace.violations += try Checker(session: session).violations()
            }
        }

        private mutating func synchronize() throws {
            try handOutLinks()
            let before = try Graph.byID(session)
            trace.lines += before
            let upload = try session.push()
            trace.batches += upload.batches
            trace.violations += upload.doubts.map { "in doubt: \($0)" }
            if !sequence.isShared {
                trace.violations += upload.refusals.filter { !Self.isHonest($0) }.map {
                    "rejected by the service: \($0.method) \($0.url): \($0.message)"
                }
                try compare("after the upload")
            }
            try handOutLinks()
            try session.pull()
            try compare("after the download")
            try handOutLinks()
            guard try session.state.pendingOperations().isEmpty, !sequence.isShared else { return }
            let after = try Graph.byID(session)
            if before != after {
                trace.violations += difference("before the upload", before, "after the download", after)
            }
            trace.violations += try Checker(session: session).violations()
        }

        /// Whether only the service can detect the error: a missing value of a mandatory property without a default, or
        /// a dependent property that refers to an entity that exists nowhere.
        private static func isHonest(_ refusal: Refusal) -> Bool {
            refusal.message.contains("must have a value for") || refusal.message.contains("does not exist: ")
                // V2 cannot express a link in a collection to an entity of the same change set.
                || refusal.message.contains("The entity to be removed")
        }

        private mutating func compare(_ moment: String) throws {
            let isPending = try !session.state.pendingOperations().isEmpty
            let store = try Graph.ofStore(session, inBase: isPending)
            let service = Graph.ofService(session, sequence.sets)
            if store != service { trace.violations += difference("store \(moment)", store, "service", service) }
        }

        /// Checks expensive invariants, in every fourth sequence each.
        mutating func finish() throws {
            switch sequence.seed % 4 {
            case 0: try resolveLinks()
            case 1: try foldAgain(at: Int(sequence.seed / 4))
            default: break
            }
        }

        // MARK: Links

        private mutating func handOutLinks() throws {
            guard sequence.seed % 4 == 0 else { return }
            let names = EntityNames(storage: session.state, model: session.model, serviceRoot: session.root)
            try session.state.forEachRow { links[names.readLink($0)] = $0.id }
        }

        private mutating func resolveLinks() throws {
            let names = EntityNames(storage: session.state, model: session.model, serviceRoot: session.root)
            for (link, id) in links {
                let request = try ServiceRequest.parse(link, model: session.model, version: session.model.version)
                guard case .entitySet(let set)? = request.path.segments.first, request.path.segments.count == 2,
                    case .key(let selector) = request.path.segments[1]
                else {
                    trace.violations.append("\(link) is no link of one entity.")
                    continue
                }
                let found: EntityID? =
                    switch selector {
                    case .entityID(let number): EntityID(rawValue: number)
                    case .key(let key): try names.entity(set: set.name, key: key)
                    }
                // A natural key may belong to another entity by now.
                let isReused = try session.state.row(id) == nil && found.flatMap { try session.state.row($0) } != nil
                if found != id, !isReused {
                    trace.violations.append("\(link) led to \(id), and now to \(found as Any).")
                }
            }
        }

        // MARK: Fold

        /// Checks that fold(a + b) = fold(fold(a), b): in one pass, and in two parts.
        private mutating func foldAgain(at point: Int) throws {
            let expected = try StateDigest(of: session.state)
            if session.state.digest != expected {
                trace.violations.append("The incremental digest differs from the digest of the state.")
            }
            var whole = start.copy()
            for body in session.records { try whole.log(body, settling: false) }
            try whole.finishRebase()
            if try StateDigest(of: whole.state) != expected { trace.violations.append("Folded in one go it differs.") }
            let cut = point % (session.records.count + 1)
            var first = start.copy()
            for body in session.records.prefix(cut) { try first.log(body, settling: false) }
            try first.finishRebase()
            // Some runs restore the first part from a snapshot. Not all do, because this parses the metadata.
            var second = first
            if point % 25 == 0 {
                let state = WorkingSet()
                var restoration = StateRestoration(into: state)
                try first.writeSnapshot { try restoration.add(kind: $0, payload: $1) }
                _ = try restoration.finish()
                second = first.resumed(from: state)
            }
            for body in session.records.dropFirst(cut) { try second.log(body) }
            if try StateDigest(of: second.state) != expected {
                trace.violations.append("Folded in two parts, cut behind record \(cut), it differs.")
            }
        }
    }
}
