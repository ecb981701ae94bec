/**
 * The registration forms for developers and providers.
 */
import { render } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { defaultCapField, defaultCapIn } from "../connect/DefaultCapField.browser.ts"
import { type Field, InputForm } from "../console/InputForm.browser.ts"
import { NewKeyCard } from "../console/NewKeyCard.browser.ts"
import { CodeBlock, h, type View } from "../console/View.browser.ts"
import { curl, invalid, request } from "../kit/ApiRequest.browser.ts"
import type { RegisteredConsumer, RegisteredProvider } from "../kit/ApiResponses.browser.ts"
import { INVALID_PRICE, parseDollars, plural } from "../kit/Format.browser.ts"
import { CONSOLE_PATHS, type Role, storeKey } from "../kit/Session.browser.ts"

const NAME = { name: "name", label: "Name", autocomplete: "organization" }
const EMAIL: Field = {
  name: "email",
  label: "Email",
  type: "email",
  hint: "Visible only to the operator.",
  autocomplete: "email"
}

interface Registered {
  readonly role: Role
  readonly apiKey: string
  readonly id: string
  readonly next: ReadonlyArray<View>
}

interface RegistrationProps {
  readonly registered: (account: Registered) => void
}

const Registered = ({ apiKey, id, next, role }: Registered): View => {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return h(
    "div",
    null,
    h("h2", { ref: heading, tabIndex: -1 }, "You are registered"),
    h(NewKeyCard, { apiKey, ownerId: id }),
    next,
    h(
      "p",
      { class: "actions" },
      h("a", { class: "button", href: CONSOLE_PATHS[role] }, "Open dashboard"),
      h("a", { class: "button plain", href: "/catalog" }, "Browse the catalog")
    )
  )
}

const DeveloperForm = ({ registered }: RegistrationProps): View =>
  h(InputForm, {
    id: "developer",
    submit: "Register",
    fields: [
      { ...NAME, hint: "Your agent, team or company. Shown on your invoices." },
      EMAIL,
      defaultCapField(),
      { name: "use_case", label: "Use case", type: "textarea", optional: true },
      {
        name: "rate_limit_rpm",
        label: "Requests per minute",
        type: "number",
        optional: true,
        hint: "If you need more than the default rate limit."
      }
    ],
    send: async (values, idempotencyKey) => {
      const cap = defaultCapIn(values)
      const { email, name, rate_limit_rpm: rpm, use_case: useCase } = values
      const made = await request<RegisteredConsumer>("POST", "/api/market/register-consumer", {
        idempotencyKey,
        body: {
          name,
          email,
          ...(cap === undefined ? {} : { default_cap_microcents: cap }),
          ...(useCase === "" ? {} : { use_case: useCase }),
          ...(rpm === "" ? {} : { rate_limit_rpm: Number(rpm) })
        }
      })
      registered({
        role: "consumer",
        apiKey: made.api_key,
        id: made.consumer_id,
        next: [
          h("p", null, `Rate limit: ${plural(made.rate_limit_rpm, "request")} per minute.`),
          h("h3", null, "Next: add funds"),
          h(CodeBlock, { text: curl("/api/market/balance/load", made.api_key, { amount_cents: 500 }) })
        ]
      })
    }
  })

const toolNames = (text = ""): ReadonlyArray<string> => text.split(/[\s,]+/u).filter((name) => name !== "")

const ProviderForm = ({ registered }: RegistrationProps): View =>
  h(InputForm, {
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
              h("h3", null, "Next: list a tool"),
              h(CodeBlock, {
                text: curl("/api/market/tools", made.api_key, {
                  tools: [{ tool_name: "search", description: "What it does", price_microcents: 1_000 }]
                })
              })
            ]
          : [
              h("h3", null, "Next: verify your email address"),
              h(CodeBlock, { text: curl("/api/v1/market/providers/verify", made.api_key, { level: "email" }) })
            ]
      registered({ role: "provider", apiKey: made.api_key, id: made.provider_id, next })
    }
  })

const Registration = ({ role }: { readonly role: Role }): View => {
  const [account, setAccount] = useState<Registered>()
  const registered = (made: Registered) => {
    storeKey(made.role, made.apiKey)
    setAccount(made)
  }
  return account === undefined
    ? h(role === "provider" ? ProviderForm : DeveloperForm, { registered })
    : h(Registered, account)
}

const place = document.querySelector<HTMLElement>("#register")!
place.replaceChildren()
render(h(Registration, { role: place.dataset["role"] === "provider" ? "provider" : "consumer" }), place)
