/**
 * What a provider's server offers besides tools, and the provider can turn off: its endpoint here then does not declare the
 * feature, rejects its requests, and drops its messages. Tools stay, since they are what the market sells.
 */
import { membersOf, objectWith } from "../shared/JsonText.ts"

export const SERVER_FEATURES = ["resources", "prompts", "completions", "logging"] as const
export type ServerFeature = (typeof SERVER_FEATURES)[number]

export interface FeatureRequest {
  readonly method: string
  readonly params: { readonly value: Readonly<Record<string, unknown>> } | undefined
}

/** The feature that the request needs and the provider has turned off. */
export const turnedOff = (off: ReadonlyArray<ServerFeature>, request: FeatureRequest): ServerFeature | undefined =>
  off.length === 0 ? undefined : featuresOf(request).find((feature) => off.includes(feature))

/** Some servers do not distinguish upper and lower case, or ignore other characters of a method. */
const featuresOf = ({ method, params }: FeatureRequest): ReadonlyArray<ServerFeature> => {
  const letters = method.toLowerCase().replaceAll(/[^a-z]/gu, "")
  if (letters.startsWith("resources")) return ["resources"]
  if (letters.startsWith("prompts")) return ["prompts"]
  if (letters.startsWith("logging")) return ["logging"]
  if (!letters.startsWith("completion")) return []
  const ref = params?.value["ref"]
  const type = typeof ref === "object" && ref !== null && "type" in ref ? ref.type : undefined
  return ["completions", type === "ref/prompt" ? "prompts" : "resources"]
}

/** Capabilities of a server, as JSON. */
export const withoutFeatures = (capabilities: string, off: ReadonlyArray<ServerFeature>): string =>
  off.reduce((left, feature) => objectWith(left, feature, undefined), capabilities)

/**
 * The params of `subscriptions/listen`, without announcements of features that are turned off, and of tasks, whose ids at
 * the server are others.
 */
export const withoutAnnouncements = (params: string, off: ReadonlyArray<ServerFeature>): string => {
  const wanted = membersOf(params).findLast(({ name }) => name === "notifications")?.text
  if (wanted === undefined || !wanted.startsWith("{")) return params
  const names = [...off.flatMap((feature) => ANNOUNCED[feature]), "taskIds"]
  return objectWith(
    params,
    "notifications",
    names.reduce((left, name) => objectWith(left, name, undefined), wanted)
  )
}

const ANNOUNCED: Readonly<Record<ServerFeature, ReadonlyArray<string>>> = {
  resources: ["resourcesListChanged", "resourceSubscriptions"],
  prompts: ["promptsListChanged"],
  completions: [],
  logging: []
}

/** Whether a message of the server belongs to a feature that is turned off. */
export const isOfFeatures = (message: string, off: ReadonlyArray<ServerFeature>): boolean => {
  if (off.length === 0) return false
  const { method } = JSON.parse(message) as { readonly method?: unknown }
  return (
    typeof method === "string" && off.some((feature) => MESSAGES[feature].some((begin) => method.startsWith(begin)))
  )
}

const MESSAGES: Readonly<Record<ServerFeature, ReadonlyArray<string>>> = {
  resources: ["notifications/resources/"],
  prompts: ["notifications/prompts/"],
  completions: [],
  logging: ["notifications/message"]
}
