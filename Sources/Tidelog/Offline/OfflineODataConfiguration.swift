public import OfflineStore
public import SyncCore

/// Download settings of defining queries, by name, for queries that differ from the defaults.
///
/// Create a configuration in code, or read it from a configuration file (`Docs/DefiningQueries.md`).
public struct OfflineODataConfiguration: Sendable, Hashable {
    /// The settings by query name. A query without settings is downloaded with the defaults.
    public var settings: [String: DefiningQuerySettings]

    /// Creates a configuration with settings by the name of the defining query; by default with none.
    public init(settings: [String: DefiningQuerySettings] = [:]) { self.settings = settings }

    /// Creates a configuration from the text of a configuration file.
    ///
    /// - Parameters:
    ///   - text: the text of the file.
    ///   - place: the file's name, for errors.
    /// - Throws: `invalidRequest` with the line and a description of the error.
    public init(text: String, place: String? = nil) throws(TidelogError) {
        do throws(DefiningQueryFileError) {
            settings = try DefiningQueryFile(text).settings
        } catch {
            let place = place.map { "\($0), line \(error.line)" } ?? "line \(error.line)"
            throw TidelogError(.invalidRequest, error.message, place: place, cause: error)
        }
    }
}
