import ConformanceCorpora
import EDM
import ODataWire
import SeededRandom
import Testing

@Suite struct `Streamed pages` {
    /// The result of reading a page, errors included, so that two ways of reading can be compared.
    private struct Reading: Equatable {
        var items: [DeltaItem] = []
        var error: PayloadError?
        var links: [String?] = []
        var count: Int64?
    }

    private let type = PayloadShop.customer

    private func reader(_ version: ODataVersion) -> PayloadReader {
        PayloadReader(version: version, model: PayloadShop.model(version))
    }

    private func whole(_ bytes: [UInt8], _ version: ODataVersion) -> Reading {
        var result = Reading()
        do throws(PayloadError) {
            var feed = try reader(version).feedReader(bytes, type: type)
            while let item = try feed.next() { result.items.append(item) }
            (result.links, result.count) = ([feed.nextLink, feed.deltaLink, feed.context], feed.count)
        } catch { result.error = error }
        return result
    }

    /// Reads the page in pieces that start at the offsets in `cuts`, which are in ascending order.
    private func pieces(_ bytes: [UInt8], _ version: ODataVersion, cuts: [Int]) -> Reading {
        var result = Reading()
        var feed = reader(version).feedReader(type: type)
        do throws(PayloadError) {
            var start = 0
            for cut in cuts + [bytes.count] {
                feed.append(Array(bytes[start..<cut]))
                start = cut
                while let item = try feed.next() { result.items.append(item) }
            }
            feed.finish()
            while let item = try feed.next() { result.items.append(item) }
            (result.links, result.count) = ([feed.nextLink, feed.deltaLink, feed.context], feed.count)
        } catch { result.error = error }
        return result
    }

    private static let pages: [(String, ODataVersion)] = [
        (#"{"value":[]}"#, .v4), (#"{"@odata.count":12,"value":[{"CustomerID":1}],"@odata.nextLink":"n"}"#, .v4),
        (#"{"value":[{"CustomerID":1,"Name":"a\ud83d\ude00\\\"é"},{"CustomerID":12}],"@odata.count":123}"#, .v4),
        ("\u{FEFF}{\"value\":[{\"CustomerID\":1}]}\n ", .v4),
        (#"{"d":{"results":[{"CustomerID":1},{"CustomerID":2}],"__next":"n","__count":"2"}}"#, .v2),
        (#"{"d":[{"CustomerID":1}]}"#, .v2), (#"[{"CustomerID":1},{"CustomerID":2}]"#, .v2),
        (#"{"value":[12,3]}"#, .v4), (#"{"value":[{"CustomerID":"x"}]}"#, .v4), (#"{"CustomerID":1}"#, .v4),
        ("12", .v4),
        ("", .v4), (#"{"value":[{"CustomerID":1}"#, .v4), (#"{"value":[]}}"#, .v4),
        (#"{"value":[{"Name":"\ud83d"}]}"#, .v4),
        (#"{"value":[{"Name":"\ud83d\u0041"}],"x":tru}"#, .v4), (#"{"value":[{"CustomerID":-}]}"#, .v4),
        (#"{"x":{"y":[1,2,{"z":null}]},"value":[{"CustomerID":1}],"@odata.deltaLink":"d"}"#, .v4),
    ]

    @Test func `a page that arrives in pieces yields the same result as the whole page, wherever it is split`() {
        let fuzzed = `Nothing that a service or a client sends traps`.documents.map { ($0, ODataVersion.v4) }
        for (page, version) in Self.pages + fuzzed {
            let bytes = Array(page.utf8)
            let expected = whole(bytes, version)
            #expect(pieces(bytes, version, cuts: Array(bytes.indices)) == expected, "byte by byte: \(page)")
            for cut in bytes.indices {
                #expect(pieces(bytes, version, cuts: [cut]) == expected, "cut at \(cut): \(page)")
                if cut + 1 < bytes.count {
                    #expect(pieces(bytes, version, cuts: [cut, cut + 1]) == expected, "cut around \(cut): \(page)")
                }
            }
        }
    }

    @Test func `an invalid page that arrives in pieces yields the same error as the whole page`() {
        let seed = UInt64.testSeed()
        var random = SeededRandom(seed: seed)
        for document in `Nothing that a service or a client sends traps`.documents + Self.pages.map(\.0) {
            for _ in 0..<300 {
                var bytes = Array(document.utf8)
                guard !bytes.isEmpty else { continue }
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &random)) }
                let version: ODataVersion = Bool.random(using: &random) ? .v2 : .v4
                let cuts = (0..<Int.random(in: 0...9, using: &random)).map { _ in
                    Int.random(in: 0...bytes.count, using: &random)
                }
                #expect(
                    pieces(bytes, version, cuts: cuts.sorted()) == whole(bytes, version),
                    "seed \(seed): \(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }

    @Test(.enabled(if: LiteralCorpus.isPresent, "skipped: the conformance corpora are not next to the checkout"))
    func `a page of the corpus that arrives in pieces yields the same result as the whole page`() throws {
        let seed = UInt64.testSeed()
        var random = SeededRandom(seed: seed)
        for document in `The JSON corpus`.documents {
            let bytes = try LiteralCorpus.bytes(document.file)
            let expected = scanned(bytes, document.version, cuts: nil)
            let cuts = (0..<20).map { _ in Int.random(in: 0...bytes.count, using: &random) }.sorted()
            #expect(scanned(bytes, document.version, cuts: cuts) == expected, "seed \(seed): \(document.file)")
            guard bytes.count < 20_000 else { continue }
            #expect(scanned(bytes, document.version, cuts: Array(bytes.indices)) == expected, "\(document.file)")
        }
    }

    private struct Scan: Equatable {
        var items: [JSONValue] = []
        var links: [String?] = []
        var error: PayloadError?
    }

    /// Scans the page without a model, since the documents of the corpus belong to many models.
    private func scanned(_ bytes: [UInt8], _ version: ODataVersion, cuts: [Int]?) -> Scan {
        var result = Scan()
        do throws(PayloadError) {
            var scanner =
                cuts == nil ? try FeedScanner(bytes, version: version) : FeedScanner(version: version)
            if let cuts {
                var start = 0
                for cut in cuts + [bytes.count] {
                    scanner.append(Array(bytes[start..<cut]))
                    start = cut
                    while let item = try scanner.next() { result.items.append(item) }
                }
                scanner.finish()
            }
            while let item = try scanner.next() { result.items.append(item) }
            result.links = [scanner.nextLink, scanner.deltaLink, scanner.context, scanner.count.map(String.init)]
        } catch { result.error = error }
        return result
    }

    @Test func `items are returned before the page ends`() throws {
        var feed = reader(.v4).feedReader(type: type)
        feed.append(Array(#"{"value":[{"CustomerID":1},{"Cust"#.utf8))
        #expect(try feed.next() != nil)
        #expect(try feed.next() == nil)
        feed.append(Array(#"omerID":2,"Name":"and a name so long that it is worth while to look"},"#.utf8))
        #expect(try feed.next() != nil)
    }

    @Test func `an invalid page is rejected before it ends`() throws {
        var feed = reader(.v4).feedReader(type: type)
        feed.append(Array(#"{"value":[{"CustomerID":1,}, and more that is not looked at"#.utf8))
        #expect(throws: PayloadError.self) { try feed.next() }
    }

    @Test func `a page that exceeds the size limit is rejected`() throws {
        var scanner = FeedScanner(version: .v4, limits: .init(size: 30))
        scanner.append(Array(#"{"value":[{"CustomerID":1},"#.utf8))
        #expect(try scanner.next() != nil)
        scanner.append(Array("         ".utf8))
        let error = #expect(throws: PayloadError.self) { try scanner.next() }
        #expect(error?.message == "The document has more than 30 bytes.")
    }
}
