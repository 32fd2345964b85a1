import { isDeepStrictEqual } from 'node:util'
import type { AgentEvent } from '../../../../../src/protocol/events.ts'
import { textOf } from '../../../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import type { RunResult } from '../../../../../src/protocol/runs/runResult.ts'
import { Heard } from '../bridgeHarness.ts'

/** Those of some events that are in the log. */
export function loggedAmong(events: readonly AgentEvent[]): AgentEvent[] {
  const heard = new Heard()
  for (const event of events) heard.listen(event)
  return heard.logged
}

/** Checks that a listener heard a whole log, seq by seq, with no gap and no repeat. Returns what is wrong, in words. */
export function checkHeard(events: readonly AgentEvent[], records: readonly LogRecord[], agentId: string): string[] {
  const heard = loggedAmong(events)
  for (const [index, record] of records.entries()) {
    const event = heard[index]
    if (event === undefined) return [`heard ${heard.length} of ${records.length} records`]
    if (event.seq !== record.seq) return [`heard record ${event.seq} in place of ${record.seq}`]
    const expected: unknown = JSON.parse(JSON.stringify({ ...record, agentId, path: [] }))
    if (!isDeepStrictEqual(event, expected)) return [`heard another record ${record.seq} than the log has`]
  }
  return heard.length > records.length ? [`heard ${heard.length} records, of ${records.length}`] : []
}

/** Checks that the text of every reply came in place and matches the log. Returns what is wrong, in words. */
export function checkTexts(events: readonly AgentEvent[]): string[] {
  const faults: string[] = []
  let text = ''
  for (const event of events) {
    if (event.type === 'reply.start' || event.type === 'reply.reset' || event.type === 'run.start') text = ''
    else if (event.type === 'reply.delta') {
      if (event.offset !== text.length && event.offset !== 0)
        faults.push(`after record ${event.seq} a delta came at ${event.offset} and not at ${text.length}`)
      text = text.slice(0, event.offset) + event.text
    } else if (event.type === 'reply.end') {
      if (!textOf(event.message.content).startsWith(text))
        faults.push(`reply ${event.seq} was heard as ${JSON.stringify(text)}`)
      text = ''
    }
  }
  return faults
}

/** A command that was given, by the text only it has. */
export interface Given {
  readonly kind: 'prompt' | 'interrupt' | 'steer' | 'followUp' | 'revert' | 'prune'
  readonly text: string
  /** `undefined`: not known yet; a refused one must have done nothing. */
  outcome: 'done' | 'refused' | undefined
}

/** Checks that each command was carried out once and a refused one never. Returns what is wrong, in words. */
export function checkOnce(given: readonly Given[], records: readonly LogRecord[]): string[] {
  return given.flatMap(({ kind, text, outcome }) => {
    if (outcome === undefined) return [`${kind} "${text}" has no answer`]
    const { times, seqs } = timesOf(kind, text, records)
    const isRight = outcome === 'refused' ? times === 0 : times === 1
    return isRight ? [] : [`${kind} "${text}" was ${outcome}, and carried out ${times} times (${seqs.join(', ')})`]
  })
}

/** How often something was taken in: queued, or at once. */
function timesOf(kind: Given['kind'], text: string, records: readonly LogRecord[]): { times: number; seqs: number[] } {
  const seqs: number[] = []
  const queued = { in: 0, out: 0 }
  let messages = 0
  for (const record of records) {
    if (kind === 'revert' || kind === 'prune') {
      const isIt =
        (record.type === 'revert.requested' && record.request.summary === text) ||
        (record.type === 'prune.requested' && record.request.memo === text)
      if (isIt) seqs.push(record.seq)
    } else if (record.type === 'queue.changed' && record.added !== undefined) {
      if (textOf(record.added.content) !== text) continue
      queued.in += 1
      seqs.push(record.seq)
    } else if (record.type === 'message.added' && textOf(record.message.content) === text) {
      messages += 1
      seqs.push(record.seq)
    }
  }
  // A message that waited in a queue is both.
  const times = kind === 'revert' || kind === 'prune' ? seqs.length : Math.max(queued.in, messages)
  return { times, seqs }
}

/** The end of a run whose process died before its message was written: its command was carried out later. */
const neverBegan = (record: LogRecord, runId: string): boolean =>
  record.type === 'run.end' && record.runId === runId && record.stopReason === 'aborted' && record.turns === 0

/** Checks that a run ended here as its log says, over all its continuations. Returns what is wrong, in words. */
export function checkResult(requestId: string, result: RunResult, records: readonly LogRecord[]): string[] {
  const starts = records.filter((record) => record.type === 'run.start')
  const begun = (runId: string): boolean => !records.some((record) => neverBegan(record, runId))
  const own = starts.filter(
    (start) => start.requestId === requestId && start.resumedFrom === undefined && begun(start.runId),
  )
  if (own.length > 1) return [`${requestId} began ${own.length} runs`]
  let runId = own[0]?.runId
  if (runId === undefined) return result.runId === '' ? [] : [`${requestId} never began, but has a result`]
  for (;;) {
    const next = starts.find(({ resumedFrom }) => resumedFrom === runId)
    if (next === undefined) break
    runId = next.runId
  }
  const end = records.find((record) => record.type === 'run.end' && record.runId === runId)
  if (end?.type !== 'run.end') return [`the run of ${requestId} has no end in the log`]
  const here = [result.stopReason, result.turns]
  const there = [end.stopReason, end.turns]
  return isDeepStrictEqual(here, there)
    ? []
    : [`${requestId} ended with ${here.join()}, in the log with ${there.join()}`]
}

/** Checks that the events of one run came in order, none twice, from its start to its end. Returns what is wrong, in words. */
export function checkRunEvents(requestId: string, events: readonly AgentEvent[]): string[] {
  const seqs = loggedAmong(events).map(({ seq }) => seq)
  const isRising = seqs.every((seq, index) => index === 0 || seq > seqs[index - 1]!)
  const isWhole = events.length === 0 || (events[0]?.type === 'run.start' && events.at(-1)?.type === 'run.end')
  return [
    ...(isRising ? [] : [`the run of ${requestId} told a record twice`]),
    ...(isWhole ? [] : [`the run of ${requestId} goes from ${events[0]?.type} to ${events.at(-1)?.type}`]),
  ]
}
