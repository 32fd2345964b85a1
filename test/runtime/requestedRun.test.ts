import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { noUsage } from '../../src/protocol/messages.ts'
import type { LogRecord, PauseReason } from '../../src/protocol/records.ts'
import { RequestedRun } from '../../src/runtime/agents/requestedRun.ts'
import { assert, describe } from '../support/suite.ts'
import { talker } from '../../packages/xstate/test/logicParts.ts'

type Body<T = LogRecord> = T extends LogRecord ? Omit<T, 'v' | 'seq' | 'time' | 'turnIndex'> : never

/** Records of one log. */
const log = (...bodies: readonly Body[]): LogRecord[] =>
  bodies.map((body, index) => ({ v: 3, seq: index + 1, time: 0, turnIndex: 0, ...body }) as unknown as LogRecord)

const begins = (runId: string, requestId: string, resumedFrom?: string): Body => ({
  type: 'run.start',
  runId,
  cause: resumedFrom === undefined ? 'prompt' : 'resume',
  requestId,
  limits: {},
  ...(resumedFrom === undefined ? {} : { resumedFrom }),
})

const says = (runId: string, text: string): Body =>
  ({ type: 'reply.end', runId, message: { role: 'assistant', content: [{ type: 'text', text }] } }) as unknown as Body

const ends = (
  runId: string,
  stopReason: 'stop' | 'paused' | 'aborted' | 'refusal' = 'stop',
  reason?: PauseReason,
): Body => ({
  type: 'run.end',
  runId,
  stopReason,
  turns: 1,
  usage: noUsage,
  costUsd: 0,
  ...(reason === undefined ? {} : { reason }),
})

/** Result known after these records: of the request `q`, or without it of the newest run. */
async function resultOf(records: readonly LogRecord[], requestId: string | undefined = 'q') {
  const run = new RequestedRun(requestId, () => talker.output)
  await run.catchUp(records)
  return run.result
}

const interrupted = { type: 'interrupted' } as const

describe('the run that a request asked for', (it) => {
  it('is found by the request, among others', async () => {
    const records = log(begins('r0', 'p'), says('r0', 'a'), ends('r0'), begins('r1', 'q'), says('r1', 'b'), ends('r1'))
    const result = await resultOf([...records, ...log(begins('r2', 's')).map((each) => ({ ...each, seq: 7 }))])
    assert.equal([result?.text, result?.runId], ['b', 'r1'])
    assert.is(await resultOf(records, 'unknown'), undefined)
  })

  it('goes on in the run that resumed it, whose text may have been given before', async () => {
    const cut = [begins('r0', 'q'), says('r0', 'the answer'), ends('r0', 'paused', interrupted)]
    assert.is(await resultOf(log(...cut)), undefined)
    assert.is(await resultOf(log(...cut, begins('r1', 'x', 'r0'))), undefined)
    const result = await resultOf(log(...cut, begins('r1', 'x', 'r0'), ends('r1')))
    assert.equal([result?.text, result?.runId, result?.stopReason], ['the answer', 'r1', 'stop'])
  })

  it('is none that resumes what somebody else asked for, before it or after', async () => {
    const others = [begins('r0', 'p'), ends('r0', 'paused', interrupted), begins('r1', 'x', 'r0')]
    assert.is(await resultOf(log(...others, says('r1', 'theirs'), ends('r1'))), undefined)
    const own = [begins('r2', 'q'), says('r2', 'ours'), ends('r2')]
    const later = [begins('r3', 'y', 'r0'), says('r3', 'theirs'), ends('r3')]
    const result = await resultOf(log(...others, ends('r1', 'paused', interrupted), ...own, ...later))
    assert.equal([result?.text, result?.runId], ['ours', 'r2'])
  })

  it('has ended when a limit paused it, until it goes on', async () => {
    const reason = { type: 'limit', limit: 'turns', allowed: 1, used: 1 } as const
    const paused = [begins('r0', 'q'), says('r0', 'a'), ends('r0', 'paused', reason)]
    assert.equal((await resultOf(log(...paused)))?.reason, reason)
    assert.is(await resultOf(log(...paused, begins('r1', 'x', 'r0'))), undefined)
  })

  it('has not ended in a log that says its store failed: that was written later, by one that goes on', async () => {
    const reason = { type: 'store', error: { code: 'STORE_APPEND_FAILED', message: 'full' } } as PauseReason
    assert.is(await resultOf(log(begins('r0', 'q'), ends('r0', 'paused', reason))), undefined)
    const live = new RequestedRun('q', () => talker.output)
    await live.catchUp([])
    for (const record of log(begins('r0', 'q'), ends('r0', 'paused', reason))) live.note(record)
    assert.is(live.result?.reason?.type, 'store')
  })

  it('is told of everything once, whatever happens while its log is read', async () => {
    const records = log(begins('r0', 'q'), says('r0', 'a'), ends('r0'))
    for (let early = 0; early <= 3; early += 1)
      for (let read = early; read <= 3; read += 1) {
        const run = new RequestedRun('q', () => talker.output)
        for (const record of records.slice(early)) run.note(record)
        assert.is(run.result, undefined)
        await run.catchUp(records.slice(0, read))
        assert.is(run.result?.text, 'a', `${early} ${read}`)
      }
  })

  it('is the newest one, when nothing was requested', async () => {
    const two = [begins('r0', 'p'), says('r0', 'a'), ends('r0'), begins('r1', 'q'), says('r1', 'b')]
    assert.is(await resultOf(log(...two), undefined), undefined)
    const run = new RequestedRun(undefined, () => talker.output)
    await run.catchUp([])
    for (const record of log(...two, ends('r1', 'aborted'))) run.note(record)
    assert.equal([run.result?.text, run.result?.stopReason], ['b', 'aborted'])
  })

  it('was aborted when it left its queue before it began', async () => {
    const dropped = { type: 'queue.changed', queue: 'prompts', removed: ['p', 'q'], why: 'dropped' } as unknown as Body
    assert.is((await resultOf(log(dropped)))?.stopReason, 'aborted')
    assert.is(await resultOf(log({ ...dropped, removed: ['p'] } as Body)), undefined)
    assert.is(await resultOf(log({ ...dropped, why: 'taken' } as unknown as Body)), undefined)
  })

  it('has its answer as data, if that fits', async () => {
    const definition = defineAgent({
      name: 'rated',
      model: policyModel(() => ''),
      output: z.object({ score: z.number() }),
    })
    for (const [text, output] of [
      ['{"score":3}', { score: 3 }],
      ['no', undefined],
    ] as const) {
      const run = new RequestedRun('q', () => definition.output)
      await run.catchUp(log(begins('r0', 'q'), says('r0', text), ends('r0')))
      assert.equal(run.result?.output, output)
    }
  })

  it('tells what a guard refused', async () => {
    const refusal = { at: 'output', guard: 'noPins', reason: 'a pin' } as const
    const end = { ...ends('r0', 'refusal'), refusal } as Body
    const result = await resultOf(log(begins('r0', 'q'), says('r0', 'a'), end))
    assert.ok(result?.stopReason === 'refusal')
    assert.equal(result.refusal, refusal)
  })
})
