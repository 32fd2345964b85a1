import { createHash } from 'node:crypto'

const digest = (...parts: readonly string[]): Buffer => createHash('sha256').update(JSON.stringify(parts)).digest()

/** Tells whether a run belongs to a share of all runs: the same in every process, and for a smaller share a part of that for a larger one. Pure. */
export const isSampled = (run: { readonly agentId: string; readonly runId: string }, share: number): boolean =>
  digest(run.agentId, run.runId).readUInt32BE(0) / 2 ** 32 < share

/** Id of the agent that holds the score of a run by a scorer. Pure. */
export const scoreId = (run: { readonly agentId: string; readonly runId: string }, scorer: string): string =>
  `score-${digest(run.agentId, run.runId, scorer).toString('hex').slice(0, 32)}`

/** Tells whether an agent holds a score. */
export const isScoreId = (agentId: string): boolean => /^score-[0-9a-f]{32}$/.test(agentId)
