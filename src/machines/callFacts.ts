import type { CallState } from './agentTypes.ts'
import type { AgentReporter, Reporter } from './reporters.ts'

/** Returns the child id of a call. Ids are reused by position, because every new id would stay in memory for the lifetime of the machine. */
export const callSlot = (index: number): string => `call.${index}`

/**
 * Deterministic id of a call: the idempotency key of its effect. A result without the key does not count. Made with
 * `join`, because a log keeps the key, and the result of a template would keep every part in memory.
 */
export const callKey = (agentId: string, turnIndex: number, callId: string): string =>
  [agentId, '/t', turnIndex, '/tool/', callId].join('')

export const isAtWork = ({ status }: CallState): boolean => status === 'running' || status === 'checking'

/** Returns true if a call waits for people or for a time, so that nothing in the machine moves it. */
export const waitsForPeople = ({ status }: Pick<CallState, 'status'>): boolean => waiting.has(status)
/** Returns true if a call waits for a decision about `callId`, which is the call itself or an inner call. */
export const waitsFor = (call: CallState, callId: string): boolean =>
  waitsForPeople(call) && (call.asks ?? call).callId === callId

const waiting: ReadonlySet<CallState['status']> = new Set(['held', 'asking', 'asked', 'requested', 'sleeping'])

/** Returns the id of the one message that reports the outcome of a call. */
export const reportId = (key: string): string => `${key}/report`

/** Returns the agent that has yet to report on a call; `undefined` if there is none. Pure. */
export const reporterOf = ({ callId, key, name, childId, reports, reported }: CallState): AgentReporter | undefined =>
  reports === undefined || reported === true || childId === undefined ? undefined : { childId, name, callId, key }

/** The id by which the model knows an agent or a call that has yet to report. */
export const idOfReporter = (reporter: Reporter): string => (reporter.kind === 'call' ? reporter.id : reporter.childId)
