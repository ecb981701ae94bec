/**
 * What a process holds in memory, as the system sees it.
 */
import { spawnSync } from "node:child_process"

const MIB = 1_024

export const residentMib = (pid: number): number =>
  Number(spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }).stdout) / MIB
