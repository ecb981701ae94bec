/**
 * One of a few, chosen beside a panel's title: a period, a state.
 */
import { el, on } from "./Dom.browser.ts"

export interface Choice<A extends string> {
  readonly element: HTMLElement
  readonly value: () => A
}

export const choice = <const A extends string>(
  id: string,
  label: string,
  choices: ReadonlyArray<readonly [value: A, label: string]>,
  chosen: A,
  changed: () => void
): Choice<A> => {
  const select = on(
    el(
      "select",
      { id },
      choices.map(([value, text]) => el("option", { value, selected: value === chosen }, text))
    ),
    { change: changed }
  )
  return {
    element: el("div", { class: "choice" }, el("label", { for: id }, label), select),
    value: () => select.value as A
  }
}
