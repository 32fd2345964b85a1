import type { RecordedRun, Recording } from './recordedRuns.ts'
import { isToolName, type Wanted } from './testSource.ts'

/** Maximum number of replies that are played, and of runs. */
const mostReplies = 200

/** Returns the last runs within the limit, and of the last run its last replies. */
export function lastRuns(runs: readonly RecordedRun[]): {
  readonly runs: readonly RecordedRun[]
  readonly leftOut: number
} {
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

/** Returns the assertion about the last run: that its fault does not occur, or that its answer has a text. Pure. */
export function wantedOf(run: RecordedRun, { results }: Recording, expect: string | undefined): Wanted {
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

/** Returns the reason why an assertion holds for the recording; `undefined` if it does not hold. Pure. */
export function whyItPasses(run: RecordedRun, wanted: Wanted, expect: string | undefined): string | undefined {
  if (wanted.type === 'end') {
    if (run.end?.type === 'elsewhere') return `replies alone do not bring about that ${run.end.what}`
    return undefined
  }
  const answer = run.replies.at(-1)?.text ?? ''
  return wanted.type === 'answer' && expect !== undefined && answer.includes(expect)
    ? 'the answer has that already'
    : undefined
}
