import EDM
import ODataSandbox
import ODataWire
import OfflineStore
import Operations
import SeededRandom
import SyncCore

/// A simulation of cut connections between clients and a service that generates the keys and supports no repeatability.
/// All choices are drawn from one seed.
///
/// After each cut, every create that a client considers confirmed must exist on the service exactly once, counted by
/// equal contents.
package struct CutSimulation {
    /// The content that is created when the connection is cut.
    package enum Scenario: String, Sendable, Hashable, CaseIterable {
        /// One entity with unique values.
        case unique
        /// One entity with unique values, and an entity that is linked to it, in one change set. The link is a part of the
        /// second creation, or an operation of its own.
        case linked
        /// Two equal entities from the same client in one batch.
        case twins
        /// Two equal entities, of which the second is created while the first is in doubt.
        case laterTwin
        /// An entity with common values that a different client creates as well at the same time.
        case foreignTwin
        /// An entity with unique values that a different client creates as well: the case in which evidence can be
        /// misleading.
        case stranger

        /// The contents for which the engine guarantees neither loss nor duplication.
        static let promised = allCases.filter { $0 != .stranger }

        /// Whether the state of the service shows which entities the client has created, so that no user is required.
        package var isUnambiguous: Bool {
            switch self {
            case .unique, .linked, .twins, .laterTwin: true
            case .foreignTwin, .stranger: false
            }
        }
    }

    package struct Outcome: Sendable {
        /// The cuts under the policy `evidence`.
        package var cuts: [Scenario: Int] = [:]
        /// The number of cuts under other policies.
        package var others = 0
        /// The number of ``cuts`` that were resolved without the user.
        package var settled: [Scenario: Int] = [:]
        package var violations: [String] = []
    }

    let seed: UInt64
    let cuts: Int
    /// Whether to include cases that no client can prevent, to verify that they are detected.
    let drawsResidue: Bool

    package init(seed: UInt64, cuts: Int, drawsResidue: Bool = false) {
        self.seed = seed
        self.cuts = cuts
        self.drawsResidue = drawsResidue
    }

    package func run() async -> Outcome {
        var run = Run(seed: seed, drawsResidue: drawsResidue)
        do {
            try await run.play(cuts)
        } catch {
            run.outcome.violations.append("seed \(seed): \(error)")
        }
        return run.outcome
    }

    private struct Run {
        let seed: UInt64
        let drawsResidue: Bool
        var random: SeededRandom
        let world: CutService
        let root: String
        let options: ServiceOptions
        var clients: [CutClient] = []
        var outcome = Outcome()
        var names = 0

        init(seed: UInt64, drawsResidue: Bool) {
            self.seed = seed
            self.drawsResidue = drawsResidue
            random = SeededRandom(seed: seed)
            let isV4 = random.chance(50)
            root = FieldService.origin + (isV4 ? "/v4/" : "/v2/")
            var options = ServiceOptions()
            if isV4, random.chance(30) { options.batchFormat = .json }
            if random.chance(15) { options.supportsBatch = false }
            if !drawsResidue, random.chance(10) { options.doubts = [.ask, .correlation][random.below(2)] }
            self.options = options
            var sandbox = FieldService.seeded
            if random.chance(30) { sandbox.options.pageSize = 2 }
            sandbox.options.capabilities.batch = options.supportsBatch
            world = CutService(sandbox, seed: seed)
        }

        mutating func play(_ cuts: Int) async throws {
            for number in 0..<2 {
                clients.append(try await CutClient(world, number: number, root: root, options: options))
            }
            for _ in 0..<cuts where outcome.violations.isEmpty { try await cut() }
            for client in clients { await client.close() }
        }

        private mutating func cut() async throws {
            let contents = drawsResidue ? Scenario.allCases : Scenario.promised
            let content = contents[random.below(contents.count)]
            let cuts = drawsResidue ? ConnectionCut.allCases : ConnectionCut.allCases.filter { $0 != .muchTooLate }
            let cut = cuts[random.below(cuts.count)]
            let (client, other) = (clients[random.below(2)], clients[0])
            let stranger = client === other ? clients[1] : other
            let calls = calls(content)
            let second = content == .laterTwin || content == .foreignTwin || content == .stranger ? calls : []
            try await client.perform(calls, asChangeSet: content == .linked)
            let delay = cut == .muchTooLate ? 500 + Int64(random.below(3_000)) : 1 + Int64(random.below(110))
            world.cut(cut, delay: delay)
            _ = try await client.upload()
            if content == .laterTwin { try await client.perform(second, asChangeSet: false) }
            if content == .foreignTwin || content == .stranger {
                try await stranger.perform(second, asChangeSet: false)
                _ = try await stranger.upload()
            }
            if random.chance(10) { try await client.restart() }
            if random.chance(10) { world.clock.advance(milliseconds: -Int64(random.below(3_600_000))) }
            // Before the next upload searches for the entities in doubt.
            let isBrought = random.chance(40)
            if isBrought { try await client.download() }
            for pause in [0, random.below(60), 60, 300, 3_600] {
                world.pass(seconds: Int64(pause))
                _ = try await client.upload()
            }
            let name = "\(content), \(cut)\(isBrought ? ", downloaded" : "")"
            let doubts = try await client.doubts.map(\.sequence)
            if options.doubts == .evidence {
                outcome.cuts[content, default: 0] += 1
                if doubts.isEmpty {
                    outcome.settled[content, default: 0] += 1
                } else if content.isUnambiguous, !drawsResidue {
                    outcome.violations.append("seed \(seed): doubt (\(name)): \(doubts) need no user.")
                }
            } else {
                outcome.others += 1
            }
            if !doubts.isEmpty { try await resolveInDoubt(client) }
            world.pass(seconds: 600)
            for client in clients { try await client.download() }
            try await check(name)
        }

        // MARK: Contents

        private mutating func calls(_ content: Scenario) -> [Intent] {
            let set = ["Customers", "Labels"][random.below(2)]
            switch content {
            case .unique, .laterTwin, .stranger: return [.create(draft(0, set, unique()), in: nil)]
            case .twins:
                let mark = unique()
                return [.create(draft(0, set, mark), in: nil), .create(draft(1, set, mark), in: nil)]
            case .foreignTwin: return [.create(draft(0, set, ["a", "new", "Visit"][random.below(3)]), in: nil)]
            case .linked: return linked(draft(0, "Customers", unique()))
            }
        }

        /// Returns the creation of a customer, and of an order or a label that is linked to it.
        private mutating func linked(_ customer: EntityDraft) -> [Intent] {
            let creation = Intent.create(customer, in: nil)
            var order = draft(1, "Orders", random.chance(50) ? "new" : unique())
            // Without batches, a change set of several requests is held back.
            switch options.supportsBatch ? random.below(4) : 0 {
            case 0:
                order.bindings = [BindingDraft(navigation: "Customer", targets: [.draft(0)])]
                return [creation, .create(order, in: nil)]
            case 1:
                return [creation, .create(order, in: Intent.Parent(entity: .draft(0), navigation: "Orders"))]
            case 2:
                return [
                    creation, .create(order, in: nil),
                    .updateLink(from: .draft(1), navigation: "Customer", to: .draft(0)),
                ]
            default:
                // No property of the label determines the link.
                return [
                    creation, .create(draft(1, "Labels", unique()), in: nil),
                    .createLink(from: .draft(0), navigation: "Labels", to: .draft(1)),
                ]
            }
        }

        private func draft(_ number: Int, _ set: String, _ mark: String) -> EntityDraft {
            EntityDraft(number: number, set: set, type: FieldService.type(of: set), values: ["Mark": .string(mark)])
        }

        private mutating func unique() -> String {
            names += 1
            let letters = (0..<6).map { _ in String("bcdfghklmnprstvz".randomElement(using: &random) ?? "x") }.joined()
            return "\(letters) \(names)"
        }

        // MARK: The user

        /// Resolves doubts as the user would: of each content, the excess on the service over the confirmed creations
        /// must be the entities in doubt.
        private mutating func resolveInDoubt(_ client: CutClient) async throws {
            for pending in try await client.doubts {
                guard try await client.doubts.contains(where: { $0.sequence == pending.sequence }) else { continue }
                let marks = client.created[pending.sequence] ?? []
                let (there, done) = (counts(), try await confirmed())
                let isThere = marks.contains { there[$0, default: 0] > done[$0, default: 0] }
                _ = try await client.store.doubts.resolveInDoubt(pending.sequence, as: isThere ? .tookEffect : .resend)
            }
            _ = try await client.upload()
        }

        // MARK: Invariants

        private func counts() -> [String: Int] {
            FieldService.sets.flatMap { world.contents(of: $0) }.reduce(into: [:]) { counts, values in
                if let mark = values["Mark"]?.stringValue { counts[mark, default: 0] += 1 }
            }
        }

        private func confirmed() async throws -> [String: Int] {
            var counts: [String: Int] = [:]
            for client in clients { counts.merge(try await client.confirmed(), uniquingKeysWith: +) }
            return counts
        }

        private mutating func check(_ name: String) async throws {
            let (there, done) = (counts(), try await confirmed())
            for (mark, count) in done.sorted(by: { $0.key < $1.key }) where there[mark, default: 0] != count {
                let kind = there[mark, default: 0] > count ? "duplicate" : "loss"
                outcome.violations.append(
                    "seed \(seed): \(kind) (\(name)): \(mark) is there \(there[mark, default: 0]) times, and done \(count)."
                )
            }
            for (number, client) in clients.enumerated() where try await client.doubts.isEmpty {
                // As lists, because equal entities have the same line.
                let (local, remote) = (try await FieldService.lines(of: client.store).sorted(), world.lines.sorted())
                guard local != remote else { continue }
                let difference = LineDifference(local, remote)
                outcome.violations.append(
                    "seed \(seed): client \(number) differs (\(name)): \(difference.missing) \(difference.additional), \(local.count) and \(remote.count) entities"
                )
            }
        }
    }
}

/// A sweep over many cuts, with the combined outcome.
package struct CutSweep: Sendable {
    package let cuts: Int
    package let firstSeed: UInt64
    package let drawsResidue: Bool

    private static let cutsOfRun = 10

    package init(cuts: Int, firstSeed: UInt64 = 1, drawsResidue: Bool = false) {
        self.cuts = cuts
        self.firstSeed = firstSeed
        self.drawsResidue = drawsResidue
    }

    package func run() async -> CutSimulation.Outcome {
        var whole = CutSimulation.Outcome()
        await withTaskGroup(of: CutSimulation.Outcome.self) { group in
            var started = 0
            func start() {
                guard started * Self.cutsOfRun < cuts else { return }
                let simulation = CutSimulation(
                    seed: firstSeed + UInt64(started), cuts: Self.cutsOfRun, drawsResidue: drawsResidue)
                started += 1
                group.addTask { await simulation.run() }
            }
            for _ in 0..<2 { start() }
            while let outcome = await group.next() {
                whole.cuts.merge(outcome.cuts, uniquingKeysWith: +)
                whole.settled.merge(outcome.settled, uniquingKeysWith: +)
                whole.others += outcome.others
                whole.violations += outcome.violations
                start()
            }
        }
        return whole
    }
}

extension CutSimulation.Outcome {
    package var summary: String {
        let kinds = CutSimulation.Scenario.allCases.filter { cuts[$0] != nil }.map { content in
            "\(content) \(settled[content, default: 0]) of \(cuts[content, default: 0])"
        }
        let (all, alone) = (cuts.values.reduce(0, +), settled.values.reduce(0, +))
        let duplicates = violations.count { $0.contains(": duplicate (") }
        let losses = violations.count { $0.contains(": loss (") }
        return """
            simulated cuts: \(all + others); resolved by evidence: \(alone) of \(all) \
            (\(kinds.joined(separator: ", ")))
            duplicates: \(duplicates); losses: \(losses); other findings: \(violations.count - duplicates - losses)
            """
    }
}
