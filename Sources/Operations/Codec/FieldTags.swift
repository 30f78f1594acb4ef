// The tags of the optional fields, by structure. They are part of the format: a tag is never changed or reused, and a
// new field has the next number. A tag is the number of the field times four, plus 2 if the value is preceded by its
// length, plus 1 if a version that does not support the field may ignore it. Fields with a length contain text unless
// the comment states otherwise.

enum OperationField: UInt8, CaseIterable {
    case changeSet = 4
    case baseETag = 10
    /// The entity in whose navigation property the new one is created. Only in a create, with ``parentNavigation``.
    case parent = 12
    case parentNavigation = 18
    case transactionID = 22
    case customTag = 26
    /// A list of names and values.
    case headers = 30
    /// A list of names with lists of parts.
    case headerTemplates = 34
    case isUnmodifiable = 36
    case delivery = 40
    case namedCategory = 46
    /// Excludes ``namedCategory``.
    case entityCategory = 48
    /// A structure.
    case stream = 54
    /// A structure.
    case call = 58
}

enum CreationField: UInt8, CaseIterable {
    /// A list of navigation properties with lists of creations.
    case inline = 6
}

/// The fields of an action's call. The binding is an entity, a property of an entity, or a set.
enum CallField: UInt8, CaseIterable {
    case entity = 4
    case property = 10
    case set = 14
    case type = 18
    case answer = 20
}

enum StreamWriteField: UInt8, CaseIterable {
    case property = 6
    /// A structure.
    case content = 10
}

enum StreamContentField: UInt8, CaseIterable {
    case name = 6
}

enum StreamImageField: UInt8, CaseIterable {
    case property = 6
    /// A structure.
    case content = 10
    case etag = 14
    /// A structure: the service's metadata of the stream.
    case reported = 18
}

enum ReportedStreamField: UInt8, CaseIterable {
    case readLink = 6
    case editLink = 10
    case etag = 14
}

enum DefiningQueryField: UInt8, CaseIterable {
    case automaticallyRetrievesStreams = 4
}

enum QueryStartField: UInt8, CaseIterable {
    case mode = 4
}

enum PageField: UInt8, CaseIterable {
    /// A list of entities.
    case removed = 6
    /// A list of entities.
    case left = 10
    /// A list of changed links.
    case links = 14
    case next = 18
}

enum DownloadFinishedField: UInt8, CaseIterable {
    case deltaLink = 6
}

enum QuarantineField: UInt8, CaseIterable {
    case name = 6
    case entity = 8
    case path = 14
    case text = 18
    case hidesOthers = 20
    /// The default is 1.
    case count = 24
}

enum ImageField: UInt8, CaseIterable {
    case etag = 6
    case editLink = 10
}

enum BatchField: UInt8, CaseIterable {
    case coalesces = 4
    /// A list of change sets of requests as sent.
    case sent = 10
    /// A structure.
    case fingerprint = 14
}

enum RequestField: UInt8, CaseIterable {
    case effect = 4
    /// A tree of new entities.
    case creates = 10
    case contentIDInURL = 14
    case hasContentIDInBody = 16
    case hasOthers = 20
}

enum RefusalField: UInt8, CaseIterable {
    case innerError = 6
    case requestBody = 10
}
