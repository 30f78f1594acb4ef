package import EDM
import Operations

/// What an operation read and wrote when it was applied to the local state.
///
/// Two operations have to do with each other only where one writes what the other reads or writes. So when the base changes
/// below them, only those have to be taken off and put back that the change reaches this way; see ``PartialReplay``.
public struct OperationEffect: Sendable, Equatable {
    private var accesses = IDTable<Access>()
    /// The links that it made, removed, or found as it wanted them, some of them repeatedly.
    public var links: [Touched.LinkEnds] = []

    public init() {}

    /// The entities whose rows it wrote.
    var rows: [EntityID] {
        var rows: [EntityID] = []
        forEachAccess { item, access in
            if access.contains(.writesValues), let id = item.entity { rows.append(id) }
        }
        return rows
    }

    /// Returns how the operation accessed the item; nil if it did not.
    package func access(to item: StateItem) -> Access? { accesses[item.rawValue] }

    package mutating func note(_ item: StateItem, _ access: Access) {
        let place = accesses.place(of: item.rawValue, inserting: [])
        accesses[at: place].formUnion(access)
    }

    /// Calls `body` with each item once, in the order in which they were first read or written.
    func forEachAccess<Failure: Error>(
        _ body: (StateItem, Access) throws(Failure) -> Void
    ) throws(Failure) {
        for (place, id) in accesses.ids.enumerated() { try body(StateItem(rawValue: id), accesses[at: place]) }
    }

    /// The same accesses and links, in whatever order.
    public static func == (a: OperationEffect, b: OperationEffect) -> Bool {
        guard a.accesses.count == b.accesses.count, Set(a.links) == Set(b.links) else { return false }
        return zip(a.accesses.ids, a.accesses.values).allSatisfy { b.accesses[$0] == $1 }
    }
}

extension OperationEffect {
    /// For a storage that keeps bytes.
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
            for (item, access) in accesses { effect.note(item, access) }
            effect.links = try reader.list { r throws(CodecError) in
                Touched.LinkEnds(
                    relationship: try r.string(), first: EntityID(rawValue: try r.unsigned()),
                    second: EntityID(rawValue: try r.unsigned()))
            }
            return effect
        }
    }
}

/// How something in the state is read and written. Each kind of reading is disturbed by the writing of its name.
public struct Access: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Whether it is there, and of which type.
    static let readsExistence = Access(rawValue: 1)
    /// The properties of an entity that referential constraints compare.
    static let readsKeys = Access(rawValue: 2)
    static let readsValues = Access(rawValue: 4)
    /// Which members there are: the links of an entity, the entities with some values.
    static let readsMembers = Access(rawValue: 8)
    static let writesExistence = Access(rawValue: 16)
    static let writesKeys = Access(rawValue: 32)
    /// Every writing of an entity's row, or of a link.
    static let writesValues = Access(rawValue: 64)
    /// Adds or removes one member; who adds another one does not mind.
    static let writesMembers = Access(rawValue: 128)

    static let writes = Access(rawValue: 0xF0)

    /// Whether who comes later may see, or be seen by, the other.
    func disturbs(later: Access) -> Bool {
        (rawValue >> 4) & later.rawValue & 0xF != 0 || rawValue & (later.rawValue >> 4) & 0xF != 0
            || overwrites(later)
    }

    /// Whether both write the same as a whole, so that one is not to be taken off without the other.
    func overwrites(_ other: Access) -> Bool { !intersection(other).isDisjoint(with: .writesValues) }
}

/// Something in the state that is read or written: an entity, a link, the links at an end of an entity, or the entities of a
/// set that have some values. Different ones may fall together where numbers are hashes; that costs work and changes nothing.
public struct StateItem: RawRepresentable, Sendable, Hashable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    private enum Kind: UInt64 {
        case entity = 0
        case link = 1
        case end = 2
        case match = 3
    }

    private init(_ kind: Kind, _ hash: UInt64) { rawValue = kind.rawValue << 62 | hash >> 2 }

    static func entity(_ id: EntityID) -> StateItem { StateItem(rawValue: id.rawValue & (.max >> 2)) }

    static func link(_ relationship: String, _ first: EntityID, _ second: EntityID) -> StateItem {
        var hash = FNV1a()
        hash.add(relationship.utf8)
        hash.add(first.rawValue)
        hash.add(second.rawValue)
        return StateItem(.link, hash.value)
    }

    /// The links of a relationship at which the entity stands at that end.
    static func end(_ relationship: String, _ id: EntityID, isFirst: Bool) -> StateItem {
        var hash = FNV1a()
        hash.add(relationship.utf8)
        hash.add(id.rawValue << 1 | (isFirst ? 1 : 0))
        return StateItem(.end, hash.value)
    }

    /// The entities of a set with these values. What any storage takes for equal gives the same item.
    static func match(_ set: String, _ values: [(property: String, value: Value)]) -> StateItem {
        var hash = FNV1a()
        hash.add(set.utf8)
        for (property, value) in values {
            hash.add(property.utf8)
            hash.add(Self.text(value).utf8)
        }
        return StateItem(.match, hash.value)
    }

    /// Of texts only those that can be written in one way.
    private static func text(_ value: Value) -> String {
        switch value {
        case .integer(let number): String(number)
        case .boolean(let flag): flag ? "1" : "0"
        case .guid(let guid): guid.description.lowercased()
        case .string(let text), .enumeration(let text), .raw(let text):
            text.utf8.allSatisfy { $0 < 0x80 } ? text.lowercased() : ""
        default: ""
        }
    }

    /// Nil for what is no entity.
    var entity: EntityID? { rawValue >> 62 == 0 ? EntityID(rawValue: rawValue) : nil }
}
