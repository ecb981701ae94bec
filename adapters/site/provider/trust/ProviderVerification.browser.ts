/**
 * Verification of the provider's email address, domain or source repository.
 */
import { type ComponentChildren, Fragment } from "preact"
import { useState } from "preact/hooks"
import { ActionButton } from "../../console/ActionButton.browser.ts"
import { Badge, Notice } from "../../console/Badge.browser.ts"
import { type ConsoleApi } from "../../console/ConsoleApi.browser.ts"
import { useConsole } from "../../console/ConsoleContext.browser.ts"
import { CodeBlock } from "../../console/Copyable.browser.ts"
import { InputForm } from "../../console/InputForm.browser.ts"
import { TimeText } from "../../console/TimeText.browser.ts"
import { h, type View } from "../../console/View.browser.ts"
import type { Trust, VerifyResponse } from "../../kit/ApiResponses.browser.ts"
import { relativeTime } from "../../kit/Format.browser.ts"
import type { Field } from "../../console/FieldInput.browser.ts"
import type { Values } from "../../console/InputForm.browser.ts"

type Level = Trust["details"]["verification_level"]
type Method = Exclude<Level, "unverified">

const PATH = "/api/v1/market/providers/verify"
const WELL_KNOWN_FILE = "/.well-known/mcp-billing-verify.txt"

export interface ProviderVerificationProps {
  readonly level: Level
  /** Called when a verification succeeds. */
  readonly verified: () => void
}

type Verify = (method: Method, values?: Values) => Promise<VerifyResponse>

const verifier =
  (api: ConsoleApi, verified: () => void): Verify =>
  async (method, values = {}) => {
    const given = Object.entries(values).filter(([, value]) => value !== "")
    const response = await api.post<VerifyResponse>(PATH, { level: method, ...Object.fromEntries(given) })
    if (response.verified) verified()
    return response
  }

export const ProviderVerification = ({ level, verified }: ProviderVerificationProps): View => {
  const { api } = useConsole()
  const verify = verifier(api, verified)
  return h(
    "section",
    { id: "verification" },
    h("h2", null, "Verification"),
    h(
      "div",
      { class: "grid" },
      h(
        Card,
        {
          title: "Email address",
          text: "Enter the token that is sent to your registered address. 10 points.",
          isVerified: level === "email"
        },
        h(VerifyMailbox, { verify })
      ),
      h(
        Card,
        {
          title: "Domain",
          text: "Publish a token in DNS or in a file on your endpoint's domain. 20 points.",
          isVerified: level === "domain"
        },
        h(VerifyPublished, { verify, method: "domain", field: DOMAIN })
      ),
      h(
        Card,
        {
          title: "Source repository",
          text: "Commit a file to the default branch. 25 points.",
          isVerified: level === "code"
        },
        h(VerifyPublished, { verify, method: "code", field: REPOSITORY })
      )
    )
  )
}

const DOMAIN: Field = {
  name: "domain",
  label: "Domain",
  placeholder: "tools.example.org",
  hint: "Your endpoint's host or a parent domain."
}

const REPOSITORY: Field = {
  name: "repo_url",
  label: "Repository URL",
  placeholder: "https://github.com/ada/tools",
  hint: "On GitHub, GitLab or Bitbucket."
}

interface CardProps {
  readonly title: string
  readonly text: string
  readonly isVerified: boolean
  readonly children?: ComponentChildren
}

const Card = ({ children, isVerified, text, title }: CardProps): View =>
  h(
    "div",
    { class: "card" },
    h("h3", null, title, " ", isVerified ? h(Badge, { label: "Verified", style: "good" }) : undefined),
    h("p", { class: "muted" }, text),
    children
  )

const VerifyMailbox = ({ verify }: { readonly verify: Verify }): View => {
  const [sent, setSent] = useState<VerifyResponse>()
  return h(
    Fragment,
    null,
    h(
      "div",
      { class: "actions" },
      h(ActionButton, {
        label: "Send token",
        style: "plain",
        run: async () => setSent(await verify("email"))
      })
    ),
    h("div", { "aria-live": "polite" }, sent === undefined ? undefined : h(Result, { of: sent })),
    h(InputForm, {
      id: "verify-email",
      submit: "Verify",
      fields: [{ name: "token", label: "Token" }],
      send: async (values) => h(Result, { of: await verify("email", values) })
    })
  )
}

interface VerifyPublishedProps {
  readonly verify: Verify
  readonly method: Method
  readonly field: Field
}

/** The first request gets a token; once it is published, the same request verifies it. */
const VerifyPublished = ({ field, method, verify }: VerifyPublishedProps): View => {
  const [label, setLabel] = useState("Get token")
  return h(InputForm, {
    id: `verify-${method}`,
    submit: label,
    fields: [field],
    keepsValues: true,
    send: async (values) => {
      const response = await verify(method, values)
      setLabel(response.verified ? "Verify again" : "Verify")
      return h(Result, { of: response })
    }
  })
}

const Result = ({ of: { challenge, message, verified } }: { readonly of: VerifyResponse }): View =>
  h(
    "div",
    null,
    h(Notice, { style: verified ? "good" : "" }, message),
    challenge === null ? undefined : h(Challenge, { challenge })
  )

const Challenge = ({ challenge }: { readonly challenge: NonNullable<VerifyResponse["challenge"]> }): View => {
  const { expires_at: at, record_name: name, record_value: value, type } = challenge
  const expiry = h("p", { class: "small muted" }, "Expires ", h(TimeText, { at }), ` (${relativeTime(at)}).`)
  switch (type) {
    case "email":
      return expiry
    case "dns_txt_or_well_known":
      return h(
        Fragment,
        null,
        h("p", null, "Add this TXT record:"),
        h(CodeBlock, { text: `${name}. IN TXT "${value}"` }),
        h("p", null, "Or serve this text at ", h("code", null, WELL_KNOWN_FILE), ":"),
        h(CodeBlock, { text: value }),
        expiry
      )
    default:
      return h(
        Fragment,
        null,
        h("p", null, "Commit this file as ", h("code", null, name), ":"),
        h(CodeBlock, { text: value }),
        expiry
      )
  }
}
