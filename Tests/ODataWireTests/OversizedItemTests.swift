import EDM
import Testing

@testable import ODataWire

/// Items of a page that exceed the limits.
struct OversizedItemTests {
    private let customer = PayloadShop.customer

    private func reader(_ size: Int = 200, elements: Int = 1_000, members: Int = 100) -> PayloadReader {
        var reader = PayloadReader(version: .v4, model: PayloadShop.model(.v4))
        reader.limits = JSONScanner.Limits(itemSize: size, elements: elements, members: members)
        reader.setsAside = true
        return reader
    }

    private func page(_ items: String...) -> [UInt8] { Array(#"{"value":[\#(items.joined(separator: ", "))]}"#.utf8) }

    private let long = String(repeating: "x", count: 1_000)

    /// Reads the page in pieces of several sizes and requires the same result for each size.
    private func items(_ bytes: [UInt8], _ reader: PayloadReader) throws -> [DeltaItem] {
        var results: [[DeltaItem]] = []
        for size in [1, 7, 64, 1 << 20] {
            var feed = reader.feedReader(type: customer)
            var items: [DeltaItem] = []
            for start in stride(from: 0, to: bytes.count, by: size) {
                feed.append(Array(bytes[start..<min(start + size, bytes.count)]))
                while let item = try feed.next() { items.append(item) }
            }
            feed.finish()
            while let item = try feed.next() { items.append(item) }
            results.append(items)
        }
        #expect(Set(results).count == 1, "the pieces matter")
        return results[0]
    }

    private func names(_ items: [DeltaItem]) -> [String] {
        items.map {
            switch $0 {
            case .entity(let entity): "\(entity.values["CustomerID"] ?? .null)"
            case .unreadable(let found): "\(found.error.code) \(found.entity.values["CustomerID"] ?? .null)"
            case .removed, .link: "other"
            }
        }
    }

    @Test func `an item that is too large is set aside with its key, and the remaining items are read`() throws {
        let items = try items(
            page(
                #"{"CustomerID":1}"#, #"{"CustomerID":2,"Name":"\#(long)"}"#, #"{"Name":"\#(long)","CustomerID":3}"#,
                #"{"CustomerID":4}"#), reader())
        #expect(
            names(items) == ["integer(1)", "tooLarge integer(2)", "tooLarge integer(3)", "integer(4)"])
    }

    @Test func `an item may have as many bytes as the limit, and no more`() throws {
        let item = #"{"CustomerID":1,"Name":"abc"}"#
        let bytes = page(item, item)
        #expect(try names(items(bytes, reader(item.utf8.count))) == ["integer(1)", "integer(1)"])
        #expect(try names(items(bytes, reader(item.utf8.count - 1))) == ["tooLarge integer(1)", "tooLarge integer(1)"])
    }

    @Test(arguments: [
        #""text""#, "123", "[1,[2,{\"a\":\"]}\"}],3]", #"{"a":"\\\"}],","CustomerID":"x"}"#,
        #""\"quoted\", and [more}""#,
    ])
    func `any JSON value can be skipped as an item`(_ item: String) throws {
        let items = try items(page(#"{"CustomerID":1}"#, item, #"{"CustomerID":2}"#), reader(16))
        #expect(names(items).count == 3)
        #expect(names(items).last == "integer(2)")
    }

    @Test func `an item with too many values is set aside`() throws {
        let many = Array(repeating: "1", count: 200).joined(separator: ",")
        let items = try items(
            page(#"{"CustomerID":1,"Tags":[\#(many)]}"#, #"{"CustomerID":2}"#), reader(10_000, elements: 100))
        #expect(names(items) == ["tooLarge integer(1)", "integer(2)"])
        guard case .unreadable(let found) = items[0] else { return }
        #expect(found.error.message == "The entity is too large. There are more than 100 values.")
    }

    @Test func `an item with too many members is set aside`() throws {
        let many = (0..<150).map { #""P\#($0)":1"# }.joined(separator: ",")
        let items = try items(page(#"{"CustomerID":1,\#(many)}"#, #"{"CustomerID":2}"#), reader(10_000))
        #expect(names(items) == ["tooLarge integer(1)", "integer(2)"])
    }

    @Test(arguments: [
        (#""Orders":[{"OrderID":1,"Note":"\#(String(repeating: "x", count: 2_000))"}]"#, true),
        (#""Orders":null"#, false),
    ])
    func `an item that is set aside reports hidden expanded entities`(_ member: String, _ isHidden: Bool) throws {
        let items = try items(page(#"{"CustomerID":1,"Name":"\#(long)",\#(member)}"#), reader())
        guard case .unreadable(let found)? = items.first else {
            Issue.record("it was read")
            return
        }
        #expect(found.hasExpanded == isHidden)
    }

    @Test func `a page check accepts a page with an item that is too large`() throws {
        let limits = JSONScanner.Limits(itemSize: 100)
        for size in [1, 10, 10_000] {
            var check = PageValidator(version: .v4, limits: limits)
            let bytes = page(#"{"CustomerID":1,"Name":"\#(long)"}"#, #"{"CustomerID":2}"#)
            for start in stride(from: 0, to: bytes.count, by: size) {
                try check.append(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            try check.finish()
        }
    }

    @Test(arguments: [
        #"{"value":[{"Name":"\#(String(repeating: "x", count: 1_000))"#,
        #"{"value":[{"Name":[[[\#(String(repeating: "1,", count: 1_000))1]]}]}"#,
    ])
    func `a page that ends inside an item that is too large, or has unbalanced brackets, is rejected`(_ text: String) {
        #expect(throws: PayloadError.self) { try self.items(Array(text.utf8), reader()) }
    }

    @Test func `the page is rejected if items may not be set aside`() {
        var reader = reader()
        reader.setsAside = false
        #expect(
            throws: PayloadError(
                .tooLarge, "The entity is too large. It is larger than 200 bytes.", path: "/1")
        ) {
            try reader.feed(page(#"{"CustomerID":1}"#, #"{"CustomerID":2,"Name":"\#(long)"}"#), type: customer)
        }
    }

    @Test func `text around the items is limited in size like an item`() throws {
        let gap = String(repeating: " ", count: 200_000)
        for text in [#"{"x":"\#(gap)","value":[]}"#, #"{"value":[\#(gap)]}"#] {
            var check = PageValidator(version: .v4, limits: JSONScanner.Limits(itemSize: 1_000))
            #expect(throws: PayloadError.self) {
                for start in stride(from: 0, to: text.utf8.count, by: 1_000) {
                    try check.append(Array(Array(text.utf8)[start..<min(start + 1_000, text.utf8.count)]))
                }
            }
        }
    }

    @Test func `a document with more values than the limit is rejected`() {
        let text = "[" + Array(repeating: "1", count: 200).joined(separator: ",") + "]"
        #expect(throws: JSONError.self) {
            try JSONValue.parse(Array(text.utf8), limits: JSONScanner.Limits(elements: 100))
        }
    }

    @Test func `the key of a single entity that is too large is read from its beginning`() {
        let found = reader().unreadable(beginning: Array(#"{"CustomerID":7,"Name":"\#(long)"#.utf8), customer)
        #expect(found.entity.values["CustomerID"] == .integer(7))
        #expect(found.hasExpanded)
    }
}
