/**
 * What has changed, release by release, the newest first: read out of the commits. The history begins with 0.4.0.
 */
export interface ChangelogPart {
  readonly title: string
  /** Sentences in which `backticks` mark what is typed or sent. */
  readonly items: ReadonlyArray<string>
}

export interface ChangelogEntry {
  readonly version: string
  /** Its first day and its last so far. */
  readonly from: string
  readonly to: string
  readonly summary: string
  readonly parts: ReadonlyArray<ChangelogPart>
}

export const changelog: ReadonlyArray<ChangelogEntry> = [
  {
    version: "0.4.0",
    from: "2026-11-20",
    to: "2026-11-22",
    summary:
      "The first release with a history: agents and providers register, tools are called through the proxy, billed exactly, " +
      "receipted, verified and disputed; in memory, on an embedded PostgreSQL, or on one of your own.",
    parts: [
      {
        title: "Available",
        items: [
          "Open connections are limited per address (`CONNECTIONS_PER_ADDRESS_MAX`, 1,000); where room is short, idle ones are closed first. A body that is too large is read on to a bound, so that clients see the 413.",
          "JSON Schema patterns run in linear time. Work on schemas is budgeted per provider and per process; beyond its budget a provider's tools answer 503 and nothing is charged.",
          "Large answers of providers are bounded in memory (`ANSWER_BYTES_IN_FLIGHT_MAX`, 64 MiB); a call beyond is 503 and not charged.",
          "A full disk is a failed `disk` check of `/api/v1/health`, and `/readyz` answers 503. Every 4xx and 5xx leaves an INFO line, sampled when there are many.",
          "`npm start` stops with npm, its embedded database included, also when only npm is sent SIGINT. Enumerations in the configuration are taken in any case.",
          "`npm run stripe-double` delivers webhooks to the service whose checkout was paid, and says when it cannot and why."
        ]
      },
      {
        title: "Compatible clients",
        items: [
          "A report to `POST /api/v1/market/meter` may name `provider_id` beside a bare `tool_name`.",
          "A tool's own error is an answer: `isError` results are 200 with the provider's result and `meta.outcome: \"error\"`; 502 means that a provider failed as a server.",
          "`POST /api/market/billing/provider-summary` beside the path under `/api/v1`; `version_of` says what a `version` is the version of.",
          "OpenAPI: free-form objects are declared as such, the body of verify is typed, every media type is declared; clients generated with openapi-typescript and openapi-fetch work without casts.",
          "Receipt ids of 16 or more digits are read wherever an id is: verify, fetch, proof, dispute, the offline verifier. Both `verifyReceipt` functions of the package answer any value with a verdict.",
          "Endpoints that the proxy may not call are refused at registration (422 `BLOCKED_ENDPOINT`); at most 5 mails in 24 hours go to one address, whoever asks.",
          "CloudEvents whose sources or ids have line breaks are told apart; a payment over another amount than was ordered is credited to nobody, alerted and asked about no more; malformed answers of the payment processor are retried, and webhooks signed more than 300 s in the future are refused."
        ]
      },
      {
        title: "Strict requests",
        items: [
          'Unknown body fields and unknown query parameters of the API are 422 with the nearest known name: "Unknown field `dry_runn`. Did you mean `dry_run`?" Free-form objects (`input`, `arguments`, `metadata`, `evidence`, JSON Schemas) and CloudEvents extensions stay free; `utm_*` parameters are ignored. `POST /api/v1/verify`, webhooks, waitlist, feedback and applications take any field.',
          "`limit` above its maximum counts as the maximum; `limit=0` is 400.",
          "Error messages name the field, what it must be and what was sent. `type` is the address of the code's entry in the docs. An unknown tool name is answered with the nearest listed one.",
          "A repeated `Idempotency-Key` of an anonymous registration is 409: nothing is created and no API key is shown."
        ]
      },
      {
        title: "Protected money",
        items: [
          "Refunds move only money that is there; the rest is a claim that the provider's next earnings pay. The trial balance, `audit`, metrics and alerts show that nothing spendable is unbacked.",
          "Earnings mature before they can be paid out, and a part stays in reserve: `GET /api/market/payouts` shows `maturing_cents`, `available_cents`, `reserved_cents` and `frozen_cents` with their dates.",
          "A chargeback freezes the account from its opening (403 `ACCOUNT_FROZEN`); no call is recovered by both a dispute and a chargeback.",
          "`POST /api/v1/market/balance/withdraw` refunds unspent paid funds to the payment methods that brought them.",
          'Usage-priced tools read "up to $X" and need a cap (422 `CAP_REQUIRED`); price increases take effect after 24 hours of notice; a named `price_version` is kept or the call rejected.',
          "A forwarded call runs to its end whether or not its caller waits; tools may publish `on_cancel: pass`. At most 64 calls of an account are in flight on a node.",
          "Rates count proxied calls only; a consumer counts for trust once it paid $1 net; registering a tool again changes only what is sent; no free tier unless the provider sets one."
        ]
      },
      {
        title: "Names",
        items: [
          "A bare `tool_name` is pinned to the tool of your account's first successful call of it. A provider that lists a tool of the same name later changes nothing; once the tool is withdrawn, the name answers 410. Names that accounts called before are pinned already.",
          "Every provider has a unique handle (`handle` at registration, else derived from the name), and every tool a qualified name, `handle/tool_name`, that works in the proxy, in quotes and in metering. A name without a pin that several providers list is 409 with their qualified names.",
          "Handles that look like a verified provider's are refused, and no handle is given to a second provider. `POST /api/v1/operator/providers/:provider_id/handle` gives a provider another one."
        ]
      },
      {
        title: "Calls and money",
        items: [
          "`POST /api/market/proxy` holds the price, forwards over MCP in both eras of the protocol, settles, and answers with a receipt.",
          "Tools that take their time: with `Accept: text/event-stream` a call's answer is a stream of the provider's `progress`, and then the result.",
          "Balances that never go below zero, budgets, free tiers, versioned prices, quotes before the call.",
          "One database holds a dry run, the processor's test mode or its live mode, never two of them: every posting checks it.",
          "Integers that JSON's readers would round are refused (422), in a tool's input too: what was sent is what is passed on.",
          "Loads, payouts and onboarding through Stripe or a dry run; monthly invoices, statements and credit notes as JSON, HTML and PDF.",
          "`POST /api/v1/market/meter` for calls past the proxy, within grants that consumers give and take back.",
          "`DELETE /api/v1/market/tools/:id` withdraws a tool: it leaves the catalogue, calls of it answer 410, and `POST /api/market/tools` lists it again.",
          "`Idempotency-Key` on every POST that moves money or creates something.",
          "Double-entry transfers with a public trial balance; `audit` recomputes every balance."
        ]
      },
      {
        title: "Receipts and trust",
        items: [
          "Eleven-field receipts signed with HMAC-SHA256, verified by `POST /api/v1/verify` over a ring of secrets.",
          "An append-only Merkle log of every receipt with offline proofs: on `/verify`, on the command line, in any program; witnesses and `fsck`.",
          "Providers prove mailbox, domain and source repository; SLA and trust score come from the proxy's own traffic.",
          "`GET /api/v1/market/tools/:id/sla` says how one tool did, and the tool's page shows that instead of its provider's figures.",
          "Disputes that are decided on evidence and move the money with the decision; what the operator leaves undecided for 30 days (`decide_by`) is refunded.",
          "`GET /api/v1/market/providers/signing-secret` shows providers the secret that requests to them are signed with."
        ]
      },
      {
        title: "Platform",
        items: [
          "Indexes, `/.well-known/agents.json` and `/llms.txt`: an agent needs nothing but the address.",
          "Health with a time limit for every part, `/livez`, `/readyz`, `/metrics`, counts, waitlist, feedback, applications, `POST /api/v1/init`.",
          "OpenAPI 3.1 and the documentation, made from the contract that the service runs on.",
          "Time for money comes from the database: a node whose clock is more than 2 seconds off is not ready and runs no background jobs.",
          "A month that was closed too early is repaired with `invoices 2026-10 --supplement`.",
          "A node remembers the last tree of the log that it signed and signs no smaller or different one; `begin-log` begins a new log with a statement that names the old one.",
          "A node starts while Redis is away and counts rate limits by itself until Redis answers; the start checks the database's encoding and its role's rights.",
          "Every round of a background job has a time limit, so that a database connection that hangs stops nothing for long.",
          "Rate limits in memory or shared through Redis; a deadline for every request.",
          "`METRICS_TOKEN` guards `/metrics`; production shows it to nobody without one.",
          "Traces and logs to an OpenTelemetry collector, `traceparent` with sampled calls to providers, a Grafana dashboard and alerts: `docs/operations.md`.",
          "Backup, restore and what is kept for how long; `forget` erases a person's data and leaves the books whole.",
          "Long documents come gzipped to those who take it.",
          "One command to start, with a PostgreSQL in `./data` that survives being killed.",
          "The core, the HTTP API and every adapter as layers for other Effect programs: `docs/embedding.md` has three that run."
        ]
      },
      {
        title: "Pages",
        items: [
          "`/` says what this is, with live figures and commands that work; `/catalog` shows every tool on a page of its own, with a form that builds the call.",
          "`/developers/dashboard` and `/providers/dashboard`: balances, earnings, calls, receipts, budgets, grants, payouts, documents, keys, and all disputes page by page.",
          "`/developers/register` and `/providers/register`: the key is shown once, with the next step ready to paste.",
          "`/status`: now, and ninety days from the service's own checks; `GET /api/v1/status/history` for machines.",
          "`/spec` and `/changelog`, whose lists and check values come from the running rules.",
          "Browsers that ask for what is not there get a page; machines still get the problem."
        ]
      }
    ]
  }
]

/** For people who read files: the same, as Markdown. */
export const changelogMarkdown = (entries: ReadonlyArray<ChangelogEntry>): string =>
  [
    "# Changelog",
    ...entries.flatMap(({ from, parts, summary, to, version }) => [
      `## ${version} (${from === to ? to : `${from} to ${to}`})`,
      summary,
      ...parts.flatMap(({ items, title }) => [`### ${title}`, items.map((item) => `- ${item}`).join("\n")])
    ])
  ].join("\n\n") + "\n"
