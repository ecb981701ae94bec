/**
 * Settings of the provider: profile, keys, the MCP endpoint and what it passes on, request signing, and an export of the
 * account's data.
 */
import type { ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { DataExport, type ExportedList } from "../../console/DataExport.browser.ts"
import { type Column, DataTable } from "../../console/DataTable.browser.ts"
import { InputForm, type Values } from "../../console/InputForm.browser.ts"
import { KeyList } from "../../console/KeyList.browser.ts"
import { loaded, useResource } from "../../console/Resource.browser.ts"
import { Badge, CodeBlock, CopyValue, facts, h, section, TimeText, type View } from "../../console/View.browser.ts"
import type { McpFeatures, Profile, SigningSecret } from "../../kit/ApiResponses.browser.ts"

// The provider's profile: what it says of itself, where its server is, and its email address.

const PROFILE_PATH = "/api/v1/market/providers/profile"
const EMAIL_PATH = "/api/v1/market/providers/email"

const ProfileForm = (): View => {
  const { api } = useConsole()
  const profile = useResource(() => api.get<Profile>(PROFILE_PATH), [])
  return loaded(profile, (value) => [h(Account, { value }), h(EmailAddress, { value, changed: profile.reload })])
}

const Account = ({ value }: { readonly value: Profile }): View => {
  const { api } = useConsole()
  const change = async (values: Values, idempotencyKey: string) => {
    const { unlisted, ...fields } = values
    const body = { ...fields, ...(unlisted === "yes" ? { unlisted: true } : {}) }
    return (await api.post<Profile>(PROFILE_PATH, body, idempotencyKey)).message
  }
  return section(
    "account",
    facts([
      ["Account ID", h(CopyValue, { name: "account ID", text: value.provider_id })],
      ["Handle", h("code", null, value.handle)],
      ["Public page", h("a", { href: `/catalog/providers/${value.handle}` }, "Your page in the catalog")]
    ]),
    h(InputForm, {
      id: "profile",
      submit: "Save profile",
      keepsValues: true,
      fields: [
        { name: "name", label: "Name", value: value.name, hint: "Shown in the catalog." },
        { name: "description", label: "Description", type: "textarea", value: value.description, optional: true },
        {
          name: "endpoint_url",
          label: "MCP server URL",
          type: "url",
          value: value.endpoint_url,
          hint: "The verification of a domain ends if the new server is not in it."
        },
        {
          name: "unlisted",
          label: "If the new server does not list all of your tools",
          type: "select",
          value: "no",
          choices: [
            ["no", "Keep the former server"],
            ["yes", "Use the new server anyway"]
          ]
        }
      ],
      send: change
    })
  )
}

const EmailAddress = ({ changed, value }: { readonly value: Profile; readonly changed: () => Promise<void> }): View => {
  const { api } = useConsole()
  const send = async (values: Values) => {
    const { message } = await api.post<Profile>(EMAIL_PATH, values)
    await changed()
    return message
  }
  const { email, pending_email: pending, pending_email_expires_at: expiresAt } = value
  return section(
    "email",
    h("h2", null, "Email address"),
    h("p", null, "Your address is ", h("strong", null, email), "."),
    h(InputForm, {
      id: "new-email",
      submit: "Send code",
      fields: [
        {
          name: "email",
          label: "New address",
          type: "email",
          hint: "It counts once you have entered the code sent to it."
        }
      ],
      send
    }),
    pending === null || expiresAt === null
      ? undefined
      : [
          h("p", null, `A code was mailed to ${pending}. It expires `, h(TimeText, { at: expiresAt }), "."),
          h(InputForm, {
            id: "confirm-email",
            submit: "Confirm address",
            fields: [{ name: "token", label: "Code" }],
            send
          })
        ]
  )
}

// The endpoint of the provider's MCP server here, and which of its features are passed on to agents.

const FEATURES_PATH = "/api/v1/market/mcp-features"

type Feature = McpFeatures["features_off"][number]
type NamedFeature = readonly [feature: Feature, label: string]

const FEATURES: ReadonlyArray<NamedFeature> = [
  ["resources", "Resources"],
  ["prompts", "Prompts"],
  ["completions", "Completions"],
  ["logging", "Log messages"]
]

const PassedFeatures = (): View => {
  const { api } = useConsole()
  const features = useResource(() => api.get<McpFeatures>(FEATURES_PATH), [])
  return section(
    "mcp",
    h("h2", null, "MCP endpoint"),
    loaded(features, ({ features_off: off, mcp_url: url }) => [
      h("p", null, "Agents use your MCP server at ", h(CopyValue, { name: "endpoint", text: url }), "."),
      h(
        "p",
        { class: "narrow muted" },
        "Besides tools they get what your server declares. A feature that is turned off is not offered."
      ),
      h(DataTable<NamedFeature>, {
        caption: "Features",
        columns: columnsOf(off, features.reload),
        rows: FEATURES,
        keyOf: ([feature]) => feature
      })
    ])
  )
}

const columnsOf = (off: ReadonlyArray<Feature>, changed: () => Promise<void>): ReadonlyArray<Column<NamedFeature>> => [
  { name: "Feature", cell: ([, label]) => label },
  {
    name: "Status",
    cell: ([feature]) => (off.includes(feature) ? h(Badge, { label: "Off" }) : h(Badge, { label: "On", style: "good" }))
  },
  { name: "", cell: ([feature, label]) => h(FeatureSwitch, { feature, label, off, changed }) }
]

interface FeatureSwitchProps {
  readonly feature: Feature
  readonly label: string
  readonly off: ReadonlyArray<Feature>
  readonly changed: () => Promise<void>
}

const FeatureSwitch = ({ changed, feature, label, off }: FeatureSwitchProps): View => {
  const { api } = useConsole()
  const isOff = off.includes(feature)
  return h(ActionButton, {
    label: isOff ? "Turn on" : "Turn off",
    name: `Turn ${isOff ? "on" : "off"} ${label.toLowerCase()}`,
    style: "tiny plain",
    run: async (idempotencyKey) => {
      const features_off = isOff ? off.filter((one) => one !== feature) : [...off, feature]
      await api.post<McpFeatures>(FEATURES_PATH, { features_off }, idempotencyKey)
      await changed()
      return `${label} are turned ${isOff ? "on" : "off"}.`
    }
  })
}

// The secret that signs requests to the provider's server.

const RequestSigning = (): View => {
  const { api } = useConsole()
  const [shown, setShown] = useState<SigningSecret>()
  return section(
    "signing",
    h("h2", null, "Request signing"),
    h(
      "p",
      { class: "narrow" },
      "Every request to your server is signed. Verify the signature and reject other requests: you are not paid for them."
    ),
    h(
      "div",
      { class: "actions" },
      h(ActionButton, {
        label: "Show signing secret",
        style: "plain",
        run: async () => setShown(await api.get<SigningSecret>("/api/v1/market/providers/signing-secret"))
      })
    ),
    h("div", { "aria-live": "polite" }, shown === undefined ? undefined : secretView(shown))
  )
}

const secretView = ({ algorithm, secret, signature_header, signed_text }: SigningSecret): ComponentChildren => [
  h(CodeBlock, { text: secret }),
  facts([
    ["Header", h("code", null, signature_header)],
    ["Algorithm", algorithm],
    ["Signed text", h("code", null, signed_text)]
  ])
]

export const tab = (): ComponentChildren => {
  const { account } = useConsole()
  return [
    h(ProfileForm, null),
    h(PassedFeatures, null),
    h(RequestSigning, null),
    h("h2", null, "API keys"),
    h(KeyList, null),
    h(DataExport, { lists: exportedOf(account.id) })
  ]
}

const exportedOf = (id: string): ReadonlyArray<ExportedList> => [
  { name: "account", path: "/api/v1/market/whoami" },
  { name: "profile", path: "/api/v1/market/providers/profile" },
  { name: "tools", path: "/api/v1/market/tools", items: "tools" },
  { name: "tool_sync", path: "/api/v1/market/tools/sync" },
  { name: "mcp_features", path: "/api/v1/market/mcp-features" },
  { name: "trust", path: `/api/v1/market/providers/${id}/trust` },
  { name: "payouts", path: "/api/market/payouts" },
  { name: "payout_account", path: "/api/market/connect" },
  { name: "keys", path: "/api/v1/market/keys" },
  { name: "statements", path: "/api/v1/market/invoices", items: "invoices" },
  { name: "disputes", path: "/api/v1/market/disputes", items: "disputes" },
  { name: "receipts", path: "/api/v1/market/receipts", items: "receipts" }
]
