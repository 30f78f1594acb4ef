import EDM
import ODataSandbox
import ODataWire
import Operations
import TestSupport
import Testing

@testable import OfflineStore
@testable import SyncEngine

/// Creations whose responses contain neither a location nor a body, so that the keys are unknown.
struct KeylessCreationTests {
    struct Way: Sendable, CustomTestStringConvertible {
        let dialect: Dialect
        let hasDeltas: Bool
        let isDownloaded: Bool
        let later: String

        var testDescription: String { "\(dialect), deltas \(hasDeltas), downloaded \(isDownloaded), later \(later)" }

        static let all = Dialect.allCases.flatMap { dialect in
            [true, false].flatMap { deltas in
                [true, false].flatMap { downloaded in
                    ["", "update", "link", "delete"].map {
                        Way(dialect: dialect, hasDeltas: deltas, isDownloaded: downloaded, later: $0)
                    }
                }
            }
        }
    }

    @Test(arguments: Way.all)
    func `a created entity without a known key is removed when the service no longer has it`(
        _ way: Way
    ) async throws {
        let shop = try await Shop(way.dialect, deltas: way.hasDeltas ? Deltas(.flat) : nil)
        await shop.store.use(ServiceOptions(tellsDeletionsInV2: true))
        let supplier = try await shop.create("Suppliers", ["Name": .string("Quick blue fox")])
        for distortion in [Fault.PayloadCorruption.withoutLocation, .withoutBody] {
            shop.transport.add(Fault(.distort(distortion), urlPart: "$batch"))
        }
        #expect(try await shop.push().remaining == 0)
        #expect(try await shop.load(supplier).readLink == supplier)
        #expect(shop.transport.direct("GET", "/v4/Suppliers(3)").status == 200)
        switch way.later {
        case "update": try await shop.perform(update(supplier, ["Name": .string("changed")]))
        case "link":
            let link = Intent.createLink(from: .link("Products(1)"), navigation: "Suppliers", to: .link(supplier))
            try await shop.perform(link)
        case "delete": try await shop.perform(.delete(.link(supplier)))
        default: break
        }
        if way.isDownloaded { try await shop.pull() }
        shop.transport.direct("DELETE", "/v4/Suppliers(3)")
        for _ in 1...2 {
            try await shop.pull()
            _ = try await shop.push()
        }
        let left = try await shop.store.queue.pendingOperations()
        if !left.isEmpty { _ = try await shop.store.queue.undo(.everything) }
        #expect(try await shop.localState() == shop.serviceState())
        try await shop.pull()
        #expect(try await shop.localState() == shop.serviceState())
    }
}
