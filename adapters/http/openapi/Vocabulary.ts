/**
 * What each name on the wire means, and what it looks like in the one story that all examples tell: Ada's search tool,
 * called by a research agent. A name means the same everywhere; `Owner.name` says where it means something else;
 * an owner is a component (`Owner.` is itself), or an operation with its parameters, its `body` and its statuses.
 * A description or an example in the contract itself goes before what stands here.
 */
import { accountWords } from "./AccountWords.ts"
import { callWords } from "./CallWords.ts"
import { catalogWords } from "./CatalogWords.ts"
import { disputeWords } from "./DisputeWords.ts"
import { invoiceWords } from "./InvoiceWords.ts"
import { logWords } from "./LogWords.ts"
import { meteringWords } from "./MeteringWords.ts"
import { moneyWords } from "./MoneyWords.ts"
import { operatorWords } from "./OperatorWords.ts"
import { payoutWords } from "./PayoutWords.ts"
import { platformWords } from "./PlatformWords.ts"
import type { Json } from "./OpenApiModel.ts"
import { statusWords } from "./StatusWords.ts"
import { trustWords } from "./TrustWords.ts"
import { sharedWords } from "./SharedWords.ts"
import { submissionWords } from "./SubmissionWords.ts"

/** Without an example: one can be made from the type, or there is none worth showing. */
export type Word = readonly [description: string, example?: Json]
export type Words = Readonly<Record<string, Word>>

const words: Words = {
  ...sharedWords,
  ...accountWords,
  ...catalogWords,
  ...callWords,
  ...moneyWords,
  ...payoutWords,
  ...operatorWords,
  ...invoiceWords,
  ...meteringWords,
  ...logWords,
  ...disputeWords,
  ...trustWords,
  ...platformWords,
  ...statusWords,
  ...submissionWords
}

/** `Problem422` and its siblings are one owner. */
const ownerOf = (component: string): string => component.replace(/^Problem\d+$/u, "Problem")

/** What is said under `Owner.name` alone. */
export const scopedExample = (owner: string, name: string): Json | undefined => wordAt(`${ownerOf(owner)}.${name}`)?.[1]

export const exampleFor = (owner: string, name: string): Json | undefined => {
  const scoped = scopedExample(owner, name)
  return scoped === undefined ? wordAt(name)?.[1] : scoped
}

export const descriptionFor = (owner: string, name: string): string | undefined =>
  (wordAt(`${ownerOf(owner)}.${name}`) ?? wordAt(name))?.[0]

/** A component's own description. */
export const meaningOf = (component: string): string | undefined => wordAt(`${component}.`)?.[0]

const wordAt = (key: string): Word | undefined => (Object.hasOwn(words, key) ? words[key] : undefined)
