import EDM

/// Finds the entities and operations that an encoded record names, without decoding it, for searching one entity in
/// many records.
///
/// Only the frequent record kinds are described. Records of all other kinds, operations with calls, and records with
/// unknown fields that must not be ignored have to be decoded.
package struct RecordMentions {
    private let bytes: UnsafeRawBufferPointer
    private var at = 0
    private var depth = 0
    /// Whether the bytes are invalid or not described; from then on the result is not used.
    private var isUnreadable = false

    private let entity: (UInt64) -> Void
    private let operation: (SequenceNumber) -> Void

    /// Calls the closures for each entity and each operation that the record names, in order, possibly several times.
    ///
    /// - Returns: `false` if the record is not described or the bytes are invalid. Previous calls must then be ignored.
    package static func visit(
        kind: UInt8, payload: UnsafeRawBufferPointer, entity: (UInt64) -> Void, operation: (SequenceNumber) -> Void
    ) -> Bool {
        withoutActuallyEscaping(entity) { entity in
            withoutActuallyEscaping(operation) { operation in
                var mentions = RecordMentions(bytes: payload, entity: entity, operation: operation)
                return mentions.visit(kind)
            }
        }
    }

    private init(
        bytes: UnsafeRawBufferPointer, entity: @escaping (UInt64) -> Void, operation: @escaping (SequenceNumber) -> Void
    ) {
        self.bytes = bytes
        self.entity = entity
        self.operation = operation
    }

    private mutating func visit(_ kind: UInt8) -> Bool {
        guard let kind = RecordCodec.RecordKind(rawValue: kind) else { return false }
        _ = number()
        switch kind {
        case .operation: visitOperation()
        case .downloadPage, .comparedPage: visitPage(isCompared: kind == .comparedPage)
        case .entitiesRead:
            list { $0.visitImage() }
            end()
        case .entitiesMissing:
            list { $0.visitEntity() }
            end()
        case .batchPrepared:
            _ = number()
            visitChangeSets()
            fields(through: BatchField.fingerprint)
        case .batchAnswered:
            _ = number()
            list { $0.visitOutcome() }
            end()
        case .queueChanged, .deliveryChanged:
            _ = byte()
            list { $0.operation($0.number()) }
            end()
        // They name nothing, whatever their fields are.
        case .serviceInstalled, .definingQueryAdded, .definingQueryRemoved, .downloadStarted, .downloadFinished,
            .uploadPostponed, .linksLeftOpen, .batchAccepted, .batchInterrupted:
            return !isUnreadable
        case .lost, .conflictResolved, .operationsIncompatible, .operationsAmended, .streamsStored,
            .entitiesQuarantined:
            return false
        }
        return !isUnreadable && at == bytes.count
    }

    // MARK: Elements

    @inline(__always)
    private mutating func byte() -> UInt8 {
        guard at < bytes.count else {
            isUnreadable = true
            return 0
        }
        defer { at += 1 }
        return bytes[at]
    }

    @inline(__always)
    private mutating func number() -> UInt64 {
        let first = byte()
        if first < 0x80 { return UInt64(first) }
        return rest(of: first)
    }

    private mutating func rest(of first: UInt8) -> UInt64 {
        var value = UInt64(first & 0x7F)
        var shift: UInt64 = 7
        while shift < 64 {
            let next = byte()
            value |= UInt64(next & 0x7F) << shift
            if next < 0x80 {
                if next == 0 { isUnreadable = true }
                return value
            }
            shift += 7
        }
        isUnreadable = true
        return 0
    }

    private mutating func skip(_ count: UInt64) {
        guard count <= UInt64(bytes.count - at) else {
            isUnreadable = true
            at = bytes.count
            return
        }
        at += Int(count)
    }

    private mutating func skipText() { skip(number()) }

    private mutating func optional(_ read: (inout Self) -> Void) {
        switch byte() {
        case 0: break
        case 1: read(&self)
        default: isUnreadable = true
        }
    }

    private mutating func list(_ read: (inout Self) -> Void) {
        var left = number()
        while left > 0, !isUnreadable {
            read(&self)
            left -= 1
        }
    }

    /// Visits optional fields. Those up to `last` are skipped unless a closure visits them.
    ///
    /// - Parameter visit: Returns whether it visited the field.
    private mutating func fields(
        through last: some RawRepresentable<UInt8>, _ visit: (inout Self, _ tag: UInt8) -> Bool = { _, _ in false }
    ) {
        let last = last.rawValue
        while !isUnreadable {
            let tag = byte()
            if tag == 0 { return }
            guard tag <= last || FieldTag.mayBeIgnored(tag) else {
                isUnreadable = true
                return
            }
            if !visit(&self, tag) { skipField(tag) }
        }
    }

    /// Visits the end of a structure without optional fields.
    private mutating func end() {
        while !isUnreadable {
            let tag = byte()
            if tag == 0 { return }
            if FieldTag.mayBeIgnored(tag) { skipField(tag) } else { isUnreadable = true }
        }
    }

    private mutating func skipField(_ tag: UInt8) {
        let number = number()
        if FieldTag.hasLength(tag) { skip(number) }
    }

    private mutating func nested(_ read: (inout Self) -> Void) {
        guard depth < ByteReader.depthLimit else {
            isUnreadable = true
            return
        }
        depth += 1
        read(&self)
        depth -= 1
    }

    // MARK: Operations

    private mutating func visitEntity() { entity(number()) }

    private mutating func visitOperation() {
        switch ActionTag(rawValue: byte()) {
        case .create: visitCreation()
        case .update:
            visitEntity()
            skipProperties()
            list { $0.visitLinks() }
        case .delete: visitEntity()
        case .createLink, .updateLink, .deleteLink:
            visitEntity()
            skipText()
            visitEntity()
        case nil: isUnreadable = true
        }
        // A call contains entities, so an operation with a call is not described.
        fields(through: OperationField.stream) {
            guard $1 == OperationField.parent.rawValue else { return false }
            $0.visitEntity()
            return true
        }
    }

    private mutating func visitCreation() {
        nested {
            $0.visitEntity()
            $0.skipText()
            $0.skipText()
            $0.skipProperties()
            $0.list { $0.visitLinks() }
            $0.fields(through: CreationField.inline) {
                guard $1 == CreationField.inline.rawValue else { return false }
                _ = $0.number()
                $0.list {
                    $0.skipText()
                    $0.list { $0.visitCreation() }
                }
                return true
            }
        }
    }

    private mutating func visitLinks() {
        skipText()
        list { $0.visitEntity() }
    }

    // MARK: Facts

    private mutating func visitImage() {
        visitEntity()
        skipText()
        skipText()
        skipProperties()
        list {
            $0.visitLinks()
            _ = $0.byte()
        }
        fields(through: ImageField.editLink)
    }

    private mutating func visitPage(isCompared: Bool) {
        skipText()
        if isCompared { visitRuns() }
        list { $0.visitImage() }
        fields(through: PageField.next) {
            guard let field = PageField(rawValue: $1), field != .next else { return false }
            _ = $0.number()
            $0.list {
                $0.visitEntity()
                guard field == .links else { return }
                $0.skipText()
                $0.optional { $0.visitEntity() }
                _ = $0.byte()
            }
            return true
        }
    }

    private mutating func visitRuns() {
        var end: UInt64 = 0
        var left = DownloadPage.unchangedLimit
        list {
            let run = $0.number()
            let first = end &+ (run >> 1 ^ (0 &- (run & 1)))
            let length = $0.number()
            guard length <= UInt64(left) else {
                $0.isUnreadable = true
                return
            }
            left -= Int(length)
            for place in 0..<length { $0.entity(first &+ place) }
            end = first &+ length
        }
    }

    /// Loops without closures, because such records contain all uploaded operations of a log.
    private mutating func visitChangeSets() {
        let operation = operation
        let last = RequestField.hasOthers.rawValue
        var changeSets = number()
        while changeSets > 0, !isUnreadable {
            var requests = number()
            while requests > 0, !isUnreadable {
                skip(number())
                operation(number())
                while !isUnreadable {
                    let tag = byte()
                    if tag == 0 { break }
                    if tag > last, !FieldTag.mayBeIgnored(tag) { isUnreadable = true }
                    skipField(tag)
                }
                requests -= 1
            }
            changeSets -= 1
        }
    }

    private mutating func visitOutcome() {
        operation(number())
        switch OutcomeTag(rawValue: byte()) {
        case .confirmed: list { $0.visitImage() }
        case .rejected: skipRefusal()
        case .deferred:
            skipRefusal()
            _ = number()
        case .notProcessed: break
        case .inDoubt: skipText()
        case nil: isUnreadable = true
        }
    }

    private mutating func skipRefusal() {
        _ = number()
        for _ in 0..<4 { skipText() }
        fields(through: RefusalField.requestBody)
    }

    // MARK: Values

    private mutating func skipProperties() {
        list {
            $0.skipText()
            $0.skipValue()
        }
    }

    private mutating func skipValue() {
        switch ValueTag(rawValue: byte()) {
        case .null, .false, .true: break
        case .integer, .single: _ = number()
        case .double: skip(8)
        case .guid: skip(16)
        case .decimal, .string, .binary, .enumeration, .raw: skipText()
        case .date: skipDate()
        case .timeOfDay: skipTime()
        case .duration:
            _ = byte()
            _ = number()
            _ = number()
        case .dateTime:
            skipDate()
            skipTime()
        case .dateTimeOffset:
            skipDate()
            skipTime()
            _ = number()
        case .complex:
            nested {
                $0.optional { $0.skipText() }
                $0.skipProperties()
            }
        case .collection: nested { $0.list { $0.skipValue() } }
        case nil: isUnreadable = true
        }
    }

    private mutating func skipDate() {
        _ = number()
        skip(2)
    }

    private mutating func skipTime() {
        _ = number()
        _ = byte()
    }
}
