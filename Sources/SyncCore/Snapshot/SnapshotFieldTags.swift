// The tags of the optional fields of snapshot items, by structure; see `FieldTags.swift` of the records. They are part of
// the format: a tag is never changed or reused, and a new field has the next number. No field may be ignored, because
// the digest of the state includes all of them.

enum HeaderField: UInt8, CaseIterable {
    /// The default is 0.
    case lastDownload = 4
    /// A structure: the postponement and its time.
    case postponed = 10
}

enum QueryField: UInt8, CaseIterable {
    case isComplete = 4
    case isDelta = 8
    /// A URL and its time.
    case deltaLink = 14
    /// A URL and its time.
    case next = 18
    case downloaded = 20
}

enum RowField: UInt8, CaseIterable {
    case etag = 6
    case editLink = 10
    /// The default is 0.
    case downloaded = 12
}

enum QueuedField: UInt8, CaseIterable {
    /// The default is the time of the operation.
    case since = 4
    /// The record of the undo. Its presence distinguishes undone operations from pending ones.
    case undo = 8
}

enum OpenBatchField: UInt8, CaseIterable {
    case monitor = 6
    /// A list of effects.
    case shown = 10
}

enum EventField: UInt8, CaseIterable {
    /// A list of names.
    case subset = 6
}
