/**
 * The registration forms for developers and providers.
 */
import { invalid, request } from "../kit/ApiRequest.browser.ts"
import { codeBlock, curl } from "../kit/CodeBlock.browser.ts"
import { byId, el, fill } from "../kit/Dom.browser.ts"
import { INVALID_PRICE, parseDollars, plural } from "../kit/Format.browser.ts"
import { type Field, form } from "../kit/Form.browser.ts"
import { newKeyCard } from "../kit/NewKey.browser.ts"
import type { RegisteredConsumer, RegisteredProvider } from "../kit/ApiResponses.browser.ts"
import { CONSOLE_PATHS, type Role, storeKey } from "../kit/Session.browser.ts"

const place = byId("register")

const NAME = { name: "name", label: "Name", autocomplete: "organization" }
const EMAIL: Field = {
  name: "email",
  label: "Email",
  type: "email",
  hint: "Visible only to the operator.",
  autocomplete: "email"
}

const showRegistered = (role: Role, key: string, id: string, ...next: ReadonlyArray<Node>): void => {
  storeKey(role, key)
  const heading = el("h2", { tabindex: -1 }, "You are registered")
  fill(
    place,
    heading,
    newKeyCard(key, id),
    ...next,
    el(
      "p",
      { class: "actions" },
      el("a", { class: "button", href: CONSOLE_PATHS[role] }, "Open dashboard"),
      el("a", { class: "button plain", href: "/catalog" }, "Browse the catalog")
    )
  )
  heading.focus()
}

const developerForm = () =>
  form({
    id: "developer",
    submit: "Register",
    fields: [
      { ...NAME, hint: "Your agent, team or company. Shown on your invoices." },
      EMAIL,
      { name: "use_case", label: "Use case", type: "textarea", optional: true },
      {
        name: "rate_limit_rpm",
        label: "Requests per minute",
        type: "number",
        optional: true,
        hint: "If you need more than the default rate limit."
      }
    ],
    send: async ({ email, name, rate_limit_rpm: rpm, use_case: useCase }, idempotencyKey) => {
      const made = await request<RegisteredConsumer>("POST", "/api/market/register-consumer", {
        idempotencyKey,
        body: {
          name,
          email,
          ...(useCase === "" ? {} : { use_case: useCase }),
          ...(rpm === "" ? {} : { rate_limit_rpm: Number(rpm) })
        }
      })
      showRegistered(
        "consumer",
        made.api_key,
        made.consumer_id,
        el("p", `Rate limit: ${plural(made.rate_limit_rpm, "request")} per minute.`),
        el("h3", "Next: add funds"),
        codeBlock(curl("/api/market/balance/load", made.api_key, { amount_cents: 500 }))
      )
    }
  })

const toolNames = (text = ""): ReadonlyArray<string> => text.split(/[\s,]+/u).filter((name) => name !== "")

const providerForm = () =>
  form({
    id: "provider",
    submit: "Register",
    fields: [
      { ...NAME, hint: "You, your team or your product. Shown in the catalog." },
      EMAIL,
      {
        name: "endpoint_url",
        label: "MCP server URL",
        type: "url",
        placeholder: "https://tools.example.org/mcp",
        hint: "Streamable HTTP. Requests from this service are signed."
      },
      { name: "description", label: "Description", type: "textarea", optional: true },
      {
        name: "price",
        label: "Price per call in dollars",
        type: "number",
        value: "0.001",
        hint: "The default for your tools. You can change it at any time."
      },
      {
        name: "free_tier_calls",
        label: "Free calls per month",
        type: "number",
        value: "100",
        hint: "For each tool and developer."
      },
      {
        name: "tools",
        label: "Tool names",
        optional: true,
        placeholder: "search, fetch",
        hint: "As your MCP server lists them. You can add details on the dashboard."
      }
    ],
    send: async (values, idempotencyKey) => {
      const price = parseDollars(values["price"])
      if (price === undefined) throw invalid({ price: INVALID_PRICE })
      const { description, email, endpoint_url, free_tier_calls: free, name } = values
      const made = await request<RegisteredProvider>("POST", "/api/market/register-provider", {
        idempotencyKey,
        body: {
          name,
          email,
          endpoint_url,
          ...(description === "" ? {} : { description }),
          default_price_microcents: price,
          tools: toolNames(values["tools"]).map((tool) => ({ tool_name: tool, free_tier_calls: Number(free) }))
        }
      })
      const next =
        made.tools.length === 0
          ? [
              el("h3", "Next: list a tool"),
              codeBlock(
                curl("/api/market/tools", made.api_key, {
                  tools: [{ tool_name: "search", description: "What it does", price_microcents: 1_000 }]
                })
              )
            ]
          : [
              el("h3", "Next: verify your email address"),
              codeBlock(curl("/api/v1/market/providers/verify", made.api_key, { level: "email" }))
            ]
      showRegistered("provider", made.api_key, made.provider_id, ...next)
    }
  })

fill(place, place.dataset["role"] === "provider" ? providerForm() : developerForm())
