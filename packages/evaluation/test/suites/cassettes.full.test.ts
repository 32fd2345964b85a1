import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TrialResult } from '../../src/results.ts'
import type { Model } from '../../../../src/protocol/ports/model.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { cassettes, unpackCassette } from './cassettes/cassette.ts'
import { evaluated, scratchFolder, suiteNames, suiteOf } from './suiteRuns.ts'

describe('a recorded cassette of a suite', (it) => {
  for (const name of suiteNames)
    it(
      `of ${name} is played without asking a model, and comes to what was recorded`,
      { timeoutMs: 30_000 },
      async (context) => {
        const folder = await scratchFolder(context)
        await unpackCassette(name, folder)
        const lines = readFileSync(join(folder, 'results.jsonl'), 'utf8').trim().split('\n')
        const recorded = lines.map((line) => JSON.parse(line) as TrialResult).filter(({ type }) => type === 'trial')
        const suite = await suiteOf(name)
        const { task, arms } = cassettes[name]
        let asked = 0
        const model: Model = {
          id: recorded[0]!.models[0]!,
          // oxlint-disable-next-line require-yield -- It is never asked.
          async *stream() {
            asked += 1
            throw new Error('a model was asked')
          },
        }
        const { results } = await evaluated(context, suite, { arms, trials: 1, tasks: [task], model, replay: folder })
        assert.is(asked, 0)
        const essence = ({ key, outcome, answer, models, metrics }: TrialResult): unknown[] => [
          key,
          outcome,
          answer,
          models,
          metrics?.turns,
          metrics?.usage,
        ]
        // They are recorded as they ended.
        const byKey = (a: TrialResult, b: TrialResult): number => (a.key < b.key ? -1 : 1)
        assert.equal(results.toSorted(byKey).map(essence), recorded.toSorted(byKey).map(essence))
      },
    )
})
