import EDM
import HTTPTypes
import OfflineStore
import Operations
import SeededRandom
import SyncCore
import Synchronization
import TestSupport
import Testing

@testable import SyncEngine

/// Links that deltas deliver in any order, on pages of any size, with downloads of some of the queries and
/// interruptions.
struct OpenLinkPropertyTests {
    /// A service of suppliers, products and links, which reports only the changes that the protocol requires.
    private struct Service {
        /// The current entities, and all changes in order.
        private var keys: [String: Set<Int>] = ["Suppliers": [], "Products": []]
        private(set) var links: Set<[Int]> = []
        private var changes: [Change] = []

        private enum Change: Hashable {
            case key(String, Int)
            case link([Int])
        }

        var random: SeededRandom
        /// Number of changes at the time of each delta link, and the pages that next links refer to.
        private var reported: [Int] = []
        private var pages: [String] = []
        /// Percentage of requests that are refused.
        var refusals = 0
        /// Number of requests for a complete set.
        private(set) var readings = 0

        init(seed: UInt64) { random = SeededRandom(seed: seed) }

        mutating func change() {
            for _ in 0..<Int.random(in: 0...10, using: &random) {
                switch Int.random(in: 0..<10, using: &random) {
                case 0, 1: add("Suppliers")
                case 2, 3: add("Products")
                case 4:
                    let set = Bool.random(using: &random) ? "Suppliers" : "Products"
                    guard let key = keys[set]?.sorted().randomElement(using: &random) else { continue }
                    keys[set]?.remove(key)
                    changes.append(.key(set, key))
                    links = links.filter { $0[set == "Suppliers" ? 0 : 1] != key }
                case 5, 6:
                    let sorted = links.sorted { $0.lexicographicallyPrecedes($1) }
                    guard let link = sorted.randomElement(using: &random) else { continue }
                    links.remove(link)
                    changes.append(.link(link))
                default:
                    guard let one = keys["Suppliers"]?.sorted().randomElement(using: &random),
                        let other = keys["Products"]?.sorted().randomElement(using: &random)
                    else { continue }
                    links.insert([one, other])
                    changes.append(.link([one, other]))
                }
            }
        }

        private var nextKey = 1
        private mutating func add(_ set: String) {
            keys[set]?.insert(nextKey)
            changes.append(.key(set, nextKey))
            nextKey += 1
        }

        /// Returns the response to a request for a set, a delta or a further page; nil if the request is refused.
        mutating func answer(_ path: String) -> String? {
            guard Int.random(in: 0..<100, using: &random) >= refusals else { return nil }
            let set = path.contains("Suppliers") ? "Suppliers" : "Products"
            if let number = path.split(separator: "skiptoken=").dropFirst().first.flatMap({ Int($0) }) {
                return pages[number]
            }
            if !path.contains("deltatoken=") { readings += 1 }
            let token = path.split(separator: "deltatoken=").dropFirst().first.flatMap { Int($0) }
            let items = items(set, since: token.map { reported[$0] } ?? changes.count).shuffled(using: &random)
            reported.append(changes.count)
            var cut: [[String]] = [[]]
            for item in items {
                if cut[cut.count - 1].count >= Int.random(in: 1...4, using: &random) { cut.append([]) }
                cut[cut.count - 1].append(item)
            }
            let first = pages.count
            for (place, items) in cut.enumerated() {
                let end =
                    place + 1 < cut.count
                    ? #""@odata.nextLink":"http://shop.test/v4/\#(set)?$skiptoken=\#(first + place + 1)""#
                    : #""@odata.deltaLink":"http://shop.test/v4/\#(set)?$deltatoken=\#(reported.count - 1)""#
                let context = token == nil ? set : set + "/$delta"
                pages.append(
                    ##"{"@odata.context":"http://shop.test/v4/$metadata#\##(context)","value":[\##(items.joined(separator: ","))],\##(end)}"##
                )
            }
            return pages[first]
        }

        private func items(_ wanted: String, since first: Int) -> [String] {
            Set(changes[first...]).compactMap { change in
                switch change {
                case .key(let set, let key):
                    guard set == wanted else { return nil }
                    if keys[set]?.contains(key) == true { return #"{"\#(set.dropLast())ID":\#(key)}"# }
                    return
                        ##"{"@odata.context":"#\##(set)/$deletedEntity","id":"\##(set)(\##(key))","reason":"deleted"}"##
                case .link(let link):
                    let isThere = links.contains(link)
                    // A link that was removed with one of its ends is not reported.
                    guard wanted == "Suppliers", isThere || hasEnds(link) else { return nil }
                    return
                        ##"{"@odata.context":"#Suppliers/$\##(isThere ? "link" : "deletedLink")","source":"Suppliers(\##(link[0]))","relationship":"Products","target":"Products(\##(link[1]))"}"##
                }
            }.sorted()
        }

        private func hasEnds(_ link: [Int]) -> Bool {
            keys["Suppliers"]?.contains(link[0]) == true && keys["Products"]?.contains(link[1]) == true
        }
    }

    @Test(arguments: 30..<60 as Range<UInt64>)
    func `after all queries were read, the store has the links of the service`(_ seed: UInt64) async throws {
        let service = Mutex(Service(seed: seed))
        let shop = try await Shop(.v4, queries: [])
        for set in ["Suppliers", "Products"] {
            try await shop.store.definingQueries.add(DefiningQuery(name: set, query: set))
        }
        let transport = HookedTransport(shop.transport) { request, _ in
            guard let path = request.path, path.contains("Suppliers") || path.contains("Products") else { return nil }
            guard let body = service.withLock({ $0.answer(path) }) else { return (HTTPResponse(status: 403), []) }
            return (
                HTTPResponse(
                    status: 200, headerFields: [.contentType: "application/json", .init("OData-Version")!: "4.0"]),
                Array(body.utf8)
            )
        }
        let engine = SyncEngine(
            store: shop.store, session: ServiceSession(root: "http://shop.test/v4/", transport: transport))
        _ = try await engine.download()
        for _ in 0..<25 {
            let choice = service.withLock { service in
                service.change()
                service.refusals = 30
                return Int.random(in: 0..<3, using: &service.random)
            }
            _ = try? await engine.download([nil, ["Suppliers"], ["Products"]][choice])
        }
        service.withLock { $0.refusals = 0 }
        // A resumed download continues a response of an earlier time.
        for _ in 0..<2 { _ = try await engine.download() }
        let expected = service.withLock { $0.links }
        var links: Set<[Int]> = []
        for supplier in try await shop.store.query("Suppliers?$expand=Products").entities {
            guard case .integer(let one)? = supplier.values["SupplierID"] else { continue }
            for product in supplier.expanded.first?.entities ?? [] {
                if case .integer(let other)? = product.values["ProductID"] { links.insert([Int(one), Int(other)]) }
            }
        }
        #expect(links == expected, "seed \(seed)")
        #expect(service.withLock { $0.readings } == 2)
    }
}
