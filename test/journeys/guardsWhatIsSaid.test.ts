import { z } from 'zod'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import type { Guard, GuardContext } from '../../src/actors/define/hooks.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { calls, gate, never, resultsOf, saidIn, stalled, startAgent, tool, withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const noPasswords: Guard = ({ text }) => (/password/.test(text) ? { refuse: 'no passwords' } : { ok: true })
const fine: Guard = () => ({ ok: true })
const withheld = '[A message of the user was withheld by the application: no passwords.]'

describe('guards of the input', (it) => {
  it('are asked beside the first request, and let it pass', async (context) => {
    const seen: GuardContext[] = []
    const asked = gate()
    const passed = gate()
    const { agent, script, records } = await startAgent(context, {
      tools: [tool('look', () => 'seen')],
      replies: [calls('c', 'look'), 'ok'],
      guards: {
        input: [
          async (guarded) => {
            seen.push(guarded)
            asked.resolve()
            await passed.promise
            return { ok: true }
          },
        ],
      },
    })
    const run = agent.prompt('go')
    await asked.promise
    while (script.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
    assert.not.ok(
      (await records()).some(({ type }) => type === 'tool.start'),
      'no call before they have passed it',
    )
    passed.resolve()
    assert.is((await run.result).text, 'ok')
    const [{ at, text, runId, turnIndex, messages }] = seen as [GuardContext]
    assert.equal([at, text, runId, turnIndex, messages.length], ['input', 'go', 'a1/r0', 0, 1])
    assert.is(seen.length, 1, 'what a tool returned is not asked about')
    const log = await records()
    const decided = log.findIndex(({ type }) => type === 'guard.decided')
    assert.ok(decided < log.findIndex(({ type }) => type === 'reply.end'))
    assert.equal(
      log.flatMap((record) => (record.type === 'guard.decided' ? [[record.decision, record.to]] : [])),
      [['passed', 1]],
    )
  })

  it('end the run when one refuses, cut the request off, and the model never sees it again', async (context) => {
    const open = gate()
    const refused = gate()
    const { agent, script, ofType, until } = await startAgent(context, {
      replies: [stalled(['I', ' can'], open.promise), 'better'],
      guards: {
        input: [
          fine,
          async function careful({ text }) {
            if (!text.includes('password')) return { ok: true }
            await refused.promise
            return { refuse: 'no passwords' }
          },
        ],
      },
    })
    const run = agent.prompt('the password is 1234')
    await until((event) => event.type === 'reply.delta' && event.text === ' can')
    refused.resolve()
    const result = await run.result
    open.resolve()
    assert.is(result.stopReason, 'refusal')
    const refusal = { at: 'input', guard: 'careful', reason: 'no passwords.' }
    assert.equal(result.stopReason === 'refusal' && result.refusal, refusal)
    assert.is(result.text, '')
    assert.ok(result.usage.estimated === true && result.usage.output > 0, 'what was cut off is paid for')
    assert.equal(
      ofType('run.end').map((end) => end.refusal),
      [refusal],
    )
    assert.equal(
      ofType('reply.reset').map(({ error }) => error.code),
      ['GUARD_REFUSED'],
    )
    assert.equal(
      ofType('guard.decided').map((one) => one.withheld),
      [[1]],
    )

    assert.is((await agent.prompt('hello').result).text, 'better')
    assert.equal(saidIn(script.requests[1]), [withheld, 'hello'])
  })

  it('need not go on once one of them has decided, or the run is over', async (context) => {
    for (const how of ['refuses', 'throws', 'is aborted'] as const) {
      const told = gate<unknown>()
      const asked = gate()
      const { agent } = await startAgent(context, {
        id: how.replaceAll(' ', '-'),
        replies: ['ok'],
        guards: {
          input: [
            async function slow({ signal }) {
              signal.addEventListener('abort', () => told.resolve(signal.reason), { once: true })
              asked.resolve()
              await told.promise
              return { ok: true }
            },
            async () => {
              await asked.promise
              if (how === 'throws') throw new Error('no scanner')
              return how === 'refuses' ? { refuse: 'no' } : { ok: true }
            },
          ],
        },
      })
      const run = agent.prompt('go')
      await asked.promise
      if (how === 'is aborted') agent.abort()
      const { stopReason } = await run.result
      assert.ok((await told.promise) instanceof Error)
      assert.is(stopReason, { refuses: 'refusal', throws: 'error', 'is aborted': 'aborted' }[how])
    }
  })

  it('that fail end the run with an error, and are asked about it again with the next prompt', async (context) => {
    let isUp = false
    const seen: string[] = []
    const { agent, script, ofType } = await startAgent(context, {
      replies: ['unheard', 'ok'],
      guards: {
        input: [
          ({ text }) => {
            seen.push(text)
            if (!isUp) throw new Error('no scanner')
            return { ok: true }
          },
        ],
      },
    })
    const first = await agent.prompt('one').result
    assert.is(first.error?.code, 'GUARD_FAILED')
    assert.match(first.error!.message, /^The guard input guard 1 came to no decision: no scanner\. /)
    isUp = true
    assert.is((await agent.prompt('two').result).text, 'ok')
    assert.equal(seen, ['one', 'one\ntwo'])
    assert.equal(saidIn(script.requests[1]), ['one', 'two'])
    assert.equal(
      ofType('guard.decided').map(({ decision }) => decision),
      ['failed', 'passed'],
    )
  })

  it('fail closed on nonsense and when the time is up', async (context) => {
    const wrong: readonly (readonly [string, () => unknown, RegExp])[] = [
      ['nothing', () => undefined, /it answered undefined, where it may answer \{ ok: true \}/],
      ['true', () => true, /it answered true/],
      ['no', () => ({ ok: false }), /it answered \{"ok":false\}/],
      ['both', () => ({ ok: true, refuse: 'x' }), /it answered/],
      ['blank', () => ({ refuse: '' }), /it answered/],
    ]
    for (const [id, guard, expected] of wrong) {
      const { agent } = await startAgent(context, { id, replies: ['x'], guards: { input: [guard as Guard] } })
      const { stopReason, error } = await agent.prompt('go').result
      assert.equal([id, stopReason, error?.code], [id, 'error', 'GUARD_FAILED'])
      assert.match(error!.message, expected)
    }
    const asked = gate<AbortSignal>()
    const hanging = await startAgent(context, {
      id: 'hangs',
      replies: ['x'],
      hookTimeoutMs: 1_000,
      guards: {
        input: [
          ({ signal }) => {
            asked.resolve(signal)
            return never
          },
        ],
      },
    })
    const run = hanging.agent.prompt('go')
    const signal = await asked.promise
    await hanging.clock.advance(1_000)
    assert.match((await run.result).error!.message, /it gave no answer within 1000 ms/)
    assert.ok(signal.aborted)
  })

  it('are aborted with the run; what was said is asked about with the next', async (context) => {
    const asked = gate<AbortSignal>()
    const seen: string[] = []
    const { agent, ofType } = await startAgent(context, {
      replies: ['x', 'ok'],
      guards: {
        input: [
          ({ text, signal }) => {
            seen.push(text)
            asked.resolve(signal)
            return seen.length === 1 ? never : { ok: true }
          },
        ],
      },
    })
    const run = agent.prompt('one')
    const signal = await asked.promise
    agent.abort()
    assert.is((await run.result).stopReason, 'aborted')
    assert.ok(signal.aborted)
    assert.is((await agent.prompt('two').result).text, 'ok')
    assert.equal(seen, ['one', 'one\ntwo'])
    assert.equal(
      ofType('guard.decided').map(({ decision, to }) => [decision, to]),
      [['passed', 2]],
    )
  })

  it('are asked about what is said into a run, before the next call starts', async (context) => {
    const open = gate()
    const ran: string[] = []
    const begun = gate()
    const { agent, ofType, script } = await startAgent(context, {
      tools: [
        tool('look', async () => {
          ran.push('look')
          begun.resolve()
          await open.promise
          return 'seen'
        }),
      ],
      replies: [calls('c', 'look'), calls('d', 'look'), 'ok'],
      guards: { input: [noPasswords] },
    })
    const run = agent.prompt('go')
    await begun.promise
    agent.steer('the password is 1234')
    open.resolve()
    const result = await run.result
    assert.is(result.stopReason, 'refusal')
    assert.equal(ran, ['look'])
    assert.equal(
      ofType('guard.decided').map(({ decision, withheld: ids }) => [decision, ids]),
      [
        ['passed', undefined],
        ['refused', [4]],
      ],
    )
    assert.is((await agent.prompt('and?').result).text, 'ok')
    assert.equal(saidIn(script.requests.at(-1)), ['go', withheld, 'and?'])
  })

  it('must be functions', () => {
    assert.throws(
      () => defineAgent({ name: 'a', model: policyModel(() => 'x'), guards: { input: ['no'] as never } }),
      withCode('INVALID_DEFINITION', 'guards.input', 'give a function'),
    )
  })
})

describe('guards of the output', (it) => {
  const noNames: Guard = function noNames({ text }) {
    return text.includes('Ann') ? { refuse: 'no names' } : { ok: true }
  }

  it('leave nothing of an answer that is aborted before they have decided', async (context) => {
    const asked = gate()
    const guard: Guard = async () => {
      asked.resolve()
      return never
    }
    const { agent, script, ofType } = await startAgent(context, {
      replies: ['the password', 'fine'],
      guards: { output: [guard] },
      // An aborted reply keeps what was seen of it, otherwise.
      check: false,
    })
    const run = agent.prompt('go')
    await asked.promise
    agent.abort()
    const told = '[This answer was withheld by the application: it was aborted before it could be checked.]'
    const { stopReason, text, usage } = await run.result
    assert.equal([stopReason, text], ['aborted', told])
    assert.ok(usage.output > 0, 'it is paid for')
    assert.not.match(JSON.stringify(ofType('reply.end')), /password/)
    void agent.prompt('again')
    while (script.requests.length < 2) await new Promise((resolve) => setImmediate(resolve))
    assert.not.match(JSON.stringify(script.requests[1]), /password/)
    agent.abort()
  })

  it('are asked about answers alone, and let them pass', async (context) => {
    const seen: string[] = []
    const { agent, ofType } = await startAgent(context, {
      tools: [tool('look', () => 'Ann')],
      replies: [calls('c', 'look'), 'somebody'],
      guards: {
        output: [
          ({ at, text }) => {
            seen.push(`${at}: ${text}`)
            return { ok: true }
          },
        ],
      },
    })
    assert.is((await agent.prompt('go').result).text, 'somebody')
    assert.equal(seen, ['output: somebody'])
    assert.equal(
      ofType('guard.decided').map(({ at, decision, to }) => [at, decision, to]),
      [['output', 'passed', undefined]],
    )
  })

  it('withhold an answer: the result and the model have a line in its place, the log what it was', async (context) => {
    const { agent, ofType, script } = await startAgent(context, {
      replies: ['It was Ann.', 'ok'],
      guards: { output: [noNames] },
    })
    const result = await agent.prompt('who?').result
    const refusal = { at: 'output', guard: 'noNames', reason: 'no names.' }
    assert.equal([result.stopReason, result.stopReason === 'refusal' && result.refusal], ['refusal', refusal])
    const line = '[This answer was withheld by the application: no names.]'
    assert.is(result.text, line)
    const [end] = ofType('reply.end')
    assert.equal(end!.withheld, { ...refusal, content: [{ type: 'text', text: 'It was Ann.' }] })
    assert.equal(end!.message.content, [{ type: 'text', text: line }])
    await agent.prompt('and?').result
    assert.equal(
      script.requests[1]!.messages.map(({ content }) =>
        content.map((block) => (block.type === 'text' ? block.text : '')),
      ),
      [['who?'], [line], ['and?']],
    )
  })

  it('are given the answer as data', async (context) => {
    const seen: unknown[] = []
    const { agent } = await startAgent(context, {
      output: z.object({ score: z.number() }),
      replies: ['{"score":"high"}', '{"score":7}'],
      guards: {
        output: [
          ({ output }) => {
            seen.push(output)
            return { ok: true }
          },
        ],
      },
    })
    const result = await agent.prompt('rate').result
    assert.equal([result.stopReason, result.output, seen], ['stop', { score: 7 }, [{ score: 7 }]])
  })

  it('that fail discard the answer, which is paid for, and end the run with an error', async (context) => {
    const { agent, ofType } = await startAgent(context, {
      replies: ['It was Ann.'],
      guards: {
        output: [
          () => {
            throw new Error('no scanner')
          },
        ],
      },
    })
    const { stopReason, error, text, usage } = await agent.prompt('who?').result
    assert.equal([stopReason, error?.code, text], ['error', 'GUARD_FAILED', ''])
    assert.ok(usage.output > 0)
    assert.is(ofType('reply.end').length, 0)
  })

  it('of a sub-agent tell its caller why there is no answer', async (context) => {
    const helper = defineAgent({
      name: 'helper',
      model: policyModel(() => 'It was Ann.'),
      guards: { output: [noNames] },
    })
    const { agent, script } = await startAgent(context, {
      agents: [helper],
      replies: [calls('c', ['helper', { task: 'find out' }]), 'ok'],
    })
    await agent.prompt('go').result
    assert.equal(resultsOf(script.requests[1]), [
      'The agent "helper" did not finish: its answer was refused by noNames: no names.',
    ])
  })
})
