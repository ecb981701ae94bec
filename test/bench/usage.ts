/**
 * `npm run bench -- usage [receipts] [folder] [pattern of requests]`: every list, search and figure of the API, and the pages
 * that show them, with ten million receipts of 10,000 consumers and 1,000 providers, through the service. The market is made
 * once in the folder (`support/LargeMarket.ts`), and used again.
 */
import { mkdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { startService } from "./proxy.ts"
import { type Account, largeMarket, type LargeMarket } from "./support/LargeMarket.ts"
import { cpuSeconds, descendantCpuSeconds, type Running } from "./support/Processes.ts"
import { table } from "./support/Table.ts"

const RECEIPTS = 10_000_000
const ASKED_TIMES = 200
const ASKED_MS_MAX = 3_000
const P99_MS_MAX = 150
const OPERATOR: Account = { id: "", key: "bench-operator-key-0123456789abcdef" }

/** A request: whose, and what it reads besides the tables of keys and accounts. */
type Asked = readonly [path: string, by: Account | undefined, reads: string]

interface Examples {
  readonly receipt: string
  readonly tool: string
  readonly dispute: string
  readonly invoice: string
}

/** Of a consumer or of a provider. */
const ofAccount = (by: Account, { dispute, invoice, receipt, tool }: Examples): ReadonlyArray<Asked> => [
  ...["24h", "7d", "30d", "90d"].map((period): Asked => [
    `/api/v1/market/usage?period=${period}`,
    by,
    "usage_hourly, receipts"
  ]),
  ["/api/v1/market/usage?period=90d&limit=100", by, "usage_hourly, receipts"],
  [`/api/v1/market/usage?period=90d&tool_id=${tool}`, by, "usage_hourly, receipts"],
  ["/api/v1/market/usage?period=90d&status=success", by, "usage_hourly, receipts"],
  ["/api/v1/market/usage?period=90d&status=error", by, "usage_hourly, receipts"],
  ["/api/v1/market/usage?period=90d&status=timeout", by, "usage_hourly, receipts"],
  ["/api/v1/market/usage?period=90d&status=rate_limited", by, "usage_hourly, receipts"],
  [`/api/v1/market/usage?period=90d&tool_id=${tool}&status=error`, by, "usage_hourly, receipts"],
  ["/api/v1/market/usage?period=90d&offset=100000", by, "usage_hourly, receipts"],
  ["/api/v1/market/usage?period=90d&offset=1000000", by, "usage_hourly, receipts"],
  ["/api/v1/market/usage?period=90d&cursor=", by, "usage_hourly, receipts"],
  ["/api/v1/market/usage?period=90d&status=error&cursor=", by, "usage_hourly, receipts"],
  ...["24h", "30d", "90d"].map((period): Asked => [
    `/api/v1/market/usage/summary?period=${period}`,
    by,
    "usage_hourly"
  ]),
  ["/api/v1/market/receipts", by, "receipts"],
  ["/api/v1/market/receipts?limit=100", by, "receipts"],
  [`/api/v1/market/receipts?tool_id=${tool}`, by, "receipts"],
  ["/api/v1/market/receipts?status=success", by, "receipts"],
  ["/api/v1/market/receipts?status=error", by, "receipts"],
  ["/api/v1/market/receipts?status=rate_limited", by, "receipts"],
  [`/api/v1/market/receipts?tool_id=${tool}&status=timeout`, by, "receipts"],
  [`/api/v1/market/receipts?from=${daysAgo(60)}&to=${daysAgo(59)}`, by, "receipts"],
  [`/api/v1/market/receipts?to=${daysAgo(80)}`, by, "receipts"],
  [`/api/v1/market/receipts?from=${daysAgo(80)}`, by, "receipts"],
  ["/api/v1/market/receipts?offset=100000", by, "receipts"],
  ["/api/v1/market/receipts?offset=1000000", by, "receipts"],
  ["/api/v1/market/receipts?cursor=", by, "receipts"],
  [`/api/v1/market/receipts/${receipt}/call`, by, "receipts"],
  ["/api/v1/market/disputes", by, "disputes"],
  ["/api/v1/market/disputes?status=resolved_refund", by, "disputes"],
  ["/api/v1/market/disputes?cursor=", by, "disputes"],
  [`/api/v1/market/disputes/${dispute}`, by, "disputes, claims"],
  ["/api/v1/market/invoices", by, "invoices"],
  ["/api/v1/market/invoices?cursor=", by, "invoices"],
  ...["", ".html", ".pdf"].map((ending): Asked => [`/api/v1/market/invoices/${invoice}${ending}`, by, "invoices"]),
  ["/api/v1/market/whoami", by, ""],
  ["/api/v1/market/keys", by, "api_keys"]
]

const ofConsumer = (by: Account): ReadonlyArray<Asked> => [
  ["/api/v1/market/balance", by, "wallets, account_balances, budgets"],
  ["/api/v1/market/consumers/overview", by, "wallets, usage_hourly, free_tier_usage, tools"],
  ["/api/v1/market/consumers/overview?period=90d", by, "wallets, usage_hourly, free_tier_usage, tools"],
  ["/api/v1/market/free-tiers", by, "free_tier_usage, tools"],
  ["/api/v1/market/balance/withdraw", by, "withdrawals, withdrawal_parts"],
  ["/api/v1/market/budgets", by, "budgets"],
  ["/api/v1/market/grants", by, "grants"],
  ["/api/v1/market/toolbox", by, "toolboxes, usage_hourly, tools"]
]

const ofProvider = (by: Account, tool: string): ReadonlyArray<Asked> => [
  ["/api/v1/market/providers/overview", by, "tools, usage_hourly, account_balances, trust_daily, sla_hourly, disputes"],
  ...["7d", "30d", "90d", "all"].map((period): Asked => [
    `POST /api/v1/market/billing/provider-summary {"period":"${period}"}`,
    by,
    "usage_hourly, account_balances, payouts"
  ]),
  ["/api/market/connect", by, "payees"],
  ["/api/market/payouts", by, "account_balances, claims, payouts"],
  ["/api/v1/market/tools", by, "tools, tool_figures"],
  ["/api/v1/market/tools?state=listed", by, "tools, tool_figures"],
  ["/api/v1/market/tools/sync", by, "tool_syncs"],
  [`/api/v1/market/tools/${tool}/versions`, by, "tool_versions"],
  ["/api/v1/market/providers/profile", by, "providers"],
  ["/api/v1/market/mcp-features", by, "providers"],
  ["/api/v1/market/providers/signing-secret", by, ""],
  [`/api/v1/market/providers/${by.id}/sla`, undefined, "sla_hourly, sla_daily, disputes"],
  [`/api/v1/market/providers/${by.id}/trust`, undefined, "trust_daily, sla_hourly, disputes, provider_scores"],
  [`/api/v1/market/tools/${tool}/sla`, undefined, "sla_hourly"],
  [`/api/v1/market/tools/${tool}`, undefined, "tools, tool_prices, tool_figures, provider_standings"],
  [`/catalog/${tool}`, undefined, "tools, tool_prices, tool_figures, sla_hourly"],
  [`/api/market/catalog?provider_id=${by.id}`, undefined, "tools, tool_figures, provider_standings"]
]

const ofEveryone = ({ receipt }: Examples): ReadonlyArray<Asked> => [
  ["/", undefined, "tools, tool_figures, account_balances"],
  ["/catalog", undefined, "tools, tool_figures, provider_standings"],
  ["/catalog?q=search", undefined, "tools, tool_figures, provider_standings"],
  ["/status", undefined, "health_history"],
  ["/sitemap.xml", undefined, "tools"],
  ["/api/market", undefined, "tools, catalog_tallies"],
  ["/api/market/health", undefined, "tools, catalog_tallies"],
  ["/api/market/catalog", undefined, "tools, tool_figures, provider_standings"],
  ["/api/market/catalog?limit=100&sort=newest", undefined, "tools, tool_figures, provider_standings"],
  ["/api/market/catalog?sort=price&offset=4000", undefined, "tools, tool_figures, provider_standings"],
  ["/api/market/catalog?sort=price_desc&cursor=", undefined, "tools, tool_figures, provider_standings"],
  ["/api/market/catalog?q=common", undefined, "tools, tool_figures, provider_standings"],
  ["/api/market/catalog?q=word4", undefined, "tools, tool_figures, provider_standings"],
  ["/api/market/catalog?q=nothing", undefined, "tools, tool_figures, provider_standings"],
  [
    "/api/market/catalog?category=category-7&max_price_microcents=300",
    undefined,
    "tools, tool_figures, provider_standings"
  ],
  ["/api/v1/market/pricing", undefined, "tools"],
  ["/api/v1/market/stats", undefined, "tool_figures, proxied_consumers, account_balances"],
  ["/api/v1/stats", undefined, "consumers, providers, tools, receipt_logs, usage_hourly, waitlist, submissions"],
  ["/api/v1", undefined, ""],
  ["/api/v1/status", undefined, "consumers, providers, tools"],
  ["/api/v1/status/history", undefined, "health_history"],
  ["/api/v1/health", undefined, "calls_open, receipts_unlogged"],
  ["/api/v1/services", undefined, ""],
  ["/.well-known/agents.json", undefined, ""],
  ["/readyz", undefined, ""],
  ["/metrics", undefined, "calls_open, receipts_unlogged, wallets, account_balances"],
  ["/api/v1/market/ledger/trial-balance", undefined, "wallets, account_balances"],
  [`/api/v1/market/receipts/${receipt}`, undefined, "receipts"],
  ["/api/v1/market/log", undefined, "receipt_logs"],
  ["/api/v1/market/log/checkpoint", undefined, "receipt_logs"]
]

const ofOperator = ({ hotConsumer, hotProvider, provider }: LargeMarket, { dispute }: Examples): ReadonlyArray<Asked> =>
  [
    ["/summary", "wallets, account_balances, disputes, payouts, calls_open"],
    ["/solvency", "wallets, account_balances, claims"],
    ["/audit-trail", "audit_trail"],
    ["/audit-trail?action=dispute.decide", "audit_trail"],
    ["/audit-trail?action=funds.move", "audit_trail"],
    [`/audit-trail?subject=${hotConsumer.id}`, "audit_trail"],
    ["/audit-trail?offset=90000", "audit_trail"],
    ["/audit-trail?cursor=", "audit_trail"],
    ["/consumers", "consumers, wallets"],
    ["/consumers?offset=9000", "consumers, wallets"],
    ["/consumers?cursor=", "consumers, wallets"],
    ["/consumers?search=agent%2099", "consumers, wallets"],
    ["/consumers?search=nobody", "consumers, wallets"],
    [`/consumers?search=${hotConsumer.id}`, "consumers, wallets"],
    ["/consumers?frozen=true", "consumers, wallets"],
    [`/consumers/${hotConsumer.id}`, "wallets, account_balances, disputes, chargebacks"],
    ["/providers", "providers"],
    ["/providers?search=seller-9", "providers"],
    ["/providers?offset=900", "providers"],
    [`/providers/${hotProvider.id}`, "account_balances, provider_fees, claims"],
    [`/providers/${provider.id}`, "account_balances, provider_fees, claims"],
    [`/providers/${hotProvider.id}/platform-fee`, "provider_fees"],
    ["/handles/imitations", "provider_handles, provider_proofs"],
    ["/disputes", "disputes"],
    ["/disputes?offset=5000", "disputes"],
    ["/disputes?cursor=", "disputes"],
    ...["filed", "under_review", "resolved_refund"].map((status): [string, string] => [
      `/disputes?status=${status}`,
      "disputes"
    ]),
    [`/disputes/${dispute}`, "disputes, claims, receipts"],
    ["/payouts", "payouts"],
    ["/payouts?state=failed", "payouts"],
    ["/payouts?state=requested", "payouts"],
    [`/payouts?provider_id=${hotProvider.id}`, "payouts"],
    [`/payouts?provider_id=${hotProvider.id}&state=paid&offset=500`, "payouts"],
    ["/payouts?offset=15000", "payouts"],
    ["/payouts?cursor=", "payouts"],
    ["/claims", "claims"],
    ["/claims?open=true", "claims"],
    ["/claims?offset=15000", "claims"],
    ["/chargebacks", "chargebacks"],
    ["/chargebacks?cursor=", "chargebacks"],
    ["/jobs", ""]
  ].map(([path, reads]): Asked => [`/api/v1/operator${path}`, OPERATOR, reads!])

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()

const ask = async (port: number, asked: string, by: Account | undefined): Promise<Response> => {
  const [, method = "GET", path = asked, body] = /^(POST) (\S+) (.*)$/u.exec(asked) ?? []
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      ...(by === undefined ? {} : { authorization: `Bearer ${by.key}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" })
    },
    ...(body === undefined ? {} : { body })
  })
}

const json = async <A>(port: number, path: string, by: Account): Promise<A> =>
  (await ask(port, path, by)).json() as Promise<A>

/** A cursor from the middle of the list, or from its first page if it is short. */
const deep = async (port: number, path: string, by: Account | undefined): Promise<string> => {
  const list = path.replace("cursor=", "")
  for (const offset of [200_000, 4_000, 500, 0]) {
    const response = await ask(port, `${list}offset=${offset}&limit=5`, by)
    const { next_cursor: cursor } = (await response.json()) as { readonly next_cursor?: string | null }
    if (cursor !== undefined && cursor !== null) return `${path}${cursor}`
  }
  return `${list}limit=5`
}

const examplesOf = async (port: number, by: Account): Promise<Examples> => {
  const { receipts } = await json<{ receipts: ReadonlyArray<{ receipt_id: string; tool_id: string }> }>(
    port,
    "/api/v1/market/receipts?limit=5",
    by
  )
  const { disputes } = await json<{ disputes: ReadonlyArray<{ dispute_id: string }> }>(
    port,
    "/api/v1/market/disputes?limit=1",
    by
  )
  const { invoices } = await json<{ invoices: ReadonlyArray<{ invoice_id: string }> }>(
    port,
    "/api/v1/market/invoices?limit=1",
    by
  )
  return {
    receipt: receipts[0]!.receipt_id,
    tool: receipts[0]!.tool_id,
    dispute: disputes[0]?.dispute_id ?? "none",
    invoice: invoices[0]?.invoice_id ?? "none"
  }
}

const measured = async ({ pid, port }: Running, [path, by, reads]: Asked, who: string) => {
  const asked = path.endsWith("cursor=") ? await deep(port, path, by) : path
  const latenciesMs: Array<number> = []
  let status = 0
  const askedMs = performance.now()
  await (await ask(port, asked, by)).arrayBuffer()
  const firstMs = performance.now() - askedMs
  const startedMs = performance.now()
  const cpuBefore = cpuOf(pid)
  do {
    const sentMs = performance.now()
    const response = await ask(port, asked, by)
    await response.arrayBuffer()
    latenciesMs.push(performance.now() - sentMs)
    status = response.status
  } while (latenciesMs.length < ASKED_TIMES && performance.now() - startedMs < ASKED_MS_MAX)
  const cpuMs = ((cpuOf(pid) - cpuBefore) * 1_000) / latenciesMs.length
  const sorted = latenciesMs.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
  const p99Ms = at(0.99)
  return [
    who,
    path,
    String(status),
    ...[cpuMs, firstMs, at(0.5), p99Ms].map((ms) => ms.toFixed(1)),
    p99Ms > P99_MS_MAX ? "slow" : "",
    reads
  ]
}

/** Of the service and its PostgreSQL: what a busy machine does not change. */
const cpuOf = (pid: number): number => cpuSeconds(pid) + descendantCpuSeconds(pid)

/** Documents without rows, and the files of the log, whose trees are not made here. Two paths of one operation are one. */
const NOT_ASKED =
  /\/(?:register-\w+|market\/tools|verify|waitlist|feedback|apply|meter|tile\/.*|proof|consistency|session|livez|jwks\.json|\{log\}\/checkpoint|market\/(?:usage|usage\/summary|toolbox))$/u

/** The operations of the contract that no request above asks. */
const missing = async (port: number, asked: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const contract = (await (await ask(port, "/api/openapi.json", undefined)).json()) as {
    readonly paths: Readonly<Record<string, { readonly get?: object }>>
  }
  return Object.entries(contract.paths).flatMap(([path, { get }]) => {
    const isOf = new RegExp(`^${path.replaceAll(/\{\w+\}/gu, "[^/]+")}(?:\\?|$)`, "u")
    return get === undefined || NOT_ASKED.test(path) || asked.some((one) => isOf.test(one)) ? [] : [path]
  })
}

export const usage = async (): Promise<void> => {
  const receipts = Number(process.argv[3] ?? RECEIPTS)
  const folder = process.argv[4] ?? join(tmpdir(), `atb-bench-usage-${receipts}`)
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  const start = () => startService("embedded", folder, { OPERATOR_KEY: OPERATOR.key })
  const market = await largeMarket(folder, receipts, start)
  const only = new RegExp(process.argv[5] ?? "", "u")
  const service = await start()
  try {
    const { port } = service
    const rows: Array<ReadonlyArray<string>> = []
    const all: Array<readonly [string, ReadonlyArray<Asked>]> = []
    for (const [who, by] of Object.entries(market) as Array<[string, Account]>) {
      const examples = await examplesOf(port, by)
      all.push([who, ofAccount(by, examples)])
      all.push([who, who.endsWith("onsumer") ? ofConsumer(by) : ofProvider(by, examples.tool)])
      if (who !== "hotConsumer") continue
      all.push(["public", ofEveryone(examples)], ["operator", ofOperator(market, examples)])
    }
    const left = await missing(
      port,
      all.flatMap(([, list]) => list.map(([path]) => path))
    )
    if (left.length > 0) process.stdout.write(`Not measured: ${left.join(", ")}\n`)
    for (const [who, list] of all) {
      for (const asked of list) {
        if (!only.test(`${who} ${asked[0]}`)) continue
        rows.push(await measured(service, asked, who))
        process.stderr.write(`${rows.at(-1)!.join("  ")}\n`)
      }
    }
    table(`With ${receipts} receipts; slow: p99 above ${P99_MS_MAX} ms`, [
      ["of", "request", "status", "CPU ms", "first ms", "p50 ms", "p99 ms", "", "reads"],
      ...rows
    ])
  } finally {
    await service.stop()
  }
}
