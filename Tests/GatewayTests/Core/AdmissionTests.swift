import GatewayCore
import ODataWire
import SeededRandom
import Testing

/// The places of requests in a gateway.
struct AdmissionTests {
    private func admission(_ change: (inout GatewayLimits) -> Void) -> Admission {
        var limits = GatewayLimits()
        change(&limits)
        return Admission(limits)
    }

    @Test func `requests of one user are limited`() {
        var admission = admission { $0.requestsPerUser = 2 }
        #expect(admission.enter(user: [1]) == true)
        #expect(admission.enter(user: [1]) == true)
        #expect(admission.enter(user: [1]) == false)
        #expect(admission.enter(user: [2]) == true)
        admission.leave(user: [1])
        #expect(admission.enter(user: [1]) == true)
    }

    @Test func `requests to one service are limited, also with those whose bodies are forwarded`() {
        var admission = admission { $0.requestsPerEndpoint = 3 }
        #expect(admission.begin(.service("a")) == true)
        #expect(admission.begin(.transfer("a")) == true)
        #expect(admission.begin(.service("a")) == true)
        #expect(admission.begin(.service("a")) == false)
        #expect(admission.begin(.service("b")) == true)
        admission.end(.transfer("a"))
        #expect(admission.begin(.service("a")) == true)
    }

    @Test func `forwarded bodies occupy at most half of the places of a service`() {
        var admission = admission { $0.requestsPerEndpoint = 4 }
        #expect(admission.begin(.transfer("a")) == true)
        #expect(admission.begin(.transfer("a")) == true)
        #expect(admission.begin(.transfer("a")) == false)
        #expect(admission.begin(.service("a")) == true)
    }

    @Test func `responses from the feeds of one service occupy at most half of the gateway`() {
        var admission = admission { $0.requests = 4 }
        #expect(admission.begin(.feed("a")) == true)
        #expect(admission.begin(.feed("a")) == true)
        #expect(admission.begin(.feed("a")) == false)
        #expect(admission.begin(.feed("b")) == true)
    }

    @Test func `the smallest limits admit one request of each kind`() {
        var admission = admission {
            $0.requests = 1
            $0.requestsPerEndpoint = 1
        }
        for use in [Admission.CapacityUse.feed("a"), .transfer("a"), .service("a")] {
            #expect(admission.begin(use) == true)
            #expect(admission.begin(.service("b")) == false)
            admission.end(use)
        }
    }

    @Test func `a request that waits or receives its body does not occupy the gateway`() {
        var admission = admission {
            $0.requests = 2
            $0.requestsPerUser = 9
        }
        for _ in 0..<9 { #expect(admission.enter(user: [1]) == true) }
        #expect(admission.begin(.service("a")) == true)
        #expect(admission.begin(.service("b")) == true)
        #expect(admission.begin(.service("c")) == false)
        #expect(admission.total == 9)
    }

    @Test func `memory for bodies is limited, and available again after its release`() {
        var admission = admission { $0.bodyMemory = 100 }
        #expect(admission.reserve(60) == true)
        #expect(admission.reserve(41) == false)
        #expect(admission.reserve(.max) == false)
        #expect(admission.reserve(40) == true)
        admission.release(60)
        #expect(admission.reserve(60) == true)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `after all requests have ended, all places are free`(_ seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var limits = GatewayLimits()
        (limits.requests, limits.requestsPerUser, limits.requestsPerEndpoint) = (6, 3, 4)
        var admission = Admission(limits)
        let uses = ["a", "b"].flatMap { [Admission.CapacityUse.service($0), .transfer($0), .feed($0)] }
        var users: [[UInt8]] = []
        var begun: [Admission.CapacityUse] = []
        for _ in 0..<500 {
            switch random.number(0...3) {
            case 0:
                let user = [UInt8(random.number(0...2))]
                if admission.enter(user: user) { users.append(user) }
            case 1:
                if let use = random.pick(uses), admission.begin(use) { begun.append(use) }
            case 2: if !users.isEmpty { admission.leave(user: users.remove(at: random.number(0...users.count - 1))) }
            default: if !begun.isEmpty { admission.end(begun.remove(at: random.number(0...begun.count - 1))) }
            }
            #expect(admission.total == users.count && begun.count <= 6, "seed \(seed)")
            for name in ["a", "b"] {
                let count = begun.count { $0 == .service(name) || $0 == .transfer(name) }
                #expect(count <= 4, "seed \(seed)")
            }
        }
        for user in users { admission.leave(user: user) }
        for use in begun { admission.end(use) }
        #expect(admission.total == 0)
        for _ in 0..<4 { #expect(admission.begin(.service("a")) == true, "seed \(seed)") }
        for _ in 0..<2 { #expect(admission.begin(.service("b")) == true, "seed \(seed)") }
        #expect(admission.begin(.service("b")) == false, "seed \(seed)")
    }

    @Test func `a request may pause for a while, at its beginning and later`() {
        var limits = GatewayLimits()
        (limits.arrivalGrace, limits.arrivalSpeed) = (2, 10)
        var pace = RequestPace(limits)
        #expect(pace.tick() == false)
        #expect(pace.tick() == false)
        pace.receive(1_000_000)
        #expect(pace.tick() == false)
        #expect(pace.tick() == false)
        #expect(pace.tick() == true)
    }

    @Test func `a request with the minimum speed may arrive until the time is over`() {
        var limits = GatewayLimits()
        (limits.arrivalGrace, limits.arrivalSpeed, limits.arrivalSeconds) = (2, 10, 50)
        var pace = RequestPace(limits)
        for _ in 0..<50 {
            pace.receive(10)
            #expect(pace.tick() == false)
        }
        #expect(pace.tick() == true)
    }

    @Test func `users are distinguished by login, cookie, key or address`() {
        func user(_ fields: HTTPHeaders, _ peer: String = "p", trusts: Bool = false) -> String {
            RequestCredentials.limited(fields, peer: peer, trustsForwarded: trusts)
        }
        #expect(user(["Authorization": "a"]) != user(["Authorization": "b"]))
        #expect(user(["Authorization": "a"]) == user(["Authorization": "a", "X": "1"], "q"))
        #expect(user(["Cookie": "a"]) != user(["Cookie": "b"]))
        #expect(user(["X-API-Key": "a"]) != user(["X-API-Key": "b"]))
        #expect(user(["X": "a"]) == user(["X": "b"]))
        #expect(user([:], "p") != user([:], "q"))
        #expect(user(["X-Forwarded-For": "1"]) == user(["X-Forwarded-For": "2"]))
        #expect(user(["X-Forwarded-For": "9, 1"], trusts: true) != user(["X-Forwarded-For": "9, 2"], trusts: true))
        #expect(user(["X-Forwarded-For": "8, 1"], trusts: true) == user(["X-Forwarded-For": "9, 1"], trusts: true))
    }
}
