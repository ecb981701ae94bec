/**
 * The provider's profile: what it says of itself, where its server is, and its email address.
 */
import { Fragment } from "preact"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { InputForm, type Values } from "../../console/InputForm.browser.ts"
import { Loaded, useResource } from "../../console/Resource.browser.ts"
import { CopyValue, Facts, TimeText } from "../../console/Values.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Profile } from "../../kit/ApiResponses.browser.ts"

const PATH = "/api/v1/market/providers/profile"
const EMAIL_PATH = "/api/v1/market/providers/email"

export const ProfileForm = (): View => {
  const { api } = useConsole()
  const profile = useResource(() => api.get<Profile>(PATH), [])
  return h(Loaded<Profile>, {
    of: profile,
    show: (value) => h(Fragment, null, h(Account, { value }), h(EmailAddress, { value, changed: profile.reload }))
  })
}

const Account = ({ value }: { readonly value: Profile }): View => {
  const { api } = useConsole()
  const change = async (values: Values, idempotencyKey: string) => {
    const { unlisted, ...fields } = values
    const body = { ...fields, ...(unlisted === "yes" ? { unlisted: true } : {}) }
    return (await api.post<Profile>(PATH, body, idempotencyKey)).message
  }
  return h(
    "section",
    { id: "account" },
    h(Facts, {
      all: [
        ["Account ID", h(CopyValue, { name: "account ID", text: value.provider_id })],
        ["Handle", h("code", null, value.handle)],
        ["Public page", h("a", { href: `/catalog/providers/${value.handle}` }, "Your page in the catalog")]
      ]
    }),
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

interface EmailAddressProps {
  readonly value: Profile
  readonly changed: () => Promise<void>
}

const EmailAddress = ({ changed, value }: EmailAddressProps): View => {
  const { api } = useConsole()
  const send = async (values: Values) => {
    const { message } = await api.post<Profile>(EMAIL_PATH, values)
    await changed()
    return message
  }
  const { email, pending_email: pending, pending_email_expires_at: expiresAt } = value
  return h(
    "section",
    { id: "email" },
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
      : h(
          Fragment,
          null,
          h("p", null, `A code was mailed to ${pending}. It expires `, h(TimeText, { at: expiresAt }), "."),
          h(InputForm, {
            id: "confirm-email",
            submit: "Confirm address",
            fields: [{ name: "token", label: "Code" }],
            send
          })
        )
  )
}
