/**
 * The changelog, newest release first. The history begins with 0.4.0.
 */
export interface ChangelogPart {
  readonly title: string
  /** May contain code in `backticks`. */
  readonly items: ReadonlyArray<string>
}

export interface ChangelogEntry {
  readonly version: string
  readonly from: string
  readonly to: string
  readonly summary: string
  readonly parts: ReadonlyArray<ChangelogPart>
}

export const changelog: ReadonlyArray<ChangelogEntry> = [
  {
    version: "0.4.0",
    from: "2026-11-20",
    to: "2026-11-28",
    summary:
      "The first documented release: registration, tool calls through the proxy, exact billing, receipts, verification and " +
      "disputes; in memory, on the embedded PostgreSQL, or on your own.",
    parts: [
      {
        title: "Calls and billing",
        items: [
          "Added `POST /api/market/proxy`: holds the price, forwards the call over MCP (both protocol eras), settles it and returns a receipt.",
          "Added streamed progress: with `Accept: text/event-stream`, a response carries the provider's `progress` events before the result.",
          "Added budgets, free calls, price versions and quotes. Balances are never negative.",
          "Added `POST /api/v1/market/meter` for calls outside of the proxy, within grants of consumers; a report may name `provider_id` with a bare `tool_name`.",
          "Added usage-priced tools, shown as `up to` their maximum. Calls need a cost limit (422 `CAP_REQUIRED`).",
          "Added `on_cancel: pass` for tools that support cancellation. Other forwarded calls complete even if the caller disconnects. An account has at most 64 calls in progress per node.",
          "Added `GET /api/v1/market/receipts/:id/call`: the request ID of a call and the duration of its stages. An `X-Request-Id` of more than 64 characters is replaced.",
          "Changed price increases to take effect after a notice period of 24 hours. A call that names a `price_version` is charged under it or rejected.",
          'Changed tool errors: results with `isError` return 200 with the provider\'s result and `meta.outcome: "error"`; 502 means that the provider failed.',
          "Changed JSON integers above 2^53 − 1 to be rejected with 422, also in a tool's input.",
          "Fixed free work at a provider: when 16 calls of an account wait there (32 in all), a call with `task` is rejected with 429, and other calls are forwarded without questions and tasks.",
          "Fixed endings that a caller or the service caused: they no longer count against the provider, and what the service ended costs nothing. The chapter `mcp` lists every ending.",
          "Changed several cost limits of one call (body, arguments, `_meta`, header): the lowest one applies.",
          "Changed the output schema of a `valid_output` tool to be one of its terms: a change is a new price version with notice, and until then the earlier schema judges.",
          "Added a proposed cost limit per call ($0.10) to registration by page and command line and to Connect a client. `CAP_REQUIRED` says what you can do at that endpoint.",
          "Added `UPSTREAM_PROGRESS_MS_MAX` (5 minutes): progress extends the time of a call, and never goes backwards across a retry."
        ]
      },
      {
        title: "Payments and payouts",
        items: [
          "Added loads, payouts and provider onboarding through Stripe or a dry run, with monthly invoices, statements and credit notes as JSON, HTML and PDF.",
          "Added double-entry transfers with a public trial balance; `audit` recomputes every balance.",
          "Added `POST /api/v1/market/balance/withdraw`: refunds unspent funds to the original payment methods.",
          "Added maturity and a rolling reserve for earnings: `GET /api/market/payouts` returns `maturing_cents`, `available_cents`, `reserved_cents` and `frozen_cents` with dates.",
          "Added `POST /api/market/billing/provider-summary` beside the path under `/api/v1`.",
          "Added `PLATFORM_FEE_BASIS_POINTS`, and a fee per provider that the operator sets with `POST /api/v1/operator/providers/:provider_id/platform-fee`. The fee in effect when a call is held is recorded on the call; an increase takes effect after the notice period.",
          "Changed refunds to move available funds only; the provider's next earnings pay the rest.",
          "Changed chargebacks to freeze the account while they are open (403 `ACCOUNT_FROZEN`). A call is refunded by a dispute or a chargeback, not both.",
          "Changed every posting to check the payment mode: a database holds dry run, test or live data.",
          "Fixed payments with an unexpected amount: they raise an alert and are not credited. Malformed processor responses are retried, and webhooks signed more than 300 s in the future are rejected.",
          "Fixed `npm run stripe-double`: it delivers webhooks to the service that created the checkout and reports failures.",
          "Changed credit (`resolved_credit`, credit notes, promotions): it can be spent, but no longer withdrawn. Paid funds are spent first, and a refund restores the kind that the call was spent from.",
          "Fixed payments whose webhook was lost: they are credited within 2 minutes."
        ]
      },
      {
        title: "Catalog and tool names",
        items: [
          "Added `POST /api/market/tools/import`: previews or imports the tools that a provider's MCP server lists, as drafts or listed; also with `import: true` at registration. The tools then follow the server, except for prices and fields changed by hand.",
          "Added versions of tools' definitions (`GET /api/v1/market/tools/:id/versions`), annotations, and `endpoint` in responses of registrations: what was found there.",
          "Changed registrations of tools: one that the provider's MCP server does not list is rejected, unless `unlisted` is `true` or the server does not answer.",
          "Added provider handles and qualified names (`handle/tool_name`), which work in calls, quotes and reports.",
          "Added the closest names of listed tools to the error for an unknown tool, whether its name is bare, qualified or an MCP alias.",
          "Added pinned names: a bare `tool_name` keeps naming the tool of your account's first successful call. Ambiguous names return 409 with the qualified names.",
          "Added `DELETE /api/v1/market/tools/:id` to withdraw a tool (calls return 410); `POST /api/market/tools` lists it again.",
          "Added `POST /api/v1/operator/providers/:provider_id/handle`. Handles that resemble a verified provider's are rejected and handles are never reused.",
          "Changed `POST /api/market/tools` to change only the fields that are sent. Tools have no free calls unless the provider sets them.",
          "Added `POST /api/v1/market/providers/profile` and `POST /api/v1/market/providers/email`: a provider changes its name, description, endpoint and email address. A new address counts once its mailed code is confirmed.",
          "Changed names, titles and descriptions to be rejected if they contain control, bidirectional or zero-width characters; stored ones are shown as `[U+202E]`, and are escapes in JSON. Tool names cannot begin with `/` or contain `./` or `../`.",
          "Changed JSON Schemas: they are compiled in a worker thread, with budgets per account, and patterns must run in linear time. `unchecked` says which stored patterns are not checked, and why.",
          "Fixed a busy machine rejecting every schema until the service restarts.",
          "Added to imports the tools that an MCP server lists only to clients with roots, sampling or elicitation; those clients are shown them."
        ]
      },
      {
        title: "Receipts and trust",
        items: [
          "Added receipts signed with HMAC-SHA256 and `POST /api/v1/verify`, with rotating secrets.",
          "Added a transparency log of all receipts with offline verification on `/verify`, on the command line and in code; witnesses, `fsck` and `begin-log`. A node never signs a smaller or different tree.",
          "Added verification of email address, domain and source repository, SLA figures and trust scores from proxied calls of paying consumers.",
          "Added `GET /api/v1/market/tools/:id/sla`.",
          "Added disputes that are decided on evidence and move the money with the decision. Without a decision within 30 days (`decide_by`) the consumer is refunded.",
          "Added `GET /api/v1/market/providers/signing-secret` to verify signed requests.",
          "Fixed receipt ids of 16 or more digits: every endpoint and the offline verifier accept them.",
          "Added the JSON Schema of the receipt at `/spec/receipt.schema.json`; OpenAPI's `Receipt` is exactly that.",
          "Fixed tiles of the log wider than 256: 404."
        ]
      },
      {
        title: "API",
        items: [
          "Added `Idempotency-Key` for every POST that moves money or creates something. A repeated registration without authentication returns 409 and no API key.",
          "Added tasks of the extension `io.modelcontextprotocol/tasks` (2026-07-28) at both MCP endpoints: a call whose provider starts a task keeps its hold, and is billed once when the task ends.",
          "Added tasks of version 2025-11-25 at both MCP endpoints, for clients and providers of that version: `task` in `tools/call`, `tasks/get`, `tasks/result`, `tasks/list` and `tasks/cancel`.",
          "Added `mcp` to `/api/market` and `agents.json`, a chapter in `llms.txt`, and `/server.json` in the format of the MCP registry: transport, URLs and how to authenticate.",
          "Added `/api/v1/market/mcp-features`: a provider turns off resources, prompts, completions or log messages of its MCP server at its endpoint.",
          "Added `notifications/tools/list_changed` at the MCP endpoints of providers when a tool or a price changes, in both eras and at every node.",
          "Added dismissing a draft with `DELETE /api/v1/market/tools/:id`: it comes back when the provider's MCP server changes the tool.",
          "Added commands for users: `login`, `tools`, `call`, `keys`, `funds` and `receipts`, with `--json`, exit codes and completion for shells. `mcp config` fills the URL and the key in from the login.",
          "Added OpenAPI 3.1, documentation, `/.well-known/agents.json` and `/llms.txt`, generated from the contract.",
          'Changed unknown fields and query parameters to return 422 with the nearest known name: "Unknown field `dry_runn`. Did you mean `dry_run`?" Free-form objects and `utm_*` parameters are exempt.',
          "Changed `limit` above its maximum to count as the maximum; `limit=0` returns 400.",
          "Changed error messages to name the field, the rule and the value that was sent.",
          "Changed blocked provider endpoints to be rejected at registration (422 `BLOCKED_ENDPOINT`). At most 5 emails in 24 hours are sent to one address.",
          "Changed the OpenAPI document to describe the fields of each error code separately, with those that are always present marked as required.",
          "Fixed OpenAPI for generated clients (openapi-typescript, openapi-fetch), and CloudEvents whose `source` or `id` contains line breaks.",
          "Added `X-API-Key` to every endpoint that takes a key. Endpoints that need none ignore an invalid one.",
          "Added `market.version` to `GET /api/v1`. OpenAPI component names are identifiers.",
          "Fixed MCP: `subscriptions/listen` is acknowledged at once; a server can ask a client only for what the client declared; `null` for an optional argument reaches the provider; a declined request for funds is `INSUFFICIENT_FUNDS`.",
          "Added texts for MCP clients that try OAuth or the HTTP+SSE transport: they say that the service takes a key over streamable HTTP."
        ]
      },
      {
        title: "Operations",
        items: [
          "Added health checks with time limits, `/livez`, `/readyz` and `/metrics`, which requires `METRICS_TOKEN` in production; a full disk fails `/readyz`.",
          "Added an access log: a line for a sample of the requests (`ACCESS_LOG_RATIO`), with ids, route, status and duration. A reader of the log that is slow or gone costs lines, which are counted, and not the service.",
          "Added OpenTelemetry traces and logs, a Grafana dashboard and alerts: see `docs/operations.md`.",
          "Added limits for connections per address (`CONNECTIONS_PER_ADDRESS_MAX`), provider responses in memory (`ANSWER_BYTES_IN_FLIGHT_MAX`), schema validation, and the duration of requests and background jobs.",
          "Added rate limits in memory or Redis. A node starts without Redis and counts locally until it responds.",
          "Added a demo provider in a dry run: four tools inside the service, so that a new service can be tried at once (`DEMO_PROVIDER`).",
          "Added the embedded PostgreSQL in `./data`, backup and restore, data retention, and `forget`, which erases personal data.",
          "Added the core, the HTTP API and the adapters as Effect layers, by entries such as `agent-tool-billing/core`: see `docs/embedding.md`.",
          "Added `service(config, ports)`: ports of an embedding program replace those of the profile. Stores of one group are replaced together. `Metering` ends calls whose tool never responds.",
          "Added `agent-tool-billing/effect-client`, Effect's `HttpApiClient` for the contract, over the network or within one process.",
          "Changed `effect` and `@effect/platform-node` to peer dependencies, and the packages for PostgreSQL, Stripe, Redis, mail and PDF to optional ones. A setting that needs one names it.",
          "Added `agent-tool-billing/client`, a typed Promise client without dependencies, and `agent-tool-billing/provider`, which verifies signatures and reports costs in an MCP server: see `docs/clients.md`.",
          "Added `agent-tool-billing/testing`, a kit for tests of embedding programs: a market in memory, builders, scripted ports and contracts of ports. See `docs/testing.md`.",
          "Added typed store failures: every store and service fails with `StoreUnavailable` where the database does not respond.",
          "Changed background jobs to go on with the other items where one fails. Automatic payouts that fail on the first of a month are repeated on the next two days.",
          "Added the services `Receipts` and `Trust`, keys outside of the process (`ReceiptSigner` may return effects), and `scoreTraffic` for traffic that was not metered here.",
          "Changed `Metering` and `Payouts` to cover their whole subject: `Metering.record` replaces `DirectMetering`; earnings, the payout account and requests with a key are methods of `Payouts`.",
          "Added `invoices 2026-10 --supplement` to correct a month that was closed too early.",
          "Changed time for money to come from the database. A node whose clock is more than 2 seconds off is not ready.",
          "Added several hosts in `DATABASE_URL`: the service follows the primary after a failover. `lost-calls` lists calls that an asynchronous standby had not received. See `docs/high-availability.md`.",
          "Added read replicas for catalog, market figures and usage (`DATABASE_READ_URL`, `DATABASE_READ_LAG_MS_MAX`).",
          "Added `doctor`, which reports problems of the database before they affect calls.",
          "Added a container file, a compose file and systemd units in `docs/operations`: see `docs/deployment.md`.",
          "Changed a stopping node to close its keep-alive connections after their current response.",
          "Changed a start behind a pooler in transaction mode to fail with a message that names the reason.",
          "Fixed migrations under load: one that has to wait for a table releases its locks and starts again.",
          "Fixed `npm start`: it stops the embedded database with npm. Enumerations in settings are case-insensitive.",
          "Fixed wrong sign-ins and wrong keys: they have limits of their own (10 and 60 a minute per network), and never lock a right key out.",
          "Changed the table of applied migrations to `agent_tool_billing_migrations`; a database of an earlier build is carried over at the first start. Added `addressOf` to `routerMount`."
        ]
      },
      {
        title: "Website",
        items: [
          "Changed `/docs` to pages: guides, a page for each endpoint with curl and TypeScript examples and a form that sends the request, and an entry for each error code. Every page is also Markdown, such as `/docs/mcp.md`.",
          "Added guides with samples that tests run, a search without a server, `/docs/terms`, `/docs/privacy` and `/docs/fees` for the operator's texts (`SITE_PAGES_DIR`), `/robots.txt`, `/sitemap.xml`, and a security.txt (`SECURITY_CONTACT`).",
          "Changed the `type` of problems to `/docs/errors#error-…`. Anchors of the former page lead to the new ones.",
          "Added `/catalog` with a page and a call form per tool, `/status` with 90 days of history (`GET /api/v1/status/history`), `/spec` and `/changelog`.",
          "Added configurations for Claude Code, Claude Desktop, Cursor, VS Code and other MCP clients on the pages of tools and providers and on the developer dashboard, with your key filled in; `mcp config <client>` prints them.",
          "Added a page per provider with all of its tools, `/catalog/providers/{handle}`.",
          "Changed the dashboards, `/developer` and `/provider`, to tabs with URLs of their own: lists that filter, search, sort, page and export CSV, details of each call, proofs, imports, simulated payouts, data export and withdrawal.",
          "Added freezes of providers, retries of failed payouts, and an end of all sessions to the operator's console; each needs a reason.",
          "Changed the catalog and the MCP doors to offer no tools of frozen providers; `GET /api/v1/market/tools/:id` has `provider_frozen_at`, and `GET /api/v1/market/whoami` has `frozen_at`.",
          "Added the names of accounts to the operator's disputes, payouts, claims and chargebacks.",
          "Added `GET /api/v1/market/consumers/overview` and `GET /api/v1/market/providers/overview`, one request for what the Overview of a dashboard shows.",
          "Added `GET /api/v1/operator/summary`: solvency, what waits, and health in one request, which the operator's Overview makes instead of six.",
          "Added `/operator`, a console behind the operator key as a session: solvency, disputes, accounts, payouts, losses, log, jobs, and an audit trail of every action.",
          "Added registration at `/developers/register` and `/providers/register`.",
          "Changed unknown URLs to return a page to browsers; other clients receive the error as JSON.",
          "Changed the samples of all pages to run as shown against a new service."
        ]
      }
    ]
  }
]

/** The changelog as Markdown. */
export const changelogMarkdown = (entries: ReadonlyArray<ChangelogEntry>): string =>
  [
    "# Changelog",
    ...entries.flatMap(({ from, parts, summary, to, version }) => [
      `## ${version} (${from === to ? to : `${from} to ${to}`})`,
      summary,
      ...parts.flatMap(({ items, title }) => [`### ${title}`, items.map((item) => `- ${item}`).join("\n")])
    ])
  ].join("\n\n") + "\n"
