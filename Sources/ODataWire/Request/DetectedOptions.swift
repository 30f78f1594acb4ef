package import EDM

/// The capabilities that uploads have found a service to lack, contrary to its options.
///
/// A store records them separately from the options that it was given, which do not change.
package struct DetectedOptions: Sendable, Hashable {
    /// The most that the service supports of `$<Content-ID>`, or nil if nothing contradicts the options.
    package var contentIDReferences: ServiceOptions.ContentIDReferences?
    /// ``ServiceOptions/ChangeSetRollback/absent`` if an entity of a rejected change set was found on the service.
    package var changeSetRollback: ServiceOptions.ChangeSetRollback?

    /// Whether the last response to a repeatable request had no `Repeatability-Result`, so that requests are not repeated
    /// (OASIS Repeatable Requests 1.0, section 4).
    package var lacksRepeatability = false

    package init() {}

    package var isEmpty: Bool { self == DetectedOptions() }

    /// Returns the options, restricted to the known capabilities of the service.
    package func applied(to options: ServiceOptions, version: ODataVersion) -> ServiceOptions {
        var options = options.resolved(for: version)
        if let limit = contentIDReferences {
            options.contentIDReferences = options.contentIDReferences.limited(to: limit)
        }
        if let changeSetRollback { options.changeSetRollback = changeSetRollback }
        return options
    }

    /// The known options by name, for files.
    package var named: [(name: String, value: String)] {
        var named: [(name: String, value: String)] = []
        if let contentIDReferences { named.append((Self.references, contentIDReferences.rawValue)) }
        if let changeSetRollback { named.append((Self.rollback, changeSetRollback.rawValue)) }
        if lacksRepeatability { named.append((Self.repeatability, "true")) }
        return named
    }

    /// Sets a known option by name. Unknown names and values are ignored, because uploads detect them again.
    package mutating func set(_ name: String, to value: String) {
        switch name {
        case Self.references: contentIDReferences = ServiceOptions.ContentIDReferences(rawValue: value)
        case Self.rollback: changeSetRollback = ServiceOptions.ChangeSetRollback(rawValue: value)
        case Self.repeatability: lacksRepeatability = value == "true"
        default: break
        }
    }

    private static let references = "contentIDReferences"
    private static let rollback = "changeSetRollback"
    private static let repeatability = "lacksRepeatability"
}

extension ServiceOptions.ContentIDReferences {
    /// Returns the lesser of the two values. Both must be resolved.
    package func limited(to limit: Self) -> Self { rank < limit.rank ? self : limit }

    private var rank: Int {
        switch self {
        case .none: 0
        case .urlsOnly: 1
        case .urlsPreferred: 2
        case .standard, .urlsAndBodies: 3
        }
    }
}
