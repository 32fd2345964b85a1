import { afterTool } from '../../src/actors/calls/afterTool.ts'
import type { AfterToolAnswer } from '../../src/actors/define/hooks.ts'
import { Cancellation } from '../../src/actors/timing/cancellation.ts'
import type { PlainBlock } from '../../src/protocol/messages.ts'
import { actorPorts } from '../support/actorPorts.ts'
import { gate, quiet, tool } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const call = { agentId: 'a1', key: 'k1', runId: 'a1/r0', turnIndex: 3, callId: 'c0', name: 'look', input: {} }
const text = (said: string): PlainBlock[] => [{ type: 'text', text: said }]

/** Ports with a hook, and what it failed with. */
function reviewedBy(hook: (signal: AbortSignal) => AfterToolAnswer | Promise<AfterToolAnswer>) {
  const failures: unknown[] = []
  let asked = 0
  const afterToolHook = ({ signal }: { readonly signal: AbortSignal }) => {
    asked += 1
    return hook(signal)
  }
  const tools = [tool('look', () => 'seen'), tool('own', () => 'seen')]
  const ports = actorPorts({ tools, afterTool: afterToolHook, hookTimeoutMs: 1_000 })
  ports.callbackFailed = (_, thrown) => void failures.push(thrown)
  const cancellation = new Cancellation()
  const review = (name = 'look') =>
    afterTool(ports, { ...call, name }, { content: text('seen'), isError: false }, cancellation)
  return { ports, failures, cancellation, review, asked: () => asked }
}

describe('a result that a hook reviews', (it) => {
  it('is what the hook makes of it, or as it was', async () => {
    for (const [answer, expected] of [
      [undefined, { content: text('seen'), isError: false }],
      [{ result: 'other' }, { content: text('other'), isError: false, hook: 'replaced' }],
      [
        { result: 'wrong', isError: true },
        { content: text('wrong'), isError: true, hook: 'replaced' },
      ],
    ] as const)
      assert.equal(await reviewedBy(() => answer).review(), expected)
  })

  it('is withheld where the hook fails, which is told once', async () => {
    for (const hook of [
      () => {
        throw new Error('no')
      },
      () => 'text' as never,
      () => ({ result: 'x', more: 1 }) as never,
    ]) {
      const { review, failures, ports } = reviewedBy(hook)
      const { isError, hook: said } = await review()
      assert.equal([isError, said, failures.length], [true, 'withheld', 1])
      assert.equal(
        ports.emitted.map(({ type }) => type),
        ['error'],
      )
    }
  })

  it('of a tool of the runtime is not shown to the hook', async () => {
    const { ports, review, asked } = reviewedBy(() => ({ result: 'other' }))
    const turns = { ...ports.definition.turns, always: ['own'] }
    const { definition } = ports
    const get = (_: object, name: string): unknown => (name === 'turns' ? turns : Reflect.get(definition, name))
    ports.definition = new Proxy({}, { get: get as never }) as typeof definition
    assert.equal([await review('own'), asked()], [{ content: text('seen'), isError: false }, 0])
    assert.equal([(await review()).hook, asked()], ['replaced', 1])
  })

  it('is as it was once the call is aborted, and what the hook then throws is told nobody', async () => {
    const left = gate()
    const { review, failures, cancellation, ports } = reviewedBy(async () => {
      await left.promise
      throw new Error('too late')
    })
    const reviewing = review()
    await quiet()
    cancellation.abort()
    left.resolve()
    assert.equal(await reviewing, { content: text('seen'), isError: false })
    assert.equal([failures, ports.emitted], [[], []])
  })
})
