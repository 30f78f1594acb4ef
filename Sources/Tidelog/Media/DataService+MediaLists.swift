import EDM
public import ODataWire
public import OfflineStore

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Several media entities at once, and downloads into files of the app.
extension DataService {
    /// Creates several media entities, each with its content, one after the other.
    ///
    /// - Throws: Like ``createMedia(_:content:headers:options:)``. The entities before the one that is refused exist
    ///   then; the following ones do not.
    public func createMedia(
        _ items: [(entity: EntityValue, content: MediaContent)], headers: HTTPHeaders = .empty,
        options: RequestOptions = .none
    ) async throws(TidelogError) {
        for item in items {
            try await createMedia(item.entity, content: item.content, headers: headers, options: options)
        }
    }

    /// Creates several media entities in a collection of another entity, each with its content, one after the other.
    ///
    /// - Throws: Like ``createMedia(_:headers:options:)``.
    public func createRelatedMedia(
        _ items: [(entity: EntityValue, content: MediaContent)], in parent: EntityValue,
        property: some PropertyReference, headers: HTTPHeaders = .empty, options: RequestOptions = .none
    ) async throws(TidelogError) {
        for item in items {
            try await createRelatedMedia(
                item.entity, content: item.content, in: parent, property: property, headers: headers, options: options)
        }
    }

    /// Downloads the content of a media entity into the store, unless the store already has it, and copies it to a
    /// file.
    ///
    /// The file has the content even if the store is encrypted, and stays when the store removes its own. Neither the
    /// download nor the copy needs memory for the whole content. An existing file is replaced once the copy is complete.
    ///
    /// - Returns: `false` if the service has no content; no file is written then.
    /// - Throws: Like ``downloadMedia(entity:headers:)``; `damaged` if the stored content was changed; `storage` if the
    ///   file cannot be written.
    @discardableResult
    public func downloadMedia(entity: EntityValue, to file: URL) async throws(TidelogError) -> Bool {
        guard let stream = try await downloadMedia(entity: entity) else { return false }
        try stream.write(toFile: file.path)
        return true
    }

    /// Downloads the content of a stream property to a file, like ``downloadMedia(entity:to:)``.
    ///
    /// - Returns: `false` if the service has no content; no file is written then.
    /// - Throws: Like ``downloadStream(entity:property:headers:)``; `damaged` if the stored content was changed;
    ///   `storage` if the file cannot be written.
    @discardableResult
    public func downloadStream(
        entity: EntityValue, property: some PropertyReference, to file: URL
    ) async throws(TidelogError) -> Bool {
        guard let stream = try await downloadStream(entity: entity, property: property) else { return false }
        try stream.write(toFile: file.path)
        return true
    }
}
