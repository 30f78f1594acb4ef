internal import EDM

/// The functions that are available without a model: those of V2 and V4, and the offline functions of the SDK whose API
/// Tidelog follows.
package enum CanonicalFunction: String, Sendable, Hashable, CaseIterable {
    case concat, contains, endswith, indexof, length, startswith, substring, matchesPattern, tolower, toupper, trim
    /// Available in V2 only.
    case replace
    case hassubset, hassubsequence
    case year, month, day, hour, minute, second, fractionalseconds, totalseconds, date, time, totaloffsetminutes
    case now, maxdatetime, mindatetime, years, months, days, hours, minutes, seconds
    case round, floor, ceiling
    /// Returns whether the instance has the property at all (OData Extension for Data Aggregation 4.0, section 6.4).
    case isdefined
    case geoDistance = "geo.distance"
    case geoIntersects = "geo.intersects"
    case geoLength = "geo.length"
    /// Returns whether the entity has changes that are not on the server yet.
    case isLocal = "sap.islocal"
    /// Returns whether an operation on the entity is pending or being sent.
    case hasPendingChanges = "sap.haspendingchanges"
    /// Returns whether the server rejected an operation on the entity.
    case isInErrorState = "sap.inerrorstate"
    /// Returns whether the navigation property leads to an entity in the store.
    case entityExists = "sap.entityexists"
    /// Returns whether the last download inserted or changed the entity.
    case upsertedLastDownload = "sap.upsertedlastdownload"
    /// Returns whether an entity that is linked to this one was created or changed in the store.
    case hasLocalRelatives = "sap.haslocalrelatives"
    /// Returns whether an operation on an entity that is linked to this one is pending or being sent.
    case hasRelativesWithPendingChanges = "sap.hasrelativeswithpendingchanges"

    /// The functions that only a store can evaluate.
    package static let ofStore: Set<CanonicalFunction> = [
        .isLocal, .hasPendingChanges, .isInErrorState, .entityExists, .upsertedLastDownload, .hasLocalRelatives,
        .hasRelativesWithPendingChanges,
    ]

    /// The functions of ``ofStore`` that concern the entities of a query.
    package static let ofEntityState = ofStore.subtracting([.entityExists])

    private static let byName: [String: CanonicalFunction] = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
    private static let byLowercaseName: [String: CanonicalFunction] = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

    /// Returns the function with the name, or nil.
    ///
    /// Names are case-insensitive from OData 4.01 on (Part 2, 5.1.1). The offline functions are accepted in any case in
    /// all versions.
    ///
    /// - Parameter word: The name; in lower case if the version is 4.01.
    static func named(_ word: String, in version: ODataVersion) -> CanonicalFunction? {
        version == .v401 || word.hasPrefix("sap.") || word.hasPrefix("SAP.")
            ? byLowercaseName[word.lowercased()] : byName[word]
    }

    /// Returns the number of arguments in the given version.
    func arity(in version: ODataVersion) -> ClosedRange<Int> {
        self == .concat && !version.isLegacy ? 2...2 : arity
    }

    /// The number of arguments, over all versions.
    var arity: ClosedRange<Int> {
        switch self {
        case .now, .maxdatetime, .mindatetime, .isLocal, .hasPendingChanges, .isInErrorState, .upsertedLastDownload,
            .hasLocalRelatives, .hasRelativesWithPendingChanges:
            0...0
        case .length, .tolower, .toupper, .trim, .year, .month, .day, .hour, .minute, .second, .fractionalseconds,
            .totalseconds, .date, .time, .totaloffsetminutes, .years, .months, .days, .hours, .minutes, .seconds,
            .round, .floor, .ceiling, .geoLength, .entityExists, .isdefined:
            1...1
        // Two by the standard. V2 services also accept more, and the printer nests them if necessary.
        case .concat: 2...64
        case .substring: 2...3
        case .replace: 3...3
        case .contains, .endswith, .indexof, .startswith, .matchesPattern, .hassubset, .hassubsequence, .geoDistance,
            .geoIntersects:
            2...2
        }
    }

    /// Returns whether services of the version support the function, under this name or, for `contains`, its older
    /// name.
    func isKnown(to version: ODataVersion) -> Bool {
        switch self {
        case .concat, .contains, .endswith, .indexof, .length, .startswith, .substring, .tolower, .toupper, .trim,
            .year,
            .month, .day, .hour, .minute, .second, .round, .floor, .ceiling, .isLocal, .hasPendingChanges,
            .isInErrorState,
            .entityExists, .upsertedLastDownload, .hasLocalRelatives, .hasRelativesWithPendingChanges:
            true
        case .replace, .years, .months, .days, .hours, .minutes, .seconds:
            version.isLegacy
        default:
            !version.isLegacy
        }
    }
}
