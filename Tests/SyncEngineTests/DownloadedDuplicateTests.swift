import EDM
import ODataSandbox
import ODataWire
import Operations
import TestSupport
import Testing
@testable import OfflineStore

/// Entities that a download delivers while their creation is in doubt.
struct DownloadedDuplicateTests {
    /// The proof that the creation took effect.
    enum Proof: String, CaseIterable, Sendable {
        /// The service answers the repeated request with the former response.
        case oasis, sap
        /// A unique property.
        case correlation
        /// The content of the entity.
        case content
    }

    struct Way: Sendable, CustomTestStringConvertible {
        let dialect: Dialect
        let proof: Proof
        let hasDeltas: Bool

        var testDescription: String { "\(dialect), \(proof)\(hasDeltas ? ", deltas" : "")" }

        static let all = Dialect.allCases.flatMap { dialect in
            Proof.allCases.flatMap { proof in
                [true, false].map { Way(dialect: dialect, proof: proof, hasDeltas: $0) }
            }
        }

        /// Returns a shop whose service gives this proof.
        ///
        /// - Parameter correlation: The unique property of each set.
        func shop(_ time: VirtualTime, correlation: [String: String]) async throws -> Shop {
            let shop = try await Shop(
                dialect, options: LocalStoreOptions(environment: time.environment),
                deltas: hasDeltas ? Deltas(.flat) : nil)
            var service = ServiceOptions(tellsDeletionsInV2: true)
            switch proof {
            case .oasis: service.repeatability = .oasis
            case .sap: service.repeatability = .sap
            case .correlation: service.correlationProperties = correlation
            case .content: break
            }
            shop.transport.change {
                switch proof {
                case .oasis: $0.options.repeatability = Repeatability(.oasis)
                case .sap: $0.options.repeatability = Repeatability(.sap)
                case .correlation, .content: break
                }
            }
            await shop.store.use(service)
            return shop
        }
    }

    private let time = VirtualTime()

    /// Creates a supplier and a visit, whose response is lost, and downloads both.
    ///
    /// - Returns: The shop, and the readLink of the supplier.
    private func shop(_ way: Way) async throws -> (Shop, supplier: String) {
        let shop = try await way.shop(time, correlation: ["Suppliers": "Name"])
        let supplier = try await shop.create(
            "Suppliers", ["Name": .string("Quick blue fox")], bind: [bind("Products", "Products(1)")])
        try await shop.create(
            "Visits", ["VisitID": .guid(GuidValue(high: 7, low: 1)), "Subject": .string("Quick blue fox")])
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        try await shop.pull()
        return (shop, supplier)
    }

    private func expectAgreement(
        _ shop: Shop, _ moment: Comment, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        // As lists, because the same entity twice has the same line.
        let (local, remote) = (try await shop.localState().sorted(), try await shop.serviceState().sorted())
        #expect(local == remote, moment, sourceLocation: sourceLocation)
    }

    @Test(arguments: Way.all)
    func `an entity that was downloaded while its creation was in doubt is in the store once`(_ way: Way) async throws {
        let (shop, supplier) = try await shop(way)
        #expect(try await shop.push().remaining == 0)
        try await expectAgreement(shop, "after the upload")
        #expect(try await shop.load(supplier).readLink == "Suppliers(3)")
        for moment in ["after a download", "after a further download"] {
            try await shop.pull()
            try await expectAgreement(shop, "\(moment)")
        }
        shop.transport.direct("PATCH", "/v4/Suppliers(3)", #"{"Name":"Changed by others"}"#)
        try await shop.pull()
        #expect(try await shop.value(supplier, "Name") == .string("Changed by others"))
        try await expectAgreement(shop, "after a change by another client")
        shop.transport.direct("DELETE", "/v4/Suppliers(3)")
        try await shop.pull()
        try await expectAgreement(shop, "after a deletion by another client")
    }

    // The content is a proof only without changes by other clients.
    @Test(arguments: Way.all.filter { $0.proof != .content })
    func `a change by another client before the download is not replaced by the response to the creation`(
        _ way: Way
    ) async throws {
        let (shop, supplier) = try await shop(way)
        // The correlation property has to stay.
        let changes = way.proof == .correlation ? #"{"Name":"Quick blue fox"}"# : #"{"Name":"Changed by others"}"#
        shop.transport.direct("PATCH", "/v4/Suppliers(3)", changes)
        try await shop.pull()
        #expect(try await shop.push().remaining == 0)
        try await expectAgreement(shop, "after the upload")
        try await shop.perform(update(supplier, ["Name": .string("Changed here")]))
        #expect(try await shop.push().remaining == 0)
        try await shop.pull()
        try await expectAgreement(shop, "after a change in the store")
        #expect(try await shop.value(supplier, "Name") == .string("Changed here"))
    }

    @Test(arguments: [true, false])
    func `a downloaded entity with pending changes stays until a full download, which reports a conflict or removes it`(
        _ hasDeltas: Bool
    ) async throws {
        let (shop, supplier) = try await shop(Way(dialect: .v4, proof: .oasis, hasDeltas: hasDeltas))
        let twin = try #require(
            try await shop.store.query("Suppliers?$filter=Name eq 'Quick blue fox'").entities.map(\.readLink)
                .first { $0 != supplier })
        try await shop.perform(update(twin, ["Name": .string("Changed in the copy")]))
        _ = try await shop.push()
        for _ in 1...2 {
            try await shop.pull()
            _ = try await shop.push()
        }
        #expect(try await shop.serviceState(["Suppliers"]).count == 3)
        let left = try await shop.store.query("Suppliers").entities.count
        let open = try await shop.store.queue.pendingOperations()
        #expect(left == 3 || !open.isEmpty, "\(left) suppliers, open: \(open)")
    }
}
