internal import Tidelog

/// A request as it goes over the wire, but for the headers that the connection itself needs. A body that ends within a line
/// has that line ended.
struct PlanText {
    let bytes: [UInt8]

    init(_ batch: PlannedBatch) {
        var head = "\(batch.method) \(batch.url)\r\n"
        for field in batch.headers.fields { head += "\(field.name): \(field.value)\r\n" }
        let isWithinLine = batch.body.last.map { $0 != UInt8(ascii: "\n") } ?? false
        bytes = Array((head + "\r\n").utf8) + batch.body + (isWithinLine ? [UInt8(ascii: "\n")] : [])
    }
}
