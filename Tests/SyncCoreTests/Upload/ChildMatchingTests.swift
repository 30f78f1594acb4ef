import EDM
import ODataWire
import SyncCore
import Testing

/// The entities of a response that belong to those of a deep insert.
struct ChildMatchingTests {
    private let type: EntityType

    init() throws { type = try #require(try TestStore().model.findEntityType("Shop.Order")) }

    private func body(_ note: String?, key: Int64? = nil, id: String? = nil) -> EntityBody {
        var values: PropertyValues = [:]
        if let note { values["Note"] = .string(note) }
        if let key { values["OrderID"] = .integer(key) }
        var body = EntityBody(type: type, values: values)
        body.contentID = id
        return body
    }

    private func answer(_ note: String?, key: Int64, id: String? = nil) -> EntityPayload {
        var payload = EntityPayload()
        payload.values = ["OrderID": .integer(key)]
        if let note { payload.values["Note"] = .string(note) }
        payload.contentID = id
        return payload
    }

    private func pairs(
        _ sent: [EntityBody], _ answered: [EntityPayload], _ form: ServiceOptions.DeepInsertToMany = .split,
        isSingle: Bool = false
    ) -> [[Int]] {
        var options = ServiceOptions()
        options.deepInsertToMany = form
        return ChildMatching(options: options).pairs(sent, answered, isSingle: isSingle).map { [$0.sent, $0.answered] }
    }

    @Test func `the entity of a single-valued property is the only one`() {
        #expect(pairs([body("a")], [answer("other", key: 1)], isSingle: true) == [[0, 0]])
        #expect(pairs([body("a")], [], isSingle: true) == [])
        #expect(pairs([body("a")], [answer("a", key: 1), answer("b", key: 2)], isSingle: true) == [])
    }

    @Test func `values determine the entities, in any order`() {
        #expect(pairs([body("a"), body("b")], [answer("b", key: 1), answer("a", key: 2)]) == [[0, 1], [1, 0]])
        #expect(
            pairs([body("a"), body("b")], [answer("x", key: 3), answer("b", key: 1), answer("a", key: 2)])
                == [[0, 2], [1, 1]])
    }

    @Test func `equal entities are interchangeable`() {
        #expect(pairs([body("a"), body("a")], [answer("a", key: 1), answer("a", key: 2)]) == [[0, 0], [1, 1]])
        #expect(pairs([body("a"), body("a")], (1...3).map { answer("a", key: $0) }) == [], "one is of another client")
    }

    @Test func `an ambiguous entity stays unmatched`() {
        // The second one could be either.
        #expect(pairs([body("a"), body(nil)], [answer("a", key: 1), answer("a", key: 2)]) == [])
        #expect(pairs([body("a"), body(nil)], [answer("a", key: 1), answer("b", key: 2)]) == [[0, 0], [1, 1]])
    }

    @Test func `without all sent entities in the response, values determine none`() {
        #expect(pairs([body("a"), body("b")], [answer("a", key: 1)]) == [])
    }

    @Test func `two different entities with one candidate stay unmatched`() {
        var owned = body("a")
        owned.values["CustomerID"] = .integer(4)
        var answered = answer("a", key: 1)
        answered.values["CustomerID"] = .integer(4)
        // The service has changed the values of one of them.
        #expect(pairs([body("a"), owned], [answered, answer("A", key: 2)]) == [])
        var other = answer("a", key: 2)
        other.values["CustomerID"] = .integer(9)
        #expect(pairs([body("a"), owned], [answered, other]) == [[0, 1], [1, 0]])
    }

    @Test func `the key determines the entity if the response has that of each`() {
        let sent = [body("a", key: 1), body("a", key: 2)]
        #expect(pairs(sent, [answer("x", key: 2), answer("y", key: 1)]) == [[0, 1], [1, 0]])
        // The service has generated other keys.
        #expect(pairs(sent, [answer("a", key: 2), answer("a", key: 7)]) == [])
        #expect(
            pairs([body("a", key: 1), body("b")], [answer("b", key: 8), answer("a", key: 9)]) == [[0, 1], [1, 0]])
    }

    @Test func `the order determines the entities only if the service promises it and no value contradicts it`() {
        let sent = [body(nil), body("b")]
        let answered = [answer("x", key: 1), answer("b", key: 2)]
        #expect(pairs([body(nil), body(nil)], answered, .inOrder) == [[0, 0], [1, 1]])
        #expect(pairs(sent, answered.reversed(), .inOrder) == [[0, 1], [1, 0]], "by values")
        #expect(pairs([body("z")], [answer("x", key: 1)], .inOrder) == [], "the value contradicts")
        #expect(pairs([body("z")], [answer(nil, key: 1)]) == [[0, 0]], "the only one")
    }

    @Test func `the Content-ID determines the entity if the response repeats each`() {
        let sent = [body("a", id: "1"), body("a", id: "2")]
        #expect(
            pairs(sent, [answer("a", key: 1, id: "2"), answer("a", key: 2, id: "1")], .contentID) == [[0, 1], [1, 0]])
        #expect(
            pairs(sent, [answer("x", key: 1, id: "1"), answer("y", key: 2, id: "1")], .contentID) == [],
            "one Content-ID twice")
    }
}
