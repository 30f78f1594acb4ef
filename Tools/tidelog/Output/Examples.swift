internal import ArgumentParser

/// Examples for the help page of each command. A test parses all of them.
enum Examples {
    /// The command lines, by the words that name the command; the empty name is the program's own page.
    static let all: [String: [String]] = service.merging(entities) { $1 }.merging(inspection) { $1 }

    /// Parses the arguments of an example. Throws the error that a user would see.
    static func check(_ arguments: [String]) throws { _ = try RootCommand.parseAsRoot(arguments) }

    private static let service: [String: [String]] = [
        "": [
            "tidelog init http://127.0.0.1:8080/v4/ --query Customers --query Orders",
            "tidelog pull",
            #"tidelog create Customers '{"Name": "Ada"}'"#,
            "tidelog push",
        ],
        "init": [
            "tidelog init https://example.com/odata/",
            "tidelog init https://example.com/odata/ --query Customers --query 'Open=Orders?$filter=Closed eq false'",
            "tidelog init http://127.0.0.1:8080/v4/ --store shop.store --service supportsBatch=false",
        ],
        "pull": ["tidelog pull", "tidelog pull Orders --wait 60"],
        "push": ["tidelog push", "tidelog push --conflicts ask", "tidelog push --wait 60 --json"],
        "settle": ["tidelog settle 7 --took-effect --address 'Orders(5)'", "tidelog settle 7 --resend"],
        "identify": ["tidelog identify 'Orders(~9)' 'Orders(5)'"],
        "service": ["tidelog service", "tidelog service supportsBatch=false", "tidelog service --reset"],
        "queries": ["tidelog queries list", "tidelog queries add Products"],
        "queries list": ["tidelog queries list --json"],
        "queries add": [
            "tidelog queries add Products", "tidelog queries add Open 'Orders?$filter=Closed eq false&$expand=Items'",
        ],
        "queries remove": ["tidelog queries remove Products"],
        "refresh-metadata": [
            "tidelog refresh-metadata --dry-run", "tidelog refresh-metadata --removable Shop.Customer/Fax",
        ],
        "compact": ["tidelog compact --keep 30d", "tidelog compact --keep everything"],
        "clear": ["tidelog clear", "tidelog clear --force"],
    ]

    private static let entities: [String: [String]] = [
        "query": [
            "tidelog query Customers",
            "tidelog query 'Customers?$filter=Rating gt 3&$expand=Orders&$orderby=Name'",
            "tidelog query 'Customers(1)/Orders' --at 2026-11-21T07:43:17Z --json",
        ],
        "explain": ["tidelog explain 'Customers?$filter=Rating gt 3'"],
        "keys": ["tidelog keys"],
        "create": [
            #"tidelog create Customers '{"Name": "Ada"}'"#,
            #"tidelog create Orders '{"Note": "Monday"}' --bind 'Customer=Customers(1)'"#,
            #"tidelog create 'Customers(1)/Orders' '{"Note": "Monday"}'"#,
        ],
        "update": [
            #"tidelog update 'Customers(1)' '{"Name": "Grace"}'"#,
            "tidelog update 'Orders(~7)' --bind 'Customer=Customers(2)'",
        ],
        "delete": ["tidelog delete 'Orders(~7)'"],
        "action": [
            #"tidelog action Shop.Annotate '{"note": "Monday"}' --on 'Orders(1)' --update '{"Note": "Monday"}'"#,
            "tidelog action draftActivate --on 'Travels(~7)' --answers-bound",
        ],
        "link": ["tidelog link 'Customers(1)' Orders 'Orders(7)'"],
        "relink": ["tidelog relink 'Orders(7)' Customer 'Customers(2)'"],
        "unlink": ["tidelog unlink 'Customers(1)' Orders 'Orders(7)'", "tidelog unlink 'Orders(7)' Customer"],
        "apply": ["tidelog apply changes.jsonl --transaction import", "tidelog apply -"],
        "undo": ["tidelog undo 7", "tidelog undo --entity 'Customers(1)' --dry-run", "tidelog undo --all"],
        "redo": ["tidelog redo --last"],
        "release": ["tidelog release 7 8", "tidelog release 7 --hold-back"],
        "conflicts": ["tidelog conflicts"],
        "resolve": [
            "tidelog resolve 'Customers(1)' --mine", "tidelog resolve 'Customers(1)' --theirs --property Name=mine",
        ],
        "media": ["tidelog media get 'Photos(1)'", "tidelog media put 'Photos(1)' cat.jpeg --type image/jpeg"],
        "media get": ["tidelog media get 'Photos(1)'", "tidelog media get 'Photos(1)' --refresh"],
        "media put": ["tidelog media put 'Photos(1)' cat.jpeg --type image/jpeg"],
        "media create": ["tidelog media create Photos cat.jpeg --type image/jpeg"],
        "media verify": ["tidelog media verify"],
        "errors": ["tidelog errors"],
        "retry": ["tidelog retry 7"],
        "amend": ["tidelog amend 7"],
        "discard": ["tidelog discard 7", "tidelog discard --all"],
    ]

    private static let inspection: [String: [String]] = [
        "status": ["tidelog status", "tidelog status --undone", "tidelog status --at 40"],
        "quarantine": ["tidelog quarantine"],
        "plan": ["tidelog plan", "tidelog plan --coalesce"],
        "log": ["tidelog log", "tidelog log --all --json"],
        "show": ["tidelog show 7", "tidelog show 7 --requests"],
        "history": ["tidelog history 'Customers(1)'", "tidelog history 'Customers(1)/Name'"],
        "blame": ["tidelog blame 'Customers(1)'"],
        "why": ["tidelog why 'Customers(1)/Name'", "tidelog why 7"],
        "stats": ["tidelog stats"],
        "segments": ["tidelog segments"],
        "metadata": ["tidelog metadata shop.csdl", "tidelog metadata https://example.com/odata/ --json"],
        "at": ["tidelog at 40 query Customers", "tidelog at 2026-11-21T07:43:17Z status"],
        "diff": ["tidelog diff 40 now", "tidelog diff now live Customers"],
        "bisect": ["tidelog bisect --when 'Customers?$filter=Rating gt 5'"],
        "watch": ["tidelog watch 'Orders?$filter=Total lt 0'"],
        "replay": ["tidelog replay --check", "tidelog replay --from 40 --step"],
        "what-if": ["tidelog what-if --skip 7", "tidelog what-if --answer 7=409"],
        "minimise": ["tidelog minimise --when 'Orders?$filter=Total lt 0' --output small.store"],
        "generate-test": ["tidelog generate-test --when 'Orders?$filter=Total lt 0' --output Found.swift"],
        "export": ["tidelog export --output log.jsonl", "tidelog export --from 40 --to 60"],
        "import": ["tidelog import log.jsonl --store copy.store"],
        "redact": ["tidelog redact --output redacted.store --keep Customers/Country"],
        "report": ["tidelog report --output report.html --redacted"],
        "verify": ["tidelog verify", "tidelog verify --fast"],
        "repair": ["tidelog repair", "tidelog repair --output repaired.store"],
    ]
}
