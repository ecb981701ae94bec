/**
 * Connects an MCP client to the tools of all providers, and limits what its calls may cost.
 */
import type { ComponentChildren } from "preact"
import { ConnectTabs } from "../../connect/ConnectTabs.browser.ts"
import { DEFAULT_CAP, defaultCapField, defaultCapIn } from "../../connect/DefaultCapField.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { h, section, type View } from "../../console/View.browser.ts"
import type { WhoAmI } from "../../kit/ApiResponses.browser.ts"
import { money } from "../../kit/Format.browser.ts"

export const tab = (): ComponentChildren => {
  const { data } = useConsole()
  return [
    h("div", { id: "connect", class: "connect" }, h(ConnectTabs, { data: data["connect"]! })),
    h(DefaultCap, null),
    h(
      "p",
      { class: "small muted" },
      "To connect to one provider's server, see its page in the ",
      h("a", { href: "/catalog" }, "catalog"),
      "."
    )
  ]
}

const DefaultCap = (): View => {
  const { api } = useConsole()
  const account = useResource(() => api.get<WhoAmI>("/api/v1/market/whoami"), [])
  return section(
    "default-cap",
    h("h2", null, "Default cap"),
    loaded(account, ({ account_default_cap_microcents: cap, default_cap_microcents: ofKey }) => [
      ...(cap === null
        ? [
            h(
              "p",
              { key: "none" },
              "Your account has no default cap: usage-priced tools are rejected unless a call names one."
            )
          ]
        : []),
      ...(ofKey === cap || ofKey === null
        ? []
        : [
            h(
              "p",
              { key: "key" },
              `This key has a default cap of its own, which applies to its calls: ${money(ofKey)}.`
            )
          ]),
      h(InputForm, {
        id: "cap",
        key: "form",
        submit: "Save cap",
        keepsValues: true,
        fields: [defaultCapField(cap ?? undefined)],
        send: async (values, idempotencyKey) => {
          const body = { [DEFAULT_CAP]: defaultCapIn(values) ?? null }
          const { message } = await api.post<{ readonly message: string }>(
            "/api/v1/market/default-cap",
            body,
            idempotencyKey
          )
          await account.reload()
          return message
        }
      })
    ])
  )
}
