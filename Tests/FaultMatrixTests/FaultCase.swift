/// A request of an upload, identified by its method and a part of its URL.
struct SentRequest {
    /// The method; nil if it varies.
    let method: String?
    let url: String

    init(_ method: String?, _ url: String) {
        self.method = method
        self.url = url
    }

    /// Returns the method of an update.
    static func update(_ version: String) -> String { version == "v2" ? "MERGE" : "PATCH" }

    /// The members of a fault that select this request.
    var members: String { (method.map { #""method":"\#($0)","# } ?? "") + #""url":"\#(url)""# }
}

/// A fault during an upload, in the form that `/faults` accepts.
struct FaultCase {
    var script: String
    /// Whether the update of the order may end with a visible rejection or conflict, because another client has changed
    /// the order.
    var isConflict = false

    /// Whether another client changes the order after the batch.
    var follows: Bool { script.contains("follow") }

    /// Whether the fault has a number of times, which may exceed the requests of an upload.
    var mayRemain: Bool { script.contains("times") }

    /// Returns the same fault for a service without batches: a fault of the batch affects the first request, a fault of
    /// a part the request that corresponds to the part.
    func single(_ version: String) -> FaultCase {
        single([
            SentRequest("POST", "Visits"), SentRequest(SentRequest.update(version), "Orders(1)"),
            SentRequest("POST", "Suppliers"),
        ])
    }

    /// Returns the same fault for a service without batches that receives these requests.
    func single(_ requests: [SentRequest]) -> FaultCase {
        var single = self
        for (part, request) in requests.enumerated() {
            single.script.replace("\"part\":\(part + 1)", with: request.members)
        }
        if let first = requests.first { single.script.replace(#""url":"$batch""#, with: first.members) }
        return single
    }

    /// Returns the faults of an upload that sends one batch, with a number of requests in separate parts.
    ///
    ///  - Parameter contested: An order that another client changes before or after the batch.
    static func all(_ version: String, parts count: Int = 3, contested: String = "Orders(1)") -> [FaultCase] {
        refusals.map { FaultCase(script: #"{"url":"$batch",\#($0)}"#) }
            + parts(count).map { FaultCase(script: "{\($0)}") }
            + answers.map { FaultCase(script: #"{"url":"$batch",\#($0)}"#) }
            // Without Content-IDs in the response, as in V2, only the order identifies the parts.
            + (version == "v4" ? [FaultCase(script: #"{"url":"$batch","effect":"reversedParts"}"#)] : [])
            + others(contested).map { FaultCase(script: $0, isConflict: true) }
            + combined.map { FaultCase(script: $0) }
    }

    /// Faults of a request in the first change set that follows a create.
    static let refusedTogether = [400, 409, 429, 500, 503].flatMap { status in
        [
            #""method":"POST","url":"Visits""#, #""method":"POST","url":"Suppliers""#,
            #""method":"POST","url":"IDCards""#,
        ].map { FaultCase(script: #"{"effect":"refuse","status":\#(status),"part":"any",\#($0)}"#) }
    }

    private static let refusals = [
        #""effect":"refuse","status":429,"headers":{"Retry-After":"1"}"#,
        #""effect":"refuse","status":503,"headers":{"Retry-After":"Sun, 06 Nov 1994 08:49:37 GMT"}"#,
        #""effect":"refuse","status":503,"times":3"#,
        #""effect":"refuse","status":500"#,
        #""effect":"refuse","status":502,"headers":{"Content-Type":"text/html"},"body":"<html>""#,
        #""effect":"refuse","status":504"#,
        #""effect":"refuse","status":401,"headers":{"WWW-Authenticate":"Bearer"}"#,
        #""effect":"refuse","status":401,"headers":{"WWW-Authenticate":"Basic realm=\"x\""}"#,
        #""effect":"refuse","status":403,"headers":{"Content-Type":"text/html"},"body":"<html>login""#,
        #""effect":"refuse","status":400"#,
        #""effect":"refuse","status":200,"headers":{"Content-Type":"text/html"},"body":"<html>Welcome to our hotel""#,
        #""effect":"expireTokens""#,
        #""effect":"dropRequest""#,
        #""effect":"dropRequest","times":3"#,
        #""effect":"dropAnswer""#,
        #""effect":"delay","milliseconds":30"#,
    ]

    /// Faults of one request in the batch.
    private static func parts(_ count: Int) -> [String] {
        (1...count).flatMap { part in
            [400, 409, 429, 500, 503].map { #""effect":"refuse","status":\#($0),"part":\#(part)"# }
                + ["dropAnswer", "dropRequest", "withoutLocation", "withoutBody", "inStreamError"].map {
                    #""effect":"\#($0)","part":\#(part)"#
                }
        }
    }

    private static let answers =
        [
            #""effect":"truncate","after":0"#, #""effect":"truncate","after":1"#, #""effect":"truncate","after":150"#,
            #""effect":"truncate","after":500"#, #""effect":"truncate","after":900"#,
            #""effect":"replace","contentType":"text/html","body":"<html>Welcome to our hotel""#,
            #""effect":"replace","contentType":"multipart/mixed; boundary=x","body":"--x--""#,
            #""effect":"replace","contentType":"application/json","body":"{}""#,
            #""effect":"assignKeys""#,
        ]
        + ["withoutLocation", "withoutBody", "reversed", "unclosed", "wrongBoundary", "inStreamError"].map {
            #""effect":"\#($0)""#
        }

    /// Changes by another client before or after the batch.
    private static func others(_ order: String) -> [String] {
        ["precede", "follow"].map {
            #"{"url":"$batch","effect":"\#($0)","request":{"method":"PATCH","url":"/v4/\#(order)","#
                + #""headers":{"If-Match":"*"},"body":{"Quantity":77}}}"#
        }
    }

    private static let combined = [
        #"[{"effect":"dropAnswer","url":"$batch"},{"effect":"refuse","status":503,"method":"GET","times":2}]"#,
        #"[{"effect":"dropAnswer","url":"$batch"},{"effect":"dropAnswer","method":"GET","times":2}]"#,
        #"[{"effect":"dropRequest","url":"$batch"},{"effect":"dropAnswer","url":"$batch"}]"#,
        #"[{"effect":"dropAnswer","url":"$batch"},{"effect":"inStreamError","method":"GET","times":2}]"#,
        #"[{"effect":"dropAnswer","url":"$batch"},{"effect":"keyless","method":"GET","times":2}]"#,
        #"[{"effect":"dropAnswer","url":"$batch"},{"effect":"badValue","method":"GET","times":2}]"#,
        #"[{"effect":"withoutLocation","url":"$batch"},{"effect":"withoutBody","url":"$batch"}]"#,
        #"[{"effect":"reversed","url":"$batch"},{"effect":"withoutBody","url":"$batch"}]"#,
    ]
}
