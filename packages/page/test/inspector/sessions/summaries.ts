import type { AgentSummary, SessionEntry } from '../../../../wire/src/frames.ts'

export const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
export const spent = (costUsd: number, output = 0) => ({ usage: { ...usage, output }, costUsd, turns: 1 })
export const agent = (agentId: string, rest: Partial<AgentSummary> = {}): AgentSummary => ({
  agentId,
  definition: 'worker',
  path: [],
  state: 'idle',
  seq: 1,
  head: null,
  pendingApprovals: [],
  spent: spent(0),
  ...rest,
})
export const waits = (agentId: string, calls: readonly string[], rest: Partial<AgentSummary> = {}) =>
  agent(agentId, { state: 'paused', pending: calls.map((call) => `${agentId}/${call}`), ...rest })
export const fails = (agentId: string, at: number) =>
  agent(agentId, { last: { stopReason: 'error', at, error: { code: 'MODEL_AUTH', message: 'refused' } } })
export const limit = { type: 'limit', limit: 'turns', used: 60, allowed: 60 } as const
export const stops = (agentId: string, at: number) =>
  agent(agentId, { state: 'paused', last: { stopReason: 'paused', at, reason: limit } })
export const works = (agentId: string, busySince: number, rest: Partial<AgentSummary> = {}) =>
  agent(agentId, { state: 'replying.streaming', busySince, activeAt: 99, ...rest })
export const session = (agentId: string, rest: Partial<SessionEntry> = {}): SessionEntry => ({
  agentId,
  definition: 'worker',
  path: [],
  status: 'completed',
  isStopped: false,
  createdAt: 1,
  updatedAt: 5,
  runs: 1,
  turns: 1,
  usage,
  costUsd: 0,
  ...rest,
})

export const all = { show: [], words: [] } as const
export const byId = (...agents: readonly AgentSummary[]) => new Map(agents.map((one) => [one.agentId, one]))
