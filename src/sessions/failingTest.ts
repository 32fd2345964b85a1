import type { LogRecord } from '../protocol/records.ts'
import { recordingOf, type RecordedRun, type Recording } from './recordedRuns.ts'
import { isToolName, testSource, type Wanted } from './testSource.ts'

export interface FailingTestOptions {
  readonly agentId: string
  /** What the answer should have; without it the test wants that what went wrong does not. */
  readonly expect?: string
}

/** A test, or why there can be none. */
export type FailingTest =
  | {
      readonly ok: true
      readonly source: string
      /** Why it passes as it was recorded; missing where it fails. */
      readonly passes?: string
    }
  | { readonly ok: false; readonly why: string }

/** So many replies are played at most, and of so many runs. */
const mostReplies = 200

/**
 * A test in TypeScript that plays what the model replied in a conversation, with what its calls came to, and asserts what a person wants
 * changed: that the last run ends well, that no call of it fails, or that the answer has certain words. It fails as it was recorded. It needs
 * this package and uvu. What replies do not bring about, such as an abort, is left out and said. Of a long conversation the last runs are
 * played. `records`: of a fork after those that it shares. Pure.
 */
export function failingTest(records: readonly LogRecord[], { agentId, expect }: FailingTestOptions): FailingTest {
  const recording = recordingOf(records)
  const runs = recording.runs.filter(({ said }) => said.length > 0)
  const last = runs.at(-1)
  if (last === undefined)
    return { ok: false, why: `Nobody has said anything to "${agentId}" that a test could say again.` }
  const played = lastRuns(runs)
  const wanted = wantedOf(last, recording, expect)
  const created = records.findLast(({ type }) => type === 'agent.created')
  const source = testSource({
    agentId,
    definition: created?.type === 'agent.created' ? created.definition : '',
    time: last.ended?.time ?? records.at(-1)!.time,
    ...played,
    results: recording.results,
    wanted,
    ...(expect === undefined ? {} : { expect }),
  })
  const passes = whyItPasses(last, wanted, expect)
  return { ok: true, source, ...(passes === undefined ? {} : { passes }) }
}

/** The last runs that are not too many; of the last one its last replies. */
function lastRuns(runs: readonly RecordedRun[]): { readonly runs: readonly RecordedRun[]; readonly leftOut: number } {
  const last = runs.at(-1)!
  const kept: RecordedRun[] = [{ ...last, replies: last.replies.slice(-mostReplies) }]
  let replies = kept[0]!.replies.length
  for (const run of runs.slice(0, -1).toReversed()) {
    replies += run.replies.length
    if (replies > mostReplies) break
    kept.unshift(run)
  }
  const all = runs.reduce((sum, run) => sum + run.replies.length, 0)
  return { runs: kept, leftOut: all - kept.reduce((sum, run) => sum + run.replies.length, 0) }
}

function wantedOf(run: RecordedRun, { results }: Recording, expect: string | undefined): Wanted {
  const { ended } = run
  if (ended !== undefined && ended.stopReason !== 'stop' && ended.stopReason !== 'aborted') {
    const why = ended.error?.message ?? (ended.reason?.type === 'limit' ? `its limit of ${ended.reason.limit}` : '')
    return { type: 'end', was: ended.stopReason, why }
  }
  if (expect !== undefined) return { type: 'answer' }
  const failures = run.replies
    .flatMap(({ toolCalls = [] }) => toolCalls)
    .filter(({ callId }) => results.get(callId)?.isError === true)
  // A call of what is no tool can be mended in no tool.
  const failed = failures.findLast(({ name }) => isToolName(name)) ?? failures.at(-1)
  return failed === undefined ? { type: 'answer' } : { type: 'calls', name: failed.name }
}

function whyItPasses(run: RecordedRun, wanted: Wanted, expect: string | undefined): string | undefined {
  if (wanted.type === 'end') {
    if (run.end?.type === 'elsewhere') return `replies alone do not bring about that ${run.end.what}`
    return undefined
  }
  const answer = run.replies.at(-1)?.text ?? ''
  return wanted.type === 'answer' && expect !== undefined && answer.includes(expect)
    ? 'the answer has that already'
    : undefined
}
