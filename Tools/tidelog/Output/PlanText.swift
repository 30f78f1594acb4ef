internal import Tidelog

/// A request as it is sent, except for the headers of the connection. A line end is added to a body that does not end
/// with one.
struct PlanText {
    let bytes: [UInt8]

    init(_ batch: PlannedBatch) {
        var head = "\(batch.method) \(batch.url)\r\n"
        for field in batch.headers.fields { head += "\(field.name): \(field.value)\r\n" }
        let isWithinLine = batch.body.last.map { $0 != UInt8(ascii: "\n") } ?? false
        bytes = Array((head + "\r\n").utf8) + batch.body + (isWithinLine ? [UInt8(ascii: "\n")] : [])
    }
}
