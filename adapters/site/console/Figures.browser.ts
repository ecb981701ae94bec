/**
 * Single values: large figures, and names with their values.
 */
import { type ComponentChildren } from "preact"
import { h, type View } from "./View.browser.ts"

export type Figure = readonly [name: string, value: ComponentChildren, note?: ComponentChildren]

export const Figures = ({ all }: { readonly all: ReadonlyArray<Figure> }): View =>
  h(
    "dl",
    { class: "figures" },
    all.map(([name, value, note]) =>
      h(
        "div",
        { class: "figure", key: name },
        h("dt", null, name),
        h("dd", null, value, note === undefined ? undefined : h("small", null, note))
      )
    )
  )

/** Those without a value are left out. */
export const Facts = ({ all }: { readonly all: ReadonlyArray<readonly [name: string, value: ComponentChildren]> }) =>
  h(
    "dl",
    { class: "facts" },
    all.flatMap(([name, value]) =>
      value === undefined || value === null
        ? []
        : [h("dt", { key: `${name}-name` }, name), h("dd", { key: `${name}-value` }, value)]
    )
  )
