/**
 * Code with a copy button.
 */
import { useRef, useState } from "preact/hooks"
import { copyText } from "../kit/CopiedText.browser.ts"
import { h, type View } from "./View.browser.ts"

/** Copies the text of another element. */
export const useCopy = (label: string) => {
  const source = useRef<HTMLElement>(null)
  const [shown, setShown] = useState(label)
  const copy = async () => {
    if (source.current !== null) await copyText(source.current, label, setShown)
  }
  return { source, shown, copy }
}

export const CodeBlock = ({ text }: { readonly text: string }): View => {
  const { copy, shown, source } = useCopy("Copy")
  return h(
    "div",
    { class: "copyable" },
    h("pre", null, h("code", { ref: source }, text)),
    h("button", { type: "button", class: "tiny", onClick: () => void copy() }, shown)
  )
}

/** A value in one line, such as an ID. */
export const CopyValue = ({ name, text }: { readonly name: string; readonly text: string }): View => {
  const { copy, shown, source } = useCopy("Copy")
  return h(
    "span",
    { class: "value" },
    h("code", { ref: source, class: "whole" }, text),
    " ",
    h(
      "button",
      { type: "button", class: "tiny plain", "aria-label": `${shown} ${name}`, onClick: () => void copy() },
      shown
    )
  )
}
