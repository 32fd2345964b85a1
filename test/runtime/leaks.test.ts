import { getEventListeners } from 'node:events'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { simulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { collectGarbage } from '../support/collectGarbage.ts'
import { delta, done, never, quiet, startAgent, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

describe('an agent that lives long', (it) => {
  it(
    'has no timers, warnings or listeners left after 200 runs of every fate',
    { timeoutMs: 20_000 },
    async (context) => {
      const warnings: string[] = []
      const warn = (warning: Error): void => void warnings.push(warning.message)
      process.on('warning', warn)
      context.cleanup(() => process.off('warning', warn))
      const signals: AbortSignal[] = []
      const see = (signal: AbortSignal): void => void signals.push(signal)
      let asked = 0
      const { agent, clock, untilState, runtime } = await startAgent(context, {
        compaction: false,
        limits: { ms: 60_000 },
        retry: { attempts: 2 },
        tools: [
          tool('work', (_, { signal }) => {
            see(signal)
            return 'ok'
          }),
          tool('hang', (_, { signal }) => {
            see(signal)
            return never
          }),
        ],
        model: {
          id: 'test:many',
          async *stream({ messages }, { signal }) {
            see(signal)
            asked += 1
            const last = messages.at(-1)!
            if (last.role === 'toolResult') {
              yield done([{ type: 'text', text: 'end' }])
              return
            }
            const block = last.content.at(-1)!
            const what = block.type === 'text' ? block.text : ''
            const call = (name: string) =>
              done([{ type: 'toolCall', callId: `c${asked}`, name, input: {} }], { stopReason: 'toolUse' })
            yield delta('word ')
            if (what === 'stream') await never
            else if (what === 'fail') yield { type: 'error', error: { kind: 'network', message: 'x' } }
            else if (what === 'work' || what === 'hang') yield call(what)
            else yield done([{ type: 'text', text: 'word ' }])
          },
        },
      })
      const fates = ['plain', 'stream', 'work', 'hang', 'fail'] as const
      for (let n = 0; n < 200; n += 1) {
        const fate = fates[n % fates.length]!
        const run = agent.prompt(fate)
        if (fate === 'stream') await untilState('replying.streaming')
        else if (fate === 'hang') await untilState('executing')
        else if (fate === 'fail') await untilState('backoff')
        if (fate !== 'plain' && fate !== 'work') {
          await quiet()
          agent.abort()
        }
        assert.is((await run.result).stopReason, fate === 'plain' || fate === 'work' ? 'stop' : 'aborted')
        assert.is(clock.pending, 0, `timers left after ${fate}`)
      }
      await quiet()
      assert.equal(
        signals.map((signal) => getEventListeners(signal, 'abort').length).filter((count) => count > 0),
        [],
      )
      assert.equal(warnings, [])
      await runtime.close()
    },
  )

  it('lets go of a run that nobody holds', { timeoutMs: 10_000 }, async (context) => {
    const { agent } = await startAgent(context, { replies: ['a', 'b', 'c', 'd'] })
    const refs: WeakRef<object>[] = []
    for (let n = 0; n < 3; n += 1) {
      await (async () => {
        const run = agent.prompt('go')
        refs.push(new WeakRef(run))
        await run.result
      })()
    }
    await quiet()
    collectGarbage()
    await quiet()
    collectGarbage()
    assert.ok(refs.filter((ref) => ref.deref() !== undefined).length <= 1)
  })
})

describe('a policy model with a delay', (it) => {
  it('leaves no listener on its signal for each word', async () => {
    const clock = simulatedClock()
    const { signal } = new AbortController()
    const model = policyModel(() => 'word '.repeat(20), { wordDelayMs: 10, clock })
    const request = {
      system: '',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
      tools: [],
      settings: {},
    } as const
    const reading = (async () => {
      for await (const part of model.stream(request, { signal })) void part
    })()
    await clock.advance(10_000)
    await reading
    assert.is(getEventListeners(signal, 'abort').length, 0)
    assert.is(clock.pending, 0)
  })

  it('stops waiting when it is aborted', async () => {
    const clock = simulatedClock()
    const controller = new AbortController()
    const model = policyModel(() => 'one two three', { wordDelayMs: 10, clock })
    const request = {
      system: '',
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
      tools: [],
      settings: {},
    } as const
    const parts: string[] = []
    const reading = (async () => {
      for await (const part of model.stream(request, { signal: controller.signal })) parts.push(part.type)
    })()
    await clock.advance(15)
    controller.abort()
    await reading
    assert.is(clock.pending, 0)
    assert.ok(parts.length <= 2 && !parts.includes('done'))
  })
})
