/**
 * The operator's session: a cookie that no script can read. The key is sent once, at the sign-in, and kept nowhere.
 */
import { useState } from "preact/hooks"
import { Notice } from "../console/Badge.browser.ts"
import type { ConsoleSession, SignInProps } from "../console/ConsoleSession.browser.ts"
import { h, type View } from "../console/View.browser.ts"
import { ApiError, errorMessage, request } from "../kit/ApiRequest.browser.ts"
import { OPERATOR } from "./OperatorLists.browser.ts"
import type { Session } from "./OperatorResponses.browser.ts"

const PATH = `${OPERATOR}/session`
const SESSION = { sendsCookie: true } as const

const accountOf = ({ name, session_id: id }: Session) => ({ id: id ?? "", name })

const current = async () => {
  try {
    return accountOf(await request<Session>("GET", PATH, SESSION))
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return undefined
    throw error
  }
}

const SignIn = ({ entered }: SignInProps): View => {
  const [error, setError] = useState<string>()
  const [isSending, setSending] = useState(false)
  const enter = async (form: HTMLFormElement) => {
    const values = new FormData(form)
    const body = { key: String(values.get("key") ?? "").trim(), name: String(values.get("name") ?? "").trim() }
    setSending(true)
    try {
      entered(accountOf(await request<Session>("POST", PATH, { ...SESSION, body })))
    } catch (failure) {
      setError(errorMessage(failure))
    } finally {
      setSending(false)
    }
  }
  return h(
    "form",
    {
      class: "stack sign-in",
      onSubmit: (event: Event) => {
        event.preventDefault()
        void enter(event.currentTarget as HTMLFormElement)
      }
    },
    h(
      "div",
      { class: "field" },
      h("label", { for: "name" }, "Your name"),
      h("input", {
        id: "name",
        name: "name",
        autocomplete: "name",
        required: true,
        maxLength: 100,
        "aria-describedby": "name-hint"
      }),
      h("p", { class: "hint", id: "name-hint" }, "The audit trail shows it beside everything that you change.")
    ),
    h(
      "div",
      { class: "field" },
      h("label", { for: "key" }, "Operator key"),
      h("input", {
        id: "key",
        name: "key",
        type: "password",
        autocomplete: "off",
        spellcheck: false,
        required: true,
        "aria-describedby": "key-hint"
      }),
      h(
        "p",
        { class: "hint", id: "key-hint" },
        "Value of OPERATOR_KEY. It is not kept: the session ends after 8 hours, or after an hour without a request."
      )
    ),
    h("div", { "aria-live": "polite" }, error === undefined ? undefined : h(Notice, { style: "bad" }, error)),
    h("div", { class: "actions" }, h("button", { type: "submit", disabled: isSending }, "Sign in"))
  )
}

export const operatorSession: ConsoleSession = {
  current,
  form: SignIn,
  end: async () => {
    await request("DELETE", PATH, SESSION)
  }
}
