import type { EventOfType } from './agentTypes.ts'
import type { AgentReporter, Reporter } from './reporters.ts'
import { reporterOf, reportId } from './callFacts.ts'
import type { Draft } from './draft.ts'
import { enqueueMessage } from './queues.ts'

const isAgentOf =
  (key: string) =>
  (one: Reporter): one is AgentReporter =>
    one.kind === undefined && one.key === key

/** Puts a report in a queue. Only the first report for a call counts. */
export function takeReport(
  draft: Draft,
  { key, content }: EventOfType<'report'>,
  queue: 'prompts' | 'followUps',
): void {
  const { reporters, calls } = draft.context
  const call = calls.find((one) => one.key === key && one.status === 'running')
  const reporter = reporters.find(isAgentOf(key)) ?? (call === undefined ? undefined : reporterOf(call))
  if (reporter === undefined) return
  const { childId: agentId, name, callId } = reporter
  const message = { id: reportId(key), content, provenance: { type: 'report', agentId, name, callId } as const }
  enqueueMessage(draft, queue, message)
}

/** Removes the reports contained in a result from their queues. */
export function deliverReports(draft: Draft, ids: readonly string[]): void {
  const { followUps } = draft.context
  const rest = followUps.filter(({ id }) => !ids.includes(id))
  const removed = followUps.filter((message) => !rest.includes(message)).map(({ id }) => id)
  if (removed.length === 0) return
  draft.set({ followUps: rest })
  draft.record({ type: 'queue.changed', ...draft.at, queue: 'followUps', removed, why: 'taken', length: rest.length })
}
