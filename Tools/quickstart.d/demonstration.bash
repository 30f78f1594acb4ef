# shellcheck shell=bash
# The demonstration of Tools/quickstart. Sourced; $PROGRAMS is the folder of `tidelog` and `odata-sandbox`.
#
# Edits without a network, inspects the store, pushes, pulls again, and compares the contents of the store and the
# service, first for V4, then for V2. Each check has to hold; the first failure ends the run with status 1.

# shellcheck source=Tools/lib/demonstration.bash
. Tools/lib/demonstration.bash

# Prints the content of a store: a line for each entity of a set and for each entity linked to it, prefixed with the
# entity at the start of the link. Entity IDs are removed, because they differ between stores; lines are sorted, because
# the order depends on these IDs.
holdings() {
    local query
    for query in 'Customers?$expand=Orders' 'Orders?$expand=Customer' 'Owners?$expand=Car' 'Cars?$expand=Owner' \
        'Cities?$expand=Mayor' 'Mayors?$expand=City' 'Fathers?$expand=Children' 'Children?$expand=Father' \
        'Persons?$expand=IDCard' 'IDCards?$expand=Person' 'Products?$expand=Suppliers' 'Suppliers?$expand=Products' \
        'Visits' 'Prices'; do
        printf '%s\n' "-- $query"
        "$PROGRAMS/tidelog" query --store "$1" "$query" --json | sed -e 's/"@entityID":[0-9]*,//g' |
            awk '{
                count = split($0, parts, /[{]"@readLink":/)
                from = parts[2]
                sub(/,.*/, "", from)
                for (i = 2; i <= count; i++) {
                    sub(/[],}[]*$/, "", parts[i])
                    print "{" from " " parts[i]
                }
            }' | sort
    done
}

# Prints the names of the customers with the notes of their orders, which a push must not change. Keys and states
# change.
contents() {
    local line
    "$PROGRAMS/tidelog" query --store "$1" 'Customers?$expand=Orders' --json | while IFS= read -r line; do
        printf '%s\n' "$line" | grep -o -E '"(Name|Note)":"[^"]*"' | tr '\n' ' '
        printf '\n'
    done
}

# ---------------------------------------------------------------------------------------------------------------------

make_store() {
    headline "$1: a store of the service at $2"
    tidelog init "$2"
    tidelog pull
}

edit_offline() {
    local ada first second product
    headline "$1: offline. The service is stopped; a request to it would wait forever"
    kill -STOP "$SANDBOX"

    say "link: two new entities, linked afterwards"
    tidelog create Customers '{"Name":"Ada King","Rating":4.5}'
    ada=$(link)
    OLD_LINK=$ada
    tidelog create Orders '{"Note":"linked","Amount":12.5}'
    first=$(link)
    tidelog link "$ada" Orders "$first"

    say "bind: the link is part of the create"
    tidelog create Orders '{"Note":"bound"}' --bind "Customer=$ada"
    second=$(link)

    say "POST through a navigation property"
    tidelog create Orders '{"Note":"through the customer"}' --in "$ada/Orders"

    say "deep insert: a customer with orders inside"
    tidelog create Customers '{"Name":"Charles Babbage","Orders":[{"Note":"deep, first"},{"Note":"deep, second"}]}'

    say "Content-ID: a change set whose members refer to each other; neither entity of this 1 to 1 relationship can exist alone"
    refused 'would have no Owners/Car' create Owners '{"Name":"Alone"}'
    cat >operations.jsonl <<'JSONL'
{"op":"changeSet","operations":[{"op":"create","set":"Owners","as":"mary","value":{"Name":"Mary Somerville"}},{"op":"create","set":"Cars","value":{"Model":"Phaeton"},"bind":{"Owner":"mary"}}]}
{"op":"create","set":"Persons","as":"jane","value":{"Name":"Jane Marcet"}}
{"op":"create","set":"IDCards","value":{"Number":"Q-7"},"bind":{"Person":"jane"}}
{"op":"create","set":"Cities","as":"city","value":{"Name":"Turin"}}
{"op":"createRelated","in":"city","property":"Mayor","value":{"Name":"Luigi Menabrea"}}
JSONL
    printf '\n$ cat operations.jsonl\n'
    cat operations.jsonl
    tidelog apply operations.jsonl

    say "referential constraint: the foreign key determines the link"
    tidelog create Orders '{"Note":"by the foreign key","CustomerID":2}'

    say "many to many"
    tidelog create Products '{"Name":"Difference engine","Price":17470}' --bind 'Suppliers=Suppliers(1)'
    product=$(link)
    tidelog link 'Suppliers(2)' Products "$product"

    say "update, relink, unlink, delete"
    tidelog update 'Customers(1)' '{"Rating":5}'
    tidelog update "$ada" '{"Name":"Ada Lovelace, Countess"}'
    tidelog relink "$second" Customer 'Customers(3)'
    tidelog unlink 'Orders(3)' Customer
    tidelog delete 'Orders(4)'
    refused 'would have no Children/Father' unlink 'Children(1)' Father

    say "The changes are visible at once, from both ends"
    tidelog query 'Customers?$select=Name,Rating&$expand=Orders'
    tidelog query 'Orders?$select=Note&$expand=Customer'
}

look_inside() {
    local shown=60 plan=plan total
    headline "$1: inspection"
    tidelog log
    tidelog status
    printf '\n$ tidelog plan | head -n %s\n' "$shown"
    "$PROGRAMS/tidelog" plan >"$plan" || fail "'tidelog plan' failed."
    head -n "$shown" "$plan" | tr -d '\r'
    total=$(wc -l <"$plan")
    printf '[%s more lines; %s bytes in total: exactly the first request of the next push]\n' \
        "$((total - shown))" "$(wc -c <"$plan" | tr -d ' ')"
    grep -q 'Content-ID: 1' "$plan" || fail "the plan contains no Content-IDs."
    tidelog verify

    say "Compression: each small commit above has its own block; 500 operations in one change set share one"
    cp -R .tidelog copy
    awk 'BEGIN {
        printf "{\"op\":\"changeSet\",\"operations\":["
        for (n = 1; n <= 500; n++)
            printf "%s{\"op\":\"create\",\"set\":\"Orders\",\"value\":{\"Note\":\"order number %d\",\"CustomerID\":%d}}", \
                (n > 1 ? "," : ""), n, n % 3 + 1
        print "]}" }' >many.jsonl
    printf '\n$ tidelog apply many.jsonl --store copy\n'
    "$PROGRAMS/tidelog" apply many.jsonl --store copy >answers || fail "'tidelog apply' failed."
    printf '%s … and so on, in one line\n' "$(cut -c 1-60 answers)"
    tidelog verify --store copy
}

push_and_prove() {
    local name=$1 root=$2 before=$3 operations confirmed expected found key
    headline "$name: online again"
    kill -CONT "$SANDBOX"
    tidelog push
    tidelog status
    [ "$answer" = "No pending operations." ] || fail "not every operation was confirmed."
    operations=$("$PROGRAMS/tidelog" log --json | wc -l | tr -d ' ')
    confirmed=$("$PROGRAMS/tidelog" log --json | grep -c '"fate":"confirmed"' || true)
    same "$name: each of the $operations operations in the log is confirmed" "$operations" "$confirmed"

    say "Entity ID → key, for the created entities"
    tidelog keys | sed -n -e '1,4p' -e "/(~$FIRST_NEW)/,\$p"
    key=$("$PROGRAMS/tidelog" query "$OLD_LINK?\$select=Name" --json | sed -e 's/.*"@readLink":"\([^"]*\)".*/\1/')
    case $key in *~*) fail "$OLD_LINK has no key of the service." ;; esac
    expected=$("$PROGRAMS/tidelog" query "$key?\$select=Name" --json)
    found=$("$PROGRAMS/tidelog" query "$OLD_LINK?\$select=Name" --json)
    same "$name: $OLD_LINK, returned offline, still resolves to the entity, which is $key now" "$expected" "$found"
    same "$name: the push changed no name and no link" "$before" "$(contents .tidelog)"

    say "Pull again, and compare with a new store"
    found=$(holdings .tidelog)
    tidelog pull
    same "$name: the pull changed nothing, because the store was complete" "$found" "$(holdings .tidelog)"
    "$PROGRAMS/tidelog" init "$root" --store fresh >/dev/null
    "$PROGRAMS/tidelog" pull --store fresh >/dev/null
    expected=$(holdings fresh)
    same "$name: the store and the service agree on all $(printf '%s\n' "$expected" | grep -c '^{') entities and their links" \
        "$expected" "$(holdings .tidelog)"
    if command -v curl >/dev/null 2>&1; then
        for key in Customers Orders Owners Cars Persons IDCards Cities Mayors Products; do
            expected="$expected $key $(curl -fsS "$root$key/\$count")"
        done
        found=$(holdings fresh)
        for key in Customers Orders Owners Cars Persons IDCards Cities Mayors Products; do
            found="$found $key $("$PROGRAMS/tidelog" query "$key/\$count")"
        done
        same "$name: curl counts as many entities at the service as the store contains" "$expected" "$found"
    fi

    say "The log is the truth: the views are rebuilt from it after their files are deleted"
    found=$(holdings .tidelog)
    rm -f .tidelog/views.sqlite .tidelog/views.sqlite-*
    same "$name: the views rebuilt from the log are the same" "$found" "$(holdings .tidelog)"
    tidelog verify
}

demonstrate_version() {
    local name=$1 root=$2 before
    mkdir "$DEMONSTRATION/$name"
    cd "$DEMONSTRATION/$name"
    make_store "$name" "$root"
    FIRST_NEW=$(($("$PROGRAMS/tidelog" keys --json | wc -l) + 1))
    edit_offline "$name"
    look_inside "$name"
    before=$(contents .tidelog)
    push_and_prove "$name" "$root" "$before"
}

started=$SECONDS
headline "An in-memory service on a free port of this machine"
start_sandbox
cat "$DEMONSTRATION/sandbox"
demonstrate_version V4 "$(sed -n 's/^V4 //p' "$DEMONSTRATION/sandbox")"
stop_sandbox
start_sandbox
demonstrate_version V2 "$(sed -n 's/^V2 //p' "$DEMONSTRATION/sandbox")"
stop_sandbox
cd "$root"

headline "Results for OData V4 and V2 ($PROOFS checks, $((SECONDS - started)) s)"
cat <<'TEXT'
- Customers, orders and their links were created without a network by every technique: link, bind, POST through a
  navigation property, deep insert, Content-ID in a change set, and the foreign key of a referential constraint; 1 to 1,
  1 to 0..1, 0..1 to 0..1, 0..1 to many and many to many. They were visible at once, from both ends.
- Operations that the metadata forbids were refused, with the name of the rule, and left no trace.
- Every operation is in the compressed log, which was read and verified to the last byte, and each was confirmed.
- The service assigned the keys; links that were returned before still resolve to their entities.
- After the push the store and the service contain the same entities with the same values and the same links.
- The views are derived: after a rebuild from the log they are the same.
TEXT
