import { messageOf } from '../../../../src/protocol/errors.ts'
import { AgentFinder } from '../../src/gateway/agentFinder.ts'
import { Route } from '../../src/gateway/route.ts'
import { simulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { withCode } from '../../../../test/support/agentHarness.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const command = (type: string, id: string, more: object = {}) => ({ type, id, agentId: 'a', ...more }) as never
const answer = (type: 'ok' | 'error', id: string) => ({ type, id }) as never
const again = (route: Route, isPlaced = false): unknown[] =>
  route
    .again(isPlaced, () => 'own')
    .map((frame) => {
      const { type, id, fromSeq } = frame as { type: string; id: string; fromSeq?: number }
      return [type, id, ...(fromSeq === undefined ? [] : [fromSeq])]
    })

describe('what a client has to do with an agent', (it) => {
  it('is what was not answered, in its order', () => {
    const route = new Route('a')
    assert.is(route.isIdle, true)
    route.ask(command('agent.prompt', 'c1'))
    route.ask(command('agent.spawn', 'c2', { definition: 'worker' }))
    assert.equal(
      [route.isIdle, route.definition, again(route)],
      [
        false,
        'worker',
        [
          ['agent.prompt', 'c1'],
          ['agent.spawn', 'c2'],
        ],
      ],
    )
    assert.equal(
      [route.answered(answer('ok', 'c1')), route.answered(answer('ok', 'c1')), route.answered(answer('ok', 'x'))],
      [true, false, false],
    )
    assert.equal(again(route), [['agent.spawn', 'c2']])
    route.answered(answer('error', 'c2'))
    assert.equal([route.isIdle, route.definition], [true, undefined])
  })

  for (const type of ['prompt', 'interrupt', 'steer', 'followUp', 'resume', 'decide'])
    it(`is its last "${type}" once more, for who is to wake the agent`, () => {
      const route = new Route('a')
      route.ask(command(`agent.${type}`, 'c1'))
      assert.equal(again(route, true), [[`agent.${type}`, 'c1']])
      route.answered(answer('ok', 'c1'))
      route.ask(command('agent.abort', 'c2'))
      route.answered(answer('ok', 'c2'))
      assert.equal([again(route, true), again(route, false)], [[[`agent.${type}`, 'c1']], []])
      route.ask(command('agent.prompt', 'c3'))
      route.answered(answer('error', 'c3'))
      assert.equal(again(route, true), [[`agent.${type}`, 'c1']])
    })

  it('is to be read on after the last record, under an id that the client does not know once that was answered', () => {
    const route = new Route('a')
    assert.is(route.takes(1), false)
    route.ask(command('agent.subscribe', 'c1', { fromSeq: 4 }))
    assert.equal([again(route), route.reading], [[['agent.subscribe', 'c1', 4]], undefined])
    route.answered(answer('ok', 'c1'))
    assert.equal(
      [route.takes(3), route.takes(4), route.takes(4), route.takes(6), route.takes(5)],
      [false, true, false, undefined, true],
    )
    assert.equal([again(route), route.reading, route.isIdle], [[['agent.subscribe', 'own', 6]], 'own', false])
    route.ask(command('agent.subscribe', 'c2'))
    assert.equal([again(route), route.reading], [[['agent.subscribe', 'c2', 1]], undefined])
    route.ask(command('agent.subscribe', 'c3', { fromSeq: 2 }))
    assert.equal(again(route), [
      ['agent.subscribe', 'c3', 2],
      ['agent.subscribe', 'c2'],
    ])
    route.ask(command('agent.unsubscribe', 'c4'))
    assert.is(route.isSubscribed, false)
    assert.equal(again(route), [
      ['agent.subscribe', 'c2'],
      ['agent.subscribe', 'c3', 2],
      ['agent.unsubscribe', 'c4'],
    ])
  })

  it('is read no more where that was refused, but for an older attempt', () => {
    const route = new Route('a')
    route.ask(command('agent.subscribe', 'c1'))
    route.ask(command('agent.subscribe', 'c2'))
    route.answered(answer('error', 'c1'))
    assert.is(route.isSubscribed, true)
    route.answered(answer('error', 'c2'))
    assert.equal([route.isSubscribed, route.isIdle], [false, true])
  })

  it('is given up with what was not answered; who reads goes on', () => {
    const route = new Route('a')
    route.ask(command('agent.subscribe', 'c1'))
    route.ask(command('agent.prompt', 'c2'))
    assert.equal([route.giveUp(), route.isIdle], [['c1', 'c2'], true])
    route.ask(command('agent.subscribe', 'c3'))
    route.answered(answer('ok', 'c3'))
    route.ask(command('agent.prompt', 'c4'))
    assert.equal([route.giveUp(), route.isSubscribed], [['c4'], true])
  })

  it('counts what goes wrong, and refusals in a row, until it goes well', () => {
    const route = new Route('a')
    const counts = (): unknown[] => [route.failures, route.refusals, route.failingSince]
    route.failed(10, true)
    route.failed(20, true)
    assert.equal(counts(), [2, 2, 10])
    route.failed(30)
    assert.equal(counts(), [3, 0, 10])
    route.giveUp()
    assert.equal(counts(), [4, 0, undefined])
    route.failed(40)
    route.isAway = true
    route.wentWell()
    assert.equal([counts(), route.isAway], [[0, 0, undefined], false])
    route.failed(50, true)
    route.wentWell()
    route.failed(60, true)
    assert.equal(counts(), [1, 1, 60])
    route.giveUp()
    assert.equal(counts(), [2, 0, undefined])
  })

  it('is its last command once where that was asked again and is not answered yet', () => {
    const route = new Route('a')
    route.ask(command('agent.prompt', 'c1'))
    route.answered(answer('ok', 'c1'))
    route.ask(command('agent.prompt', 'c1'))
    assert.equal(again(route, true), [['agent.prompt', 'c1']])
  })
})

const [one, other] = ['ws://one:1/bridge', 'ws://other:1/bridge']

/** A finder with a directory that says what the case says. */
function finding({ place }: { readonly place?: () => unknown } = {}) {
  const clock = simulatedClock()
  const says = { holder: undefined as unknown, workers: [one, other] as unknown, asked: 0 }
  const failures: string[] = []
  const finder = new AgentFinder({
    clock,
    workers: async () => says.workers as string[],
    whoHas: (async () => {
      says.asked += 1
      if (says.holder instanceof Promise) return await says.holder
      if (says.holder instanceof Error) throw says.holder
      return says.holder
    }) as never,
    place: place as never,
    failed: (message) => void failures.push(message),
  })
  const aborted = new AbortController()
  const find = (failingSince?: number) =>
    finder.find({ agentId: 'a', definition: undefined, failingSince }, aborted.signal)
  /** Lets so many milliseconds pass, step by step. */
  const pass = async (ms: number): Promise<void> => {
    for (let gone = 0; gone < ms; gone += 50) await clock.advance(50)
  }
  return { clock, says, failures, finder, find, pass, aborted }
}

describe('who has an agent', (it) => {
  it('is who the directory names, or, of one at rest, who is to wake it', async () => {
    const { says, find } = finding()
    says.holder = { url: one }
    assert.equal(await find(), { url: one, isPlaced: false })
    says.holder = undefined
    assert.is((await find()).isPlaced, true)
    const chosen = finding({ place: () => other })
    assert.equal(await chosen.find(), { url: other, isPlaced: true })
  })

  it('is the same worker for one agent, and different ones for several', async () => {
    const { finder } = finding()
    const firsts = await Promise.all(Array.from({ length: 40 }, async (_, at) => (await finder.workers(`k${at}`))[0]))
    assert.equal(new Set(firsts).size, 2)
    assert.equal(await finder.workers('k1'), await finder.workers('k1'))
  })

  it('is nobody at what is no address, or does not answer', async () => {
    const { says, finder, failures, clock } = finding()
    says.workers = [one, one, 'http://x', 7, `ws://${'x'.repeat(2_000)}`, other]
    assert.equal((await finder.workers('k')).toSorted(), [one, other])
    assert.is(failures.length, 3)
    assert.match(failures.join(), 'no address: "http://x"')
    finder.down.failed(one)
    assert.equal(await finder.workers('k'), [other])
    await clock.advance(100)
    assert.is((await finder.workers('k')).length, 2)
    finder.down.failed(one)
    await clock.advance(199)
    assert.is((await finder.workers('k')).length, 1)
    finder.down.reached(one)
    assert.is((await finder.workers('k')).length, 2)
  })

  const never: readonly (readonly [what: string, holder: unknown, code: string, words: string])[] = [
    ['serves nobody', {}, 'AGENT_ELSEWHERE', 'serves nobody'],
    ['has no address', { url: 'nonsense' }, 'AGENT_UNREACHABLE', 'names no address'],
    ['is not told', new Error('secret'), 'AGENT_UNREACHABLE', 'does not say where it is'],
    ['is told too late', new Promise(() => {}), 'AGENT_UNREACHABLE', 'does not say where it is'],
  ]
  for (const [what, holder, code, words] of never)
    it(`is looked for during ten seconds where it ${what}`, async () => {
      const { says, find, pass } = finding()
      says.holder = holder
      let end: unknown
      const found = find().catch((thrown: unknown) => (end = thrown))
      await pass(9_000)
      assert.is(end, undefined)
      await pass(5_000)
      await found
      assert.throws(
        () => {
          throw end
        },
        withCode(code, words),
      )
      assert.not.match(String(end), 'secret')
      if (what !== 'is told too late') assert.ok(says.asked > 8 && says.asked < 20, `asked ${says.asked} times`)
    })

  it('is looked for again where nobody takes it, or it is at a worker that does not answer', async () => {
    const { says, find, pass, finder } = finding({ place: () => undefined })
    let end: unknown
    const refused = find().catch((thrown: unknown) => (end = thrown))
    await pass(12_000)
    await refused
    assert.match(String(end), 'no worker takes it')
    says.holder = { url: one }
    finder.down.failed(one)
    let found: unknown
    const finds = find().then((place) => (found = place))
    await pass(50)
    assert.is(found, undefined)
    await pass(150)
    await finds
    assert.equal(found, { url: one, isPlaced: false })
  })

  for (const [what, chosen] of [
    ['is no address', 'nonsense'],
    ['does not answer', one],
  ] as const)
    it(`is not who was chosen to wake it and ${what}`, async () => {
      const { find, finder, pass } = finding({ place: () => chosen })
      finder.down.failed(one)
      const state: { found?: unknown } = {}
      const finds = find().then(
        (place) => (state.found = place),
        (thrown: unknown) => (state.found = String(thrown)),
      )
      await pass(50)
      assert.equal(state, {})
      await pass(12_000)
      await finds
      if (chosen === one) assert.equal(state.found, { url: one, isPlaced: true })
      else assert.match(String(state.found), 'no worker takes it')
    })

  it('is one of a thousand, each once, whatever the directory says', async () => {
    const { says, finder } = finding()
    const urls = Array.from({ length: 1_001 }, (_, at) => `ws://w${at}:1/bridge`)
    says.workers = [...urls.slice(0, 999), ...urls.slice(0, 999)]
    assert.is((await finder.workers('k')).length, 999)
    says.workers = [...urls.slice(0, 500), ...urls]
    assert.is(new Set(await finder.workers('k')).size, 1_000)
    assert.is((await finder.workers('k')).length, 1_000)
  })

  it('is looked for no more, and followed no more, once the gateway is closed', async () => {
    const { says, find, finder, pass, clock } = finding()
    says.holder = {}
    const refused = find().catch((thrown: unknown) => String(thrown))
    await pass(50)
    finder.follow('a', () => {})
    const looking = Promise.withResolvers<object>()
    await clock.advance(200)
    says.holder = looking.promise
    await clock.advance(250)
    finder.close()
    looking.resolve({})
    await pass(2_000)
    assert.match(messageOf(await refused), 'in a process that serves nobody')
    assert.is(clock.pending, 0)
  })

  it('counts the time since it could not be reached, and is looked for no more by who leaves', async () => {
    const { clock, find, aborted } = finding()
    await assert.rejects(find(clock.now() - 10_000), withCode('AGENT_UNREACHABLE', 'does not stay'))
    aborted.abort(new Error('left'))
    await assert.rejects(find(), /left/)
  })

  it('is told a few times a second to who follows it, as long as somebody does', async () => {
    const { says, finder, pass, clock, failures } = finding()
    const heard: string[] = []
    says.holder = { url: one }
    const ends = [
      finder.follow('a', (url) => heard.push(`first ${url}`)),
      finder.follow('a', (url) => heard.push(`second ${url}`)),
    ]
    await clock.advance(249)
    assert.is(says.asked, 0)
    await clock.advance(1)
    assert.equal([says.asked, heard], [1, [`first ${one}`, `second ${one}`]])
    ends[0]!()
    says.holder = { url: 'nonsense' }
    await pass(250)
    says.holder = undefined
    await pass(250)
    says.holder = new Error('down')
    await pass(250)
    finder.down.failed(other)
    says.holder = { url: other }
    await clock.advance(50)
    assert.is(heard.length, 2)
    assert.match(failures.join(), 'The directory failed: down.')
    await pass(500)
    assert.equal([...new Set(heard.slice(2))], [`second ${other}`])
    // Not while it does not answer.
    for (let times = 0; times < 6; times += 1) finder.down.failed(other)
    const told = heard.length
    await pass(500)
    assert.is(heard.length, told)
    finder.down.reached(other)
    ends[1]!()
    const count = says.asked
    await pass(500)
    assert.equal([says.asked, clock.pending], [count, 0])
    // Ended twice, it does not end what another one has begun since.
    finder.follow('a', (url) => heard.push(`third ${url}`))
    ends[1]!()
    await pass(500)
    assert.is(heard.at(-1), `third ${other}`)
    finder.close()
    assert.is(clock.pending, 0)
  })
})
