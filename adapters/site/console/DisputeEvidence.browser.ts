/**
 * What a party of a dispute sent as evidence: text, never markup, because parties write anything.
 */
import { h, type View } from "./View.browser.ts"

/** Undefined: nothing was sent. */
export const evidenceOf = (evidence: unknown): View | undefined =>
  evidence === null || evidence === undefined
    ? undefined
    : h("pre", null, h("code", null, JSON.stringify(evidence, undefined, 2)))
