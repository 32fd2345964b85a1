import { createHash } from 'node:crypto'

const digest = (...parts: readonly string[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest()

/** Returns true if a run belongs to a share of all runs: the same in every process, and for a smaller share part of a larger one. Pure. */
export const isSampled = (run: { readonly agentId: string; readonly runId: string }, share: number): boolean =>
  digest(run.agentId, run.runId).readUInt32BE(0) / 2 ** 32 < share

/** Returns the id of the agent that holds a scorer's score of a run. Pure. */
export const scoreId = (run: { readonly agentId: string; readonly runId: string }, scorer: string): string =>
  `score-${digest(run.agentId, run.runId, scorer).toString('hex').slice(0, 32)}`

/** Returns true if an agent holds a score. */
export const isScoreId = (agentId: string): boolean => /^score-[0-9a-f]{32}$/.test(agentId)
