public import SyncCore
public import SyncEngine

/// How defining queries are downloaded, by their names, where that is not as usual: made in code, or read from a
/// configuration file (`Docs/DefiningQueries.md`).
public struct OfflineODataConfiguration: Sendable, Hashable {
    /// A query that has none here is downloaded as usual.
    public var settings: [String: DefiningQuerySettings]

    public init(settings: [String: DefiningQuerySettings] = [:]) { self.settings = settings }

    /// Reads the text of a configuration file.
    ///
    /// - Parameter place: the file's name, for errors.
    /// - Throws: `invalidRequest` with the line and what is wrong with it.
    public init(text: String, place: String? = nil) throws(TidelogError) {
        do throws(DefiningQueryFileError) {
            settings = try DefiningQueryFile(text).settings
        } catch {
            let place = place.map { "\($0), line \(error.line)" } ?? "line \(error.line)"
            throw TidelogError(.invalidRequest, error.message, place: place, cause: error)
        }
    }
}
