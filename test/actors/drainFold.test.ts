import { drainFold } from '../../src/actors/brakes/fold/drainFold.ts'
import { drainPrunes } from '../../src/actors/brakes/prune/drainPrunes.ts'
import type { Message } from '../../src/protocol/messages.ts'
import { actorPorts, agentSays, runActor, toolSays, userSays, type RecordedPorts } from '../support/actorPorts.ts'
import { quiet } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const fold = { work: 500, minBatch: 500, keepSteps: 2, indexTokens: 100, cap: 50_000, leastRequests: 0 } as const

/** An agent that has looked so many times, and found so much each time. */
const looked = (times: number, chars: number): RecordedPorts =>
  actorPorts({ braking: { fold }, compaction: false }, [
    userSays('the task'),
    ...Array.from({ length: times }, (_, at): Message[] => [
      agentSays({ type: 'toolCall', callId: `c${at}`, name: 'look', input: { at } }),
      toolSays(`c${at}`, `seen${at}Thing ${'Xy z_1 '.repeat(chars / 7)}`),
    ]).flat(),
  ])

const key = 'a1/fold/9'

/** Counts the turns of the event loop until the work is over. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns += 1
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  await work
  isOver = true
  return turns
}

describe('the effect of a fold', (it) => {
  it('gives what to fold, what it is worth, and the request that is left', async () => {
    const ports = looked(20, 1_000)
    const { outcome, ...rest } = await runActor(drainFold, ports, { agentId: 'a1', key }).output
    assert.equal([rest.key, rest.at], [key, 1_000])
    assert.equal([outcome?.id, outcome?.applied, outcome?.by], [key, true, 'runtime'])
    assert.ok(outcome!.steps.length > 5)
    const { economics } = outcome!
    assert.ok(economics!.freed > 1_000 && economics!.rewritten > 0)
    const before = ports.definition.frameTokens + ports.conversation.trunkTokens
    assert.is(rest.contextTokens, Math.ceil((before - economics!.freed) * ports.conversation.correction))
  })

  it('gives nothing when none is due', async () => {
    const ports = looked(2, 100)
    const { outcome, contextTokens } = await runActor(drainFold, ports, { agentId: 'a1', key }).output
    assert.is(outcome, null)
    assert.is(contextTokens, ports.definition.frameTokens + ports.conversation.trunkTokens)
  })

  it(
    'gives the event loop turns while it reads a long conversation for the first time',
    { timeoutMs: 20_000 },
    async () => {
      assert.ok((await turnsDuring(runActor(drainFold, looked(300, 100_000), { agentId: 'a1', key }).output)) > 3)
      const request = { id: 'p1', by: 'person', fold: true } as const
      const asked = runActor(drainPrunes, looked(300, 100_000), {
        agentId: 'a1',
        key,
        requests: [request],
        lastNodeId: 0,
      }).output
      assert.ok((await turnsDuring(asked)) > 3)
      assert.is((await asked).outcomes[0]?.applied, true)
    },
  )

  it('reads no further once it is not needed', { timeoutMs: 20_000 }, async () => {
    const ports = looked(60, 100_000)
    let read = 0
    const { conversation } = ports
    ports.conversation = new Proxy(conversation, {
      get(target, name) {
        if (name === 'node') return (id: number) => target.node((read = Math.max(read, id)))
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    const running = runActor(drainFold, ports, { agentId: 'a1', key })
    running.stop()
    await quiet()
    const before = read
    await quiet()
    assert.is(read, before)
    assert.ok(before < conversation.lastNodeId, `${before} of ${conversation.lastNodeId}`)
  })
})
