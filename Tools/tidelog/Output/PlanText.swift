internal import Tidelog

/// A request as it goes over the wire, but for the headers that the connection itself needs.
struct PlanText {
    let bytes: [UInt8]

    init(_ batch: PlannedBatch) {
        var head = "\(batch.method) \(batch.url)\r\n"
        for field in batch.headers.fields { head += "\(field.name): \(field.value)\r\n" }
        bytes = Array((head + "\r\n").utf8) + batch.body
    }
}
