public import EDM

/// What uploads have found out about a service: where it understands or does less than its options say. A store remembers it
/// beside the options that it was given, which stay as they are.
public struct LearnedOptions: Sendable, Hashable {
    /// The most that the service reads of `$<Content-ID>`; nil if nothing is known against the options.
    public var contentIDReferences: ServiceOptions.ContentIDReferences?
    /// ``ServiceOptions/ChangeSetRollback/absent`` if an entity of a refused change set was found at the service.
    public var changeSetRollback: ServiceOptions.ChangeSetRollback?

    public init() {}

    public var isEmpty: Bool { self == LearnedOptions() }

    /// Returns the options, less what the service is known not to do.
    public func applied(to options: ServiceOptions, version: ODataVersion) -> ServiceOptions {
        var options = options.resolved(for: version)
        if let limit = contentIDReferences {
            options.contentIDReferences = options.contentIDReferences.limited(to: limit)
        }
        if let changeSetRollback { options.changeSetRollback = changeSetRollback }
        return options
    }

    /// The options by name that are known, for files.
    public var named: [(name: String, value: String)] {
        var named: [(name: String, value: String)] = []
        if let contentIDReferences { named.append((Self.references, contentIDReferences.rawValue)) }
        if let changeSetRollback { named.append((Self.rollback, changeSetRollback.rawValue)) }
        return named
    }

    /// Sets what is known by its name. A name or value that this version does not know is left out: it is found out again.
    public mutating func set(_ name: String, to value: String) {
        switch name {
        case Self.references: contentIDReferences = ServiceOptions.ContentIDReferences(rawValue: value)
        case Self.rollback: changeSetRollback = ServiceOptions.ChangeSetRollback(rawValue: value)
        default: break
        }
    }

    private static let references = "contentIDReferences"
    private static let rollback = "changeSetRollback"
}

extension ServiceOptions.ContentIDReferences {
    /// The lesser of the two; both are resolved.
    public func limited(to limit: Self) -> Self { rank < limit.rank ? self : limit }

    private var rank: Int {
        switch self {
        case .none: 0
        case .urlsOnly: 1
        case .urlsPreferred: 2
        case .standard, .urlsAndBodies: 3
        }
    }
}
