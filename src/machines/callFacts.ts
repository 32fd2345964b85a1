import type { CallState } from './agentTypes.ts'
import type { AgentReporter, Reporter } from './reporters.ts'

/** Child ids are reused by position, because every new id would stay in memory for the lifetime of the machine. */
export const callSlot = (index: number): string => `call.${index}`

/**
 * Deterministic id of a call: the idempotency key of its effect; a result without it does not count. Made with `join`, because a log keeps the key:
 * the result of a template would keep every part, linked to the next, in memory.
 */
export const callKey = (agentId: string, turnIndex: number, callId: string): string =>
  [agentId, '/t', turnIndex, '/tool/', callId].join('')

export const isAtWork = ({ status }: CallState): boolean => status === 'running' || status === 'checking'

/** Returns true for a call that nothing here moves: it waits for people, or for a time. */
export const waitsForPeople = ({ status }: Pick<CallState, 'status'>): boolean => waiting.has(status)
/** Returns true if a decision under an id is one that the call waits for: about itself, or about the call that it makes. */
export const waitsFor = (call: CallState, callId: string): boolean =>
  waitsForPeople(call) && (call.asks ?? call).callId === callId

const waiting: ReadonlySet<CallState['status']> = new Set(['held', 'asking', 'asked', 'requested', 'sleeping'])

/** The id of the message with which the agent of a call reports: there is one for a call. */
export const reportId = (key: string): string => `${key}/report`

/** Returns the agent that has yet to report on a call; `undefined` if there is none. Pure. */
export const reporterOf = ({ callId, key, name, childId, reports, reported }: CallState): AgentReporter | undefined =>
  reports === undefined || reported === true || childId === undefined ? undefined : { childId, name, callId, key }

/** The id by which the model knows an agent or a call that has yet to report. */
export const idOfReporter = (reporter: Reporter): string => (reporter.kind === 'call' ? reporter.id : reporter.childId)
