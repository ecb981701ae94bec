/**
 * The matrix of accounts, keys, grants, budgets and money.
 */
import { consumerBody, CONSUMERS, PROVIDERS, providerBody, TOOLS } from "../market/Market.ts"
import { accounts, anybody, consumers, operators, providers, row, type Rows } from "./Matrix.ts"
import { BALANCE, BUDGETS, GRANTS, INVOICES, KEYS, OWN_TOOLS, RUNS, TOOLBOX } from "./Paths.ts"

const ownKeys = { consumerOwner: ["consumerKey"], providerOwner: ["providerKey"] } as const
const ownDocuments = { consumerOwner: ["invoice"], providerOwner: ["statement"] } as const

/** Of the owner's key: for another account it does not exist. */
const toolboxRows = (toolbox: string): Rows => {
  const change = (method: string) =>
    row(consumers(200, 404), ({ marks, offer }) => ({
      method,
      path: toolbox,
      json: { tools: [offer.toolId], key_id: marks.consumerKey }
    }))
  return {
    [`GET ${toolbox}`]: row(consumers(200, 404), ({ marks }) => ({ path: `${toolbox}?key_id=${marks.consumerKey}` })),
    [`POST ${toolbox}`]: change("POST"),
    [`PUT ${toolbox}`]: change("PUT"),
    [`DELETE ${toolbox}/:tool_id`]: row(consumers(200, 404), ({ marks, offer }) => ({
      method: "DELETE",
      path: `${toolbox}/${offer.toolId}?key_id=${marks.consumerKey}`
    }))
  }
}

export const accountRows: Rows = {
  ...toolboxRows(TOOLBOX),
  ...toolboxRows("/api/v1/market/toolbox"),
  [`POST ${PROVIDERS}`]: row(anybody(201), (_, caller) => ({
    path: PROVIDERS,
    json: providerBody({ email: `another-${caller}@owner.example` })
  })),
  [`POST ${CONSUMERS}`]: row(anybody(201), (_, caller) => ({
    path: CONSUMERS,
    json: consumerBody({ email: `another-${caller}@owner.example` })
  })),
  "GET /api/v1/market/whoami": row(accounts(200), "/api/v1/market/whoami", {
    shows: { consumerOwner: ["consumerName"] }
  }),

  [`GET ${KEYS}`]: row(accounts(200), KEYS, { shows: ownKeys }),
  [`POST ${KEYS}`]: row(accounts(201), () => ({ path: KEYS, json: {} })),
  [`POST ${KEYS}/rotate`]: row({ ...accounts(404), consumerOwner: 201 }, ({ marks }) => ({
    path: `${KEYS}/rotate`,
    json: { key_id: marks.consumerKey }
  })),
  [`DELETE ${KEYS}`]: row({ ...accounts(404), providerOwner: 200 }, ({ marks }) => ({
    method: "DELETE",
    path: `${KEYS}?key_id=${marks.providerKey}`
  })),
  [`DELETE ${KEYS}/:key_id`]: row({ ...accounts(404), consumerOwner: 200 }, ({ marks }) => ({
    method: "DELETE",
    path: `${KEYS}/${marks.consumerKey}`
  })),

  [`GET ${KEYS}/:key_id`]: row(consumers(200, 404), ({ marks }) => ({ path: `${KEYS}/${marks.consumerKey}` })),
  [`PATCH ${KEYS}/:key_id`]: row(consumers(200, 404), ({ marks }) => ({
    method: "PATCH",
    path: `${KEYS}/${marks.consumerKey}`,
    json: { label: "renamed" }
  })),
  [`GET ${KEYS}/:key_id/limits`]: row(
    consumers(200, 404),
    ({ marks }) => ({
      path: `${KEYS}/${marks.consumerKey}/limits`
    }),
    { shows: { consumerOwner: ["consumerBalance"] } }
  ),
  [`GET ${RUNS}`]: row(consumers(200), RUNS),
  [`POST ${RUNS}`]: row(consumers(201), () => ({ path: RUNS, json: { limit_microcents: 1 } })),
  [`GET ${RUNS}/:run_id`]: row(consumers(404), ({ marks }) => ({ path: `${RUNS}/${marks.consumerKey}` })),
  [`DELETE ${RUNS}/:run_id`]: row(consumers(404), ({ marks }) => ({
    method: "DELETE",
    path: `${RUNS}/${marks.consumerKey}`
  })),

  // The name is that of the owner's tool: any other provider adds one of its own. The consumer's toolbox shows the tool.
  [`POST ${TOOLS}`]: row(
    providers(201),
    () => ({ path: TOOLS, json: { tools: [{ tool_name: "echo", price_microcents: 7 }] } }),
    { touches: { providerOwner: ["consumerOwner"] } }
  ),

  [`GET ${OWN_TOOLS}`]: row(providers(200), OWN_TOOLS),
  [`DELETE ${OWN_TOOLS}/:id`]: row(
    providers(200, 404),
    ({ offer }) => ({ method: "DELETE", path: `${OWN_TOOLS}/${offer.toolId}` }),
    { touches: { providerOwner: ["consumerOwner"] } }
  ),
  // The owner's server answers, and lists no tools. The other provider's does not answer.
  ...Object.fromEntries(
    [`${TOOLS}/import`, `${OWN_TOOLS}/import`].map((path) => [
      `POST ${path}`,
      row(providers(200, 502), () => ({ path, json: { default_price_microcents: 5, apply: true } }))
    ])
  ),
  [`GET ${OWN_TOOLS}/sync`]: row(providers(200), `${OWN_TOOLS}/sync`),
  [`POST ${OWN_TOOLS}/sync`]: row(providers(200), () => ({
    path: `${OWN_TOOLS}/sync`,
    json: { enabled: false, listed: false, default_price_microcents: null }
  })),
  "GET /api/v1/market/mcp-features": row(providers(200), "/api/v1/market/mcp-features"),
  "POST /api/v1/market/mcp-features": row(providers(200), () => ({
    path: "/api/v1/market/mcp-features",
    json: { features_off: [] }
  })),

  "GET /api/v1/market/providers/profile": row(providers(200), "/api/v1/market/providers/profile", {
    shows: { providerOwner: ["providerEmail"] }
  }),
  "POST /api/v1/market/providers/profile": row(
    providers(200),
    () => ({ path: "/api/v1/market/providers/profile", json: { description: "Changed" } }),
    { shows: { providerOwner: ["providerEmail"] } }
  ),
  // No address was requested, so no code fits.
  "POST /api/v1/market/providers/email": row(providers(422), () => ({
    path: "/api/v1/market/providers/email",
    json: { token: "x" }
  })),

  [`GET ${GRANTS}`]: row(consumers(200), GRANTS, { shows: { consumerOwner: ["grant"] } }),
  [`POST ${GRANTS}`]: row(consumers(201), ({ provider }) => ({
    path: GRANTS,
    json: { provider_id: provider.id, cap_microcents: 5 }
  })),
  [`DELETE ${GRANTS}`]: row(consumers(200, 404), ({ marks }) => ({
    method: "DELETE",
    path: `${GRANTS}?grant_id=${marks.grant}`
  })),
  [`DELETE ${GRANTS}/:grant_id`]: row(consumers(200, 404), ({ marks }) => ({
    method: "DELETE",
    path: `${GRANTS}/${marks.grant}`
  })),

  [`GET ${BUDGETS}`]: row(consumers(200), BUDGETS, { shows: { consumerOwner: ["budget"] } }),
  [`POST ${BUDGETS}`]: row(consumers(201), ({ offer }) => ({
    path: BUDGETS,
    json: { tool_id: offer.toolId, cap_microcents: 5 }
  })),
  [`DELETE ${BUDGETS}/:budget_id`]: row(consumers(200, 404), ({ marks }) => ({
    method: "DELETE",
    path: `${BUDGETS}/${marks.budget}`
  })),

  "POST /api/v1/market/default-cap": row(consumers(200), () => ({
    path: "/api/v1/market/default-cap",
    json: { default_cap_microcents: 5 }
  })),

  [`GET ${BALANCE}`]: row(consumers(200), BALANCE, {
    shows: { consumerOwner: ["consumerName", "consumerBalance", "budget"] }
  }),
  "GET /api/v1/market/consumers/overview": row(consumers(200), "/api/v1/market/consumers/overview", {
    shows: { consumerOwner: ["consumerName", "consumerBalance", "budget"] }
  }),
  "GET /api/v1/market/providers/overview": row(providers(200), "/api/v1/market/providers/overview"),
  [`GET ${BALANCE}/withdraw`]: row(consumers(200), `${BALANCE}/withdraw`),
  [`POST ${BALANCE}/withdraw`]: row(consumers(201), () => ({
    path: `${BALANCE}/withdraw`,
    json: { amount_cents: 100 }
  })),
  "POST /api/market/balance/load": row(consumers(200), () => ({
    path: "/api/market/balance/load",
    json: { amount_cents: 500 }
  })),

  "POST /api/v1/market/billing/provider-summary": row(providers(200), () => ({
    path: "/api/v1/market/billing/provider-summary",
    json: {}
  })),
  "POST /api/market/billing/provider-summary": row(providers(200), () => ({
    path: "/api/market/billing/provider-summary",
    json: {}
  })),
  "GET /api/market/connect": row(providers(200), "/api/market/connect"),
  // Dry run mode makes no payouts, so no payout account is needed.
  "POST /api/market/connect": row(providers(503), () => ({ path: "/api/market/connect", json: {} })),
  "GET /api/market/payouts": row(providers(200), "/api/market/payouts"),
  // The other provider has earned nothing.
  "POST /api/market/payouts": row(providers(200, 422), () => ({ path: "/api/market/payouts", json: {} })),
  "POST /api/market/payouts/automatic": row(providers(200), () => ({
    path: "/api/market/payouts/automatic",
    json: { enabled: true }
  })),
  // Its signature is its key.
  "POST /api/webhooks/stripe": row(anybody(503), () => ({ path: "/api/webhooks/stripe", json: { type: "any" } })),

  "GET /api/v1/operator/summary": row(operators(200), "/api/v1/operator/summary"),
  "GET /api/v1/operator/solvency": row(operators(200), "/api/v1/operator/solvency"),
  "POST /api/v1/operator/funds": row(operators(200), (_, caller) => ({
    path: "/api/v1/operator/funds",
    json: { action: "deposit", amount_cents: 100, reference: `matrix ${caller}` }
  })),
  // A wrong key, whatever the caller's own.
  "POST /api/v1/operator/session": row(anybody(401), () => ({
    path: "/api/v1/operator/session",
    json: { key: "not the operator's key", name: "Mallory" }
  })),
  "POST /api/v1/operator/sessions/end": row(operators(200), () => ({
    path: "/api/v1/operator/sessions/end",
    json: { reason: "A laptop was stolen." }
  })),
  "GET /api/v1/operator/session": row(operators(200), "/api/v1/operator/session"),
  "DELETE /api/v1/operator/session": row(operators(200), () => ({
    method: "DELETE",
    path: "/api/v1/operator/session"
  })),
  "GET /api/v1/operator/consumers": row(operators(200), "/api/v1/operator/consumers?limit=1&search=nothing+like+it"),
  "GET /api/v1/operator/consumers/:consumer_id": row(
    operators(200),
    ({ consumer }) => ({ path: `/api/v1/operator/consumers/${consumer.id}` }),
    { shows: { operator: ["consumerName", "consumerEmail", "consumerBalance"] } }
  ),
  "GET /api/v1/operator/providers": row(operators(200), "/api/v1/operator/providers?limit=1&search=nothing+like+it"),
  "GET /api/v1/operator/providers/:provider_id": row(
    operators(200),
    ({ provider }) => ({ path: `/api/v1/operator/providers/${provider.id}` }),
    { shows: { operator: ["providerEmail"] } }
  ),
  "GET /api/v1/operator/disputes": row(operators(200), "/api/v1/operator/disputes"),
  "GET /api/v1/operator/disputes/:id": row(
    operators(200),
    ({ dispute }) => ({ path: `/api/v1/operator/disputes/${dispute}` }),
    { shows: { operator: ["receipt", "claim", "consumerName"] } }
  ),
  "GET /api/v1/operator/payouts": row(operators(200), "/api/v1/operator/payouts"),
  "GET /api/v1/operator/claims": row(operators(200), "/api/v1/operator/claims"),
  "GET /api/v1/operator/chargebacks": row(operators(200), "/api/v1/operator/chargebacks"),
  "GET /api/v1/operator/jobs": row(operators(200), "/api/v1/operator/jobs"),
  "GET /api/v1/operator/audit-trail": row(operators(200), "/api/v1/operator/audit-trail"),
  "POST /api/v1/operator/consumers/:consumer_id/freeze": row(
    operators(200),
    ({ consumer }) => ({
      path: `/api/v1/operator/consumers/${consumer.id}/freeze`,
      json: { reason: "Fraud is suspected." }
    }),
    { touches: { operator: ["consumerOwner"] } }
  ),
  "POST /api/v1/operator/consumers/:consumer_id/unfreeze": row(operators(200), ({ consumer }) => ({
    method: "POST",
    path: `/api/v1/operator/consumers/${consumer.id}/unfreeze`
  })),
  "POST /api/v1/operator/providers/:provider_id/freeze": row(
    operators(200),
    ({ provider }) => ({ path: `/api/v1/operator/providers/${provider.id}/freeze`, json: { reason: "Fraud." } }),
    // Its tools leave the list of a toolbox.
    { touches: { operator: ["providerOwner", "consumerOwner"] } }
  ),
  "POST /api/v1/operator/providers/:provider_id/unfreeze": row(operators(200), ({ provider }) => ({
    path: `/api/v1/operator/providers/${provider.id}/unfreeze`,
    json: { reason: "A mistake." }
  })),
  "POST /api/v1/operator/payouts/:payout_id/retry": row(operators(404), () => ({
    path: "/api/v1/operator/payouts/00000000-0000-4000-8000-000000000000/retry",
    json: { reason: "The account is complete." }
  })),
  "POST /api/v1/operator/providers/:provider_id/reserve": row(
    operators(200),
    ({ provider }) => ({ path: `/api/v1/operator/providers/${provider.id}/reserve`, json: { lifted: true } }),
    { touches: { operator: ["providerOwner"] } }
  ),
  "GET /api/v1/operator/providers/:provider_id/platform-fee": row(operators(200), ({ provider }) => ({
    path: `/api/v1/operator/providers/${provider.id}/platform-fee`
  })),
  "POST /api/v1/operator/providers/:provider_id/platform-fee": row(
    operators(200),
    ({ provider }) => ({
      path: `/api/v1/operator/providers/${provider.id}/platform-fee`,
      json: { platform_fee_bps: 500 }
    }),
    { touches: { operator: ["providerOwner"] } }
  ),
  "POST /api/v1/operator/providers/:provider_id/handle": row(
    operators(200),
    ({ provider }) => ({
      path: `/api/v1/operator/providers/${provider.id}/handle`,
      json: { handle: `owner-${provider.id.slice(-12)}` }
    }),
    { touches: { operator: ["consumerOwner", "providerOwner"] } }
  ),
  "GET /api/v1/operator/handles/imitations": row(operators(200), "/api/v1/operator/handles/imitations"),

  [`GET ${INVOICES}`]: row(accounts(200), INVOICES, { shows: ownDocuments }),
  [`GET ${INVOICES}/:id`]: row(
    { ...accounts(404), consumerOwner: 200, operator: 200 },
    ({ marks }) => ({ path: `${INVOICES}/${marks.invoice}` }),
    { shows: { consumerOwner: ["consumerName", "consumerEmail"], operator: ["consumerName", "consumerEmail"] } }
  ),
  [`POST ${INVOICES}/run`]: row(operators(200), () => ({ path: `${INVOICES}/run`, json: { month: "2020-01" } })),
  [`POST ${INVOICES}/:id/credit-notes`]: row(
    operators(201),
    ({ marks }) => ({
      path: `${INVOICES}/${marks.invoice}/credit-notes`,
      json: { amount_microcents: 5, reason: "a gesture" }
    }),
    {
      shows: { operator: ["consumerName", "consumerEmail"] },
      touches: { operator: ["consumerOwner", "providerOwner"] }
    }
  )
}
