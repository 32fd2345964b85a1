import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import type { AnyTool } from '../../../src/actors/tools/defineTool.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { ends, Lives, type Life } from '../../../test/support/lives.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { inner, noting, scripted } from './scriptedAgent.ts'
import { z } from 'zod'

interface World {
  readonly definition: AgentDefinition
  /** Keys of the calls that ran, of one life. */
  readonly ran: string[]
}

interface Outcome {
  readonly log: readonly LogRecord[]
  readonly said: string
}

/** Decides whatever waits, until the run has ended. */
async function finish({ agent, logs }: Life, clock: Lives['clock']): Promise<Outcome> {
  const over = ends(agent)
  const decide = (): void => {
    for (const { kind, key } of agent.pending()) agent.decide(key, kind === 'question' ? { value: true } : 'approve')
    void clock.advance(60_000)
  }
  const stop = agent.subscribe((event) => {
    if (event.type === 'state.changed' && event.state === 'paused') setImmediate(decide)
  })
  if (agent.state !== 'idle' || agent.pending().length > 0) {
    decide()
    await over
  }
  stop()
  const { a1 } = await logs()
  return { log: a1!, said: textOf(agent.conversation.trunk().at(-1)!.message.content) }
}

/** One more life of the agent, from the first records of a log. */
async function next(lives: Lives, make: () => World, log: readonly LogRecord[], length: number) {
  const world = make()
  const before = log.slice(0, length)
  const life = await lives.resume(world.definition, { a1: before }, { continue: true })
  return { outcome: await finish(life, lives.clock), ran: world.ran, before }
}

/** Keys of the calls that a script had made before. */
const startedIn = (log: readonly LogRecord[]): ReadonlySet<string> =>
  new Set(inner(log, 'inner.start').map(({ key }) => key))

/** Kills an agent after every record, and again a few records into its next life; each time it goes on from what is in its log. */
async function matrix(
  context: CaseContext,
  make: () => World,
  isOnce: (key: string, log: readonly LogRecord[]) => boolean,
): Promise<void> {
  const lives = new Lives(context)
  const first = make()
  const whole = await finish(await lives.begin(first.definition, 'go'), lives.clock)
  const begins = whole.log.findIndex(({ type }) => type === 'reply.end') + 1
  const check = ({ outcome, ran, before }: Awaited<ReturnType<typeof next>>): void => {
    const started = startedIn(before)
    const twice = ran.filter((key) => started.has(key) && isOnce(key, outcome.log))
    assert.equal(twice, [], `after ${before.length} records`)
    const decided = outcome.log.flatMap((record) => (record.type === 'approval.decided' ? [record.key] : []))
    assert.is(new Set(decided).size, decided.length, `after ${before.length} records`)
    const isLost = inner(outcome.log, 'inner.end').some(({ error }) => error?.code === 'INTERRUPTED')
    if (!isLost) assert.is(outcome.said, whole.said, `after ${before.length} records`)
  }
  for (let length = begins; length < whole.log.length - 1; length++) {
    const second = await next(lives, make, whole.log, length)
    check(second)
    const again = second.outcome.log.length
    for (const more of [1 + (length % 5), 6 + (length % 4)])
      if (length + more < again - 1) check(await next(lives, make, second.outcome.log, length + more))
  }
}

const pays = `const files = ['a', 'b', 'c']
const read = await Promise.all(files.map((to) => tools.read({ to })))
const said = []
for (const to of files) said.push(await tools.pay({ to }).catch((e) => e.code))
return { read, said, random: Math.random(), month: new Date().getUTCMonth() >= 0 }`

const worldOf = (code: string, tools: (ran: string[]) => readonly AnyTool[]) => (): World => {
  const ran: string[] = []
  return { definition: scripted(code, tools(ran)), ran }
}

const isPay = (key: string, log: readonly LogRecord[]): boolean =>
  inner(log, 'inner.start').some((start) => start.key === key && start.name === 'pay')

describe('a script whose process is killed after every record, twice', (it) => {
  it('ends the same, and pays nothing twice', { timeoutMs: 30_000 }, (context) =>
    matrix(
      context,
      worldOf(pays, (ran) => [noting('read', ran), noting('pay', ran, { effects: 'irreversible' })]),
      isPay,
    ),
  )

  it('asks people again only for what they have not decided', { timeoutMs: 30_000 }, (context) =>
    matrix(
      context,
      worldOf(pays.replaceAll("['a', 'b', 'c']", "['a', 'b']"), (ran) => [
        noting('read', ran),
        noting('pay', ran, { effects: 'irreversible', needsApproval: true }),
      ]),
      isPay,
    ),
  )

  it('sleeps on until the time that it had chosen first', { timeoutMs: 30_000 }, (context) =>
    matrix(
      context,
      worldOf(
        `const paid = [await tools.pay({ to: 'a' })]; await sleep(60_000); await Promise.all([sleep(30_000), tools.read({})]); return [...paid, await tools.pay({ to: 'b' })]`,
        (ran) => [noting('read', ran), noting('pay', ran, { effects: 'irreversible' })],
      ),
      isPay,
    ),
  )

  it('has a tool that asked people run again with their answers', { timeoutMs: 30_000 }, (context) =>
    matrix(
      context,
      worldOf('return [await tools.ask({ to: "a" }), await tools.ask({ to: "b" })]', (ran) => [
        noting('ask', ran, {
          effects: 'irreversible',
          run: async ({ to }, { ask }) => `${to} ${String(await ask(z.boolean(), `Sure of ${to}?`))}`,
        }),
      ]),
      () => false,
    ),
  )
})

describe('a script that runs again', (it) => {
  it('is told of calls whose fate is not known', async (context) => {
    const lives = new Lives(context)
    const make = worldOf('return await tools.pay({ to: "a" }).catch((e) => [e.code, e.message])', (ran) => [
      noting('pay', ran, { effects: 'irreversible' }),
    ])
    const { log } = await finish(await lives.begin(make().definition, 'go'), lives.clock)
    const { outcome, ran } = await next(lives, make, log, log.findIndex(({ type }) => type === 'inner.start') + 1)
    assert.equal(ran, [])
    assert.is(
      outcome.said,
      'It said: ["INTERRUPTED","The process ended while this call ran: it is not known whether it happened."]',
    )
  })

  it('whose text is another calls nothing, and says so', async (context) => {
    const lives = new Lives(context)
    const make = worldOf('return [await tools.read({ to: "a" }), await tools.read({ to: "b" })]', (ran) => [
      noting('read', ran),
    ])
    const { log } = await finish(await lives.begin(make().definition, 'go'), lives.clock)
    const until = log.findIndex(({ type }) => type === 'inner.end') + 1
    const forged = log.map((record) => (record.type === 'inner.start' ? { ...record, print: 'another' } : record))
    const { outcome, ran } = await next(lives, make, forged, until)
    assert.equal(ran, [])
    assert.match(outcome.said, /The script did not repeat itself; start it anew\./)
  })
})
