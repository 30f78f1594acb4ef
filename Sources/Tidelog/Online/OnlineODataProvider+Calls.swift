import EDM
package import ODataQuery
package import ODataWire
package import OfflineStore
import SyncEngine

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The calls of a ``DataService``.
extension OnlineODataProvider {
    // MARK: Reading

    private func reader() async throws(TidelogError) -> OnlineReader {
        let model = try await model()
        return OnlineReader(session: session, model: model, options: options(model))
    }

    package func query(_ request: QueryRequest, headers: HTTPHeaders) async throws(TidelogError) -> QueryAnswer {
        try await reader().query(request, headers)
    }

    package func load(
        _ address: EntityAddress, options: QueryOptions, headers: HTTPHeaders
    ) async throws(TidelogError) -> EntitySnapshot {
        try await reader().load(address, options, headers)
    }

    package func invoke(_ invocation: OperationInvocation) async throws(TidelogError) -> InvocationAnswer {
        let model = try await model()
        return try await OnlineInvocation(session: session, model: model, options: options(model)).answer(
            to: invocation, messages)
    }

    // MARK: Changes

    package func perform(
        _ intents: [(intent: Intent, options: IntentOptions)], asChangeSet: Bool
    ) async throws(TidelogError) -> [IntentResult] {
        let model = try await model()
        let round = OnlineModification(
            session: session, model: model, options: options(model), messages: messages)
        if asChangeSet { return try await round.changeSet(intents) }
        var results: [IntentResult] = []
        for (intent, options) in intents { results.append(try await round.single(intent, options)) }
        return results
    }

    /// Sends all parts as one `$batch` if the service supports it.
    package func process(_ calls: [BatchCall]) async throws(TidelogError) -> [BatchCallOutcome] {
        let model = try await model()
        let options = options(model)
        guard options.supportsBatch, calls.count > 1 else { return await processInTurn(calls) }
        let batch = OnlineBatch(
            session: session,
            encoder: RequestEncoder(version: model.version, model: model, serviceRoot: session.root, options: options),
            options: options)
        return try await batch.process(
            calls, OnlineModification(session: session, model: model, options: options, messages: messages),
            OnlineReader(session: session, model: model, options: options))
    }

    /// Returns whether the service evaluates `if` in batches in JSON.
    package func acceptsConditions() async throws(TidelogError) -> Bool {
        let model = try await model()
        let options = options(model)
        return options.supportsBatch && options.supportsRequestConditions && options.batchFormat == .json
            && !model.version.isLegacy
    }

    // MARK: Streams

    /// Writes the content to a temporary file, so that it can be sent again after a renewal of the credentials.
    package func keepStream(_ content: MediaContent) async throws(TidelogError) -> LocalStream {
        try await TransientStream.written(
            in: Self.temporaryDirectory, mediaType: content.mediaType, name: content.name, content.feed)
    }

    /// Downloads the content into a temporary file.
    package func downloadStream(
        _ stream: StreamAddress, headers: HTTPHeaders
    ) async throws(TidelogError) -> LocalStream? {
        let reader = try await reader()
        return try await TransientStream.downloaded(
            in: Self.temporaryDirectory, from: try reader.urls.url(of: stream), headers: headers, session)
    }

    /// Always returns `nil`: without a store, no content is kept.
    package func localStream(_ stream: StreamAddress) async throws(TidelogError) -> LocalStream? { nil }

    private static var temporaryDirectory: String { FileManager.default.temporaryDirectory.path }
}
