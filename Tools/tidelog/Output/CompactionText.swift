internal import Tidelog

/// The result of a compaction, as lines or as JSON.
struct CompactionText {
    private let done: StoreCompaction

    init(_ done: StoreCompaction) { self.done = done }

    var lines: [String] {
        [
            "The snapshot of the state before operation \(done.snapshot.sequence) has \(done.snapshot.bytes) bytes, digest \(done.snapshot.digest).",
            "Removed \(counted(done.removedSegments, "segment", "segments")) and \(counted(done.removedSnapshots, "older snapshot", "older snapshots")); the log had \(done.bytesBefore) bytes and now has \(done.bytesAfter).",
            "The log begins with operation \(done.firstSequence).",
        ]
    }

    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.name("snapshot")
        json.beginObject()
        json.member("sequence", done.snapshot.sequence)
        json.member("bytes", done.snapshot.bytes)
        json.member("digest", done.snapshot.digest)
        json.endObject()
        json.member("firstSequence", done.firstSequence)
        json.member("removedSegments", done.removedSegments)
        json.member("removedSnapshots", done.removedSnapshots)
        json.member("bytesBefore", done.bytesBefore)
        json.member("bytesAfter", done.bytesAfter)
        json.endObject()
        return json.text
    }
}
