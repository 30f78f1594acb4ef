import EDM
import ODataWire

/// Reads the body of a response as a page, an entity, a delta and an error. The first byte selects the version, the
/// second one the length of the pieces of a page.
///
/// Required: a page that is read in pieces has the items, links and errors of one that is read as a whole; a page with
/// a next link, or of an unreadable rest, is never complete without it.
func fuzzPayloads(_ input: [UInt8]) throws(Finding) {
    guard input.count > 2 else { return }
    let version: ODataVersion = input[0] % 2 == 0 ? .v4 : .v2
    let body = Array(input[2...])
    let reader = PayloadReader(version: version, model: FuzzModel.model)
    let type = FuzzModel.customer
    let (whole, pieces) = (
        page(reader, [body], isWhole: true),
        page(reader, chunks(of: body, length: Int(input[1] % 64) + 1), isWhole: false)
    )
    try require(whole == pieces, "a page differs if it is read in pieces: \(whole), \(pieces)")
    _ = try? reader.entity(body, type: type)
    _ = try? reader.deltaItem(body, type: type)
    _ = try? reader.wholeEntity(body, type: type)
    _ = reader.inStreamError(in: body, of: type)
    _ = PayloadReader.count(body)
    _ = ServiceErrorReader.read(body)
    guard let feed = try? reader.feed(body, type: type) else { return }
    try require(feed.entities.count <= whole.items.count, "a page has more entities than items")
}

private struct Page: Equatable {
    var items: [DeltaItem] = []
    var isRefused = false
    var links: [String?] = []
}

private func chunks(of bytes: [UInt8], length: Int) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: length).map { Array(bytes[$0..<min($0 + length, bytes.count)]) }
}

private func page(_ reader: PayloadReader, _ chunks: [[UInt8]], isWhole: Bool) -> Page {
    var page = Page()
    do throws(PayloadError) {
        var feed =
            isWhole
            ? try reader.feedReader(chunks[0], type: FuzzModel.customer) : reader.feedReader(type: FuzzModel.customer)
        if !isWhole {
            for chunk in chunks {
                feed.append(chunk)
                while let item = try feed.next() { page.items.append(item) }
            }
            feed.finish()
        }
        while let item = try feed.next() { page.items.append(item) }
        page.links = [feed.nextLink, feed.deltaLink, feed.context]
    } catch {
        page.isRefused = true
    }
    return page
}

let payloadSeeds: [[UInt8]] = [
    (
        0,
        ##"{"@odata.context":"$metadata#Customers","@odata.count":1,"value":[{"@odata.type":"#S.Premium","@odata.etag":"e","ID":1,"Price":1e3,"Ratio":"INF","Day":"2020-02-29","At":"10:00:00.5","Span":"-P1DT1S","Since":"2020-01-01T00:00:00+01:00","Mood":"Calm","Tags":["a"],"Home":{"City":"c","Zip":1},"Orders":[{"Region":"EU","ID":1}],"Free":[1,{"y":null}]}],"@odata.nextLink":"n"}"##
    ),
    (
        0,
        ##"{"@odata.context":"$metadata#Customers/$delta","value":[{"@removed":{"reason":"changed"},"ID":1},{"@odata.context":"#Customers/$deletedEntity","id":"Customers(1)","reason":"deleted"},{"ID":2,"Orders@delta":[{"@removed":{},"@id":"o"},{"@id":"p"}]},{"@context":"#Orders('a')/Customer/$link","source":"a","relationship":"b","target":"c"}],"@odata.deltaLink":"d"}"##
    ),
    (
        1,
        #"{"d":{"__count":"1","results":[{"__metadata":{"uri":"u","type":"S.Customer","etag":"e"},"ID":1,"Long":"12","Price":"1.50","Since":"/Date(1330558323000+0060)/","Data":"AQI=","Orders":{"results":[{"Region":"EU","ID":"1"}],"__next":"n"}}],"__next":"x"}}"#
    ),
    (0, #"{"error":{"code":"c","message":"m","target":"t","details":[{"code":"d","message":"n"}],"innererror":{}}}"#),
    (0, #"{"value":[{"ID":1},{"error":{"code":"c","message":"in the middle"}}]}"#),
].map { [UInt8($0.0), 7] + Array($0.1.utf8) }
