import type { LogRecord } from '../protocol/records.ts'
import { lastRuns, wantedOf, whyItPasses } from './wantedOf.ts'
import { recordingOf } from './recordedRuns.ts'
import { testSource } from './testSource.ts'

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
