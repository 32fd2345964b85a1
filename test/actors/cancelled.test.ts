import { z } from 'zod'
import { askGuards } from '../../src/actors/turn/guards/askGuards.ts'
import { Cancellation } from '../../src/actors/timing/cancellation.ts'
import { guardedReply } from '../../src/actors/turn/guards/guardedReply.ts'
import { ToolAttempt } from '../../src/actors/calls/toolAttempt.ts'
import { defineTool, type ToolContext } from '../../src/actors/tools/defineTool.ts'
import type { ReplyOutput } from '../../src/machines/effectTypes.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { within } from '../../src/protocol/ports/pause.ts'
import { actorPorts } from '../support/actorPorts.ts'
import { quiet } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const place = { runId: 'a1/r0', turnIndex: 0 }
const asked = { at: 'input', text: 'x', content: [], messages: [] } as const

/** Guards that answer when they are told to, with the signals that they were given. */
function guarded(count: number) {
  const signals: AbortSignal[] = []
  const answers = Array.from({ length: count }, () => Promise.withResolvers<unknown>())
  const failures: string[] = []
  const input = answers.map((answer) => (context: { readonly signal: AbortSignal }) => {
    signals.push(context.signal)
    return answer.promise as never
  })
  const ports = actorPorts({ guards: { input, output: [] } })
  ports.callbackFailed = (what) => void failures.push(what)
  return { ports, signals, answers, failures }
}

describe('guards', (it) => {
  it('are told to stop once one has decided, once all have, and once nobody wants to know, whenever that is', async () => {
    for (const when of ['before', 'meanwhile', 'never'] as const)
      for (const first of [{ ok: true }, { refuse: 'no' }, 'nonsense', new Error('broken')]) {
        const { ports, signals, answers, failures } = guarded(2)
        const cancellation = new Cancellation()
        if (when === 'before') cancellation.abort()
        const verdict = askGuards(ports, place, asked, cancellation)
        await quiet()
        assert.ok(signals.every(({ aborted }) => aborted === (when === 'before')))
        if (when === 'meanwhile') cancellation.abort()
        if (when !== 'never') {
          const { decision } = await verdict
          assert.is(decision, 'failed')
          assert.equal(failures, [], 'an aborted guard is no bug')
          assert.ok(signals.every(({ aborted }) => aborted))
          continue
        }
        if (first instanceof Error) answers[0]!.reject(first)
        else answers[0]!.resolve(first)
        await quiet()
        const isOpen = typeof first === 'object' && 'ok' in first
        assert.is(signals[1]!.aborted, !isOpen)
        answers[1]!.resolve({ ok: true })
        const { decision, guard, reason } = await verdict
        assert.is(decision, isOpen ? 'passed' : typeof first === 'object' && 'refuse' in first ? 'refused' : 'failed')
        assert.equal(
          [guard, reason],
          isOpen ? [undefined, undefined] : ['input guard 1', decision === 'refused' ? 'no.' : undefined],
        )
        assert.is(failures.length, decision === 'failed' ? 1 : 0)
        assert.ok(signals.every(({ aborted }) => aborted))
      }
  })

  it('of what is said cut a reply off that they do not let pass, and nothing once it is aborted', async () => {
    for (const when of ['before', 'meanwhile', 'never'] as const)
      for (const answer of [{ ok: true }, { refuse: 'no' }]) {
        const { ports, answers } = guarded(1)
        const cancellation = new Cancellation()
        if (when === 'before') cancellation.abort()
        let reply: Cancellation | undefined
        const replied = Promise.withResolvers<ReplyOutput>()
        const output = {
          key: 'k',
          ok: false,
          failure: { kind: 'other', error: { code: 'MODEL_FAILED', message: 'no' } },
        }
        const result = guardedReply(
          ports,
          { ...place, key: 'k', guardedTo: 0 } as never,
          cancellation,
          (_, __, own) => {
            reply = own
            return replied.promise
          },
        )
        await quiet()
        assert.is(reply!.aborted, when === 'before')
        if (when === 'meanwhile') cancellation.abort()
        answers[0]!.resolve(answer)
        await quiet()
        assert.is(reply!.aborted, when !== 'never' || 'refuse' in answer)
        replied.resolve(output as never)
        const { guards, ok } = (await result) as ReplyOutput & { guards?: readonly { decision: string }[] }
        assert.is(ok, false)
        const verdicts = guards?.map(({ decision }) => decision)
        assert.equal(verdicts, when === 'never' ? ['ok' in answer ? 'passed' : 'refused'] : undefined)
      }
  })
})

describe('one run of a tool', (it) => {
  const call = { agentId: 'a1', key: 'k', runId: 'a1/r0', turnIndex: 0, callId: 'c', name: 'look', input: {} }

  it('is told to stop when its call was cancelled before, is meanwhile, takes too long, or asks after its end', async () => {
    for (const when of ['before', 'meanwhile', 'late', 'afterwards', 'never'] as const) {
      let context!: ToolContext
      const answer = Promise.withResolvers<string>()
      const look = defineTool({
        name: 'look',
        description: 'Looks.',
        input: z.object({}),
        timeoutMs: 100,
        run: (_, given) => {
          context = given
          return answer.promise
        },
      })
      const ports = actorPorts({ tools: [look] })
      const outer = new Cancellation()
      if (when === 'before') outer.abort()
      const attempt = new ToolAttempt(ports, call, ports.definition.tools.get('look')!, outer)
      const result = (attempt.run({}) as Promise<unknown>).then(
        (value) => value,
        (thrown: unknown) => (thrown as Error).message,
      )
      assert.is(context.signal.aborted, when === 'before')
      context.report('half way')
      assert.is(ports.emitted.length, when === 'before' ? 0 : 1)
      if (when === 'meanwhile') outer.abort()
      await ports.clock.advance(99)
      if (when === 'late') await ports.clock.advance(1)
      if (when !== 'late' && when !== 'meanwhile') answer.resolve('done')
      const said = await result
      assert.is(
        said,
        when === 'late'
          ? 'Timed out after 100 ms. What it did so far was not undone.'
          : when === 'meanwhile'
            ? undefined
            : 'done',
      )
      assert.is(context.signal.aborted, ['before', 'meanwhile', 'late'].includes(when))
      context.changed('a.txt')
      context.changed(7 as never)
      context.changed('a.txt')
      context.pin()
      const outcome = attempt.end({ content: [], isError: false })
      assert.equal(outcome, { content: [], isError: false, pins: true, changed: ['a.txt'] })
      assert.is(ports.clock.pending, 0)
      const before = ports.emitted.length
      context.report('too late')
      assert.is(ports.emitted.length, before)
      // Its call is over: a later end of the run is none of its business, and nobody answers what it asks.
      const isAborted = context.signal.aborted
      outer.abort()
      assert.is(context.signal.aborted, isAborted)
      if (when !== 'afterwards') continue
      const late = context.ask(z.boolean(), 'Still there?').catch((thrown: unknown) => thrown)
      assert.is(context.signal.aborted, true)
      assert.instance(await late, Error)
    }
  })
})

describe('waiting for something at most so long', (it) => {
  it('ends with it, however it ends, or with the time, and leaves no timer', async () => {
    for (const how of ['resolves', 'rejects', 'hangs', undefined] as const) {
      const clock = simulatedClock(0)
      const work = Promise.withResolvers<void>()
      let isOver = false
      void within(clock, 100, how === undefined ? undefined : work.promise).then(() => (isOver = true))
      await clock.advance(99)
      assert.equal([isOver, clock.pending], [false, 1])
      if (how === 'resolves') work.resolve()
      if (how === 'rejects') work.reject(new Error('no'))
      await quiet()
      const isEarly = how === 'resolves' || how === 'rejects'
      assert.equal([isOver, clock.pending], [isEarly, isEarly ? 0 : 1])
      await clock.advance(1)
      assert.equal([isOver, clock.pending], [true, 0])
    }
  })
})
