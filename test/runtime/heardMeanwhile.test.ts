import { noUsage } from '../../src/protocol/messages.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import { recordVersion as v, type LogRecord } from '../../src/protocol/records.ts'
import { RequestedRun } from '../../src/runtime/agents/requestedRun.ts'
import { Observers } from '../../src/runtime/events/observers.ts'
import { assert, describe } from '../support/suite.ts'

describe('the listeners of an agent', (it) => {
  const names = ['a', 'b', 'c', 'd'] as const
  for (const at of names)
    for (const leaving of names)
      it(`hear each event once, those that are still there: ${at} takes ${leaving} off`, () => {
        const observers = new Observers({ listenerFailed: () => {} })
        const heard: string[] = []
        const ends = new Map<string, () => void>()
        for (const name of names)
          ends.set(
            name,
            observers.add(({ seq }) => {
              heard.push(`${name}${seq}`)
              if (name !== at || seq !== 1) return
              ends.get(leaving)!()
              observers.add((event) => void heard.push(`late${event.seq}`))
            }),
          )
        for (const seq of [1, 2]) observers.tell({ type: 'turn.start', seq } as unknown as AgentEvent, undefined)
        const first = names.filter((name) => name !== leaving || names.indexOf(leaving) <= names.indexOf(at))
        const second = names.filter((name) => name !== leaving)
        assert.equal(heard, [...first.map((name) => `${name}1`), ...second.map((name) => `${name}2`), 'late2'])
      })
})

describe('the newest run of an agent', (it) => {
  const log = (...bodies: readonly object[]): LogRecord[] =>
    bodies.map((body, index) => ({ v, seq: index + 1, time: 0, turnIndex: 0, ...body }) as unknown as LogRecord)
  const begins = (runId: string, resumedFrom?: string) => ({
    type: 'run.start',
    runId,
    cause: resumedFrom === undefined ? 'prompt' : 'resume',
    requestId: `q-${runId}`,
    limits: {},
    ...(resumedFrom === undefined ? {} : { resumedFrom }),
  })
  const says = (runId: string, text: string) => ({
    type: 'reply.end',
    runId,
    message: { role: 'assistant', content: [{ type: 'text', text }] },
  })
  const ends = (runId: string, stopReason: string) => ({
    type: 'run.end',
    runId,
    stopReason,
    turns: 1,
    usage: noUsage,
    costUsd: 0,
  })
  for (const stopReason of ['aborted', 'refusal', 'error', 'length'])
    for (const goesOn of [false, true])
      it(`has the words of ${goesOn ? 'the run that it goes on with' : 'no other run'}: ${stopReason}`, async () => {
        const run = new RequestedRun(undefined, () => null)
        const next = begins('r1', goesOn ? 'r0' : undefined)
        await run.catchUp(log(begins('r0'), says('r0', 'words'), ends('r0', 'paused'), next, ends('r1', stopReason)))
        assert.equal([run.result?.runId, run.result?.text], ['r1', goesOn ? 'words' : ''])
      })
})
