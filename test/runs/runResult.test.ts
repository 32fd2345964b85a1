import { z } from 'zod'
import type { RunStopReason } from '../../src/protocol/records.ts'
import { RunOutcome } from '../../src/protocol/runs/run.ts'
import type { RunResult } from '../../src/protocol/runs/runResult.ts'
import { createRuntime, defineAgent } from '../../src/index.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import { assert, describe } from '../support/suite.ts'

const end = (stopReason: RunStopReason, more: object = {}) =>
  ({
    v: 3,
    seq: 9,
    time: 1,
    type: 'run.end',
    runId: 'a/r0',
    turnIndex: 0,
    stopReason,
    turns: 1,
    usage: noUsage,
    costUsd: 0,
    ...more,
  }) as const
const words = { parse: () => ({ output: 7 }), lastSaid: () => ({ text: 'seven' }) }
const failure = { code: 'STORE_APPEND_FAILED', message: 'No space.' }

const finished = (...[record, failed]: [ReturnType<typeof end>, typeof failure?]): Promise<RunResult> => {
  const run = new RunOutcome('q1')
  run.finish(record, words, failed)
  return run.result
}
const cancelled = (...why: Parameters<RunOutcome['cancel']>): Promise<RunResult> => {
  const run = new RunOutcome('q1')
  run.cancel(...why)
  return run.result
}
/** Fields of a result beside its totals. */
const promises = ({ stopReason, output, reason, error }: RunResult) => ({
  stopReason,
  output,
  reason: reason?.type,
  code: error?.code,
})

describe('the result of a run', (it) => {
  const rows: readonly (readonly [string, () => Promise<RunResult>, object])[] = [
    ['stop has an output', () => finished(end('stop')), { output: 7 }],
    [
      'a limit has a reason',
      () => finished(end('paused', { reason: { type: 'limit', limit: 'turns', allowed: 1, used: 1 } })),
      { reason: 'limit' },
    ],
    [
      'a failed store has a reason and an error',
      () => finished(end('paused', { reason: { type: 'store', error: failure }, error: failure })),
      { reason: 'store', code: failure.code },
    ],
    [
      'an answer that could not be stored is paused by the store',
      () => finished(end('stop'), failure),
      { stopReason: 'paused', reason: 'store', code: failure.code },
    ],
    [
      'so is a run that could not go on',
      () => cancelled('paused', failure),
      { stopReason: 'paused', reason: 'store', code: failure.code },
    ],
    [
      'an error has an error',
      () => finished(end('error', { error: failure })),
      { stopReason: 'error', code: failure.code },
    ],
    ['even if nobody knows which', () => finished(end('error')), { stopReason: 'error', code: 'INTERNAL' }],
    ['an abort may have one', () => cancelled('aborted', failure), { stopReason: 'aborted', code: failure.code }],
    ['or none', () => finished(end('aborted')), { stopReason: 'aborted' }],
    ['a refusal has none', () => finished(end('refusal')), { stopReason: 'refusal' }],
    ['a cut answer has none', () => finished(end('length')), { stopReason: 'length' }],
  ]
  for (const [name, result, expected] of rows)
    it(`keeps what its stop reason promises: ${name}`, async () => {
      const seen = promises(await result())
      assert.equal(seen, {
        stopReason: seen.stopReason,
        output: undefined,
        reason: undefined,
        code: undefined,
        ...expected,
      })
    })

  it('has an output whenever it says stop, whatever the model calls the end of its reply', async (context) => {
    const model = scriptedModel([
      { text: 'seven', stopReason: 'toolUse' },
      { text: '7', stopReason: 'toolUse' },
    ])
    const runtime = await createRuntime()
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(defineAgent({ name: 'counter', model, output: z.number() }))
    const result = await agent.prompt('How many?').result
    assert.equal([result.stopReason, result.output], ['stop', 7])
  })

  it('has no output that would fit only with a secret in it: the model is asked for another', async (context) => {
    const output = z.object({ key: z.string().regex(/^[a-z0-9-]+$/) })
    const model = scriptedModel([{ text: '{"key":"s3cret-of-ours"}' }, { text: '{"key":"none"}' }])
    const runtime = await createRuntime({ redact: { secrets: { KEY: 's3cret-of-ours' } } })
    context.cleanup(() => runtime.close())
    const agent = await runtime.spawn(defineAgent({ name: 'keeper', model, output }))
    const result = await agent.prompt('Which key?').result
    assert.equal([result.stopReason, result.output], ['stop', { key: 'none' }])
    assert.match(JSON.stringify(model.requests[1]), /it holds a secret/)
    assert.not.match(JSON.stringify(model.requests[1]), /s3cret/)
  })
})
