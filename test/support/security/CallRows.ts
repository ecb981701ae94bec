/**
 * The matrix of calls, usage, receipts and disputes.
 */
import { METER, PROXY } from "../metering/Shop.ts"
import { accounts, anybody, consumers, operators, providers, row, type Rows } from "./Matrix.ts"
import { DISPUTES, PROVIDERS, RECEIPTS } from "./Paths.ts"
import { PRICE } from "./World.ts"

const usage = row(accounts(200), "/api/market/usage?limit=200", {
  shows: { consumerOwner: ["consumerName", "receipt"], providerOwner: ["receipt"] }
})
const summary = row(accounts(200), "/api/market/usage/summary", { shows: { consumerOwner: ["consumerName"] } })

export const callRows: Rows = {
  // Any consumer may call at its own cost; the provider earns from it.
  [`POST ${PROXY}`]: row(consumers(200), ({ offer }) => ({ path: PROXY, json: { tool_id: offer.toolId, input: {} } }), {
    touches: { consumerOther: ["providerOwner"], consumerOwner: ["providerOwner"] }
  }),
  // In the owner's name: its provider may within the grant; no other provider has the tool or the name.
  [`POST ${METER}`]: row(
    { ...accounts(403), consumerOwner: 201, providerOwner: 201 },
    ({ consumer, offer }) => ({
      path: METER,
      json: { tool_id: offer.toolId, consumer_id: consumer.id, cost_microcents: PRICE }
    }),
    { touches: { providerOwner: ["consumerOwner"], consumerOwner: ["providerOwner"] } }
  ),

  "GET /api/market/usage": usage,
  "GET /api/v1/market/usage": { ...usage, ask: () => ({ path: "/api/v1/market/usage?limit=200" }) },
  "GET /api/market/usage/summary": summary,
  "GET /api/v1/market/usage/summary": { ...summary, ask: () => ({ path: "/api/v1/market/usage/summary" }) },

  [`GET ${RECEIPTS}`]: row(accounts(200), `${RECEIPTS}?limit=100`, {
    shows: { consumerOwner: ["receipt"], providerOwner: ["receipt"] }
  }),
  // Any client with a receipt's id may verify it.
  [`GET ${RECEIPTS}/:id`]: row(anybody(), ({ marks }) => ({ path: `${RECEIPTS}/${marks.receipt}` })),
  [`GET ${RECEIPTS}/:id/proof`]: row(anybody(), ({ marks }) => ({ path: `${RECEIPTS}/${marks.receipt}/proof` })),
  [`GET ${RECEIPTS}/:id/call`]: row(accounts(200, 404), ({ marks }) => ({ path: `${RECEIPTS}/${marks.receipt}/call` })),
  "POST /api/v1/verify": row(anybody(), () => ({ path: "/api/v1/verify", json: { receipt: {} } })),

  [`GET ${DISPUTES}`]: row({ ...accounts(200), operator: 200 }, `${DISPUTES}?limit=100`, {
    shows: {
      consumerOwner: ["receipt", "claim"],
      providerOwner: ["receipt", "claim"],
      operator: ["receipt", "claim"]
    }
  }),
  [`GET ${DISPUTES}/:id`]: row(anybody(200), ({ dispute }) => ({ path: `${DISPUTES}/${dispute}` }), {
    shows: {
      consumerOwner: ["receipt", "claim"],
      providerOwner: ["receipt", "claim"],
      operator: ["receipt", "claim"]
    }
  }),
  [`POST ${DISPUTES}`]: row(
    accounts(201, 403),
    ({ undisputed }, caller) => ({
      path: DISPUTES,
      json: {
        receipt_id: caller === "providerOwner" ? undisputed.byProvider : undisputed.byConsumer,
        reason: "quality"
      }
    }),
    { touches: { providerOwner: ["consumerOwner"], consumerOwner: ["providerOwner"] } }
  ),
  [`POST ${DISPUTES}/:id/respond`]: row(
    providers(200, 404),
    ({ dispute }) => ({
      path: `${DISPUTES}/${dispute}/respond`,
      json: { action: "contest", message: "It was what was asked for" }
    }),
    { shows: { providerOwner: ["receipt", "claim"] }, touches: { providerOwner: ["consumerOwner"] } }
  ),
  [`POST ${DISPUTES}/:id/resolve`]: row(
    operators(200),
    ({ dispute }) => ({
      path: `${DISPUTES}/${dispute}/resolve`,
      json: { resolution: "resolved_denied", note: "It was the requested id" }
    }),
    { shows: { operator: ["receipt", "claim"] }, touches: { operator: ["consumerOwner", "providerOwner"] } }
  ),

  "GET /api/v1/market/free-tiers": row(consumers(200), "/api/v1/market/free-tiers"),
  // Derived from the caller's key: another provider's cannot be named.
  [`GET ${PROVIDERS}/signing-secret`]: row(providers(200), `${PROVIDERS}/signing-secret`),
  [`POST ${PROVIDERS}/verify`]: row(providers(200, 200), () => ({
    path: `${PROVIDERS}/verify`,
    json: { level: "code", repo_url: "https://github.com/owner/name" }
  }))
}
