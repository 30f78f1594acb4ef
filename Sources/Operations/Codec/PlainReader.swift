import EDM

/// Reads operations and images in their usual form, from bytes whose names have been read before.
///
/// Returns `nil` for every other form, valid or not: ``ByteReader`` then reads the bytes and throws if they are not a
/// valid record. Both produce the same result. This reader is in the same module as its callers so that it can be
/// inlined; otherwise most of the time per record would be spent in calls.
struct PlainReader {
    private let bytes: UnsafeRawBufferPointer
    private let names: NameTable
    private(set) var offset: Int

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int = 0, names: NameTable) {
        self.bytes = bytes
        self.offset = offset
        self.names = names
    }

    /// Reads all bytes as the record of an operation without rare attributes. Returns `nil` if they are something
    /// else.
    static func record(_ bytes: UnsafeRawBufferPointer, names: NameTable) -> Record? {
        var reader = PlainReader(bytes, names: names)
        guard let time = reader.signed(), let operation = reader.operation(), reader.offset == bytes.count else {
            return nil
        }
        return Record(time: time, body: .operation(operation))
    }

    // MARK: Operations

    private mutating func operation() -> Operation? {
        guard let action = byte().flatMap(ActionTag.init), let content = content(action), var tag = byte() else {
            return nil
        }
        var changeSet: SequenceNumber?
        if tag == OperationField.changeSet.rawValue {
            guard let number = unsigned(), let next = byte() else { return nil }
            (changeSet, tag) = (number, next)
        }
        var etag: String?
        if tag == OperationField.baseETag.rawValue {
            guard let text = text(), let next = byte() else { return nil }
            (etag, tag) = (text, next)
        }
        if tag == 0 { return Operation(plain: content, changeSet: changeSet, baseETag: etag) }
        guard tag == OperationField.parent.rawValue, case .create(let creation, _) = content, let entity = entity(),
            byte() == OperationField.parentNavigation.rawValue, let navigation = name(), byte() == 0
        else { return nil }
        let parent = Parent(entity: entity, navigation: navigation)
        return Operation(plain: .create(creation, parent: parent), changeSet: changeSet, baseETag: etag)
    }

    private mutating func content(_ tag: ActionTag) -> Operation.Action? {
        switch tag {
        case .create:
            // No inline entities.
            guard let entity = entity(), let (set, type) = names.pair(in: bytes, at: &offset),
                let values = properties(depth: 1), let bindings = bindings(), byte() == 0
            else { return nil }
            return .create(
                Creation(entity: entity, set: set, type: type, values: values, bindings: bindings), parent: nil)
        case .update:
            guard let entity = entity(), let changes = properties(depth: 0), let bindings = bindings() else {
                return nil
            }
            return .update(entity, changes: changes, bindings: bindings)
        case .delete: return entity().map { .delete($0) }
        case .createLink: return link().map { .createLink($0) }
        case .updateLink: return link().map { .updateLink($0) }
        case .deleteLink: return link().map { .deleteLink($0) }
        }
    }

    private mutating func link() -> Link? {
        guard let from = entity(), let navigation = name(), let to = entity() else { return nil }
        return Link(from: from, navigation: navigation, to: to)
    }

    private mutating func bindings() -> [Binding]? {
        guard let count = byte(), count < 0x80 else { return nil }
        var bindings: [Binding] = []
        for _ in 0..<count {
            guard let navigation = name(), let targets = entities() else { return nil }
            bindings.append(Binding(navigation: navigation, targets: targets))
        }
        return bindings
    }

    private mutating func entities() -> [EntityID]? {
        guard let count = byte(), count < 0x80 else { return nil }
        var entities: [EntityID] = []
        for _ in 0..<count {
            guard let entity = entity() else { return nil }
            entities.append(entity)
        }
        return entities
    }

    // MARK: Images

    /// Reads an image without links.
    mutating func image() -> EntityImage? {
        guard let entity = entity(), let (set, type) = names.pair(in: bytes, at: &offset),
            let values = properties(depth: 0), byte() == 0, var tag = byte()
        else { return nil }
        var etag: String?
        if tag == ImageField.etag.rawValue {
            guard let text = text(), let next = byte() else { return nil }
            (etag, tag) = (text, next)
        }
        var editLink: String?
        if tag == ImageField.editLink.rawValue {
            guard let text = text(), let next = byte() else { return nil }
            (editLink, tag) = (text, next)
        }
        guard tag == 0 else { return nil }
        return EntityImage(entity: entity, set: set, type: type, values: values, etag: etag, editLink: editLink)
    }

    // MARK: Elements

    @inline(__always)
    private mutating func byte() -> UInt8? {
        guard offset < bytes.count else { return nil }
        defer { offset += 1 }
        return bytes.byte(at: offset)
    }

    @inline(__always)
    private mutating func unsigned() -> UInt64? {
        guard let first = byte() else { return nil }
        return first < 0x80 ? UInt64(first) : rest(of: first)
    }

    /// Reads the remaining bytes of a number. Returns `nil` also if it has more than 63 bits.
    private mutating func rest(of first: UInt8) -> UInt64? {
        var value = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while shift < 63, let next = byte() {
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 { return next == 0 ? nil : value }
            shift += 7
        }
        return nil
    }

    @inline(__always)
    private mutating func signed() -> Int64? {
        guard let raw = unsigned() else { return nil }
        return Int64(bitPattern: raw >> 1) ^ -Int64(bitPattern: raw & 1)
    }

    @inline(__always)
    private mutating func entity() -> EntityID? {
        guard let number = unsigned() else { return nil }
        return EntityID(rawValue: number)
    }

    @inline(__always)
    private mutating func block() -> UnsafeRawBufferPointer? {
        guard let length = byte(), length < 0x80, Int(length) <= bytes.count - offset else { return nil }
        defer { offset += Int(length) }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(length)])
    }

    @inline(__always)
    private mutating func name() -> String? {
        guard let block = block() else { return nil }
        return names.string(block)
    }

    private mutating func text() -> String? {
        guard let block = block() else { return nil }
        return UTF8Text.string(block)
    }

    private mutating func properties(depth: Int) -> PropertyValues? {
        names.packedProperties(in: bytes, at: &offset, depth: depth)
    }
}
