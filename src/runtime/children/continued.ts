import type { Callee } from '../../actors/define/agentDefinition.ts'
import { continueField } from '../../actors/define/subAgents.ts'
import { cutEnd } from '../../protocol/text/cutMiddle.ts'
import type { OpenInput } from '../../machines/supervisorTypes.ts'
import type { LogRecord, Spent } from '../../protocol/records.ts'
import type { History } from '../../log/readHistory.ts'
import { notSpent, spentAfter } from '../../log/spent.ts'
import { RunOutcome } from '../../protocol/runs/run.ts'
import type { ChildAnswer } from './childAnswer.ts'
import type { TreeAgent } from './treeAgent.ts'

/** Maximum number of earlier agents that the model is told about. */
const mostNamed = 20

/** Adds to a call's answer the id with which a later call can continue the agent. */
export const named = (
  { continuable }: Pick<Callee, 'continuable'>,
  childId: string,
  answer: ChildAnswer,
): ChildAnswer => {
  if (!continuable) return answer
  const { text, whole } = answer
  const told = `\n\nThis was ${childId}: give its id as "${continueField}" to go on with it.`
  return { ...answer, text: text + told, ...(whole === undefined ? {} : { whole: whole + told }) }
}

/** Returns the id of the agent that a call asks to continue; `undefined` for a new one. */
export function wantedEarlier({ continuable }: Pick<Callee, 'continuable'>, input: unknown): string | undefined {
  if (!continuable || typeof input !== 'object' || input === null) return undefined
  const { [continueField]: id } = input as { readonly [continueField]?: unknown }
  // Models that must fill every field leave it blank.
  return id === undefined || id === null || id === '' ? undefined : typeof id === 'string' ? id : JSON.stringify(id)
}

/** Returns the part of a sub-agent's log that belongs to a call, and the usage before it. Returns all of the log if calls cannot continue it. */
export function sinceCall(
  { continuable }: Pick<Callee, 'continuable'>,
  { records, ...history }: History,
  key: string,
): { readonly own: History; readonly before: Spent | undefined } {
  if (!continuable) return { own: { ...history, records }, before: undefined }
  const first = records.findIndex((record) => isOf(record, key))
  const end = first < 0 ? records.length : first
  const { spent } = records.slice(0, end).reduce(spentAfter, notSpent)
  return { own: { ...history, records: records.slice(end) }, before: spent }
}

const isOf = (record: LogRecord, key: string): boolean =>
  (record.type === 'run.start' && record.requestId === key) ||
  (record.type === 'queue.changed' && record.added?.id === key)

/** Returns an answer that tells the model why there is no agent to continue. */
export async function noEarlier(parent: TreeAgent, { name }: OpenInput, wanted: string): Promise<ChildAnswer> {
  await parent.log.durable()
  const earlier = new Map<string, string>()
  for await (const record of parent.store.read(parent.agentId))
    if (
      (record.type === 'tool.start' || record.type === 'inner.start') &&
      record.name === name &&
      record.childId !== undefined &&
      !earlier.has(record.childId)
    )
      earlier.set(record.childId, taskIn(record.input))
  earlier.delete(wanted)
  const lines = [...earlier].slice(-mostNamed).map(([childId, task]) => `${childId} (${task})`)
  const there = lines.length === 0 ? 'You have called none before' : `Those that you called before: ${lines.join(', ')}`
  const what = `There is no agent "${name}" with the id ${JSON.stringify(cutEnd(wanted, 100))} to go on with.`
  return { text: `${what} ${there}. Leave "${continueField}" out for a new one.`, isError: true }
}

function taskIn(input: unknown): string {
  const { task } = (input ?? {}) as { readonly task?: unknown }
  return JSON.stringify(cutEnd(typeof task === 'string' ? task : '', 60))
}

export const notBegun = { own: undefined, before: undefined } as const

/** Returns the run in which a sub-agent continues without a waiting call. */
export const nextRun = ({ key }: OpenInput, { view }: TreeAgent): RunOutcome =>
  new RunOutcome(`${key}/life/${view.conversation.lastSeq}`)
