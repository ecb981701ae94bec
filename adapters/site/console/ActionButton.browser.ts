/**
 * A button that runs an operation, after a confirmation where one is needed, and announces its result.
 */
import type { ComponentChildren } from "preact"
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { errorMessage, idempotentRequest } from "../kit/ApiRequest.browser.ts"
import { announce, clearAnnouncement, useFocusAfterRemoval } from "./Announcements.browser.ts"
import { type Confirmation, confirmed } from "./Modal.browser.ts"
import { h, type View } from "./View.browser.ts"

interface ActionButtonProps {
  readonly label: string
  /** Accessible name, where the label alone is ambiguous. */
  readonly name?: string
  readonly style?: string
  readonly confirm?: Confirmation
  /** Shows the result, by default at the top of the page. Without content there is none yet. */
  readonly show?: (style: "good" | "bad", content?: ComponentChildren) => void
  /** Resolves to the message to show. The idempotency key stays the same until the outcome is known. */
  readonly run: (idempotencyKey: string) => Promise<ComponentChildren | void>
}

const announced: NonNullable<ActionButtonProps["show"]> = (style, content) =>
  content === undefined ? clearAnnouncement() : announce(style, content)

export const ActionButton = ({ confirm, label, name, run, show = announced, style = "" }: ActionButtonProps): View => {
  const [isRunning, setRunning] = useState(false)
  const request = useMemo(idempotentRequest, [])
  const button = useRef<HTMLButtonElement>(null)
  const isFocusLost = useRef(false)
  useFocusAfterRemoval(button, isFocusLost)
  useEffect(() => {
    if (isRunning || !isFocusLost.current) return
    isFocusLost.current = false
    if (document.activeElement === null || document.activeElement === document.body) button.current?.focus()
  }, [isRunning])
  const start = async () => {
    if (confirm !== undefined && !(await confirmed(confirm))) return
    isFocusLost.current = true
    setRunning(true)
    show("good")
    try {
      const message = await run(request.keyFor(label))
      request.finished()
      if (message !== undefined) show("good", message)
    } catch (error) {
      request.finished(error)
      show("bad", errorMessage(error))
    } finally {
      setRunning(false)
    }
  }
  return h(
    "button",
    {
      ref: button,
      type: "button",
      class: style,
      disabled: isRunning,
      onClick: () => void start(),
      ...(name === undefined ? {} : { "aria-label": name })
    },
    label
  )
}
