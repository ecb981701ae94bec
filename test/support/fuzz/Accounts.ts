/**
 * The accounts that send the requests: a few of each role, replaced as requests rotate and revoke their keys.
 */
import type { Chance } from "./Chance.ts"

const MEMBERS_MAX = 3

export class Crowd {
  private readonly keys: Record<string, Array<string>> = { consumer: [], provider: [] }
  private readonly operator: string

  constructor(operator: string) {
    this.operator = operator
  }

  join(key: string): void {
    const members = this.keys[key.startsWith("atb_c_") ? "consumer" : "provider"]!
    members.push(key)
    if (members.length > MEMBERS_MAX) members.shift()
  }

  /** Its key is revoked, its funds are used up, or it has nothing to sell. */
  leave(key: string): void {
    for (const members of Object.values(this.keys)) {
      const at = members.indexOf(key)
      if (at >= 0) members.splice(at, 1)
    }
  }

  lacks(): ReadonlyArray<"consumer" | "provider"> {
    return (["consumer", "provider"] as const).filter((role) => this.keys[role]!.length < 2)
  }

  /** Mostly one that the endpoint accepts. */
  keyFor(roles: ReadonlyArray<string>, chance: Chance): string | undefined {
    if (chance.percent(5)) return undefined
    if (chance.percent(3)) return chance.pick(NO_KEYS)
    const role = chance.percent(6) || roles.length === 0 ? chance.pick(["consumer", "provider"]) : chance.pick(roles)
    if (role === "operator") return this.operator
    const members = this.keys[role] ?? []
    return members.length === 0 ? undefined : chance.pick(members)
  }
}

const NO_KEYS = ["nonsense", `atb_c_${"0".repeat(72)}`, "x".repeat(20_000), "atb_p_", "undefined"]
