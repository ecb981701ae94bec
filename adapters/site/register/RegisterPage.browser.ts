/**
 * The pages /developers/register and /providers/register: an account, its key, and what to do next.
 */
import type { RegisteredConsumer, RegisteredProvider } from "../kit/Answers.browser.ts"
import { ask, Refused } from "../kit/Api.browser.ts"
import { byId, el, fill } from "../kit/Dom.browser.ts"
import { microcentsOf, plural } from "../kit/Figures.browser.ts"
import { form, type Values } from "../kit/Form.browser.ts"
import { command, keyShown } from "../kit/KeyShown.browser.ts"
import { keep } from "../kit/Session.browser.ts"

const { origin } = location
const place = byId("register")

const NAME = {
  name: "name",
  label: "Name",
  autocomplete: "organization"
}
const EMAIL = {
  name: "email",
  label: "E-mail",
  type: "email",
  hint: "Seen by nobody but the operator.",
  autocomplete: "email"
} as const

const arrived = (role: "consumer" | "provider", key: string, id: string, next: ReadonlyArray<Node>): void => {
  keep(role, key)
  const heading = el("h2", { tabindex: -1 }, "You are registered")
  fill(place, heading, keyShown(key, id), ...next)
  heading.focus()
}

const developers = () =>
  form({
    id: "developer",
    submit: "Register",
    fields: [
      { ...NAME, hint: "Of your agent, your team or yourself. It stands on your invoices." },
      EMAIL,
      { name: "use_case", label: "What your agent does", type: "textarea", optional: true },
      {
        name: "rate_limit_rpm",
        label: "Requests a minute",
        type: "number",
        optional: true,
        hint: "How many your agent needs at most, if the usual number is not enough."
      }
    ],
    send: async ({ email, name, rate_limit_rpm: rpm, use_case: useCase }, idempotencyKey) => {
      const made = await ask<RegisteredConsumer>("POST", "/api/market/register-consumer", {
        idempotencyKey,
        body: {
          name,
          email,
          ...(useCase === "" ? {} : { use_case: useCase }),
          ...(rpm === "" ? {} : { rate_limit_rpm: Number(rpm) })
        }
      })
      arrived("consumer", made.api_key, made.consumer_id, [
        el("p", {}, `Your agent may send ${plural(made.rate_limit_rpm, "request")} a minute.`),
        el("h3", {}, "Next: put money in"),
        command(
          `curl ${origin}/api/market/balance/load -H 'Authorization: Bearer ${made.api_key}' -H 'content-type: application/json' -d '{"amount_cents":500}'`
        ),
        el(
          "p",
          { class: "actions" },
          el("a", { class: "button", href: "/developers/dashboard" }, "Open your dashboard"),
          el("a", { class: "button plain", href: "/catalog" }, "Find a tool")
        )
      ])
      return undefined
    }
  })

const toolsOf = (text: string): ReadonlyArray<string> => text.split(/[\s,]+/u).filter((name) => name !== "")

const provider = (values: Values): object => {
  const { description, email, endpoint_url: endpoint, free_tier_calls: free, name, price, tools } = values
  const microcents = microcentsOf(price!)
  if (microcents === undefined) {
    throw new Refused(422, {
      details: [{ path: ["price"], message: "Write dollars, such as 0.002; at most six digits behind the point." }]
    })
  }
  return {
    name,
    email,
    endpoint_url: endpoint,
    ...(description === "" ? {} : { description }),
    default_price_microcents: microcents,
    tools: toolsOf(tools!).map((tool) => ({ tool_name: tool, free_tier_calls: Number(free) }))
  }
}

const providers = () =>
  form({
    id: "provider",
    submit: "Register",
    fields: [
      { ...NAME, hint: "Of you, your team or your product. The catalogue shows it." },
      EMAIL,
      {
        name: "endpoint_url",
        label: "Address of your MCP server",
        type: "url",
        placeholder: "https://tools.example.org/mcp",
        hint: "Streamable HTTP. Calls come from this service alone, signed."
      },
      { name: "description", label: "What it offers", type: "textarea", optional: true },
      {
        name: "price",
        label: "Price of a call, in dollars",
        type: "number",
        value: "0.001",
        hint: "For every tool without a price of its own. You can change it at any time."
      },
      {
        name: "free_tier_calls",
        label: "Free calls",
        type: "number",
        value: "100",
        hint: "Of each tool, for each developer and month, before a call costs anything. 0 for none."
      },
      {
        name: "tools",
        label: "Names of its tools",
        optional: true,
        placeholder: "search, fetch",
        hint: "As your server lists them. More about each of them on the dashboard."
      }
    ],
    send: async (values, idempotencyKey) => {
      const made = await ask<RegisteredProvider>("POST", "/api/market/register-provider", {
        idempotencyKey,
        body: provider(values)
      })
      const [tool] = made.tools
      arrived("provider", made.api_key, made.provider_id, [
        el("h3", {}, tool === undefined ? "Next: list a tool" : "Next: prove that the mailbox is yours"),
        command(
          tool === undefined
            ? `curl ${origin}/api/market/tools -H 'Authorization: Bearer ${made.api_key}' -H 'content-type: application/json' -d '{"tools":[{"tool_name":"search","description":"What it does","price_microcents":1000}]}'`
            : `curl ${origin}/api/v1/market/providers/verify -H 'Authorization: Bearer ${made.api_key}' -H 'content-type: application/json' -d '{"level":"email"}'`
        ),
        el(
          "p",
          { class: "actions" },
          el("a", { class: "button", href: "/providers/dashboard" }, "Open your dashboard"),
          el("a", { class: "button plain", href: "/catalog" }, "See the catalogue")
        )
      ])
      return undefined
    }
  })

fill(place, place.dataset["role"] === "provider" ? providers() : developers())
