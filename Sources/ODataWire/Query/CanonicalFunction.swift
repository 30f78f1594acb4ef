internal import EDM

/// The functions that expressions know without a model: those of V2 and V4, and the offline functions of the SDK whose
/// names Tidelog follows.
public enum CanonicalFunction: String, Sendable, Hashable, CaseIterable {
    case concat, contains, endswith, indexof, length, startswith, substring, matchesPattern, tolower, toupper, trim
    /// V2 only.
    case replace
    case hassubset, hassubsequence
    case year, month, day, hour, minute, second, fractionalseconds, totalseconds, date, time, totaloffsetminutes
    case now, maxdatetime, mindatetime, years, months, days, hours, minutes, seconds
    case round, floor, ceiling
    /// Whether the instance has the property at all (OData Extension for Data Aggregation 4.0, section 6.4).
    case isdefined
    case geoDistance = "geo.distance"
    case geoIntersects = "geo.intersects"
    case geoLength = "geo.length"
    /// Whether the entity has changes that are not on the server yet.
    case isLocal = "sap.islocal"
    /// Whether an operation on the entity waits to be sent or is being sent.
    case hasPendingChanges = "sap.haspendingchanges"
    /// Whether an operation on the entity was refused by the server.
    case isInErrorState = "sap.inerrorstate"
    /// Whether the navigation property leads to an entity that is in the store.
    case entityExists = "sap.entityexists"
    /// Whether the last download inserted or changed the entity.
    case upsertedLastDownload = "sap.upsertedlastdownload"

    /// Those that only a store can answer.
    package static let ofStore: Set<CanonicalFunction> = [
        .isLocal, .hasPendingChanges, .isInErrorState, .entityExists, .upsertedLastDownload,
    ]

    private static let byName: [String: CanonicalFunction] = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })
    private static let byLowercaseName: [String: CanonicalFunction] = Dictionary(
        uniqueKeysWithValues: allCases.map { ($0.rawValue.lowercased(), $0) })

    /// The function of that name. Case does not matter from OData 4.01 on (Part 2, 5.1.1), and never for the offline
    /// functions, which are written both ways.
    ///
    /// - Parameter word: in lower case where the version is 4.01.
    static func named(_ word: String, in version: ODataVersion) -> CanonicalFunction? {
        version == .v401 || word.hasPrefix("sap.") || word.hasPrefix("SAP.")
            ? byLowercaseName[word.lowercased()] : byName[word]
    }

    /// How many arguments the function takes in that version.
    func arity(in version: ODataVersion) -> ClosedRange<Int> {
        self == .concat && !version.isLegacy ? 2...2 : arity
    }

    /// How many arguments the function takes in any version.
    var arity: ClosedRange<Int> {
        switch self {
        case .now, .maxdatetime, .mindatetime, .isLocal, .hasPendingChanges, .isInErrorState, .upsertedLastDownload:
            0...0
        case .length, .tolower, .toupper, .trim, .year, .month, .day, .hour, .minute, .second, .fractionalseconds,
            .totalseconds, .date, .time, .totaloffsetminutes, .years, .months, .days, .hours, .minutes, .seconds,
            .round, .floor, .ceiling, .geoLength, .entityExists, .isdefined:
            1...1
        // Two in the standard; V2 services also take more, and the printer nests them where needed.
        case .concat: 2...64
        case .substring: 2...3
        case .replace: 3...3
        case .contains, .endswith, .indexof, .startswith, .matchesPattern, .hassubset, .hassubsequence, .geoDistance,
            .geoIntersects:
            2...2
        }
    }

    /// Whether a service of that version knows the function, under this or, for `contains`, its older name.
    func isKnown(to version: ODataVersion) -> Bool {
        switch self {
        case .concat, .contains, .endswith, .indexof, .length, .startswith, .substring, .tolower, .toupper, .trim,
            .year,
            .month, .day, .hour, .minute, .second, .round, .floor, .ceiling, .isLocal, .hasPendingChanges,
            .isInErrorState,
            .entityExists, .upsertedLastDownload:
            true
        case .replace, .years, .months, .days, .hours, .minutes, .seconds:
            version.isLegacy
        default:
            !version.isLegacy
        }
    }
}
