package import EDM
import Operations

/// The items that an operation read and wrote when it was applied to the current state.
///
/// Two operations depend on each other only if one writes an item that the other reads or writes. If the base state
/// changes below them, only the operations that the change reaches in this way have to be rebased; see
/// ``PartialReplay``.
package struct OperationEffect: Sendable, Equatable {
    private var accesses = IDTable<Access>()
    /// The links that the operation created, deleted, or found as requested. May contain duplicates.
    package var links: [DirtySet.LinkEnds] = []

    package init() {}

    /// Removes everything. Keeps the capacity if it is small.
    mutating func removeAll() {
        accesses.removeAll()
        links.removeAll(keepingCapacity: links.count <= 4_096)
    }

    /// Returns how the operation accessed the item; nil if it did not.
    package func access(to item: StateItem) -> Access? { accesses[item.rawValue] }

    package mutating func record(_ item: StateItem, _ access: Access) {
        let place = accesses.place(of: item.rawValue, inserting: [])
        accesses[at: place].formUnion(access)
    }

    /// Records a change of a link, at both ends.
    ///
    /// - Parameter items: The items of its relationship.
    mutating func recordWriting(of link: DirtySet.LinkEnds, _ items: StateItem.LinkItems) {
        record(items.link(link.first, link.second), .writesValues)
        record(items.end(link.first, isFirst: true), .writesMembers)
        record(items.end(link.second, isFirst: false), .writesMembers)
        record(.entity(link.first), .writesMembers)
        record(.entity(link.second), .writesMembers)
        links.append(link)
    }

    /// The raw values of the items, in the order of the first accesses.
    var items: IDTable<Access>.Numbers { accesses.ids }
    /// The kinds of access, in the order of ``items``.
    var kinds: [Access] { accesses.values }

    /// Calls `body` once for each item, in the order of the first accesses.
    func forEachAccess<Failure: Error>(
        _ body: (StateItem, Access) throws(Failure) -> Void
    ) throws(Failure) {
        for (place, id) in accesses.ids.enumerated() { try body(StateItem(rawValue: id), accesses[at: place]) }
    }

    /// Returns whether both contain the same accesses and links, in any order.
    package static func == (a: OperationEffect, b: OperationEffect) -> Bool {
        guard a.accesses.count == b.accesses.count, Set(a.links) == Set(b.links) else { return false }
        return zip(a.accesses.ids, a.accesses.values).allSatisfy { b.accesses[$0] == $1 }
    }
}

extension OperationEffect {
    /// The binary encoding, for a storage that stores bytes.
    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.list(Array(zip(accesses.ids, accesses.values))) { writer, item in
            writer.fixed64(item.0)
            writer.byte(item.1.rawValue)
        }
        writer.list(links) { writer, link in
            writer.string(link.relationship)
            writer.unsigned(link.first.rawValue)
            writer.unsigned(link.second.rawValue)
        }
        return writer.bytes
    }

    package init(encoded bytes: [UInt8]) throws(CodecError) {
        self = try ByteReader.read(bytes) { reader throws(CodecError) in
            var effect = OperationEffect()
            let accesses = try reader.list { r throws(CodecError) in
                (StateItem(rawValue: try r.fixed64()), Access(rawValue: try r.byte()))
            }
            for (item, access) in accesses { effect.record(item, access) }
            effect.links = try reader.list { r throws(CodecError) in
                DirtySet.LinkEnds(
                    relationship: try r.string(), first: EntityID(rawValue: try r.unsigned()),
                    second: EntityID(rawValue: try r.unsigned()))
            }
            return effect
        }
    }
}

/// The kinds of access to an item of the state. Each kind of read depends on the kind of write with the same name.
package struct Access: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Reads whether the entity exists, and its type.
    static let readsExistence = Access(rawValue: 1)
    /// Reads the properties of an entity that referential constraints compare.
    static let readsKeys = Access(rawValue: 2)
    static let readsValues = Access(rawValue: 4)
    /// Reads which members exist: the links of an entity, or the entities with some values.
    static let readsMembers = Access(rawValue: 8)
    static let writesExistence = Access(rawValue: 16)
    static let writesKeys = Access(rawValue: 32)
    /// Any write of an entity's row or of a link.
    static let writesValues = Access(rawValue: 64)
    /// Adds or removes one member. Does not conflict with the addition of another member.
    static let writesMembers = Access(rawValue: 128)

    static let writes = Access(rawValue: 0xF0)

    /// Whether the order of this access and a later one matters.
    func disturbs(later: Access) -> Bool {
        (rawValue >> 4) & later.rawValue & 0xF != 0 || rawValue & (later.rawValue >> 4) & 0xF != 0
            || overwrites(later)
    }

    /// Whether both write the whole item, so that one cannot be reverted without the other.
    func overwrites(_ other: Access) -> Bool { !intersection(other).isDisjoint(with: .writesValues) }
}

/// An item of the state that operations access: an entity, a link, the links at an end of an entity, or the entities of
/// a set that have some values. Numbers are hashes, except those of entities. A collision costs time but does not
/// change the result.
package struct StateItem: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    private enum ItemKind: UInt64 {
        case entity = 0
        case link = 1
        case end = 2
        case match = 3
    }

    private init(_ kind: ItemKind, _ hash: UInt64) { rawValue = kind.rawValue << 62 | hash >> 2 }

    static func entity(_ id: EntityID) -> StateItem { StateItem(rawValue: id.rawValue & (.max >> 2)) }

    /// The items of a relationship, whose name is hashed once.
    struct LinkItems {
        let relationship: String
        private var name = FNV1a()

        init(_ relationship: String) {
            self.relationship = relationship
            name.add(relationship.utf8)
        }

        func link(_ first: EntityID, _ second: EntityID) -> StateItem {
            var hash = name
            hash.add(first.rawValue)
            hash.add(second.rawValue)
            return StateItem(.link, hash.value)
        }

        /// Returns the item of the links that have the entity at the given end.
        func end(_ id: EntityID, isFirst: Bool) -> StateItem {
            var hash = name
            hash.add(id.rawValue << 1 | (isFirst ? 1 : 0))
            return StateItem(.end, hash.value)
        }
    }

    static func link(_ relationship: String, _ first: EntityID, _ second: EntityID) -> StateItem {
        LinkItems(relationship).link(first, second)
    }

    /// The links of a relationship that have the entity at the given end.
    static func end(_ relationship: String, _ id: EntityID, isFirst: Bool) -> StateItem {
        LinkItems(relationship).end(id, isFirst: isFirst)
    }

    /// The entities of a set with these values. Values that any storage treats as equal have the same item.
    static func match(_ set: String, _ values: [(property: String, value: Value)]) -> StateItem {
        var hash = FNV1a()
        hash.add(set.utf8)
        for (property, value) in values {
            hash.add(property.utf8)
            Self.add(value, to: &hash)
        }
        return StateItem(.match, hash.value)
    }

    /// The items of the entities of a set that have the same values of some properties. The names that precede the first
    /// value are hashed once.
    struct MatchItems: Sendable {
        let names: [String]
        private var start = FNV1a()

        init(_ set: String, _ names: [String]) {
            self.names = names
            start.add(set.utf8)
            if let first = names.first { start.add(first.utf8) }
        }

        /// Returns the item of the entities with these values; nil if one of the properties is unset or null.
        func item(of values: PropertyValues) -> StateItem? {
            var hash = start
            for place in names.indices {
                guard let value = values[names[place]], value != .null else { return nil }
                if place > 0 { hash.add(names[place].utf8) }
                StateItem.add(value, to: &hash)
            }
            return StateItem(.match, hash.value)
        }
    }

    /// Adds a canonical text of the value; an empty one if equal values may have several notations.
    private static func add(_ value: Value, to hash: inout FNV1a) {
        switch value {
        case .integer(let number): hash.add(String(number).utf8)
        case .boolean(let flag): hash.add((flag ? "1" : "0").utf8)
        case .guid(let guid): hash.add(guid.description.lowercased().utf8)
        case .string(let text), .enumeration(let text), .raw(let text):
            if text.utf8.allSatisfy({ $0 < 0x80 }) {
                for byte in text.utf8 { hash.add(byte: byte | (0x41...0x5A ~= byte ? 0x20 : 0)) }
            }
            hash.end()
        default: hash.end()
        }
    }

    /// Returns whether the items of all entities before this one contain their numbers. Items have fewer bits, so that of
    /// a greater entity would be taken for that of another one.
    static func namesEntities(before next: EntityID) -> Bool { next.rawValue &- 1 <= .max >> 2 }

    /// The entity, or nil for any other item.
    var entity: EntityID? { rawValue >> 62 == 0 ? EntityID(rawValue: rawValue) : nil }
}
