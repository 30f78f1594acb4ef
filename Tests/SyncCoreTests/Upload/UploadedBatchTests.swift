import ODataWire
import Operations
import SyncCore
import Testing

/// The contents of sent batches.
struct UploadedBatchTests {
    @Test(arguments: [BatchPrepared.Effect.update, .create])
    func `only the response to a change of a stream has the stream's new ETag`(_ effect: BatchPrepared.Effect) throws {
        let digest = try #require(StreamDigest([UInt8](repeating: 7, count: StreamDigest.length)))
        let content = StreamContent(digest: digest, byteCount: 3, mediaType: "text/plain")
        let image = StreamImage(
            entity: EntityID(rawValue: 4), property: "Photo", content: content, etag: "\"2\"")
        var request = UploadedRequest(contentID: "1", operation: 1, effect: effect)
        request.stream = UploadedRequest.Stream(entity: image.entity, property: "Photo", content: content)
        let response = WireResponse(status: 204, headers: ["ETag": "\"2\""])
        let changeSet = UploadedChangeSet(requests: [request], outcome: .members([response]))
        let batch = UploadedBatch(number: 1, changeSets: [changeSet])
        #expect(batch.streamImage == (effect == .update ? image : nil))
    }
}
