/**
 * What a client of the legacy era is told of a server that does not speak to it in its own era. What needs messages of the
 * server outside of a request's own stream is not offered: no request of the server, no subscription and no announced change
 * crosses eras.
 */
import { LEGACY_VERSIONS } from "./Protocol.ts"
import type { ServerProfile } from "./ProviderServers.ts"

/** JSON texts. */
export interface LegacyProfile {
  readonly capabilities: string
  readonly serverInfo: string
  readonly instructions: string | undefined
}

const CROSSING = ["tools", "resources", "prompts", "completions"] as const

/** The legacy era requires a name and a version. */
const UNNAMED = `{"name":"unnamed","version":"0"}`

export const crossEraProfile = ({ capabilities, instructions, serverInfo }: ServerProfile): LegacyProfile => {
  const offered = JSON.parse(capabilities) as Readonly<Record<string, unknown>>
  const crossing = CROSSING.filter((name) => Object.hasOwn(offered, name)).map((name) => [name, {}])
  return {
    capabilities: JSON.stringify(Object.fromEntries(crossing)),
    serverInfo: serverInfo ?? UNNAMED,
    instructions
  }
}

/** A client that asks for another version gets the newest one, as the specification says. */
export const negotiatedVersion = (requested: string): string =>
  LEGACY_VERSIONS.find((known) => known === requested) ?? LEGACY_VERSIONS[0]

/** The result of `initialize`. */
export const initializeResult = (
  { capabilities, instructions, serverInfo }: LegacyProfile,
  version: string
): string => {
  const last = instructions === undefined ? "" : `,"instructions":${instructions}`
  return `{"protocolVersion":"${version}","capabilities":${capabilities},"serverInfo":${serverInfo}${last}}`
}
