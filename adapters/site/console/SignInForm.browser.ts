/**
 * Asks for what opens a console, such as a key.
 */
import type { ComponentChildren } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import { ApiError, errorMessage, request } from "../kit/ApiRequest.browser.ts"
import { CONSOLE_PATHS, type Role, ROLE_NAMES } from "../kit/Session.browser.ts"
import { useFocusAfterRemoval } from "./Announcements.browser.ts"
import type { ConsoleAccount } from "./ConsoleContext.browser.ts"
import { h, Notice, type View } from "./View.browser.ts"

/** The account of a key, or why the key cannot open this console. */
export type Identified = { readonly account: ConsoleAccount } | { readonly error: ComponentChildren }

interface SignInField {
  /** The name is also the input's ID. */
  readonly name: string
  readonly label: string
  readonly hint: string
  readonly properties: Readonly<Record<string, unknown>>
}

/** Browsers neither keep nor show the key. */
export const keyField = (label: string, hint: string): SignInField => ({
  name: "key",
  label,
  hint,
  properties: { type: "password", autocomplete: "off", spellcheck: false }
})

interface SignInFormProps {
  readonly fields: ReadonlyArray<SignInField>
  readonly submit: string
  /** Resolves to why it cannot open the console, if it cannot. */
  readonly enter: (values: Readonly<Record<string, string>>) => Promise<ComponentChildren>
  /** The reason why the stored key was rejected. */
  readonly error?: ComponentChildren
  /** Tells how to get a key. */
  readonly help?: ComponentChildren
}

export const SignInForm = ({ enter, error, fields, help, submit }: SignInFormProps): View => {
  const [shown, setShown] = useState(error)
  const [isSending, setSending] = useState(false)
  const element = useRef<HTMLDivElement>(null)
  const isFocusLost = useRef(false)
  useFocusAfterRemoval(element, isFocusLost)
  useEffect(() => {
    if (!isSending) isFocusLost.current = false
  }, [isSending])
  const send = async (form: HTMLFormElement) => {
    const values = [...new FormData(form)].map(([name, value]) => [name, String(value).trim()])
    setSending(true)
    isFocusLost.current = true
    try {
      setShown(await enter(Object.fromEntries(values)))
    } catch (failure) {
      setShown(errorMessage(failure))
    } finally {
      setSending(false)
    }
  }
  return h(
    "div",
    { ref: element, class: "sign-in" },
    h(
      "form",
      {
        class: "stack",
        onSubmit: (event: Event) => {
          event.preventDefault()
          void send(event.currentTarget as HTMLFormElement)
        }
      },
      fields.map(fieldOf),
      h("div", { "aria-live": "polite" }, shown === undefined ? undefined : h(Notice, { style: "bad" }, shown)),
      h("div", { class: "actions" }, h("button", { type: "submit", disabled: isSending }, submit))
    ),
    help === undefined ? undefined : h("p", null, help)
  )
}

const fieldOf = ({ hint, label, name, properties }: SignInField): View =>
  h(
    "div",
    { class: "field", key: name },
    h("label", { for: name }, label),
    h("input", { ...properties, id: name, name, required: true, "aria-describedby": `${name}-hint` }),
    h("p", { class: "hint", id: `${name}-hint` }, hint)
  )

/** `GET /api/v1/market/whoami` answers so. */
interface WhoAmI {
  readonly role: Role
  readonly id: string
  readonly name: string
  readonly handle: string | null
  readonly frozen_at: string | null
  readonly frozen_reason: string | null
}

export const identifyAccount =
  (role: Role) =>
  async (key: string): Promise<Identified> => {
    // Other characters cannot be sent in a header.
    if (!/^[!-~]+$/u.test(key)) return { error: "This is not an API key: it contains invalid characters." }
    try {
      const account = await request<WhoAmI>("GET", "/api/v1/market/whoami", { key, isConsole: true })
      return account.role === role ? { account } : { error: wrongRole(account.role) }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      if (error.status === 401) return { error: `Invalid API key. ${error.message}` }
      if (error.status === 403)
        return { error: "This is an operator key. Dashboards are for developers and providers." }
      throw error
    }
  }

const wrongRole = (role: Role) => [
  `This is a ${ROLE_NAMES[role]} key. Use it on the `,
  h("a", { href: CONSOLE_PATHS[role] }, `${ROLE_NAMES[role]} dashboard`),
  "."
]
