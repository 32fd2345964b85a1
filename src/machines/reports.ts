import type { CallState, EventOfType, Reporter } from './agentTypes.ts'
import type { Draft } from './draft.ts'
import { enqueueMessage } from './queues.ts'

/** The id of the message with which the agent of a call reports: there is one for a call. */
export const reportId = (key: string): string => `${key}/report`

/** Returns the agent that has yet to report on a call; `undefined` if there is none. Pure. */
export const reporterOf = ({ callId, key, name, childId, reports, reported }: CallState): Reporter | undefined =>
  reports === undefined || reported === true || childId === undefined ? undefined : { childId, name, callId, key }

/** The call has its result: it has begun an agent that will report, unless it was faster. */
export function awaitReport(draft: Draft, call: CallState): void {
  const reporter = reporterOf(call)
  if (reporter !== undefined) draft.set({ reporters: [...draft.context.reporters, reporter] })
}

/** Puts a report in a queue. The first of two reports for a call counts. */
export function takeReport(
  draft: Draft,
  { key, content }: EventOfType<'report'>,
  queue: 'prompts' | 'followUps',
): void {
  const { reporters, calls } = draft.context
  const index = calls.findIndex((call) => call.key === key && call.status === 'running')
  const reporter = reporters.find((one) => one.key === key) ?? (index < 0 ? undefined : reporterOf(calls[index]!))
  if (reporter === undefined) return
  if (index >= 0) draft.setCall(index, { reported: true })
  const { childId: agentId, name, callId } = reporter
  const message = { id: reportId(key), content, provenance: { type: 'report', agentId, name, callId } as const }
  draft.set({ reporters: reporters.filter((one) => one !== reporter) })
  enqueueMessage(draft, queue, message)
}

/** Removes the reports that a result holds from their queues. */
export function deliverReports(draft: Draft, ids: readonly string[]): void {
  const { followUps } = draft.context
  const rest = followUps.filter(({ id }) => !ids.includes(id))
  const removed = followUps.filter((message) => !rest.includes(message)).map(({ id }) => id)
  if (removed.length === 0) return
  draft.set({ followUps: rest })
  draft.record({ type: 'queue.changed', ...draft.at, queue: 'followUps', removed, why: 'taken', length: rest.length })
}
