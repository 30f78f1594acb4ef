import EDM
import ODataSandbox
import ODataWire
import Operations
import SyncCore
import TestSupport
import Testing
@testable import OfflineStore

/// Linked entities that a download delivers while their creations, in one change set, are in doubt.
struct LinkedDuplicateTests {
    typealias Way = DownloadedDuplicateTests.Way

    enum Pair: String, CaseIterable, Sendable {
        /// Dependent properties determine the link.
        case customerAndOrder, personAndCard
        /// No property determines the link.
        case supplierAndProduct
        /// A link operation follows the creations.
        case supplierAndProductLinkedLater
        /// The content of the second entity is not distinctive.
        case customerAndPlainOrder, supplierAndPlainProduct

        var first: String {
            switch self {
            case .customerAndOrder, .customerAndPlainOrder: "Customers"
            case .supplierAndProduct, .supplierAndPlainProduct, .supplierAndProductLinkedLater: "Suppliers"
            case .personAndCard: "Persons"
            }
        }

        /// The set of the second entity, its navigation property to the first one, and its property with the content.
        var second: (set: String, navigation: String, property: String) {
            switch self {
            case .customerAndOrder, .customerAndPlainOrder: ("Orders", "Customer", "Note")
            case .supplierAndProduct, .supplierAndPlainProduct, .supplierAndProductLinkedLater:
                ("Products", "Suppliers", "Name")
            case .personAndCard: ("IDCards", "Person", "Number")
            }
        }

        var isSecondPlain: Bool { self == .customerAndPlainOrder || self == .supplierAndPlainProduct }
    }

    private let time = VirtualTime()

    /// Creates a pair, whose response is lost, and downloads it.
    ///
    /// - Returns: The shop, and the readLinks of the pair.
    private func shop(_ pair: Pair, _ way: Way) async throws -> (Shop, first: String, second: String) {
        let shop = try await way.shop(time, correlation: [pair.first: "Name"])
        let isBound = pair != .supplierAndProductLinkedLater
        let text = pair.isSecondPlain ? "x" : "Slow green turtle"
        let first = try await shop.draft(0, pair.first, ["Name": .string("Quick blue fox")])
        let second = try await shop.draft(
            1, pair.second.set, [pair.second.property: .string(text)],
            bind: isBound ? [BindingDraft(navigation: pair.second.navigation, targets: [.draft(0)])] : [])
        let link = Intent.createLink(from: .draft(1), navigation: pair.second.navigation, to: .draft(0))
        let intents = [Intent.create(first, in: nil), .create(second, in: nil)] + (isBound ? [] : [link])
        let results = try await shop.store.perform(intents.map { ($0, IntentOptions()) }, asChangeSet: true)
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        try await shop.pull()
        return (
            shop, try #require(results[0].entities[0]?.readLink), try #require(results[1].entities[1]?.readLink)
        )
    }

    private func expectAgreement(
        _ shop: Shop, _ moment: Comment, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        // As lists, because the same entity twice has the same line.
        let (local, remote) = (try await shop.localState().sorted(), try await shop.serviceState().sorted())
        #expect(local == remote, moment, sourceLocation: sourceLocation)
    }

    @Test(arguments: Pair.allCases, Way.all)
    func `linked entities that were downloaded while in doubt are in the store once, with their link`(
        _ pair: Pair, _ way: Way
    ) async throws {
        let (shop, first, second) = try await shop(pair, way)
        #expect(try await shop.push().remaining == 0)
        try await expectAgreement(shop, "after the upload")
        #expect(
            try await shop.targets(second, pair.second.navigation) == [try await shop.load(first).readLink])
        for moment in ["after a download", "after a further download"] {
            try await shop.pull()
            try await expectAgreement(shop, "\(moment)")
        }
        let place = try await shop.load(second).readLink
        #expect(!place.contains("~"))
        shop.transport.direct(
            "PATCH", "/v4/\(place)", "{\"\(pair.second.property)\":\"Changed by others\"}", headers: ["If-Match": "*"])
        try await shop.pull()
        #expect(try await shop.value(second, pair.second.property) == .string("Changed by others"))
        try await expectAgreement(shop, "after a change by another client")
        shop.transport.direct("DELETE", "/v4/\(place)", headers: ["If-Match": "*"])
        try await shop.pull()
        try await expectAgreement(shop, "after a deletion by another client")
    }

    @Test(arguments: [Pair.customerAndOrder, .supplierAndProduct, .personAndCard], Way.all)
    func `an entity that the app linked to a downloaded one keeps its link when the creation is confirmed`(
        _ pair: Pair, _ way: Way
    ) async throws {
        let shop = try await way.shop(time, correlation: [pair.first: "Name"])
        let first = try await shop.create(pair.first, ["Name": .string("Quick blue fox")])
        shop.transport.add(Fault(.dropAnswer, urlPart: "$batch"))
        await #expect(throws: TidelogError.self) { try await shop.push() }
        try await shop.pull()
        let downloaded = try #require(
            try await shop.store.query("\(pair.first)?$filter=Name eq 'Quick blue fox'").entities.map(\.readLink)
                .first { $0 != first })
        let second = try await shop.create(
            pair.second.set, [pair.second.property: .string("Slow green turtle")],
            bind: [bind(pair.second.navigation, downloaded)])
        var rounds = 0
        while try await shop.push().remaining > 0, rounds < 3 { rounds += 1 }
        for _ in 1...2 { try await shop.pull() }
        try await expectAgreement(shop, "after the downloads")
        #expect(try await shop.targets(second, pair.second.navigation).count == 1)
    }

    @Test(arguments: Pair.allCases, Way.all)
    func `a change that was made after the download is sent to the only copy of the entity`(
        _ pair: Pair, _ way: Way
    ) async throws {
        let (shop, _, second) = try await shop(pair, way)
        let property = pair.second.property
        try await shop.perform(update(second, [property: .string("Changed here")]))
        _ = try await shop.push()
        #expect(try await shop.push().remaining == 0)
        try await expectAgreement(shop, "after the upload")
        try await shop.pull()
        try await expectAgreement(shop, "after a download")
        #expect(try await shop.value(second, property) == .string("Changed here"))
    }
}
