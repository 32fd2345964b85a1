import type { LogRecord } from '../../../src/protocol/records.ts'
import { lastRuns, wantedOf, whyItPasses } from './wantedOf.ts'
import { recordingOf } from './recordedRuns.ts'
import { testSource } from './testSource.ts'

export interface FailingTestOptions {
  readonly agentId: string
  /** Text that the answer should contain. Without it the test asserts that the recorded fault does not occur. */
  readonly expect?: string
}

/** A test, or why there can be none. */
export type FailingTest =
  | {
      readonly ok: true
      readonly source: string
      /** Reason why the test passes as recorded. Missing if it fails. */
      readonly passes?: string
    }
  | { readonly ok: false; readonly why: string }

/**
 * Returns a test in TypeScript that plays the model's replies in a conversation, with the results of its calls, and asserts the change that a
 * person wants: that the last run ends well, that no call of it fails, or that the answer has certain words. It fails as it was recorded. It
 * needs this package and uvu. Events that replies do not cause, such as an abort, are left out and mentioned. Only the last runs of a long
 * conversation are played. `records`: for a fork, after those that it shares. Pure.
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
