/**
 * Asks for the key that opens a console.
 */
import { type ComponentChildren } from "preact"
import { useState } from "preact/hooks"
import { errorMessage } from "../kit/ApiRequest.browser.ts"
import { Notice } from "./Badge.browser.ts"
import type { ConsoleAccount } from "./ConsoleContext.browser.ts"
import { h, type View } from "./View.browser.ts"

/** The account of a key, or why the key cannot open this console. */
export type Identified = { readonly account: ConsoleAccount } | { readonly error: ComponentChildren }

export interface SignInFormProps {
  readonly label: string
  readonly identify: (key: string) => Promise<Identified>
  readonly entered: (key: string, account: ConsoleAccount) => void
  /** Why the stored key was rejected. */
  readonly error: ComponentChildren
  /** How to get a key. */
  readonly help: ComponentChildren
}

export const SignInForm = ({ entered, error, help, identify, label }: SignInFormProps): View => {
  const [shown, setShown] = useState(error)
  const [isSending, setSending] = useState(false)
  const enter = async (form: HTMLFormElement) => {
    const key = String(new FormData(form).get("key") ?? "").trim()
    setSending(true)
    try {
      const found = await identify(key)
      if ("account" in found) return entered(key, found.account)
      setShown(found.error)
    } catch (failure) {
      setShown(errorMessage(failure))
    } finally {
      setSending(false)
    }
  }
  return h(
    "div",
    { class: "sign-in" },
    h(
      "form",
      {
        class: "stack",
        onSubmit: (event: Event) => {
          event.preventDefault()
          void enter(event.currentTarget as HTMLFormElement)
        }
      },
      h(
        "div",
        { class: "field" },
        h("label", { for: "key" }, label),
        h("input", {
          id: "key",
          name: "key",
          type: "password",
          autocomplete: "off",
          spellcheck: false,
          required: true,
          "aria-describedby": "key-hint"
        }),
        h("p", { class: "hint", id: "key-hint" }, "Kept in this tab until you close it or sign out.")
      ),
      h("div", { "aria-live": "polite" }, shown === undefined ? undefined : h(Notice, { style: "bad" }, shown)),
      h("div", { class: "actions" }, h("button", { type: "submit", disabled: isSending }, "Open dashboard"))
    ),
    help === undefined ? undefined : h("p", null, help)
  )
}
