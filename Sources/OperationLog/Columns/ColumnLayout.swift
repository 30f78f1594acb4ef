/// How records lie in the columns of a block of method 2; see `Docs/LogFormat.md`, *Columns*.
///
/// Records of one shape have the same bytes in the same order, with others in between: names, tags and lengths of what
/// they say, and the values. A template is what is the same; the gaps of all its records are columns.
enum ColumnLayout {
    /// How a gap's bytes lie.
    enum Mode: UInt8 {
        /// Of different lengths: all lengths, then all bytes, record by record.
        case varying = 0
        /// Of one length: record by record.
        case records = 1
        /// Of one length: the first byte of each record, then the second of each, and so on.
        case lanes = 2
        /// The same, each byte less the one in front of it in its lane.
        case differences = 3
    }

    /// In front of the frame: how many bytes it decompresses to.
    static let lengthField = FieldLayout("column length", 0, 4)
    /// The template of a record that has none.
    static let noTemplate: UInt8 = 0
    static let maximumTemplates = 255
    /// Of one template.
    static let maximumAnchors = 1024
}

/// What is the same in records of one shape.
struct RecordTemplate: Equatable {
    let kind: UInt8
    /// In the order in which a payload has them. Not empty, and none of them is.
    let anchors: [[UInt8]]
}
