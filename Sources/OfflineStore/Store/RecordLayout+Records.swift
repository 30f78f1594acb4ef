internal import OperationLog
internal import Operations

extension RecordLayout {
    /// The layout of this project's records, for the columnar storage of the log.
    static let records = RecordLayout { kind, payload, fields in
        for field in RecordFields.of(kind: kind, payload: payload) {
            switch field.form {
            case .number: fields.append(RecordField(.number, field.range))
            case .text: fields.append(RecordField(.text, field.range))
            case .fixed: fields.append(RecordField(.fixed, field.range))
            }
        }
    }
}
