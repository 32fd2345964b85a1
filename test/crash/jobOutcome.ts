import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { Conversation } from '../../src/conversation/tree/conversation.ts'
import type { Step } from '../../src/conversation/tree/node.ts'
import { eventOf } from '../../src/protocol/events.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import { readAll } from '../../packages/evaluation/src/testing/contractDemands.ts'
import { fileStore } from '../../packages/stores/src/fileStore.ts'
import { checkJourney } from '../support/journeyRules.ts'
import { jobFiles, readAttempts, type Attempt, type JobFiles } from './crashJob.ts'

/** Outcome of a run of the job, without what a crash may change: ids, turns, and calls that a crash cut off. */
export interface JobOutcome {
  /** Messages to each agent, in order. */
  readonly said: { readonly [agent: string]: readonly string[] }
  /** Trunk of each agent at the end. */
  readonly trunks: { readonly [agent: string]: readonly string[] }
  readonly files: { readonly [name: string]: string }
  readonly delivered: readonly string[]
  /** Items of steps that the person pinned, and had hidden. */
  readonly pinned: readonly string[]
  readonly hidden: readonly string[]
  /** Items of steps that the person had brought back. */
  readonly grafted: readonly string[]
  /** Calls that ended a run, with their data. */
  readonly ended: readonly string[]
}

/** In which order the results of one turn came is a matter of crashes. */
const inItemOrder = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true })

/** Results of a step of the trunk; nothing of a call that a crash cut off, and of the calls that found out about it. */
function resultsIn({ nodes }: Step): string[] {
  return nodes.flatMap(({ message }) => {
    if (message.role === 'user') return []
    const text = textOf(message.content)
    if (message.role === 'assistant') return text === '' ? [] : [`answer: ${text}`]
    const isCut = message.synthetic === 'interrupted' || message.synthetic === 'skipped'
    return isCut || text.endsWith(' absent') ? [] : [text]
  })
}

/** Results and answers on a trunk, in order; notes of reverts last. */
export function trunkOf(conversation: Conversation): string[] {
  // When copies came is a matter of crashes.
  const own = conversation.steps().filter(({ nodes }) => nodes[0]!.copiedFrom === undefined)
  const lines = own.flatMap(resultsIn)
  const turns = Map.groupBy(lines, (line) => /item (\S+)\./.exec(line)?.[1] ?? line)
  const notes = conversation.tags().map(({ tag }) => `note: ${tag.kind} ${tag.text}`)
  return [...[...turns.values()].flatMap((group) => group.toSorted(inItemOrder)), ...notes]
}

/** Messages on a trunk, in order. */
export const saidIn = (conversation: Conversation): string[] =>
  conversation.trunk().flatMap(({ message }) => (message.role === 'user' ? [textOf(message.content)] : []))

/** The item that a helper worked for stands in for its id, which holds the turn it was called in. */
const nameOf = (agentId: string, conversation: Conversation): string => {
  if (agentId === 'job') return agentId
  const first = conversation.log().find(({ message }) => message.role === 'user')
  return first === undefined ? agentId : `helper: ${textOf(first.message.content)}`
}

/** Reads what a folder holds; `faults` is all that must not be, whatever happened. */
export async function readOutcome(folder: string): Promise<{ outcome: JobOutcome; faults: string[] }> {
  const files = jobFiles(folder)
  const store = fileStore(files.store)
  const said: Record<string, string[]> = {}
  const trunks: Record<string, string[]> = {}
  const faults: string[] = []
  const pinned: string[] = []
  const hidden: string[] = []
  const grafted: string[] = []
  const ended: string[] = []
  for (const agentId of await store.list()) {
    const records = await readAll(store, agentId)
    const conversation = rebuildConversation(records)
    const name = nameOf(agentId, conversation)
    if (name in said) faults.push(`${name} was begun twice`)
    said[name] = saidIn(conversation)
    trunks[name] = trunkOf(conversation)
    faults.push(...faultsOf(agentId, records, conversation))
    faults.push(...undoFaults(records, files))
    ended.push(...endedIn(records))
    pinned.push(...conversation.pins().map((id) => itemAt(conversation, id)))
    const copied = conversation.log().filter(({ id, stepId, copiedFrom }) => id === stepId && copiedFrom !== undefined)
    grafted.push(...copied.map(({ id }) => itemAt(conversation, id)))
    // What folds hide is a matter of crashes: they make a conversation longer.
    const prunes = conversation.annotations?.hidden.spans.filter(({ fold }) => fold === undefined) ?? []
    for (const { steps } of prunes) hidden.push(...steps.map((id) => itemAt(conversation, id)))
  }
  await store.close()
  const names = existsSync(files.work) ? readdirSync(files.work).toSorted() : []
  const outcome = {
    said,
    trunks,
    files: Object.fromEntries(names.map((name) => [name, readFileSync(join(files.work, name), 'utf8')])),
    delivered: readAttempts(files.ledger)
      .map(({ item }) => item)
      .toSorted(),
    pinned,
    hidden,
    grafted,
    ended,
  }
  return { outcome, faults: [...faults, ...effectFaults(files)] }
}

/** The item whose result is in a step. */
const itemAt = (conversation: Conversation, stepId: number): string => {
  const step = conversation.steps().find(({ id }) => id === stepId)
  return step === undefined ? `n${stepId}` : (/item (\S+) /.exec(resultsIn(step).join())?.[1] ?? `n${stepId}`)
}

/** Calls that ended a run, each with the data of its result. */
function endedIn(records: readonly LogRecord[]): string[] {
  return records.flatMap((record) => {
    if (record.type !== 'run.end' || record.endedBy === undefined) return []
    const { callId, name } = record.endedBy
    const result = records.findLast((one) => one.type === 'tool.end' && one.callId === callId && one.seq < record.seq)
    return `${name} ${JSON.stringify(result?.type === 'tool.end' ? result.data : undefined)}`
  })
}

/** Requests about the conversation that do not have exactly one answer. */
export function unansweredIn(records: readonly LogRecord[]): string[] {
  const answers = records.flatMap((record) => {
    if (record.type === 'compaction.end' || record.type === 'policy.end') return record.requestId ?? []
    return ['revert.applied', 'graft.applied', 'prune.applied', 'pin.applied'].includes(record.type)
      ? (record as { id: string }).id
      : []
  })
  return records.flatMap((record) => {
    if (!/^(revert|graft|prune|pin|compaction|policy)\.requested$/.test(record.type)) return []
    const { id } = (record as { request: { id: string } }).request
    const count = answers.filter((answer) => answer === id).length
    return count === 1 ? [] : [`${record.type} ${id} has ${count} answers`]
  })
}

/** Policies that fired and have not exactly one end. */
export function unendedIn(records: readonly LogRecord[]): string[] {
  let open: string | undefined
  const faults: string[] = []
  for (const record of records) {
    if (record.type === 'policy.start') {
      if (open !== undefined) faults.push(`record ${record.seq} begins ${record.policy} before ${open} has ended`)
      open = record.policy
    }
    // One that waited, and was refused, never began.
    if (record.type === 'policy.end' && record.policy === open) open = undefined
  }
  return open === undefined ? faults : [...faults, `policy ${open} has no end`]
}

/** Deployments that ran though nobody had approved them. */
export function unapprovedIn(records: readonly LogRecord[]): string[] {
  const approved = new Set<string>()
  return records.flatMap((record) => {
    if (record.type === 'approval.decided' && record.decision === 'approve') approved.add(record.callId)
    const isStarted = record.type === 'tool.start' && record.name === 'deploy'
    return isStarted && !approved.has(record.callId) ? [`record ${record.seq} deploys without an approval`] : []
  })
}

function faultsOf(agentId: string, records: readonly LogRecord[], conversation: Conversation): string[] {
  const origin = { agentId, path: [] }
  const events = records.slice(1).map((record) => eventOf(record, origin))
  const faults = [
    ...checkJourney({ events, records, conversation }),
    ...unapprovedIn(records),
    ...unansweredIn(records),
    ...unendedIn(records),
  ]
  const asked = conversation.log().flatMap(({ message }) => (message.role === 'user' ? [textOf(message.content)] : []))
  const repeated = conversation.trunk().length === 0 ? [] : asked.filter((text, at) => asked.indexOf(text) !== at)
  const isRebased = conversation.log().some((node) => node.rebasedFrom !== undefined)
  if (repeated.length > 0 && !isRebased) faults.push(`said twice: ${repeated.join(', ')}`)
  return faults.map((fault) => `${agentId}: ${fault}`)
}

/** Each undoing has one end, and what it says of drafts is so. */
function undoFaults(records: readonly LogRecord[], { drafts }: JobFiles): string[] {
  const begun = records.flatMap((record) =>
    record.type === 'revert.applied' && record.undo !== undefined ? record.id : [],
  )
  const ends = records.flatMap((record) => (record.type === 'undo.end' ? record : []))
  const isThere = (what: string): boolean => existsSync(join(drafts, what.replace('.draft', '')))
  return [
    ...begun.flatMap((id) =>
      ends.filter((end) => end.id === id).length === 1 ? [] : `the undoing of ${id} has no end`,
    ),
    ...ends.flatMap(({ undone }) => undone.filter(isThere).map((what) => `${what} is said to be undone, and stands`)),
    ...ends.flatMap(({ kept }) =>
      kept.flatMap(({ what }) =>
        what.endsWith('.draft') && !isThere(what) ? `${what} is said to stand, and is gone` : [],
      ),
    ),
  ]
}

/** Irreversible effects happen once an item; idempotent ones may be tried again, but under the key they had. */
function effectFaults(files: JobFiles): string[] {
  const byItem = (attempts: readonly Attempt[]) => [...Map.groupBy(attempts, ({ item }) => item)]
  const twice = byItem(readAttempts(files.ledger)).filter(([, attempts]) => attempts.length > 1)
  const rekeyed = byItem(readAttempts(files.attempts)).filter(
    ([, attempts]) => new Set(attempts.map(({ key }) => key)).size > 1,
  )
  return [
    ...twice.map(([item, attempts]) => `${item} was delivered ${attempts.length} times`),
    ...rekeyed.map(([item, attempts]) => `${item} was tried under ${attempts.map(({ key }) => key).join(', ')}`),
    ...(existsSync(files.faults) ? readFileSync(files.faults, 'utf8').trim().split('\n') : []),
  ]
}

/** In which parts an outcome differs from that of an undisturbed run, a line each; none when they are equal. */
export function differencesIn(outcome: JobOutcome, expected: JobOutcome): string[] {
  return Object.keys(expected).flatMap((part) => {
    const [seen, wanted] = [outcome, expected].map((each) => JSON.stringify(each[part as keyof JobOutcome]))
    if (seen === wanted) return []
    const at = [...(wanted ?? '')].findIndex((char, index) => char !== seen?.[index])
    const around = (text = ''): string => text.slice(Math.max(0, at - 60), at + 120)
    return [`${part} differ: …${around(seen)}… instead of …${around(wanted)}…`]
  })
}
