package import EDM

/// Numbers are part of the format and never reused.
enum CategoryTag: UInt8 {
    case named = 1
    case entity = 2
}

/// Numbers are part of the format and never reused.
enum TemplatePartTag: UInt8 {
    case text = 1
    case key = 2
}

extension ByteWriter {
    /// Writes the operation in the oldest record kind that can represent it.
    mutating func operationByKind(_ operation: Operation) -> RecordCodec.Kind {
        if let stream = operation.stream {
            operationWithStream(operation, stream)
            return .operationWithStream
        }
        if let call = operation.call {
            operationWithCall(operation, call)
            return .operationWithCall
        }
        if operation.hasLaterAttributes {
            operationWithAttributes(operation)
            return .operationWithAttributes
        }
        guard let transaction = operation.transactionID else {
            self.operation(operation)
            return .operation
        }
        string(transaction)
        self.operation(operation)
        return .operationInTransaction
    }

    package mutating func operationWithAttributes(_ operation: Operation) {
        optional(operation.transactionID) { $0.string($1) }
        bool(operation.isUnmodifiable)
        byte(operation.delivery.rawValue)
        optional(operation.uploadCategory) {
            switch $1 {
            case .named(let name):
                $0.byte(CategoryTag.named.rawValue)
                $0.string(name)
            case .entity(let entity):
                $0.byte(CategoryTag.entity.rawValue)
                $0.entity(entity)
            }
        }
        list(operation.headerTemplates) {
            $0.string($1.name)
            $0.list($1.parts) {
                switch $1 {
                case .text(let text):
                    $0.byte(TemplatePartTag.text.rawValue)
                    $0.string(text)
                case .key(let entity, let property):
                    $0.byte(TemplatePartTag.key.rawValue)
                    $0.entity(entity)
                    $0.string(property)
                }
            }
        }
        self.operation(operation)
    }
}

extension ByteReader {
    mutating func delivery() throws(CodecError) -> Delivery {
        guard let delivery = Delivery(rawValue: try byte()) else { throw fail(.invalid("delivery")) }
        return delivery
    }

    package mutating func operationWithAttributes() throws(CodecError) -> Operation {
        let transaction = try optional { r throws(CodecError) in try r.string() }
        let isUnmodifiable = try bool()
        let delivery = try delivery()
        let category = try optional { r throws(CodecError) in try r.category() }
        let templates = try list { r throws(CodecError) in
            HeaderTemplate(name: try r.name(), parts: try r.list { r throws(CodecError) in try r.templatePart() })
        }
        var operation = try operation()
        operation.transactionID = transaction
        operation.isUnmodifiable = isUnmodifiable
        operation.delivery = delivery
        operation.uploadCategory = category
        operation.headerTemplates = templates
        return operation
    }

    private mutating func category() throws(CodecError) -> UploadCategory {
        switch CategoryTag(rawValue: try byte()) {
        case .named: return .named(try string())
        case .entity: return .entity(try entity())
        case nil: throw fail(.invalid("upload category"))
        }
    }

    private mutating func templatePart() throws(CodecError) -> HeaderTemplate.Part {
        switch TemplatePartTag(rawValue: try byte()) {
        case .text: return .text(try string())
        case .key: return .key(try entity(), property: try name())
        case nil: throw fail(.invalid("header template"))
        }
    }
}
